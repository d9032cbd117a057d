//! What each kind of client publishes and hears, from an account of its own.

use std::collections::BTreeSet;

use bus::Error;
use model::limits::SUBJECT_BYTES_MAX;
use protocol::subject::{self, INBOX};

use super::account::{Export, Flow};
use super::grant::Grant;
use super::role::{journals, lifecycles, pulls};

/// Whether clients put objects into the store of payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objects {
    /// They do, and trust each other with what is in it.
    Put,
    /// They do not.
    None,
}

/// The workers for one type of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Worker {
    /// The type.
    pub(super) task_type: String,
    /// The versions whose tasks it takes.
    pub(super) versions: BTreeSet<u32>,
    /// The name of its user: `worker-` and the type in lower case.
    pub(super) name: String,
}

impl Worker {
    /// # Errors
    /// [`Error::Corrupt`] when no name can be made of the type, or an `@` in it is followed by no
    /// version.
    pub(super) fn of(kind: &str) -> Result<Self, Error> {
        let (task_type, version) = subject::task_kind(kind).map_err(Error::Corrupt)?;
        let longest = subject::task_results(task_type).len();
        let letters = task_type.chars().filter(char::is_ascii_alphanumeric).count();
        if letters == 0 || longest > SUBJECT_BYTES_MAX {
            return Err(Error::Corrupt(format!(
                "no user can be named after the task {task_type:?}: its name needs a letter or digit \
                 of ASCII, and at most {SUBJECT_BYTES_MAX} bytes as a subject"
            )));
        }
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let plain: String = task_type.chars().map(plain).collect();
        Ok(Self {
            task_type: task_type.to_owned(),
            versions: BTreeSet::from([version]),
            name: format!("worker-{}", plain.to_ascii_lowercase()),
        })
    }

    /// It registers its type, takes its tasks, acknowledges them, reads the large values of their inputs,
    /// sends results and progress, hears which tasks are not wanted any more, and, where it may, puts
    /// large results. Client libraries ask for the consumer before they pull.
    pub(super) fn exports(&self, objects: Objects) -> Vec<Export> {
        let (stream, task_type) = (subject::TASKS_STREAM, self.task_type.as_str());
        let mut exports = Vec::new();
        for version in &self.versions {
            let consumer = subject::task_consumer(task_type, *version);
            let [next, ack, new_ack] = pulls(stream, &consumer);
            let info = format!("$JS.API.CONSUMER.INFO.{stream}.{consumer}");
            exports.push(Export::new(Flow::Answer, info));
            exports.push(Export::new(Flow::Messages, next));
            exports.push(Export::new(Flow::Answer, ack));
            exports.push(Export::new(Flow::Answer, new_ack));
        }
        let token = subject::token(task_type);
        let progress = format!("{}.{token}.>", subject::TASK_PROGRESS);
        let cancel = format!("{}.{token}.*.*", subject::TASK_CANCEL);
        for version in &self.versions {
            let key = subject::activity_key(task_type, *version);
            exports.push(Export::new(
                Flow::Answer,
                format!("$KV.{}.{key}", subject::ACTIVITIES_BUCKET),
            ));
        }
        exports.push(Export::new(Flow::Answer, subject::task_results(task_type)));
        exports.push(Export::new(Flow::Answer, progress));
        exports.push(payloads());
        if objects == Objects::Put {
            exports.extend(puts());
        }
        exports.push(Export::new(Flow::Stream, cancel));
        exports.push(outcomes(&self.name));
        exports
    }
}

