//! Every subject of Staunch: who sends there, what, and what is answered.

use protocol::{TaskProgress, subject};

/// The direction of messages, seen from Staunch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Clients send, Staunch takes.
    Takes,
    /// Staunch sends.
    Sends,
    /// Clients and workers send to each other; Staunch only says where.
    Between,
    /// A node sends, nodes take.
    Within,
}

/// The body of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// One of [`super::kinds`].
    Kind(&'static str),
    /// JSON of the client's own choice.
    Any,
    /// Nothing.
    Empty,
    /// An object that this describes; its members are those of the HTTP API.
    Object(&'static str),
    /// Bytes that this describes.
    Bytes(&'static str),
}

/// One subject, or one for each of something.
pub(crate) struct Channel {
    pub(crate) name: &'static str,
    /// The subject, with `{name}` for each parameter.
    pub(crate) address: String,
    pub(crate) about: &'static str,
    pub(crate) way: Way,
    pub(crate) content: Content,
    /// The answer to a request.
    pub(crate) answer: Option<Content>,
    /// The stream that keeps the messages; none are kept without one.
    pub(crate) stream: Option<&'static str>,
}

impl Channel {
    fn new(
        name: &'static str,
        address: String,
        way: Way,
        content: Content,
        about: &'static str,
    ) -> Self {
        Self { name, address: braced(&address), about, way, content, answer: None, stream: None }
    }

    fn kept(self, stream: &'static str) -> Self {
        Self { stream: Some(stream), ..self }
    }

    fn answered(self, content: Content) -> Self {
        Self { answer: Some(content), ..self }
    }

    /// The names of the parts of the subject that vary.
    pub(crate) fn parameters(&self) -> Vec<&str> {
        let parts = self.address.split('{').skip(1);
        parts.filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
    }
}

/// The names that stand for what varies, and what they mean.
pub(crate) const PARAMETERS: [(&str, &str); 14] = [
    ("activityKey", "the type and its version, `<type>.<version>`"),
    ("change", "the name of the change, such as `key.create`"),
    ("definitionId", "the id of the definition"),
    ("eventName", "the name of the event; its dots stay, so that it may be several tokens"),
    ("httpPath", "the method, and each part of the path below `/elsa/api` as one token"),
    ("instanceId", "the id of the instance"),
    ("node", "the name of the node"),
    ("origin", "the subject of the command, without `staunch.`"),
    ("payloadHash", "the name of the payload: `sha256-` and 64 hexadecimal digits"),
    ("replyTo", "the subject in the header `Staunch-Reply-To`, or that of a request's answer"),
    ("taskId", "the id of the task"),
    ("taskType", "the type of the task"),
    ("taskVersion", "the version of the type: 1, 2, 3 …"),
    ("what", "`started`, `suspended`, `finished`, `faulted` or `cancelled`"),
];

/// Puts the names in braces that stand for what varies.
fn braced(subject: &str) -> String {
    let is_parameter = |token: &&str| PARAMETERS.iter().any(|(name, _)| name == token);
    let tokens = subject.split('.').map(|token| match is_parameter(&token) {
        true => format!("{{{token}}}"),
        false => token.to_owned(),
    });
    tokens.collect::<Vec<_>>().join(".")
}

/// The subject of a type and version of tasks, whose version is a number in the code.
fn of_version(subject: &str) -> String {
    subject.replace(".7", ".taskVersion")
}

/// All of them.
pub(crate) fn channels() -> Vec<Channel> {
    let mut all = commands();
    all.extend(tasks());
    all.extend(news());
    all.extend(requests());
    all.extend(within());
    all
}

fn commands() -> Vec<Channel> {
    use Content::Kind;
    let command = |name, address, kind, about| {
        let content = Kind(kind);
        Channel::new(name, address, Way::Takes, content, about).kept(subject::COMMANDS_STREAM)
    };
    let (definition, instance) = ("definitionId".into(), "instanceId".into());
    let (kind, version, task) = ("taskType", 7, "taskId");
    vec![
        command("start", subject::start(&definition), "start", "Starts an instance."),
        command(
            "resume",
            subject::resume(&instance),
            "resume",
            "Resumes an instance at a bookmark.",
        ),
        command("cancel", subject::cancel(&instance), "cancel", "Cancels an instance."),
        command("alter", subject::alter(&instance), "alter", "Changes an instance from outside."),
        command("event", subject::event("eventName"), "event", "Raises an event."),
        command(
            "taskResult",
            of_version(&subject::task_result(kind, version, task)),
            "task-result",
            "Ends an attempt of a task: the result of a worker.",
        ),
        command(
            "anyTaskResult",
            subject::task_completed(task),
            "task-result",
            "The same without type and version, for operators.",
        ),
        Channel::new(
            "outcome",
            "replyTo".to_owned(),
            Way::Sends,
            Kind("outcome"),
            "The outcome of a command whose sender names a subject in `Staunch-Reply-To`, below \
             `_INBOX.` or `staunch.reply.`.",
        ),
    ]
}

fn tasks() -> Vec<Channel> {
    use Content::{Any, Kind};
    let (kind, version, task) = ("taskType", 7, "taskId");
    vec![
        Channel::new(
            "task",
            of_version(&subject::task(kind, version)),
            Way::Sends,
            Kind("task"),
            "An attempt of a task. Workers pull it from the durable consumer \
             `task-<type>-<version>`, and acknowledge it when their result is stored.",
        )
        .kept(subject::TASKS_STREAM),
        Channel::new(
            "taskCancel",
            of_version(&subject::task_cancel(kind, version, task)),
            Way::Sends,
            Kind("task-cancel"),
            "The task is not wanted any more. It reaches workers that listen at that moment.",
        ),
        Channel::new(
            "taskProgress",
            of_version(&TaskProgress::subject(kind, version, task)),
            Way::Between,
            Kind("task-progress"),
            "The progress of a worker, for those who listen at that moment, such as \
             `staunch worker progress`. No workflow reads it.",
        ),
        Channel::new(
            "act",
            subject::act(kind, 1),
            Way::Sends,
            Any,
            "The input of an activity of mode `request`, for its responder: an object. Versions \
             after the first have their number as another token.",
        )
        .answered(Any),
        Channel::new(
            "activityType",
            format!("$KV.{}.activityKey", subject::ACTIVITIES_BUCKET),
            Way::Takes,
            Kind("activity-type"),
            "Registers an activity type: the key of the bucket `staunch_activities`.",
        )
        .kept("KV_staunch_activities"),
    ]
}

fn news() -> Vec<Channel> {
    use Content::{Kind, Object};
    let (definition, instance) = ("definitionId".into(), "instanceId".into());
    vec![
        Channel::new(
            "lifecycle",
            subject::lifecycle(&definition, &instance, "what"),
            Way::Sends,
            Kind("lifecycle-event"),
            "What became of an instance.",
        )
        .kept(subject::EVENTS_STREAM),
        Channel::new(
            "audit",
            subject::audit("change"),
            Way::Sends,
            Kind("audit-event"),
            "A change that somebody made: an entry of the audit log, as `GET /elsa/api/audit` has it.",
        )
        .kept(subject::EVENTS_STREAM),
        Channel::new(
            "journal",
            subject::journal(&definition, &instance),
            Way::Sends,
            Kind("burst-journal"),
            "The journal of one burst, for those who listen at that moment.",
        ),
        Channel::new(
            "dead",
            subject::dead("staunch.origin"),
            Way::Sends,
            Object("The command as it was, in the encoding that `Content-Type` names."),
            "A command that could not be applied; the reason is in `Staunch-Reason`.",
        )
        .kept(subject::DEAD_STREAM),
    ]
}

/// The endpoints of the Services API.
fn requests() -> Vec<Channel> {
    use Content::{Bytes, Empty, Kind, Object};
    let outcome = Kind("outcome");
    let request = |name, rest: &str, content, answer, about| {
        let address = format!("{}.{rest}", subject::API);
        Channel::new(name, address, Way::Takes, content, about).answered(answer)
    };
    let starts = "Starts an instance, and answers with the outcome.";
    vec![
        request("apiStart", "start.definitionId", Kind("start"), outcome, starts),
        request("apiResume", "resume.instanceId", Kind("resume"), outcome, "Resumes an instance."),
        request("apiCancel", "cancel.instanceId", Kind("cancel"), outcome, "Cancels an instance."),
        request("apiAlter", "alter.instanceId", Kind("alter"), outcome, "Changes an instance."),
        request("apiEvent", "event.eventName", Kind("event"), outcome, "Raises an event."),
        request(
            "apiGet",
            "get.instanceId",
            Empty,
            Object("The instance, with its state."),
            "Reads an instance.",
        ),
        request(
            "apiPayload",
            "payload.payloadHash",
            Object("`{\"part\": 1}`: the number of the part, 0 on; without a body the first one."),
            Bytes(
                "The bytes of the part. `Staunch-Payload-Bytes` has the size of the whole payload, \
                 `Staunch-Payload-Parts` the number of its parts: whoever has read all of them checks \
                 that the digest is that of the name.",
            ),
            "Reads one part of a payload, at most 256 KiB.",
        ),
        request(
            "apiHttp",
            "http.httpPath",
            Object("The body of the request over HTTP; its query is in `Staunch-Query`."),
            Object("The body of the answer over HTTP; its status is in `Staunch-Status`."),
            "Any request of the HTTP API.",
        ),
        request(
            "apiStatus",
            "ingress.status",
            Empty,
            Object("The address of an ingress, and how busy it is."),
            "Asks an ingress how it is.",
        ),
    ]
}

/// What nodes say to each other. No client needs it, and it may change.
fn within() -> Vec<Channel> {
    use Content::{Empty, Kind};
    let own =
        |name, address, content, about| Channel::new(name, address, Way::Within, content, about);
    let perform = subject::perform(&"instanceId".into());
    vec![
        own("perform", perform, Empty, "Carries out the calls that an instance has committed.")
            .kept(subject::COMMANDS_STREAM),
        own("runtime", subject::runtime("node"), Empty, "Asks an executor about its work.")
            .answered(Kind("runtime")),
        own(
            "leaseWanted",
            subject::lease_wanted("node"),
            Content::Any,
            "Another node waits for a lease.",
        ),
        own(
            "cacheChanged",
            subject::CACHE_CHANGED.to_owned(),
            Kind("noticed"),
            "Asks cache-notifier to announce a definition.",
        )
        .answered(Kind("noticed")),
        own(
            "cacheAsk",
            subject::CACHE_ASK.to_owned(),
            Kind("cache-position"),
            "Asks all nodes which version they have.",
        ),
        own(
            "cacheApplied",
            subject::cache_applied("node"),
            Kind("cache-position"),
            "The version that a node has.",
        ),
        own(
            "timerArmed",
            subject::TIMER_ARMED.to_owned(),
            Kind("timer-armed"),
            "A timer is due soon.",
        ),
    ]
}
