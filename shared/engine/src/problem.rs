//! A problem of a definition, for its author.

use std::fmt;

use model::ActivityId;
use serde::{Deserialize, Serialize};

/// One reason why a definition cannot be published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The activity; none for the definition as a whole.
    pub activity_id: Option<ActivityId>,
    /// The property, as it is spelled in the JSON.
    pub property: Option<String>,
    /// The mistake and its correction, with line and column for scripts.
    pub message: String,
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
