//! What can go wrong while firing. All of it passes or is found again by the next scan.

/// An error of the timer service.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The message bus failed.
    #[error(transparent)]
    Bus(#[from] bus::Error),
    /// A command cannot be written.
    #[error("a command of the timer service cannot be written: {0}")]
    Garbled(#[from] protocol::Garbled),
}
