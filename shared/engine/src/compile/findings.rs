//! The findings about a definition while it is read: its problems, and whether it has scripts.

use model::ActivityId;

use crate::Problem;

/// How oversights are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oversights {
    Ignored,
    Refused,
}

/// The findings so far.
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    pub(super) has_scripts: bool,
    oversights: Oversights,
}

impl Findings {
    pub(super) fn new(oversights: Oversights) -> Self {
        Self { problems: Vec::new(), has_scripts: false, oversights }
    }

    pub(super) fn problem(
        &mut self,
        activity: Option<&ActivityId>,
        property: Option<&str>,
        message: String,
    ) {
        self.problems.push(Problem {
            activity_id: activity.cloned(),
            property: property.map(str::to_owned),
            message,
        });
    }

    pub(super) fn oversight(
        &mut self,
        activity: Option<&ActivityId>,
        property: Option<&str>,
        message: String,
    ) {
        if self.oversights == Oversights::Refused {
            self.problem(activity, property, message);
        }
    }
}
