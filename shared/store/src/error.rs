//! The errors of a database, named for what the caller can do.

/// An error of the database port.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The database does not answer, or cannot write. Try again. A write may have happened: load
    /// again before you repeat it.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// A row cannot be read.
    #[error("the database holds something unreadable: {0}")]
    Corrupt(String),
    /// The schema is older or newer than this program.
    #[error("the database schema does not fit: {0}")]
    Schema(String),
    /// The schema is too new for this program.
    #[error("the database schema is too new: {0}; run a newer version of this program")]
    TooNew(String),
    /// The value breaks a rule of the database, such as a length.
    #[error("the database refuses the value: {0}")]
    Refused(String),
    /// Too much work is queued already. Try again later, and accept less work until then.
    #[error("the database is overloaded: {0}")]
    Overloaded(String),
}
