//! Where the servers are, and how to get in.

use std::path::PathBuf;
use std::time::Duration;

/// The oldest server that has what Staunch needs: expiry per key and its markers.
pub const MINIMUM_VERSION: (u32, u32, u32) = (2, 11, 0);

/// How to connect.
#[derive(Clone, Debug)]
pub struct Options {
    /// One or more servers, separated by commas: `nats://user:password@host:4222`, `tls://host`.
    pub url: String,
    /// The name that the server shows for the connections.
    pub name: String,
    /// A credentials file (`nsc generate creds`).
    pub creds: Option<PathBuf>,
    /// A token.
    pub token: Option<String>,
    /// User and password, where the URL does not have them.
    pub user: Option<(String, String)>,
    /// Encryption; also asked for by a `tls://` URL.
    pub tls: Tls,
    /// The JetStream domain, where it is not the server's own.
    pub domain: Option<String>,
    /// Where answers go: `_INBOX` unless the server's permissions ask for another.
    pub inbox_prefix: Option<String>,
    /// Makes streams, buckets and the consumer again, with this many replicas, where the server has
    /// lost them: for development and tests. Without it only the buckets that are kept in memory.
    pub keep_provisioned: Option<usize>,
    /// The longest wait for the first connection.
    pub connect_max: Duration,
}

/// Certificates.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Refuse a server that does not encrypt.
    pub is_required: bool,
    /// Certificates of authorities that are trusted beside the system's.
    pub ca: Option<PathBuf>,
    /// The client's certificate and key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl Options {
    /// A server without credentials.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            name: "staunch".to_owned(),
            creds: None,
            token: None,
            user: None,
            tls: Tls::default(),
            domain: None,
            inbox_prefix: None,
            keep_provisioned: None,
            connect_max: Duration::from_secs(10),
        }
    }
}
