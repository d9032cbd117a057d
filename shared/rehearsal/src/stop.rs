//! Why a run ends before its instance is over or waits.

use std::fmt;

use model::ActivityId;

/// The end of a run before its instance was over, or waited for something that the run does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The kind of the reason.
    pub reason: Reason,
    /// The reason, and what to do.
    pub message: String,
    /// The activity that it is about.
    pub activity_id: Option<ActivityId>,
}

/// The kind of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A server would refuse the start.
    Refused,
    /// No answer fits a call.
    Unanswered,
    /// Something is to happen, and nothing waits for it.
    Unawaited,
    /// A bound of the run is reached.
    Limit,
    /// The run was asked to end here.
    Asked,
}

impl Reason {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "Refused",
            Self::Unanswered => "Unanswered",
            Self::Unawaited => "Unawaited",
            Self::Limit => "Limit",
            Self::Asked => "Asked",
        }
    }
}

impl Stop {
    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), activity_id: None }
    }

    pub(crate) fn at(mut self, activity: &ActivityId) -> Self {
        self.activity_id = Some(activity.clone());
        self
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Stop {}
