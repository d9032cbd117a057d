//! A command: a message asking for one change to one instance.

use model::{
    ActivityId, BookmarkId, CommandId, DefinitionId, InstanceId, Map, Parent, Timestamp, VersionId,
    limits,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ContentType, Garbled, Headers, Message, codec, header, subject};

/// One change that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The idempotency key: the same on every delivery and every retry.
    pub id: CommandId,
    /// What is asked.
    pub body: Body,
    /// Where the outcome goes; nowhere when none.
    pub reply_to: Option<String>,
    /// When the outcome goes there.
    pub reply_when: ReplyWhen,
    /// The sender's order, where it asked for one.
    pub sequence: Option<Sequence>,
    /// W3C trace context of the sender.
    pub traceparent: Option<String>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// `staunch.cmd.start.<definitionId>`
    Start(Start),
    /// `staunch.cmd.resume.<instanceId>`
    Resume(Resume),
    /// `staunch.cmd.cancel.<instanceId>`
    Cancel(Cancel),
    /// `staunch.cmd.event.<eventName>`
    Event(EventRaised),
    /// `staunch.cmd.task.<taskId>`
    Task(TaskCompleted),
    /// `staunch.cmd.perform.<instanceId>`: carry out committed calls, or go on; ours only.
    Perform(Perform),
}

/// When the sender wants the outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyWhen {
    /// When the first burst is committed.
    #[default]
    Committed,
    /// When the instance waits for something outside, or is over; or has answered the HTTP client.
    Settled,
}

/// The place of a command among those of its sender to the same instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// Who sends.
    pub sender: String,
    /// 1, 2, 3 …
    pub number: u64,
}

/// Starts an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Start {
    /// From the subject.
    #[serde(skip)]
    pub definition_id: DefinitionId,
    /// The id of the new instance; derived from the command's id when none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<InstanceId>,
    /// This exact version; the published one when none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_id: Option<VersionId>,
    /// Workflow input by name.
    pub input: Map,
    /// Groups instances that belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The instance's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The trigger activity that received a stimulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_activity_id: Option<ActivityId>,
    /// Who started it as a child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The definition pointer's revision that the sender had seen: a node that is behind it looks
    /// the definition up before it starts anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer_revision: Option<u64>,
    /// An HTTP client waits for what `WriteHttpResponse` says.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub responds: bool,
}

/// Resumes an instance at a bookmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Resume {
    /// From the subject.
    #[serde(skip)]
    pub instance_id: InstanceId,
    /// The bookmark; may be left out where there is exactly one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark_id: Option<BookmarkId>,
    /// What arrives, by name.
    pub input: Map,
    /// A due timer: resumed only if the bookmark still has this due time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// The event it stems from: an instance takes each event once, also when it waits for the same
    /// event again and the first one is delivered a second time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<CommandId>,
    /// An HTTP client waits for what `WriteHttpResponse` says.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub responds: bool,
}

/// Cancels an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Cancel {
    /// From the subject.
    #[serde(skip)]
    pub instance_id: InstanceId,
    /// Why, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Raises an event for whoever waits for it: resumes bookmarks, starts triggers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct EventRaised {
    /// From the subject.
    #[serde(skip)]
    pub event_name: String,
    /// Only instances with this correlation id; all when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Only this instance; no triggers then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<InstanceId>,
    /// What comes with it.
    #[serde(alias = "input")]
    pub payload: Value,
}

/// Completes a task that `RunTask` handed out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct TaskCompleted {
    /// From the subject.
    #[serde(skip)]
    pub task_id: String,
    /// What the worker found.
    pub result: Value,
}

/// Carries out what an instance has committed and not yet done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Perform {
    /// From the subject.
    #[serde(skip)]
    pub instance_id: InstanceId,
}

impl Start {
    /// The id of the instance that this start makes: given, or derived from the command.
    #[must_use]
    pub fn instance_id(&self, command_id: &CommandId) -> InstanceId {
        self.instance_id.clone().unwrap_or_else(|| {
            let parts = ["start", self.definition_id.as_str(), command_id.as_str()];
            InstanceId::new(model::derived(&parts))
        })
    }
}

impl Command {
    /// A command with no wishes about its outcome.
    #[must_use]
    pub fn new(id: CommandId, body: Body) -> Self {
        Self {
            id,
            body,
            reply_to: None,
            reply_when: ReplyWhen::Committed,
            sequence: None,
            traceparent: None,
        }
    }

