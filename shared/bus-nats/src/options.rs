//! The addresses of the servers, the login and the limits of the connection.

use std::path::PathBuf;
use std::time::Duration;

/// The oldest server with the features that Staunch needs: expiry per key, and markers of expired
/// keys.
pub const MINIMUM_VERSION: (u32, u32, u32) = (2, 11, 0);

/// The longest wait for one answer of the server.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(3);
/// Prefix of the subjects on which answers to Staunch's own processes arrive.
pub(crate) const INBOX_PREFIX: &str = "_INBOX_staunch";

/// The settings of a connection.
#[derive(Clone, Debug)]
pub struct Options {
    /// One or more servers, separated by commas: `nats://host:4222`, `tls://user:password@host`,
    /// `nats://token@host`. All servers take the same login; it may stand in one URL or in each.
    pub url: String,
    /// The file that the URL was read from, if it has to be read again for each connection.
    pub url_file: Option<PathBuf>,
    /// The name that the server shows for the connections.
    pub name: String,
    /// A credentials file (`nsc generate creds`), if the URL has no login.
    pub creds: Option<PathBuf>,
    /// A file with the seed of a user's NKey (`nk -gen user`), if the URL has no login.
    pub nkey: Option<PathBuf>,
    /// Encryption; also asked for by a `tls://` URL.
    pub tls: Tls,
    /// The JetStream domain, if it is not the server's own.
    pub domain: Option<String>,
    /// Prefix of the subjects on which answers to this process arrive, pulled commands and watches
    /// among them. The name of the user follows, if the login has one: so each user may be allowed
    /// its own answers alone. Clients of Staunch listen below `_INBOX.`, so ours differs.
    pub inbox_prefix: String,
    /// The server's streams, buckets and consumer are created again when it has lost them, with as many
    /// copies as the stream of commands, or one. Otherwise only the buckets in memory are.
    pub keep_provisioned: bool,
    /// The longest wait for the first connection.
    pub connect_max: Duration,
}

/// Certificates.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Refuse a server without encryption.
    pub is_required: bool,
    /// Certificates of authorities that are trusted in addition to the system's.
    pub ca: Option<PathBuf>,
    /// The client's certificate and key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl Options {
    /// A server without a login.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            url_file: None,
            name: "staunch".to_owned(),
            creds: None,
            nkey: None,
            tls: Tls::default(),
            domain: None,
            inbox_prefix: INBOX_PREFIX.to_owned(),
            keep_provisioned: false,
            connect_max: Duration::from_secs(10),
        }
    }
}
