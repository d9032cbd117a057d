//! Alterations: what an operator may change about an instance, from outside its workflow.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ActivityId;

/// One change. Elsa's names, and ours for what Elsa does otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Alteration {
    /// Ends the instance.
    Cancel {
        /// The reason, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Ends activities that run or wait; what contains them goes on, as after an end without an
    /// outcome.
    CancelActivity {
        /// Every execution of this activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity_id: Option<ActivityId>,
        /// This execution.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity_instance_id: Option<String>,
    },
    /// Goes on with another version of the definition.
    Migrate {
        /// The number of that version; `2.0` is 2.
        #[serde(deserialize_with = "crate::whole::ordinal")]
        #[cfg_attr(feature = "schema", schemars(with = "u32"))]
        target_version: u32,
        /// Activities that have another id there: the id of each, and the one that it has there.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        activities: BTreeMap<ActivityId, ActivityId>,
    },
    /// Gives a variable a value.
    ModifyVariable {
        /// Its id, or its name.
        variable_id: String,
        /// Its new value, which is converted to its type.
        #[serde(default)]
        value: Value,
    },
    /// Runs an activity: one that runs or waits is run again from its start; any other is run in the
    /// container that it belongs to.
    ScheduleActivity {
        /// The activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity_id: Option<ActivityId>,
        /// The execution to run again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity_instance_id: Option<String>,
    },
    /// Runs faulted activities again, from their start, and resolves their incidents.
    Retry {
        /// These activities; all that are faulted when empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        activity_ids: Vec<ActivityId>,
    },
    /// Ends faulted activities as if they had completed, with these outcomes, and resolves their
    /// incidents. What they would have produced is missing.
    Skip {
        /// Every faulted execution of this activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity_id: Option<ActivityId>,
        /// This execution.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity_instance_id: Option<String>,
        /// The outcomes, which decide what comes next; `Done` when empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        outcomes: Vec<String>,
    },
    /// Nothing runs any more until [`Alteration::Unpause`].
    Pause {
        /// The reason, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Goes on after [`Alteration::Pause`].
    Unpause,
}

impl Alteration {
    /// Its name, as the member `type` has it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Cancel { .. } => "Cancel",
            Self::CancelActivity { .. } => "CancelActivity",
            Self::Migrate { .. } => "Migrate",
            Self::ModifyVariable { .. } => "ModifyVariable",
            Self::ScheduleActivity { .. } => "ScheduleActivity",
            Self::Retry { .. } => "Retry",
            Self::Skip { .. } => "Skip",
            Self::Pause { .. } => "Pause",
            Self::Unpause => "Unpause",
        }
    }

    /// Goes on with this version, in which every activity has the same id.
    #[must_use]
    pub const fn migrate(target_version: u32) -> Self {
        Self::Migrate { target_version, activities: BTreeMap::new() }
    }

    /// The version that one of these alterations migrates to.
    #[must_use]
    pub fn target_version(alterations: &[Self]) -> Option<u32> {
        alterations.iter().find_map(|alteration| match alteration {
            Self::Migrate { target_version, .. } => Some(*target_version),
            _ => None,
        })
    }
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
