//! The findings about a definition while it is read: its problems, and whether it has scripts.

use model::ActivityId;

use super::visible::Visible;
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
    /// The names that the expression that is being read can use.
    pub(super) visible: Visible,
    oversights: Oversights,
}

impl Findings {
    pub(super) fn new(oversights: Oversights) -> Self {
        Self { problems: Vec::new(), has_scripts: false, visible: Visible::default(), oversights }
    }

    pub(super) fn problem(
        &mut self,
        activity: Option<&ActivityId>,
        property: Option<&str>,
        message: String,
    ) {
        self.problems.push(Problem::error(activity, property, message));
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

    /// A warning to the author who publishes.
    pub(super) fn warning(
        &mut self,
        activity: Option<&ActivityId>,
        property: Option<&str>,
        message: String,
    ) {
        if self.warns() {
            self.problems.push(Problem::warning(activity, property, message));
        }
    }

    /// The definition is to be published.
    pub(super) fn warns(&self) -> bool {
        self.oversights == Oversights::Refused
    }
}