    /// The one instance it is about; none for events and tasks, which are looked up.
    #[must_use]
    pub fn instance_id(&self) -> Option<InstanceId> {
        match &self.body {
            Body::Start(start) => Some(start.instance_id(&self.id)),
            Body::Resume(resume) => Some(resume.instance_id.clone()),
            Body::Cancel(cancel) => Some(cancel.instance_id.clone()),
            Body::Perform(perform) => Some(perform.instance_id.clone()),
            Body::Event(event) => event.instance_id.clone(),
            Body::Task(_) => None,
        }
    }

    /// The subject it travels on.
    #[must_use]
    pub fn subject(&self) -> String {
        match &self.body {
            Body::Start(start) => subject::start(&start.definition_id),
            Body::Resume(resume) => subject::resume(&resume.instance_id),
            Body::Cancel(cancel) => subject::cancel(&cancel.instance_id),
            Body::Event(event) => subject::event(&event.event_name),
            Body::Task(task) => subject::task_completed(&task.task_id),
            Body::Perform(perform) => subject::perform(&perform.instance_id),
        }
    }

    /// The message that carries it, MessagePack inside.
    ///
    /// # Errors
    /// [`Garbled`] when the body is larger than `limits::COMMAND_BYTES_MAX` or cannot be encoded.
    pub fn encode(&self) -> Result<Message, Garbled> {
        let kind = ContentType::MessagePack;
        let payload = match &self.body {
            Body::Start(body) => codec::encode_body(kind, body),
            Body::Resume(body) => codec::encode_body(kind, body),
            Body::Cancel(body) => codec::encode_body(kind, body),
            Body::Event(body) => codec::encode_body(kind, body),
            Body::Task(body) => codec::encode_body(kind, body),
            Body::Perform(body) => codec::encode_body(kind, body),
        }?;
        check_size(&payload)?;
        let mut headers = Headers::new();
        headers.insert(header::MESSAGE_ID.to_owned(), self.id.to_string());
        headers.insert(header::CONTENT_TYPE.to_owned(), "application/msgpack".to_owned());
        if let Some(reply_to) = &self.reply_to {
            headers.insert(header::REPLY_TO.to_owned(), reply_to.clone());
        }
        if self.reply_when == ReplyWhen::Settled {
            headers.insert(header::REPLY_WHEN.to_owned(), "settled".to_owned());
        }
        if let Some(Sequence { sender, number }) = &self.sequence {
            headers.insert(header::SEQUENCE.to_owned(), format!("{sender}:{number}"));
        }
        if let Some(traceparent) = &self.traceparent {
            headers.insert(header::TRACEPARENT.to_owned(), traceparent.clone());
        }
        Ok(Message { subject: self.subject(), headers, payload })
    }

    /// Reads a message. `fallback_id` is used where it has no `Nats-Msg-Id`.
    ///
    /// # Errors
    /// [`Garbled`] says what is wrong, for the sender.
    pub fn decode(message: &Message, fallback_id: &str) -> Result<Self, Garbled> {
        check_size(&message.payload)?;
        let id = message.header(header::COMMAND_ID).or(message.id()).unwrap_or(fallback_id);
        let id = CommandId::new(id);
        let body = decode_body(message)?;
        let reply_when = match message.header(header::REPLY_WHEN) {
            None | Some("committed") => ReplyWhen::Committed,
            Some("settled") => ReplyWhen::Settled,
            Some(other) => {
                return Err(Garbled(format!(
                    "header {} is {other:?}: use committed or settled",
                    header::REPLY_WHEN
                )));
            }
        };
        Ok(Self {
            id,
            body,
            reply_to: message.header(header::REPLY_TO).map(str::to_owned),
            reply_when,
            sequence: message.header(header::SEQUENCE).map(sequence).transpose()?,
            traceparent: message.header(header::TRACEPARENT).map(str::to_owned),
        })
    }
}

fn check_size(payload: &[u8]) -> Result<(), Garbled> {
    if payload.len() <= limits::COMMAND_BYTES_MAX {
        return Ok(());
    }
    Err(Garbled(format!(
        "the body has {} bytes, more than the {} that are allowed: keep large data elsewhere and \
         send a reference to it",
        payload.len(),
        limits::COMMAND_BYTES_MAX
    )))
}

