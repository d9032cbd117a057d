//! The reasons why something that was asked for fails.

use std::fmt;

use serde_json::Value;

use crate::one_line;

/// The reason of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command ran and did not succeed.
    Failed,
    /// The command line, a setting or a named file is wrong.
    Usage,
    /// A named object does not exist.
    NotFound,
    /// Another change came first.
    Conflict,
    /// A server, a broker or a database does not answer. A retry may help.
    Unavailable,
    /// Credentials are missing, wrong or insufficient.
    Forbidden,
    /// The reader of standard output has seen enough, as `| head` has. Nothing is to be said about it.
    Closed,
}

impl Kind {
    /// The reason of several failures: the common one if they have the same, otherwise `Failed`.
    #[must_use]
    pub fn of_all(kinds: &[Self]) -> Self {
        match kinds {
            [first, others @ ..] if others.iter().all(|kind| kind == first) => *first,
            _ => Self::Failed,
        }
    }
}

/// A failure with one line for people, and more lines for details.
#[derive(Debug)]
pub struct Failure {
    /// Its reason.
    pub kind: Kind,
    /// What went wrong, and what to do about it, if that is known.
    pub message: String,
    /// More about it, such as each problem of a definition.
    pub details: Vec<String>,
    /// The body of a server's refusal.
    pub body: Option<Box<Value>>,
}

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), details: Vec::new(), body: None }
    }

    /// Something ran and did not succeed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// The command line, a setting or a named file is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// A server, a broker or a database does not answer.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, message)
    }

    /// The same failure with these details.
    #[must_use]
    pub fn with(mut self, details: Vec<String>) -> Self {
        self.details = details;
        self
    }
}

/// The message and the details, one line each. Servers and workflows may have written them.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", one_line(&self.message))?;
        let mut details = self.details.iter();
        details.try_for_each(|detail| write!(f, "\n  - {}", one_line(detail)))
    }
}

impl std::error::Error for Failure {}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let kind = error.chain().find_map(|cause| {
            let bus = cause.downcast_ref().map(of_bus);
            bus.or_else(|| cause.downcast_ref().map(of_store))
        });
        match error.downcast::<Self>() {
            Ok(failure) => failure,
            Err(error) => Self::new(kind.unwrap_or(Kind::Failed), format!("{error:#}")),
        }
    }
}

impl From<bus::Error> for Failure {
    fn from(error: bus::Error) -> Self {
        Self::new(of_bus(&error), error.to_string())
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Self::new(of_store(&error), error.to_string())
    }
}

fn of_bus(error: &bus::Error) -> Kind {
    match error {
        bus::Error::Denied(_) => Kind::Forbidden,
        error if error.is_passing() => Kind::Unavailable,
        _ => Kind::Failed,
    }
}

fn of_store(error: &store::Error) -> Kind {
    match error {
        store::Error::Denied(_) => Kind::Forbidden,
        store::Error::Absent(_) => Kind::NotFound,
        store::Error::Unavailable(_) | store::Error::Overloaded(_) => Kind::Unavailable,
        _ => Kind::Failed,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn the_reason_is_found_below_what_was_being_done() {
        let check = |error: anyhow::Error, kind: Kind, text: &str| {
            let failure = Failure::from(error);
            assert_eq!((failure.kind, failure.to_string().as_str()), (kind, text));
        };
        let store = Err::<(), _>(store::Error::Unavailable("db:5432 refused".to_owned()));
        check(
            store.context("open the database").unwrap_err(),
            Kind::Unavailable,
            "open the database: the database is unavailable: db:5432 refused",
        );
        let bus = Err::<(), _>(bus::Error::Full("commands".to_owned()));
        check(
            bus.context("publish").unwrap_err(),
            Kind::Unavailable,
            "publish: the message bus is full: commands",
        );
        let denied = bus::Error::Denied("user x".to_owned());
        check(denied.into(), Kind::Forbidden, "no access to the message bus: user x");
        let denied = Err::<(), _>(store::Error::Denied("role x".to_owned()));
        check(
            denied.context("open the database").unwrap_err(),
            Kind::Forbidden,
            "open the database: no access to the database: role x",
        );
        let absent = Err::<(), _>(store::Error::Absent("nodb".to_owned()));
        check(
            absent.context("open the database").unwrap_err(),
            Kind::NotFound,
            "open the database: there is no such database: nodb",
        );
        check(Failure::usage("no").into(), Kind::Usage, "no");
        check(anyhow::anyhow!("other"), Kind::Failed, "other");
    }

    #[test]
    fn several_failures_have_the_reason_that_they_share() {
        assert_eq!(Kind::of_all(&[Kind::Usage, Kind::Usage]), Kind::Usage);
        assert_eq!(Kind::of_all(&[Kind::Usage, Kind::Unavailable]), Kind::Failed);
        assert_eq!(Kind::of_all(&[]), Kind::Failed);
    }

    #[test]
    fn a_message_of_somebody_else_stays_on_its_line() {
        let failure = Failure::failed("a\nerror: b").with(vec!["\u{1b}[2J".to_owned()]);
        assert_eq!(failure.to_string(), "a\\nerror: b\n  - \\u{1b}[2J");
    }
}
