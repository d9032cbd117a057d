//! API keys and the audit log.

use async_trait::async_trait;
use model::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{Error, Listed, Page};

/// An API key. The database keeps only its hash.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiKey {
    /// Its public id.
    pub id: String,
    /// Its purpose.
    pub name: String,
    /// Lowercase hex SHA-256 of the key.
    pub hash: String,
    /// Permissions as Elsa names them; `*` for all.
    pub permissions: Vec<String>,
    /// The time when it was made.
    pub created_at: Timestamp,
    /// The time from which it is refused; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// The id of the user who made it, or whose key made it: it is good while that user exists and is not
    /// disabled. None for the key of nobody.
    pub user_id: Option<String>,
}

/// The hash of an API key, as the database has it: lowercase hex SHA-256.
#[must_use]
pub fn key_hash(key: &str) -> String {
    Sha256::digest(key.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The changes that the audit log has, by name and in the order of the alphabet: nothing else is
/// written into it. `docs/identity.md` lists them, too.
pub const AUDITED: [&str; 70] = [
    "activity-type.delete",
    "activity-type.register",
    "activity.test",
    "alterations.stop",
    "alterations.submit",
    "application.create",
    "application.delete",
    "cluster.validate",
    "dead-letter.delete",
    "dead-letter.replay",
    "definition.delete",
    "definition.import",
    "definition.label",
    "definition.publish",
    "definition.refresh",
    "definition.retract",
    "definition.revert",
    "definition.save",
    "demo.kill-executor",
    "event.raise",
    "instance.alter",
    "instance.cancel",
    "instance.delete",
    "instance.export",
    "instance.import",
    "instance.restart",
    "instance.resume",
    "instance.retention",
    "instance.start",
    "key.create",
    "key.delete",
    "label.create",
    "label.delete",
    "label.update",
    "login",
    "login.refuse",
    "logout",
    "request.refuse",
    "role.create",
    "role.delete",
    "role.update",
    "runtime.drain",
    "runtime.pause",
    "runtime.resume",
    "schedule.pause",
    "schedule.resume",
    "schedule.trigger",
    "secret.create",
    "secret.delete",
    "secret.rekey",
    "secret.revoke",
    "secret.rotate",
    "secret.test",
    "secret.update",
    "session.reuse",
    "signing-key.delete",
    "signing-key.rotate",
    "task.complete",
    "task.fail",
    "task.take",
    "token.bookmark.resume",
    "token.event.trigger",
    "token.grant",
    "token.refuse",
    "user.create",
    "user.delete",
    "user.password",
    "user.update",
    "version.delete",
    "workflow.test",
];

/// One change that someone asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    /// The time of the change.
    pub at: Timestamp,
    /// The person or program: the id of a key, or the way of access.
    pub who: String,
    /// The change: one of [`AUDITED`].
    pub what: String,
    /// The object of the change.
    pub target: String,
    /// Readable details, without secrets.
    pub details: Value,
    /// The address that the request came from; none for what came from no network.
    pub address: Option<String>,
    /// How it ended.
    pub outcome: AuditOutcome,
}

/// How a change in the audit log ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditOutcome {
    /// It is made.
    #[default]
    Done,
    /// It was not allowed or not possible, and nothing has changed.
    Refused,
    /// It was accepted, and its end was not known yet.
    Accepted,
}

impl AuditOutcome {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Done, Self::Refused, Self::Accepted];

    /// The name that readers see.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Accepted => "accepted",
        }
    }
}

/// The entries of the audit log that are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditFilter {
    /// Of this person or program.
    pub who: Option<String>,
    /// Of this change: one of [`AUDITED`].
    pub what: Option<String>,
    /// With this object.
    pub target: Option<String>,
    /// With this end.
    pub outcome: Option<AuditOutcome>,
    /// At this time or later.
    pub from: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
}

impl AuditFilter {
    /// The entry is wanted.
    #[must_use]
    pub fn fits(&self, entry: &Audit) -> bool {
        let is = |wanted: &Option<String>, text: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == text)
        };
        is(&self.who, &entry.who)
            && is(&self.what, &entry.what)
            && is(&self.target, &entry.target)
            && self.outcome.is_none_or(|wanted| wanted == entry.outcome)
            && self.from.is_none_or(|from| entry.at >= from)
            && self.until.is_none_or(|until| entry.at < until)
    }
}

/// API keys and the audit log.
#[async_trait]
pub trait Keys: Send + Sync {
    /// Keeps a key, in the place of one with the same id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn save_key(&self, key: ApiKey) -> Result<(), Error>;

    /// The key with this hash.
    ///
    /// # Errors
    /// See [`Error`].
    async fn key(&self, hash: &str) -> Result<Option<ApiKey>, Error>;

    /// All keys.
    ///
    /// # Errors
    /// See [`Error`].
    async fn keys(&self) -> Result<Vec<ApiKey>, Error>;

    /// Removes a key; false when there is none with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_key(&self, id: &str) -> Result<bool, Error>;

    /// Adds a change to the audit log.
    ///
    /// # Errors
    /// See [`Error`].
    async fn audit(&self, entry: Audit) -> Result<(), Error>;

    /// Adds changes to the audit log, in their order: all, or none.
    ///
    /// # Errors
    /// See [`Error`].
    async fn audit_all(&self, entries: Vec<Audit>) -> Result<(), Error>;

    /// One page of the entries of the audit log that are wanted, newest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn audits(&self, filter: &AuditFilter, page: Page) -> Result<Listed<Audit>, Error>;
}