fn decode_body(message: &Message) -> Result<Body, Garbled> {
    let unknown = || {
        Garbled(format!(
            "{} is no command: use staunch.cmd.start.<definitionId>, .resume.<instanceId>, \
             .cancel.<instanceId>, .event.<eventName> or .task.<taskId>",
            message.subject
        ))
    };
    let rest = message
        .subject
        .strip_prefix(subject::COMMANDS)
        .and_then(|rest| rest.strip_prefix('.'))
        .ok_or_else(unknown)?;
    let (verb, name) = rest.split_once('.').ok_or_else(unknown)?;
    let kind = message.content_type();
    let bytes = &message.payload;
    match verb {
        "event" => {
            let event_name = subject::undotted(name).ok_or_else(unknown)?;
            Ok(Body::Event(EventRaised { event_name, ..codec::decode_body(kind, bytes)? }))
        }
        "start" => {
            let definition_id = DefinitionId::new(subject::untoken(name).ok_or_else(unknown)?);
            let start: Start = codec::decode_body(kind, bytes)?;
            if let Some(id) = &start.instance_id {
                InstanceId::parse(id.as_str()).map_err(|error| Garbled(error.to_string()))?;
            }
            Ok(Body::Start(Start { definition_id, ..start }))
        }
        "task" => {
            let task_id = subject::untoken(name).ok_or_else(unknown)?;
            Ok(Body::Task(TaskCompleted { task_id, ..codec::decode_body(kind, bytes)? }))
        }
        "resume" | "cancel" | "perform" => {
            let instance_id =
                InstanceId::parse(name).map_err(|error| Garbled(error.to_string()))?;
            Ok(match verb {
                "resume" => {
                    Body::Resume(Resume { instance_id, ..codec::decode_body(kind, bytes)? })
                }
                "cancel" => {
                    Body::Cancel(Cancel { instance_id, ..codec::decode_body(kind, bytes)? })
                }
                _ => Body::Perform(Perform { instance_id }),
            })
        }
        _ => Err(unknown()),
    }
}

fn sequence(text: &str) -> Result<Sequence, Garbled> {
    let parsed = text.rsplit_once(':').and_then(|(sender, number)| {
        let number = number.parse().ok().filter(|number| *number > 0)?;
        Some(Sequence { sender: sender.to_owned(), number })
    });
    parsed.filter(|sequence| !sequence.sender.is_empty()).ok_or_else(|| {
        Garbled(format!("header {} is {text:?}: use <sender>:<number>, from 1", header::SEQUENCE))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(subject: &str, body: &str) -> Message {
        Message { subject: subject.to_owned(), headers: Headers::new(), payload: body.into() }
    }

    #[test]
    fn a_command_survives_the_wire() {
        let mut input = Map::new();
        input.insert("Amount".into(), serde_json::json!({"value": 12.5, "list": [1, null, "é"]}));
        let start = Start { definition_id: "Order Approval".into(), input, ..Start::default() };
        let mut command = Command::new("c1".into(), Body::Start(start));
        command.sequence = Some(Sequence { sender: "a:b".into(), number: 3 });
        command.reply_when = ReplyWhen::Settled;
        let sent = command.encode().unwrap();
        assert_eq!(sent.subject, "staunch.cmd.start.Order=20Approval");
        assert_eq!(Command::decode(&sent, "other").unwrap(), command);
    }

    #[test]
    fn what_people_publish_is_read() {
        let command = Command::decode(&message("staunch.cmd.event.order.paid", ""), "f").unwrap();
        assert_eq!(command.id.as_str(), "f");
        assert!(matches!(command.body, Body::Event(event) if event.event_name == "order.paid"));
        let body = r#"{"input":{"A":1},"instanceId":"x-1"}"#;
        let command = Command::decode(&message("staunch.cmd.start.sum", body), "f").unwrap();
        assert_eq!(command.instance_id(), Some("x-1".into()));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let check = |subject: &str, body: &str, expected: &str| {
            let error = Command::decode(&message(subject, body), "f").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("staunch.cmd.start.sum", "not json", "line 1 column 2");
        check("staunch.cmd.start.sum", r#"{"inputs":{}}"#, "unknown field `inputs`");
        check("staunch.cmd.start.sum", r#"{"instanceId":"a.b"}"#, "instance id \"a.b\"");
        check("staunch.cmd.stop.sum", "{}", "is no command");
        check("staunch.cmd.resume.a*", "{}", "instance id");
        let large = format!(r#"{{"input":{{"a":"{}"}}}}"#, "x".repeat(limits::COMMAND_BYTES_MAX));
        check("staunch.cmd.start.sum", &large, "more than the 524288 that are allowed");
    }
}
