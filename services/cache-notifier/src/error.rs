//! Errors of announcements.

/// An error of the cache notifier.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The message bus failed.
    #[error(transparent)]
    Bus(#[from] bus::Error),
    /// The task that writes the pointer has a bug.
    #[error(transparent)]
    Panicked(#[from] tasks::Panicked),
    /// The pointer and the database still differ after several writes.
    #[error("definition {0} keeps being published and retracted; it is compared again soon")]
    Diverging(model::DefinitionId),
}
