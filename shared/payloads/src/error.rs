//! The reasons why a payload is not kept or read.

use std::error::Error as StdError;

use model::PayloadHash;

/// The reason why a payload is not kept or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It has more bytes than a payload may have.
    #[error("it has more than the {0} bytes that a payload may have")]
    TooLarge(u64),
    /// It has more bytes than are read at once.
    #[error("it has more than the {0} bytes that are read into memory at once")]
    TooLargeToLoad(u64),
    /// There is none of this name.
    #[error(
        "there is no payload {0}: it was never kept here, or it was removed because no instance used it"
    )]
    Absent(PayloadHash),
    /// What rests is not what was written.
    #[error("the payload {0} is damaged: its bytes are missing, or are not those of its name")]
    Damaged(PayloadHash),
    /// Its parts are where this process does not look.
    #[error("{0} is in {1:?}: add this place to the setting payload-store of every node")]
    Unplaced(String, String),
    /// The source of its bytes has failed.
    #[error("{0}")]
    Source(#[source] Box<dyn StdError + Send + Sync>),
    /// A place outside of the database cannot be opened, read or written.
    #[error("the payload-store {0:?} fails: {1}")]
    Place(String, String),
    /// The database has failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}
