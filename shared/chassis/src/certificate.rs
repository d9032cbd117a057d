//! When the certificates in the files of the settings expire.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Clock as _, Timestamp};
use rustls::pki_types::CertificateDer;

use crate::http::certificates_in;
use crate::{Settings, SystemClock};

/// A certificate that expires sooner is worth a warning.
pub const EXPIRY_NOTED: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// A file of the settings with certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The setting that names it.
    pub setting: &'static str,
    /// Its path.
    pub path: PathBuf,
    /// When it can no longer be used, or why it cannot be read.
    pub expires: Result<Timestamp, String>,
}

/// What a file is of no use without: each certificate of a chain, or any of the authorities.
#[derive(Clone, Copy)]
enum Needed {
    Each,
    Any,
}

/// The files with certificates that these settings name, read now.
#[must_use]
pub fn certificates(settings: &Settings) -> Vec<Certificate> {
    let files = [
        ("tls-cert", &settings.tls_cert, Needed::Each),
        ("tls-client-ca", &settings.tls_client_ca, Needed::Any),
        ("nats-tls-cert", &settings.nats_tls_cert, Needed::Each),
        ("nats-ca", &settings.nats_ca, Needed::Any),
    ];
    let named = files.into_iter().filter_map(|(setting, path, needed)| {
        let path = path.clone()?;
        Some(Certificate { setting, expires: expiry(setting, &path, needed), path })
    });
    named.collect()
}

/// Shows them as a metric from now on, and warns of those that expire soon.
pub fn watch_certificates(settings: &Settings) {
    let settings = settings.clone();
    let now = SystemClock.now();
    for Certificate { setting, path, expires } in certificates(&settings) {
        match expires {
            Ok(expires) if expires.since(now) < EXPIRY_NOTED => tracing::warn!(
                setting,
                path = %path.display(),
                %expires,
                "a certificate expires soon or has expired: replace its file"
            ),
            Ok(_) => {}
            Err(error) => tracing::warn!(setting, %error, "a certificate cannot be read"),
        }
    }
    meter::at_scrape(move || {
        for Certificate { setting, expires, .. } in certificates(&settings) {
            let millis = expires.map(Timestamp::as_millis).unwrap_or_default();
            let seconds = u64::try_from(millis / 1_000).unwrap_or_default();
            meter::CERTIFICATE_EXPIRES.set(&[setting], seconds);
        }
        true
    });
}

fn expiry(setting: &str, path: &Path, needed: Needed) -> Result<Timestamp, String> {
    let found = certificates_in(setting, path).map_err(|error| error.to_string())?;
    let times: Result<Vec<_>, _> = found.iter().map(expires).collect();
    let times = times.map_err(|error| format!("{}: {error}", path.display()))?;
    let time = match needed {
        Needed::Each => times.into_iter().min(),
        Needed::Any => times.into_iter().max(),
    };
    time.ok_or_else(|| format!("{}: it has no certificate", path.display()))
}

fn expires(certificate: &CertificateDer<'_>) -> Result<Timestamp, String> {
    let (_, read) = x509_parser::parse_x509_certificate(certificate)
        .map_err(|error| format!("not a certificate: {error}"))?;
    let seconds = read.validity().not_after.timestamp();
    Ok(Timestamp::from_millis(seconds.saturating_mul(1_000)))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn a_chain_ends_with_its_first_certificate_and_authorities_with_their_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("both.pem");
        let pem = |year: i32| {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.not_after = date_time_ymd(year, 1, 2);
            params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
        };
        std::fs::write(&path, pem(2031) + &pem(2030)).unwrap();
        let at = |needed| expiry("tls-cert", &path, needed).unwrap().to_string();
        assert!(at(Needed::Each).starts_with("2030-01-02"), "{}", at(Needed::Each));
        assert!(at(Needed::Any).starts_with("2031-01-02"), "{}", at(Needed::Any));
        std::fs::write(&path, "nothing").unwrap();
        let error = expiry("tls-cert", &path, Needed::Each).unwrap_err();
        assert!(error.contains("no certificate"), "{error}");
    }
}