/// It starts, resumes and cancels instances and raises events, by commands and by requests, and, where it
/// may, puts files for them.
pub(super) fn starter(user: &str, objects: Objects) -> Vec<Export> {
    let mut exports = Vec::new();
    for prefix in [subject::COMMANDS, subject::API] {
        for rest in ["start.*", "resume.*", "cancel.*", "event.>"] {
            exports.push(Export::new(Flow::Answer, format!("{prefix}.{rest}")));
        }
    }
    exports.push(Export::new(Flow::Answer, format!("{}.get.*", subject::API)));
    exports.push(payloads());
    if objects == Objects::Put {
        // Clients of object stores look first whether there is one, and what has the name. The command
        // line of NATS asks before that whether there is JetStream.
        let store = subject::PAYLOADS_STORE;
        for subject in [
            "$JS.API.INFO".to_owned(),
            format!("$JS.API.STREAM.INFO.OBJ_{store}"),
            format!("$JS.API.DIRECT.GET.OBJ_{store}.$O.{store}.M.*"),
        ] {
            exports.push(Export::new(Flow::Answer, subject));
        }
        exports.extend(puts());
    }
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

/// Requests for payloads: whoever knows the name of one may read it, and it cannot be guessed.
fn payloads() -> Export {
    Export::new(Flow::Answer, format!("{}.payload.*", subject::API))
}

/// Objects that a header of a command names. The store is one for all users and takes roll-ups, as clients
/// of object stores need them: who puts an object can replace and remove those of others.
fn puts() -> [Export; 2] {
    let store = subject::PAYLOADS_STORE;
    ["C", "M"].map(|part| Export::new(Flow::Answer, format!("$O.{store}.{part}.*")))
}

/// The outcomes of the commands of a user, who names such a subject in `Staunch-Reply-To`.
fn outcomes(user: &str) -> Export {
    Export::new(Flow::Stream, format!("{}.{user}.>", subject::REPLY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_named_after_its_tasks() {
        let worker = Worker::of("Ship Order").unwrap();
        assert_eq!((worker.name.as_str(), &worker.versions), ("worker-ship-order", &[1].into()));
        assert_eq!(Worker::of("Ship Order@3").unwrap().versions, [3].into());
        assert_eq!(Worker::of("Ship Order@3").unwrap().name, worker.name);
        for wrong in ["", "---", "é", &"x".repeat(SUBJECT_BYTES_MAX)] {
            let error = Worker::of(wrong).unwrap_err().to_string();
            assert!(error.contains("no user can be named"), "{error}");
        }
        for wrong in ["Pack@x", "Pack@0", "Pack@"] {
            let error = Worker::of(wrong).unwrap_err().to_string();
            assert!(error.contains("after its last @ comes the version"), "{error}");
        }
    }

    #[test]
    fn a_worker_sends_results_of_its_own_tasks_alone() {
        use super::super::pattern::covers;
        let may = |subject: &str| {
            let exports = Worker::of("Ship").unwrap().exports(Objects::Put);
            exports.iter().any(|it| covers(&it.subject, subject))
        };
        for allowed in [
            "staunch.cmd.task.Ship.1.t",
            "staunch.task-progress.Ship.1.t",
            "staunch.api.payload.sha256-1",
            "$O.staunch_payloads.C.1",
            "$O.staunch_payloads.M.YQ==",
            "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_TASKS.task-Ship-1",
        ] {
            assert!(may(allowed), "{allowed}");
        }
        for refused in [
            "staunch.cmd.task.t",
            "staunch.cmd.task.Pay.1.t",
            "staunch.cmd.task.Ship.1",
            "staunch.task-progress.Pay.1.t",
            "staunch.api.get.i",
            "$O.staunch_payload_parts.C.1",
            "$JS.API.STREAM.INFO.OBJ_staunch_payloads",
            "$JS.API.DIRECT.GET.OBJ_staunch_payloads.$O.staunch_payloads.M.YQ==",
            "$JS.API.STREAM.PURGE.OBJ_staunch_payloads",
            "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_TASKS.task-Ship-2",
            "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_TASKS.task-Pay-1",
        ] {
            assert!(!may(refused), "{refused}");
        }
    }

    #[test]
    fn nobody_puts_objects_without_having_asked_for_it() {
        let is_of_store = |export: &Export| export.subject.contains(subject::PAYLOADS_STORE);
        let worker = Worker::of("Ship").unwrap();
        for (objects, expected) in [(Objects::None, (0, 0)), (Objects::Put, (4, 2))] {
            let starts = starter("starter", objects);
            let works = worker.exports(objects);
            let count = |exports: &[Export]| exports.iter().filter(|it| is_of_store(it)).count();
            assert_eq!((count(&starts), count(&works)), expected, "{objects:?}");
            let asks_of_jetstream = starts.iter().any(|it| it.subject == "$JS.API.INFO");
            assert_eq!(asks_of_jetstream, objects == Objects::Put);
        }
    }

    #[test]
    fn a_watcher_hears_no_audit_log() {
        let audit = subject::audit("key.created");
        let heard = watcher();
        assert!(heard.iter().all(|it| !super::super::pattern::covers(&it.subject, &audit)));
    }
}
