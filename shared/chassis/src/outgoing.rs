//! The files that TLS to NATS and to PostgreSQL needs, checked before anything is connected: the
//! clients of both try again with them, and do not name the file.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::Settings;
use crate::config::postgres::{self, CERT, KEY, MODE};
use crate::http::{BadFiles, bad, bytes_of, certificates_in};

/// Refuses the files of `nats-ca`, `nats-tls-cert`, `nats-tls-key` and those in `database-url` with
/// which no connection could be made. Nothing is connected.
///
/// # Errors
/// [`BadFiles`] names the setting, the file and the reason.
pub fn check_outgoing(settings: &Settings) -> Result<(), BadFiles> {
    if let Some(path) = &settings.nats_ca {
        authorities("nats-ca", path)?;
    }
    if let (Some(cert), Some(key)) = (&settings.nats_tls_cert, &settings.nats_tls_key) {
        identity(("nats-tls-cert", cert), ("nats-tls-key", key))?;
    }
    of_postgres(&settings.database_url)
}

fn of_postgres(url: &str) -> Result<(), BadFiles> {
    let parameters = postgres::parameters(url);
    let one = |names: &[&str]| postgres::last(&parameters, names);
    if one(&MODE).is_some_and(|mode| mode.eq_ignore_ascii_case("disable")) {
        return Ok(());
    }
    // A value may be the certificate itself.
    let is_file = |value: &&str| !value.trim().starts_with("-----BEGIN");
    let file = |names: &[&str]| one(names).filter(is_file).map(Path::new);
    if let Some(path) = file(&["sslrootcert", "ssl-root-cert", "ssl-ca"]) {
        authorities("sslrootcert in database-url", path)?;
    }
    let (cert, key) = (file(&CERT), file(&KEY));
    if let (Some(cert), Some(key)) = (cert, key) {
        identity(("sslcert in database-url", cert), ("sslkey in database-url", key))?;
    }
    Ok(())
}

/// The file has certificates of authorities.
fn authorities(setting: &str, path: &Path) -> Result<(), BadFiles> {
    let mut roots = RootCertStore::empty();
    for authority in certificates_in(setting, path)? {
        roots.add(authority).map_err(|error| bad(setting, path, &error.to_string()))?;
    }
    Ok(())
}

/// The files have a certificate and its key.
fn identity(cert: (&str, &Path), key: (&str, &Path)) -> Result<(), BadFiles> {
    let chain = certificates_in(cert.0, cert.1)?;
    let private = PrivateKeyDer::from_pem_slice(&bytes_of(key.0, key.1)?)
        .map_err(|error| bad(key.0, key.1, &format!("it has no private key in PEM: {error}")))?;
    let unusable = |error: rustls::Error| {
        let reason = format!("it cannot be used with the key {}: {error}", key.1.display());
        bad(cert.0, cert.1, &reason)
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = builder.with_root_certificates(RootCertStore::empty());
    builder.with_client_auth_cert(chain, private).map(drop).map_err(unusable)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rcgen::{CertificateParams, KeyPair};

    use super::*;
    use crate::Args;

    fn check(name: &str, value: &str, more: &[(&str, &str)], expected: Option<&str>) {
        let own = (name, value);
        let set = more.iter().chain([&own]);
        let set = set.map(|(name, value)| (crate::variable_of(name), (*value).to_owned()));
        let set: Vec<(String, String)> = set.collect();
        let find = |name: &str| {
            let found = set.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let settings = Settings::resolve(&Args::default(), &find).unwrap();
        let found = check_outgoing(&settings).map_err(|error| error.to_string());
        match expected {
            None => assert_eq!(found, Ok(()), "{name} {value}"),
            Some(part) => {
                let found = found.unwrap_err();
                assert!(found.contains(part), "{name} {value}: {found}");
            }
        }
    }

    #[test]
    fn files_of_no_use_are_named_with_their_setting() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let text = |path: PathBuf| path.display().to_string();
        let pair = KeyPair::generate().unwrap();
        let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(path("cert.pem"), own.self_signed(&pair).unwrap().pem()).unwrap();
        std::fs::write(path("key.pem"), pair.serialize_pem()).unwrap();
        let other = KeyPair::generate().unwrap().serialize_pem();
        std::fs::write(path("other.pem"), other).unwrap();
        let (cert, key) = (text(path("cert.pem")), text(path("key.pem")));
        let (other, nope) = (text(path("other.pem")), text(path("nope.pem")));
        check("nats-ca", &cert, &[], None);
        check("nats-ca", &nope, &[], Some("nope.pem of nats-ca is of no use: it cannot be read"));
        check("nats-ca", &key, &[], Some("key.pem of nats-ca is of no use: it has no certificate"));
        let with_cert = [("nats-tls-cert", cert.as_str())];
        check("nats-tls-key", &key, &with_cert, None);
        check("nats-tls-key", &nope, &with_cert, Some("nope.pem of nats-tls-key is of no use"));
        check("nats-tls-key", &cert, &with_cert, Some("it has no private key"));
        check("nats-tls-key", &other, &with_cert, Some("cannot be used with the key"));
        let url = |query: &str| format!("postgres://u@localhost/d?{query}");
        let database = |query: &str, expected: Option<&str>| {
            check("database-url", &url(query), &[], expected);
        };
        database(&format!("sslmode=verify-full&sslrootcert={cert}"), None);
        let unread = "nope.pem of sslrootcert in database-url is of no use: it cannot be read";
        database(&format!("sslrootcert={nope}"), Some(unread));
        database(&format!("sslmode=disable&sslrootcert={nope}"), None);
        database(&format!("sslcert={cert}&sslkey={key}"), None);
        database(&format!("sslcert={cert}&sslkey={other}"), Some("cannot be used with the key"));
        database(&format!("sslcert={cert}&sslkey={nope}"), Some("sslkey in database-url"));
    }
}
