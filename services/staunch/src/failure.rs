//! Why a command of the CLI did not do what was asked, and the exit code that says so.

use std::fmt;
use std::process::ExitCode;

/// What kind of failure it is: scripts tell them apart by the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 1: it was tried and did not work.
    Failed,
    /// 2: it was asked for in a way that makes no sense.
    Usage,
    /// 3: what it names does not exist.
    NotFound,
    /// 4: something else came first.
    Conflict,
    /// 5: a server, a broker or a database does not answer; trying again may help.
    Unavailable,
}

/// A failure with one line for a person, and more lines where there is more to say.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    pub(crate) details: Vec<String>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), details: Vec::new() }
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

    /// The process's exit code.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::NotFound => 3,
            Kind::Conflict => 4,
            Kind::Unavailable => 5,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        self.details.iter().try_for_each(|detail| write!(f, "\n  - {detail}"))
    }
}

impl std::error::Error for Failure {}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(failure) => failure,
            Err(error) => Self::failed(format!("{error:#}")),
        }
    }
}

impl From<bus::Error> for Failure {
    fn from(error: bus::Error) -> Self {
        let kind = if error.is_passing() { Kind::Unavailable } else { Kind::Failed };
        Self::new(kind, error.to_string())
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        let kind = match error {
            store::Error::Unavailable(_) => Kind::Unavailable,
            _ => Kind::Failed,
        };
        Self::new(kind, error.to_string())
    }
}
