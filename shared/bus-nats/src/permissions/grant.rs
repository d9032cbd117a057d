//! The permissions of one user.

use std::collections::BTreeSet;

/// The subjects on which a user may publish, and those to which it may subscribe, with wildcards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Subjects on which it may publish.
    pub publish: BTreeSet<String>,
    /// Subjects to which it may subscribe.
    pub subscribe: BTreeSet<String>,
}

impl Grant {
    pub(crate) fn publishes(&mut self, subjects: impl IntoIterator<Item = impl Into<String>>) {
        self.publish.extend(subjects.into_iter().map(Into::into));
    }

    pub(crate) fn subscribes(&mut self, subjects: impl IntoIterator<Item = impl Into<String>>) {
        self.subscribe.extend(subjects.into_iter().map(Into::into));
    }
}
