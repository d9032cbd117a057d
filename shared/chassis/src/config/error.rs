//! The source of a value, and the reason why it is refused.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The command line.
    Flag,
    /// This environment variable.
    Variable(String),
    /// This file.
    File(PathBuf),
    /// No source has the value.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("the command line"),
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("the default"),
        }
    }
}

/// The reason why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration file {path} cannot be read: {reason}")]
    File {
        /// The path of the file.
        path: String,
        /// The reason why it cannot be read.
        reason: String,
    },
    /// The file has a key that is not a setting.
    #[error("{path}: there is no setting {key:?}{}", hint(nearest))]
    Unknown {
        /// The path of the file.
        path: String,
        /// The key.
        key: String,
        /// A setting with a similar name.
        nearest: Option<&'static str>,
    },
    /// The setting cannot have this value.
    #[error("{name} = {text:?} from {origin}{}: {reason}", place(*line))]
    Value {
        /// The name of the setting.
        name: &'static str,
        /// The value; masked if it is a secret.
        text: String,
        /// The source of the value.
        origin: Origin,
        /// The line of the configuration file.
        line: Option<usize>,
        /// The values that are allowed.
        reason: String,
    },
    /// The values together would make an unsafe service.
    #[error("{0}")]
    Unsafe(String),
}

fn place(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}
