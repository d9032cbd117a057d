//! The meaning of a database error for the caller, and whether a retry can help.

use sea_orm::sqlx::postgres::PgDatabaseError;
use sea_orm::{DbErr, RuntimeErr, sqlx};
use store::Error;

use crate::measure;

/// SQLite's code for a file that is no longer where it was opened.
const READONLY_DBMOVED: u32 = 1032;
/// The unique index that refuses the second of two starts with one activation key.
const ACTIVATION_KEY: &str = "instances_activation_key";

/// What to do where SQLite may only read.
pub(crate) const MAY_WRITE: &str = "let the user of this process read and write the file, its folder, \
    and the -wal and -shm beside it";
/// What to do where the user of PostgreSQL lacks a right.
const MAY_USE: &str = "grant this right to the user that database-url names, or name another one";
/// What to do where PostgreSQL refuses a login.
const MAY_LOG_IN: &str = "correct the user or the password in database-url, or what the server asks \
    of them (pg_hba.conf)";

/// The answer to a request for TLS that has no byte, as the driver writes it: its buffer is still 0.
const NO_ANSWER: &str = "unexpected response from SSLRequest: 0x00";
/// What an address says that closes a connection before PostgreSQL answers.
const CLOSED: &str = "the connection was closed at once, before PostgreSQL answered: if a proxy or a \
    load balancer stands before it, that one reaches no server";

/// What to do about a text that PostgreSQL does not take.
const NUL: &str = "a text has a NUL character, which no text of the database has: leave it out";

/// The failure of an attempt.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// Nothing was written; the same attempt may succeed a moment later.
    Passing(Error),
    /// Nothing was written, and a retry changes nothing.
    Final(Error),
    /// The answer to COMMIT was lost: it may have been written.
    Unknown(Error),
}

impl Failure {
    /// The error for the caller.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Passing(error) | Self::Final(error) | Self::Unknown(error) => error,
        }
    }

    /// The error for the caller, by reference.
    pub(crate) fn error(&self) -> &Error {
        match self {
            Self::Passing(error) | Self::Final(error) | Self::Unknown(error) => error,
        }
    }

    /// An error at COMMIT. It is certain only if the server itself reports it (`answered`).
    pub(crate) fn at_commit(error: impl Into<Self>, answered: bool) -> Self {
        match error.into() {
            failure if answered => failure,
            failure => Self::Unknown(failure.into_error()),
        }
    }

    /// An attempt that took too long; COMMIT may have been sent.
    pub(crate) fn timeout() -> Self {
        Self::Unknown(Error::Unavailable("the database took too long to answer".to_owned()))
    }

    /// An attempt of a time in which the database does not answer the health check; COMMIT may have
    /// been sent.
    pub(crate) fn silence() -> Self {
        Self::Unknown(Error::Unavailable(
            "the database does not answer the health check".to_owned(),
        ))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&sqlx::Error> for Failure {
    fn from(error: &sqlx::Error) -> Self {
        measure::error(error);
        let text = said(error);
        match error {
            // Another process was faster. The next attempt finds the instance that holds the key.
            sqlx::Error::Database(database) if database.constraint() == Some(ACTIVATION_KEY) => {
                Self::Passing(Error::Unavailable(text))
            }
            sqlx::Error::Database(database) => {
                let code = database.code().unwrap_or_default();
                match code.parse::<u32>() {
                    // SQLite's codes are numbers; PostgreSQL's have five characters.
                    Ok(number) if code.len() < 5 => sqlite(number, text),
                    _ => postgres(&code, text),
                }
            }
            sqlx::Error::RowNotFound
            | sqlx::Error::TypeNotFound { .. }
            | sqlx::Error::ColumnIndexOutOfBounds { .. }
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::Decode(_) => Self::Final(Error::Corrupt(text)),
            sqlx::Error::Encode(_) => Self::Final(Error::Refused(text)),
            sqlx::Error::Configuration(_) | sqlx::Error::PoolClosed => {
                Self::Final(Error::Unavailable(text))
            }
            _ => Self::Passing(Error::Unavailable(text)),
        }
    }
}

impl From<DbErr> for Failure {
    fn from(error: DbErr) -> Self {
        if let Some(inner) = of_driver(&error) {
            return Self::from(inner);
        }
        match &error {
            DbErr::ConnectionAcquire(_) => {
                meter::DATABASE_ERRORS.inc(&["pool"]);
                Self::Passing(Error::Unavailable(error.to_string()))
            }
            DbErr::TryIntoErr { .. } | DbErr::Type(_) | DbErr::Json(_) => {
                Self::Final(Error::Corrupt(error.to_string()))
            }
            _ => Self::Final(Error::Unavailable(error.to_string())),
        }
    }
}

/// Whether the server itself reports this error.
pub(crate) fn is_answer(error: &DbErr) -> bool {
    of_driver(error).is_some_and(|error| matches!(error, sqlx::Error::Database(_)))
}

/// The text of an error. The driver adds the line of PostgreSQL's own source to it, which reads like one
/// of a file of the reader.
pub(crate) fn said(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(database)
            if database.try_downcast_ref::<PgDatabaseError>().is_some() =>
        {
            format!("error returned from database: {}", database.message())
        }
        sqlx::Error::Protocol(text) if text.starts_with(NO_ANSWER) => CLOSED.to_owned(),
        error => error.to_string(),
    }
}

