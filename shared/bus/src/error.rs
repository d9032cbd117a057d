//! The errors of the message port, named for what the caller can do.

/// An error of the message port.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The server does not answer, or is electing a leader. Try again: a repeat with the same
    /// message id has no second effect.
    #[error("the message bus is unavailable: {0}")]
    Unavailable(String),
    /// The write may or may not have happened. Try again with the same message id or nonce.
    #[error("the message bus did not confirm in time: {0}")]
    Unknown(String),
    /// The queue is full (`discard: new`). Try again later, and accept less work until then.
    #[error("the message bus is full: {0}")]
    Full(String),
    /// The message is larger than the server accepts; the text has the size and the limit.
    #[error("the message is too large: {0}")]
    TooLarge(String),
    /// A stream, consumer or bucket is missing or differs from the topology.
    #[error("the message bus is not provisioned: {0}; run `staunch provision`")]
    NotProvisioned(String),
    /// The server refuses this process, or the login cannot be read.
    #[error("no access to the message bus: {0}")]
    Denied(String),
    /// A value that was read cannot be decoded.
    #[error("the message bus holds something unreadable: {0}")]
    Corrupt(String),
    /// The connection was closed on purpose.
    #[error("the message bus connection is closed")]
    Closed,
}

impl Error {
    /// Trying again may help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Unknown(_) | Self::Full(_))
    }
}
