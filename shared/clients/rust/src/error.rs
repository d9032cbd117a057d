//! What can go wrong for a client.

use crate::Outcome;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request was answered with a problem.
    #[error("{title}: {detail}")]
    Request {
        /// That of HTTP.
        status: u16,
        /// The problem.
        title: String,
        /// What is wrong in this case.
        detail: String,
    },
    /// The command changed nothing.
    #[error("{}: {}", .0.refusal.as_deref().unwrap_or_default(), .0.message.as_deref().unwrap_or_default())]
    Refused(Box<Outcome>),
    /// NATS does not carry the message.
    #[error("nats: {0}")]
    Nats(#[source] async_nats::Error),
    /// A message is not what it should be.
    #[error("unreadable: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl Error {
    pub(crate) fn nats(error: impl Into<async_nats::Error>) -> Self {
        Self::Nats(error.into())
    }
}
