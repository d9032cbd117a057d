//! The reasons why a statement has no result.

use sqlx::Error;

use crate::calls::{CallEnd, ErrorKind};
use crate::files_left;

pub(super) enum Fault {
    /// The statement is not run, or its result is not read.
    Refused(String),
    /// The server of the database gives no connection.
    Unreachable(String),
    /// The database or the way to it failed.
    Sql(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl Fault {
    pub(super) fn into_end(self) -> CallEnd {
        let error = match self {
            Self::Refused(message) => return CallEnd::refused(message),
            Self::Unreachable(message) => return CallEnd::error(ErrorKind::Connect, message),
            Self::Sql(error) => error,
        };
        match error {
            Error::Database(error) => {
                let code = error.code().map(|code| code.into_owned());
                let kind = match code.as_deref() {
                    // The server or the connection to it went away; the statement may be repeated.
                    Some(code) if code.starts_with("08") || code.starts_with("57P") => {
                        ErrorKind::Connect
                    }
                    // The server gave the statement up.
                    Some("57014") => ErrorKind::Timeout,
                    _ => ErrorKind::Failed,
                };
                CallEnd::Error { kind, code, message: error.message().to_owned() }
            }
            error @ (Error::Configuration(_)
            | Error::Encode(_)
            | Error::Decode(_)
            | Error::ColumnDecode { .. }
            | Error::InvalidArgument(_)
            | Error::TypeNotFound { .. }) => CallEnd::refused(error.to_string()),
            Error::PoolTimedOut => CallEnd::error(
                ErrorKind::Connect,
                "the database gave no connection in time: it does not answer, or all connections \
                 are in use",
            ),
            error if files_left::is_lack(&error) => {
                CallEnd::error(ErrorKind::Exhausted, error.to_string())
            }
            error => CallEnd::error(ErrorKind::Connect, error.to_string()),
        }
    }
}
