//! What each kind of client publishes and hears, from an account of its own.

use bus::Error;
use model::limits::SUBJECT_BYTES_MAX;
use protocol::subject::{self, INBOX};
use serde_json::{Value, json};

use super::account::{Export, Flow};
use super::grant::Grant;
use super::role::{journals, lifecycles, one, pulls};
use crate::api::nanos;

/// Workers that take longer say that they are at work, or get the task again.
const ACK_WAIT: std::time::Duration = std::time::Duration::from_secs(30);
/// Tasks of one type in progress, over all its workers.
const ACK_PENDING_MAX: u32 = 1_000;

/// A worker for the tasks of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Worker {
    /// The subject of the tasks.
    pub(crate) filter: String,
    /// The name of its user and of its consumer: `worker-` and the type in lower case.
    pub(crate) name: String,
}

impl Worker {
    /// # Errors
    /// [`Error::Corrupt`] when no name can be made of the type.
    pub(crate) fn of(task_name: &str) -> Result<Self, Error> {
        let filter = subject::task(task_name);
        let letters = task_name.chars().filter(char::is_ascii_alphanumeric).count();
        if letters == 0 || filter.len() > SUBJECT_BYTES_MAX {
            return Err(Error::Corrupt(format!(
                "no user can be named after the task {task_name:?}: its name needs a letter or digit \
                 of ASCII, and at most {SUBJECT_BYTES_MAX} bytes as a subject"
            )));
        }
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let plain: String = task_name.chars().map(plain).collect();
        Ok(Self { filter, name: format!("worker-{}", plain.to_ascii_lowercase()) })
    }

    /// The configuration of its consumer, as JetStream's API has it.
    pub(crate) fn consumer(&self) -> Value {
        json!({
            "durable_name": self.name,
            "name": self.name,
            "description": "the workers of one type of tasks pull from it",
            "filter_subject": self.filter,
            "deliver_policy": "all",
            "ack_policy": "explicit",
            "replay_policy": "instant",
            "ack_wait": nanos(ACK_WAIT),
            "max_deliver": -1,
            "max_ack_pending": ACK_PENDING_MAX,
        })
    }

    /// It takes its tasks, acknowledges them, and sends results. Client libraries ask for the
    /// consumer before they pull.
    pub(super) fn exports(&self) -> Vec<Export> {
        let stream = subject::TASKS_STREAM;
        let [next, ack, new_ack] = pulls(stream, &self.name);
        let info = format!("$JS.API.CONSUMER.INFO.{stream}.{}", self.name);
        vec![
            Export::new(Flow::Answer, info),
            Export::new(Flow::Messages, next),
            Export::new(Flow::Answer, ack),
            Export::new(Flow::Answer, new_ack),
            Export::new(Flow::Answer, one(&command("task"))),
            outcomes(&self.name),
        ]
    }
}

/// It starts, resumes and cancels instances and raises events, by commands and by requests.
pub(super) fn starter(user: &str) -> Vec<Export> {
    let mut exports = Vec::new();
    for prefix in [subject::COMMANDS, subject::API] {
        for rest in ["start.*", "resume.*", "cancel.*", "event.>"] {
            exports.push(Export::new(Flow::Answer, format!("{prefix}.{rest}")));
        }
    }
    exports.push(Export::new(Flow::Answer, format!("{}.get.*", subject::API)));
    exports.push(outcomes(user));
    exports
}

/// It hears lifecycle events and journals, as they come.
pub(super) fn watcher() -> Vec<Export> {
    vec![Export::new(Flow::Stream, lifecycles()), Export::new(Flow::Stream, journals())]
}

/// The permissions of a user of such an account: what the account has, and its own inbox.
pub(super) fn grant(user: &str, exports: &[Export]) -> Grant {
    let mut grant = Grant::default();
    for Export { flow, subject } in exports {
        match flow {
            Flow::Answer | Flow::Messages => grant.publishes([subject.as_str()]),
            // A subscription has to be within the permission, so that also `a.b.>` works.
            Flow::Stream => grant.subscribes([widened(subject)]),
        }
    }
    grant.subscribes([format!("{INBOX}.{user}.>")]);
    grant
}

/// `a.b.*.*` becomes `a.b.>`: the import already limits what there is.
fn widened(subject: &str) -> String {
    let fixed = subject.trim_end_matches(".*");
    if fixed == subject { subject.to_owned() } else { format!("{fixed}.>") }
}

/// The outcomes of the commands of a user, who names such a subject in `Staunch-Reply-To`.
fn outcomes(user: &str) -> Export {
    Export::new(Flow::Stream, format!("{}.{user}.>", subject::REPLY))
}

fn command(kind: &str) -> String {
    format!("{}.{kind}", subject::COMMANDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_named_after_its_tasks() {
        let worker = Worker::of("Ship Order").unwrap();
        assert_eq!(worker.name, "worker-ship-order");
        assert_eq!(worker.filter, subject::task("Ship Order"));
        for wrong in ["", "---", "é", &"x".repeat(SUBJECT_BYTES_MAX)] {
            let error = Worker::of(wrong).unwrap_err().to_string();
            assert!(error.contains("no user can be named"), "{error}");
        }
    }

    #[test]
    fn a_watcher_hears_no_audit_log() {
        let audit = subject::audit("key.created");
        let heard = watcher();
        assert!(heard.iter().all(|it| !super::super::pattern::covers(&it.subject, &audit)));
    }
}
