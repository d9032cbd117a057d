//! The authorities that outgoing TLS trusts where the system has none, as in a container image
//! without the package `ca-certificates`: those of Mozilla, from when this program was built.
//!
//! A system with authorities of its own decides alone: it may have removed some on purpose.

use std::sync::OnceLock;

use reqwest::{Certificate, ClientBuilder};

static BUNDLED: OnceLock<Vec<&'static [u8]>> = OnceLock::new();

/// The bundled authorities as DER certificates; none if the system has authorities.
#[must_use]
pub fn bundled() -> &'static [&'static [u8]] {
    BUNDLED.get_or_init(|| {
        let found = rustls_native_certs::load_native_certs();
        if !found.certs.is_empty() {
            return Vec::new();
        }
        let why = found.errors.first().map(ToString::to_string);
        tracing::warn!(
            why,
            "the system has no authorities for TLS: outgoing calls trust the bundled ones; install \
             ca-certificates, or name a file in SSL_CERT_FILE"
        );
        webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(|cert| cert.as_ref()).collect()
    })
}

/// A client that trusts the bundled authorities if the system has none.
pub fn trusted_by(client: ClientBuilder) -> ClientBuilder {
    let bundled = bundled().iter().filter_map(|der| Certificate::from_der(der).ok());
    let bundled: Vec<_> = bundled.collect();
    if bundled.is_empty() { client } else { client.tls_certs_only(bundled) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_are_bundled_authorities_for_a_system_without_any() {
        assert!(webpki_root_certs::TLS_SERVER_ROOT_CERTS.len() > 50);
        let is_bare = rustls_native_certs::load_native_certs().certs.is_empty();
        assert_eq!(super::bundled().is_empty(), !is_bare);
    }
}
