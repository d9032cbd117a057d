//! The certificate of the HTTP server, its key, and the authorities of client certificates: read
//! from files, and read again when these change.
//!
//! Open connections keep what they were made with; new ones get what was read last. Files that
//! cannot be used change nothing: the log says why, and the certificate before them stays.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::limits;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::time::Instant;

use crate::config::{ClientAuth, Settings};

/// Time between two looks at the files, which a new connection takes.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);
/// The protocols that a client may choose, the best first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The files of a server with TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those between it and its authority.
    pub cert: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
    /// The authorities whose client certificates are accepted.
    pub client_ca: Option<PathBuf>,
    /// Whether a client must have a certificate.
    pub client_auth: ClientAuth,
}

impl TlsFiles {
    /// The files that these settings name.
    #[must_use]
    pub fn from_settings(settings: &Settings) -> Option<Self> {
        let (cert, key) = (settings.tls_cert.clone()?, settings.tls_key.clone()?);
        let (client_ca, client_auth) = (settings.tls_client_ca.clone(), settings.tls_client_auth);
        Some(Self { cert, key, client_ca, client_auth })
    }
}

/// Files that cannot be used, with the reason.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct BadFiles(String);

/// TLS for a server: what new connections get.
#[derive(Clone, Debug)]
pub struct Tls(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    files: TlsFiles,
    /// What was read last, or why it could not be read: each is logged once.
    seen: Result<Contents, BadFiles>,
    config: Arc<ServerConfig>,
    look_at: Instant,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// [`BadFiles`] names the file and the reason.
    pub fn read(files: TlsFiles) -> Result<Self, BadFiles> {
        let seen = Contents::read(&files)?;
        let config = Arc::new(seen.config(&files)?);
        let look_at = Instant::now() + LOOK_INTERVAL;
        Ok(Self(Arc::new(Mutex::new(Inner { files, seen: Ok(seen), config, look_at }))))
    }

    /// What a new connection gets. The first one after each interval looks at the files: reading
    /// small local ones takes less time than its handshake.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now >= inner.look_at {
            inner.look_at = now + LOOK_INTERVAL;
            inner.look();
        }
        Arc::clone(&inner.config)
    }
}

impl Inner {
    /// Reads the files, and uses them if they have changed and fit each other.
    fn look(&mut self) {
        let found = Contents::read(&self.files);
        if found == self.seen {
            return;
        }
        let usable = found.as_ref().map_err(Clone::clone);
        match usable.and_then(|contents| contents.config(&self.files)) {
            Ok(config) => {
                self.config = Arc::new(config);
                tracing::info!(
                    cert = %self.files.cert.display(),
                    "the TLS files have changed; new connections use them"
                );
            }
            Err(error) => tracing::error!(
                %error,
                "the TLS files have changed and cannot be used; the certificate before them stays"
            ),
        }
        self.seen = found;
    }
}

/// The bytes of the files.
#[derive(Clone, PartialEq, Eq)]
struct Contents {
    cert: Vec<u8>,
    key: Vec<u8>,
    client_ca: Option<Vec<u8>>,
}

/// Shows nothing: there is a private key inside.
impl std::fmt::Debug for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Contents(***)")
    }
}

impl Contents {
    fn read(files: &TlsFiles) -> Result<Self, BadFiles> {
        let client_ca = files.client_ca.as_deref();
        Ok(Self {
            cert: bytes_of("tls-cert", &files.cert)?,
            key: bytes_of("tls-key", &files.key)?,
            client_ca: client_ca.map(|path| bytes_of("tls-client-ca", path)).transpose()?,
        })
    }

    fn config(&self, files: &TlsFiles) -> Result<ServerConfig, BadFiles> {
        let chain = certificates("tls-cert", &files.cert, &self.cert)?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|error| {
            bad("tls-key", &files.key, &format!("it has no private key in PEM: {error}"))
        })?;
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| BadFiles(format!("TLS cannot be set up: {error}")))?;
        let builder = match (&files.client_ca, &self.client_ca) {
            (Some(path), Some(bytes)) => {
                let roots = certificates("tls-client-ca", path, bytes)?;
                builder.with_client_cert_verifier(verifier(path, roots, files.client_auth)?)
            }
            _ => builder.with_no_client_auth(),
        };
        let mut config = builder.with_single_cert(chain, key).map_err(|error| {
            bad(
                "tls-cert",
                &files.cert,
                &format!("it cannot be used with the key {}: {error}", files.key.display()),
            )
        })?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(config)
    }
}

fn verifier(
    path: &Path,
    authorities: Vec<CertificateDer<'static>>,
    auth: ClientAuth,
) -> Result<Arc<dyn ClientCertVerifier>, BadFiles> {
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority).map_err(|error| bad("tls-client-ca", path, &error.to_string()))?;
    }
    let provider = Arc::new(default_provider());
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = match auth {
        ClientAuth::Required => builder,
        ClientAuth::Optional => builder.allow_unauthenticated(),
    };
    builder.build().map_err(|error| bad("tls-client-ca", path, &error.to_string()))
}

fn certificates(
    setting: &str,
    path: &Path,
    bytes: &[u8],
) -> Result<Vec<CertificateDer<'static>>, BadFiles> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
    let found = found.map_err(|error| bad(setting, path, &format!("it is not PEM: {error}")))?;
    if found.is_empty() {
        return Err(bad(
            setting,
            path,
            "it has no certificate in PEM (-----BEGIN CERTIFICATE-----)",
        ));
    }
    Ok(found)
}

/// The certificates in the file of a setting.
pub(crate) fn certificates_in(
    setting: &str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, BadFiles> {
    certificates(setting, path, &bytes_of(setting, path)?)
}

/// The bytes of the file of a setting.
pub(crate) fn bytes_of(setting: &str, path: &Path) -> Result<Vec<u8>, BadFiles> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let max = u64::try_from(limits::TLS_FILE_BYTES_MAX).unwrap_or(u64::MAX);
        std::fs::File::open(path)?.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes =
        read().map_err(|error| bad(setting, path, &format!("it cannot be read: {error}")))?;
    if bytes.len() > limits::TLS_FILE_BYTES_MAX {
        let reason = format!("it has more than {} bytes", limits::TLS_FILE_BYTES_MAX);
        return Err(bad(setting, path, &reason));
    }
    Ok(bytes)
}

/// The file of a setting cannot be used, for this reason.
pub(crate) fn bad(setting: &str, path: &Path, reason: &str) -> BadFiles {
    BadFiles(format!("the file {} of {setting} is of no use: {reason}", path.display()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
mod tests;