/// As [`said`], for an error of a statement of SeaORM.
pub(crate) fn said_of(error: &DbErr) -> String {
    of_driver(error).map_or_else(|| error.to_string(), said)
}

/// The error of the driver in one of SeaORM.
fn of_driver(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(inner))
        | DbErr::Exec(RuntimeErr::SqlxError(inner))
        | DbErr::Query(RuntimeErr::SqlxError(inner)) => Some(inner.as_ref()),
        _ => None,
    }
}

/// A table or a column is missing.
fn old_schema(text: &str) -> Error {
    Error::Schema(format!("{text}; run `staunch migrate`"))
}

/// A text with the advice that belongs to it.
pub(crate) fn advised(text: &str, advice: &str) -> String {
    format!("{text}; {advice}")
}

fn denied(text: &str, advice: &str) -> Failure {
    Failure::Final(Error::Denied(advised(text, advice)))
}

/// Classes of <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn postgres(code: &str, text: String) -> Failure {
    match (code.get(..2).unwrap_or_default(), code) {
        (_, "42P01" | "42703") => Failure::Final(old_schema(&text)),
        (_, "42501") => denied(&text, MAY_USE),
        ("28", _) => denied(&text, MAY_LOG_IN),
        // The statement took too long; a retry would take as long.
        (_, "57014") => Failure::Final(Error::Unavailable(text)),
        // A standby that is not promoted yet refuses writes.
        (_, "25006") | ("08" | "40" | "53" | "55" | "57", _) => {
            Failure::Passing(Error::Unavailable(text))
        }
        // PostgreSQL takes every character of UTF-8 but NUL.
        (_, "22021") => Failure::Final(Error::Refused(NUL.to_owned())),
        ("22" | "23" | "54", _) => Failure::Final(Error::Refused(text)),
        ("XX", _) => Failure::Final(Error::Corrupt(text)),
        _ => Failure::Final(Error::Unavailable(text)),
    }
}

/// Codes of <https://www.sqlite.org/rescode.html>; the low byte is the primary one.
fn sqlite(code: u32, text: String) -> Failure {
    match code & 0xff {
        1 if text.contains("no such") => Failure::Final(old_schema(&text)),
        // Not the file that was moved away while it was open.
        3 | 8 | 23 if code != READONLY_DBMOVED => denied(&text, MAY_WRITE),
        // Busy or locked; no memory; an I/O error; a full disk; a file that cannot be opened, for
        // example because the process has no free file descriptor; a lock that kept changing.
        5 | 6 | 7 | 10 | 13 | 14 | 15 => Failure::Passing(Error::Unavailable(text)),
        11 | 26 => Failure::Final(Error::Corrupt(text)),
        18..=20 => Failure::Final(Error::Refused(text)),
        _ => Failure::Final(Error::Unavailable(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_that_is_missing_is_told_from_a_database_that_is_away() {
        let text = || "x".to_owned();
        for code in ["42501", "28000", "28P01"] {
            let error = postgres(code, text()).into_error();
            assert!(
                matches!(&error, Error::Denied(text) if text.contains("database-url")),
                "{code}"
            );
        }
        // A file that may only be read, its log, and a right that is missing.
        for code in [8, 264, 3, 23] {
            let error = sqlite(code, text()).into_error();
            assert!(matches!(&error, Error::Denied(text) if text.contains("-wal")), "{code}");
        }
        for failure in [postgres("25006", text()), postgres("3D000", text()), sqlite(1032, text())]
        {
            assert!(matches!(failure.into_error(), Error::Unavailable(_)));
        }
    }

    #[test]
    fn a_text_with_a_nul_is_refused_in_words_of_our_own() {
        let refused = |code| postgres(code, "invalid byte sequence at line 1798".to_owned());
        let error = refused("22021").into_error();
        assert!(matches!(&error, Error::Refused(text) if text == NUL), "{error}");
        let error = refused("22003").into_error();
        assert!(matches!(&error, Error::Refused(text) if text.contains("line 1798")), "{error}");
    }

    #[test]
    fn a_connection_that_is_closed_before_an_answer_is_said_in_plain_words() {
        let of = |text: &str| sqlx::Error::Protocol(text.to_owned());
        let closed =
            of("unexpected response from SSLRequest: 0x00 (sqlx_postgres::connection::tls:95)");
        assert_eq!(said(&closed), CLOSED);
        let error = Failure::from(&closed).into_error();
        assert!(matches!(&error, Error::Unavailable(text) if text == CLOSED), "{error}");
        let other =
            of("unexpected response from SSLRequest: 0x48 (sqlx_postgres::connection::tls:95)");
        assert!(said(&other).contains("0x48"));
    }
}
