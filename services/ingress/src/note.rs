//! Entries of the audit log about commands: their outcome is what the reply to the command says.

use model::Map;
use protocol::Refusal;
use serde_json::{Value, json};
use store::{Audit, AuditOutcome};

use crate::app::App;
use crate::audit;
use crate::auth::caller::Caller;
use crate::pipeline::reply::Reply;
use crate::problem::Problem;

/// The entry about a command that is on its way. It is written when the outcome is known. A request that
/// ends before, as its caller has hung up, leaves an entry that says `accepted`.
#[must_use = "a note that is dropped says that the command was accepted"]
pub(crate) struct Note<'a> {
    app: &'a App,
    entry: Option<Audit>,
    is_frequent: bool,
}

impl App {
    /// Begins the entry about a command, before the command is sent.
    pub(crate) fn note(
        &self,
        caller: &Caller,
        what: &str,
        target: &str,
        details: Value,
    ) -> Note<'_> {
        let entry = audit::entry(self.now(), caller, what, target, details);
        Note { app: self, entry: Some(entry), is_frequent: false }
    }
}

impl Note<'_> {
    /// The change is made often: its entry is written with others, beside the request. A crash loses
    /// those of the last moment.
    pub(crate) fn together(mut self) -> Self {
        self.is_frequent = true;
        self
    }

    /// Writes the entry with what the reply says; nothing about a command that was not accepted.
    pub(crate) async fn replied(self, reply: Result<Reply, Problem>) -> Result<Reply, Problem> {
        self.replied_if(reply.as_ref().ok()).await;
        reply
    }

    /// Writes the entry with what the reply says; nothing if there is none, as the command was not
    /// accepted.
    pub(crate) async fn replied_if(self, reply: Option<&Reply>) {
        match reply.map(Reply::end) {
            Some((outcome, refusal)) => self.ends(outcome, refusal).await,
            None => self.forget(),
        }
    }

    /// Writes the entry with this outcome, and with the kind of a refusal: its text may show values.
    pub(crate) async fn ends(mut self, outcome: AuditOutcome, refusal: Option<Refusal>) {
        let Some(entry) = self.entry.take() else { return };
        let details = match refusal {
            Some(refusal) => refused(entry.details, refusal),
            None => entry.details,
        };
        let entry = Audit { outcome, details, ..entry };
        match self.is_frequent {
            true => self.app.keep_audit_later(entry).await,
            false => self.app.keep_audit(entry).await,
        }
    }

    /// Writes nothing.
    pub(crate) fn forget(mut self) {
        self.entry = None;
    }
}

impl Drop for Note<'_> {
    fn drop(&mut self) {
        let Some(entry) = self.entry.take() else { return };
        let entry = Audit { outcome: AuditOutcome::Accepted, ..entry };
        if let Err(entry) = self.app.try_audit_later(entry) {
            let Audit { what, target, .. } = *entry;
            tracing::error!(what, of = target, "the audit log could not be written");
        }
    }
}

/// The details of a change, with the kind of its refusal.
fn refused(details: Value, refusal: Refusal) -> Value {
    let mut members = match details {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    members.insert("refusal".to_owned(), json!(refusal));
    Value::Object(members)
}
