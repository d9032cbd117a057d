//! Builds findings, and their lines to copy: the same action for `staunch`, `nats` and `curl`.

use std::time::Duration;

use model::Timestamp;
use protocol::subject;
use serde_json::Value;

use super::answer::{Action, Finding, Weight};
use super::facts::Server;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

impl Finding {
    /// Something that is in the way.
    pub(super) fn blocks(cause: &str, says: String) -> Self {
        Self::of(Weight::Blocks, cause, says)
    }

    /// Something that the instance waits for.
    pub(super) fn waits(cause: &str, says: String) -> Self {
        Self::of(Weight::Waits, cause, says)
    }

    /// Something worth knowing.
    pub(super) fn note(cause: &str, says: String) -> Self {
        Self::of(Weight::Note, cause, says)
    }

    /// A finding of this weight.
    pub(super) fn of(weight: Weight, cause: &str, says: String) -> Self {
        let (cause, since, until) = (cause.to_owned(), None, None);
        Self { cause, weight, says, since, until, actions: Vec::new() }
    }

    pub(super) fn since(self, at: Timestamp) -> Self {
        Self { since: Some(at.to_string()), ..self }
    }

    pub(super) fn until(self, at: Option<Timestamp>) -> Self {
        Self { until: at.map(|at| at.to_string()), ..self }
    }

    pub(super) fn doing(mut self, action: Action) -> Self {
        self.actions.push(action);
        self
    }
}

/// `since 2026-11-21T09:00:00.250Z (3 min)`
pub(super) fn since(now: Timestamp, at: Timestamp) -> String {
    format!("since {at} ({})", span(now.since(at)))
}

/// A duration in one unit.
pub(super) fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 2 * MINUTE => format!("{seconds} s"),
        seconds if seconds < 2 * HOUR => format!("{} min", seconds / MINUTE),
        seconds if seconds < 2 * DAY => format!("{} h", seconds / HOUR),
        seconds => format!("{} days", seconds / DAY),
    }
}

/// An action without a line yet.
pub(super) fn action(what: impl Into<String>) -> Action {
    Action { what: what.into(), staunch: None, nats: None, curl: None }
}

impl Action {
    /// The words of a command of `staunch`.
    pub(super) fn staunch(self, words: &[&str]) -> Self {
        let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        Self { staunch: Some(format!("staunch {}", words.join(" "))), ..self }
    }

    /// A request that is answered with the outcome, for the command that goes to this subject.
    pub(super) fn nats(self, command: &str, body: &Value) -> Self {
        let subject = command.replacen(subject::COMMANDS, subject::API, 1);
        let body = quoted(&body.to_string());
        Self { nats: Some(format!("nats req {} {body}", quoted(&subject))), ..self }
    }

    /// A command that is published as it is.
    pub(super) fn published(self, command: &str, body: &Value) -> Self {
        let body = quoted(&body.to_string());
        Self { nats: Some(format!("nats pub {} {body}", quoted(command))), ..self }
    }

    /// A POST to a path below the API.
    pub(super) fn posted(self, server: &Server, path: &str, body: &Value) -> Self {
        let url = format!("{}/elsa/api{path}", server.url);
        let key = match server.wants_key {
            true => " -H \"Authorization: ApiKey $STAUNCH_API_KEY\"",
            false => "",
        };
        let (url, body) = (quoted(&url), quoted(&body.to_string()));
        let kind = "-H 'Content-Type: application/json'";
        Self { curl: Some(format!("curl -X POST {url}{key} {kind} -d {body}")), ..self }
    }

    /// A request to a workflow.
    pub(super) fn requested(self, server: &Server, method: &str, path: &str) -> Self {
        let url = quoted(&format!("{}/workflows{path}", server.url));
        Self { curl: Some(format!("curl -X {} {url}", quoted(&method.to_uppercase()))), ..self }
    }
}

/// A text as one word of a shell.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A text as one segment of a path.
pub(super) fn segment(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let each = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(each).collect()
}
