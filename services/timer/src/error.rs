//! Errors of firing.

/// An error of the timer service.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The message bus failed.
    #[error(transparent)]
    Bus(#[from] bus::Error),
    /// The archive failed.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// The parts of a payload cannot be removed.
    #[error(transparent)]
    Payloads(#[from] payloads::Error),
    /// A command cannot be written.
    #[error("a command of the timer service cannot be written: {0}")]
    Garbled(#[from] protocol::Garbled),
}

impl Error {
    /// Whether a retry may succeed. If not, the error is about this one row only.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) => error.is_away() || matches!(error, store::Error::Overloaded(_)),
            Self::Bus(error) => error.is_passing(),
            Self::Archive(error) => matches!(error, archive::Error::Unavailable(_)),
            Self::Payloads(error) => !matches!(error, payloads::Error::Unplaced(..)),
            Self::Garbled(_) => false,
        }
    }
}
