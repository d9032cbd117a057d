//! An account of NATS, and what one account gives another.

use super::grant::Grant;

/// An account and its users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// What its users are for, in words.
    pub purpose: &'static str,
    /// Its users.
    pub users: Vec<User>,
    /// What the account of Staunch gives it; nothing for that account itself.
    pub imports: Vec<Export>,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its name; its inbox prefix ends with it.
    pub name: String,
    /// What it is for, in words.
    pub purpose: String,
    /// The variable of nats-server's environment with its password.
    pub variable: String,
    /// Its permissions.
    pub grant: Grant,
}

/// A subject that the account of Staunch gives another account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// In which direction messages go.
    pub flow: Flow,
    /// The subject, with wildcards.
    pub subject: String,
}

/// The direction of the messages of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Requests to Staunch, with one answer each.
    Answer,
    /// Requests to Staunch, with many messages each.
    Messages,
    /// Messages from Staunch.
    Stream,
}

impl Export {
    pub(super) fn new(flow: Flow, subject: String) -> Self {
        Self { flow, subject }
    }
}
