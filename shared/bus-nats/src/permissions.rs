//! The permissions of the users of NATS: what each role of Staunch and each kind of client publishes
//! and hears, and the accounts in which they are.
//!
//! Pure, but for the check at the start of a process ([`check`](mod@check)). To add a subject to a
//! role: add it to `role.rs`, and run the test `accounts` with `UPDATE_EXPECT=1`.

mod accounts;
mod check;
mod client;
mod pattern;
mod role;
mod text;

use std::collections::BTreeSet;

pub use accounts::{Account, Accounts, Export, Flow, User};
pub(crate) use client::Worker;

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
