//! A problem of a definition, for its author.

use std::fmt;

use model::ActivityId;
use serde::{Deserialize, Serialize};

/// A finding about a definition: a reason why it cannot be published, or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The activity; none for the definition as a whole.
    pub activity_id: Option<ActivityId>,
    /// The property, as it is spelled in the JSON.
    pub property: Option<String>,
    /// The mistake and its correction, with line and column for scripts.
    pub message: String,
    /// Whether it keeps the definition from being published.
    #[serde(default, skip_serializing_if = "Severity::is_error")]
    pub severity: Severity,
}

/// The consequence of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Severity {
    /// The definition cannot be published.
    #[default]
    Error,
    /// The definition runs, though maybe not as its author expects.
    Warning,
}

impl Severity {
    /// It keeps a definition from being published.
    #[must_use]
    pub fn is_error(&self) -> bool {
        *self == Self::Error
    }
}

impl Problem {
    /// An error.
    #[must_use]
    pub fn error(
        activity: Option<&ActivityId>,
        property: Option<&str>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            activity_id: activity.cloned(),
            property: property.map(str::to_owned),
            message: message.into(),
            severity: Severity::Error,
        }
    }

    /// A warning.
    #[must_use]
    pub fn warning(
        activity: Option<&ActivityId>,
        property: Option<&str>,
        message: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(activity, property, message) }
    }

    /// It keeps the definition from being published.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity.is_error()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(activity) = &self.activity_id {
            write!(f, "activity {activity}: ")?;
        }
        if let Some(property) = &self.property {
            write!(f, "{property}: ")?;
        }
        f.write_str(&self.message)
    }
}
