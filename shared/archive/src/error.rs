//! The errors of the archive.

/// The archive cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The setting does not name a place.
    #[error("archive-to {0:?} cannot be used: {1}")]
    Place(String, String),
    /// The folder or the store does not answer, or refuses. Try again.
    #[error("the archive is not available: {0}")]
    Unavailable(#[from] object_store::Error),
    /// A file or a value is not what it should be.
    #[error("{0} cannot be read: {1}")]
    Corrupt(String, String),
    /// The archive does not have it.
    #[error("the archive has no {0}")]
    NotFound(String),
}
