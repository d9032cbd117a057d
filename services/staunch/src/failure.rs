//! The reasons why a command fails, and their exit codes.

use std::fmt;
use std::process::ExitCode;

use serde_json::Value;

use crate::say;

/// The reason of a failure. Each has its own exit code, so that scripts can tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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

/// The exit codes, as `staunch --help` shows them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the command failed or was interrupted, or a check did not pass
  2    the command line, a setting or a named file is wrong
  3    not found
  4    conflict: another change came first
  5    a server, a broker or a database does not answer; a retry may help
  6    credentials are missing, wrong or insufficient
  130  stopped by a second signal, without finishing the work in progress
  141  the reader of standard output was gone before its end, as behind `| head`";

impl Kind {
    /// The process's exit code.
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    /// The reason of several failures: the common one if they have the same, otherwise `Failed`.
    pub(crate) fn of_all(kinds: &[Self]) -> Self {
        match kinds {
            [first, others @ ..] if others.iter().all(|kind| kind == first) => *first,
            _ => Self::Failed,
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Unavailable => 5,
            Self::Forbidden => 6,
            // As if by the signal that other programs end with: 128 and SIGPIPE.
            Self::Closed => 141,
        }
    }
}

/// A failure with one line for people, and more lines for details.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    pub(crate) details: Vec<String>,
    /// The body of a server's refusal.
    pub(crate) body: Option<Box<Value>>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), details: Vec::new(), body: None }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, message)
    }

    pub(crate) fn with(mut self, details: Vec<String>) -> Self {
        self.details = details;
        self
    }
}

/// The message and the details, one line each. Servers and workflows may have written them.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", say::one_line(&self.message))?;
        let mut details = self.details.iter();
        details.try_for_each(|detail| write!(f, "\n  - {}", say::one_line(detail)))
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
        check(Failure::usage("no").into(), Kind::Usage, "no");
        check(anyhow::anyhow!("other"), Kind::Failed, "other");
    }

    #[test]
    fn every_reason_has_a_code_of_its_own_and_help_shows_it() {
        use Kind::{Conflict, Failed, Forbidden, NotFound, Unavailable, Usage};
        let kinds = [Failed, Usage, NotFound, Conflict, Unavailable, Forbidden];
        for (index, kind) in kinds.into_iter().enumerate() {
            assert_eq!(usize::from(kind.number()), index + 1);
            assert!(EXIT_CODES.contains(&format!("\n  {}    ", kind.number())), "{kind:?}");
        }
        assert!(EXIT_CODES.contains(&format!("\n  {}  ", Kind::Closed.number())));
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
