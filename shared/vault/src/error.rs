//! The reasons why a secret cannot be kept or read.

/// The reason why a secret cannot be kept or read; it contains no value and no key.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// What was given is not possible.
    #[error("{0}")]
    Invalid(String),
    /// There is a secret of this name.
    #[error("there is a secret {0:?} already: rotate it to give it another value")]
    Taken(String),
    /// There is no secret of this name.
    #[error("there is no secret {0:?}")]
    Unknown(String),
    /// Another caller has changed it at the same time.
    #[error("the secret was changed at the same time: try again")]
    Changed,
    /// No key decrypts it.
    #[error("{0}")]
    Locked(String),
}
