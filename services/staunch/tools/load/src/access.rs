//! What a connection shows to a server, and which certificate it accepts.

use std::fmt;
use std::sync::Arc;

use anyhow::Context as _;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The credential of a load, and the authority of the server's certificate.
#[derive(Clone, Default)]
pub struct Access {
    authorization: Option<Arc<str>>,
    tls: Option<Arc<ClientConfig>>,
}

/// Shows no credential.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is_known, has_tls) = (self.authorization.is_some(), self.has_tls());
        f.debug_struct("Access").field("is_known", &is_known).field("has_tls", &has_tls).finish()
    }
}

impl Access {
    /// Shows this API key.
    #[must_use]
    pub fn with_key(self, key: &str) -> Self {
        Self { authorization: Some(format!("ApiKey {key}").into()), ..self }
    }

    /// Shows this token.
    #[must_use]
    pub fn with_token(self, token: &str) -> Self {
        Self { authorization: Some(format!("Bearer {token}").into()), ..self }
    }

    /// Accepts certificates that this one has signed, in PEM, and its own.
    ///
    /// # Errors
    /// When the text has no certificate.
    pub fn with_authority(self, pem: &str) -> anyhow::Result<Self> {
        let authority = CertificateDer::from_pem_slice(pem.as_bytes());
        let mut roots = RootCertStore::empty();
        roots.add(authority.context("the certificate cannot be read")?)?;
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { tls: Some(Arc::new(config)), ..self })
    }

    pub(crate) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    pub(crate) fn tls(&self) -> Option<&Arc<ClientConfig>> {
        self.tls.as_ref()
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }
}
