//! Commands as messages: MessagePack between our nodes, JSON or MessagePack from all other clients.

use model::{
    Alteration, CommandId, DefinitionId, InstanceId, Map, TaskStatus, check_error, depth, limits,
    whole,
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Alter, Body, Cancel, Command, EventRaised, Lineage, Perform, ReplyWhen, Resume, Sequence,
    Start, TaskCompleted,
};
use crate::{ContentType, Garbled, Headers, Message, codec, header, subject};

/// The type of the failure of an attempt whose result cannot be read.
const RESULT_UNFIT: &str = "ResultUnfit";
/// The characters of the reason that such a failure has.
const REASON_CHARS_MAX: usize = 1_000;

/// The id of an instance in a subject. No id has anything to escape: where a sender has escaped one all
/// the same, the refusal names it as it was before.
///
/// # Errors
/// [`Garbled`] names the id, and what ids are made of.
pub fn instance_of(token: &str) -> Result<InstanceId, Garbled> {
    InstanceId::parse(token).map_err(|error| {
        let written = subject::untoken(token).and_then(|id| InstanceId::parse(&id).err());
        Garbled(written.unwrap_or(error).to_string())
    })
}

impl Command {
    /// The message that carries this command, with its body in MessagePack.
    ///
    /// # Errors
    /// [`Garbled`] when the body is larger than `limits::COMMAND_BYTES_MAX`, has a value that is
    /// deeper than `limits::DEPTH_MAX`, or cannot be encoded.
    pub fn encode(&self) -> Result<Message, Garbled> {
        self.body.check_depth()?;
        let kind = ContentType::MessagePack;
        let payload = match &self.body {
            Body::Start(body) => codec::encode_body(kind, body),
            Body::Resume(body) => codec::encode_body(kind, body),
            Body::Cancel(body) => codec::encode_body(kind, body),
            Body::Alter(body) => codec::encode_body(kind, body),
            Body::Event(body) => codec::encode_body(kind, body),
            Body::Task(body) => codec::encode_body(kind, body),
            Body::Perform(body) => codec::encode_body(kind, body),
        }?;
        check_size(&payload)?;
        Ok(Message { subject: self.subject(), headers: self.headers(), payload })
    }

    fn headers(&self) -> Headers {
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
        if self.lineage != Lineage::default() {
            let Lineage { depth, chain } = self.lineage;
            headers.insert(header::LINEAGE.to_owned(), format!("{depth}.{chain}"));
        }
        headers
    }

    /// Reads a message. `fallback_id` is the command's id when the message has no `Nats-Msg-Id`.
    ///
    /// # Errors
    /// [`Garbled`] has the reason, in words for the sender.
    pub fn decode(message: &Message, fallback_id: &str) -> Result<Self, Garbled> {
        check_size(&message.payload)?;
        let id = message.header(header::COMMAND_ID).or(message.id()).unwrap_or(fallback_id);
        let id = CommandId::new(id);
        let body = decode_body(message)?;
        body.check_depth()?;
        let reply_to = message.header(header::REPLY_TO).map(reply_to).transpose()?;
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
            reply_to: reply_to.map(str::to_owned),
            reply_when,
            sequence: message.header(header::SEQUENCE).map(sequence).transpose()?,
            traceparent: message.header(header::TRACEPARENT).map(str::to_owned),
            lineage: message.header(header::LINEAGE).map(lineage).transpose()?.unwrap_or_default(),
        })
    }

    /// Whether this is the subject of a command: it names a change, and what is to change.
    #[must_use]
    pub fn is_subject(subject: &str) -> bool {
        Named::read(subject).is_ok()
    }
}

impl TaskCompleted {
    /// The failure that stands for a message which cannot be read as the result of a task. It is about the
    /// attempt that the message names, and about the current one where that cannot be read either. None if
    /// the subject is not that of a result.
    #[must_use]
    pub fn unfit(message: &Message, reason: &str) -> Option<Self> {
        let Ok(Named::Task { kind, task_id }) = Named::read(&message.subject) else { return None };
        let in_header = || message.header(header::ATTEMPT).and_then(|text| attempt(text).ok());
        let detail: String = reason.chars().take(REASON_CHARS_MAX).collect();
        let words = [
            ("type", RESULT_UNFIT.to_owned()),
            ("title", "the result cannot be read".to_owned()),
            ("detail", detail),
        ];
        let words = words.map(|(name, text)| (name.to_owned(), Value::String(text)));
        Some(Self {
            task_id,
            kind,
            attempt: attempt_in(message).filter(|attempt| *attempt > 0).or_else(in_header),
            status: Some(TaskStatus::Failed),
            error: Some(Map::from_iter(words)),
            retryable: Some(false),
            ..Self::default()
        })
    }

    /// Checks what its types leave open.
    fn check(&self) -> Result<(), Garbled> {
        if self.attempt == Some(0) {
            return Err(Garbled("attempt is 0: attempts are numbered from 1 on".to_owned()));
        }
        self.error.as_ref().map_or(Ok(()), |error| check_error(error).map_err(Garbled))
    }
}

impl Body {
    /// Checks the values that the sender gives to workflows.
    ///
    /// # Errors
    /// [`Garbled`] when one is deeper than `limits::DEPTH_MAX`.
    pub fn check_depth(&self) -> Result<(), Garbled> {
        match self {
            Self::Start(Start { input, restart, .. }) => {
                depth::check_map(input)?;
                restart.iter().try_for_each(|restart| depth::check_map(&restart.variables))?;
            }
            Self::Resume(Resume { input, .. }) => depth::check_map(input)?,
            Self::Alter(alter) => {
                let max = limits::ALTERATIONS_MAX;
                if alter.alterations.len() > max {
                    return Err(Garbled(format!(
                        "more than {max} alterations: send several commands"
                    )));
                }
                for alteration in &alter.alterations {
                    if let Alteration::ModifyVariable { value, .. } = alteration {
                        depth::check(value)?;
                    }
                }
            }
            Self::Task(TaskCompleted { result, error, .. }) => {
                depth::check(result)?;
                error.iter().try_for_each(depth::check_map)?;
            }
            Self::Event(EventRaised { payload: value, .. }) => depth::check(value)?,
            Self::Cancel(_) | Self::Perform(_) => {}
        }
        Ok(())
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

/// What the subject of a command names.
enum Named {
    Start(DefinitionId),
    Resume(InstanceId),
    Cancel(InstanceId),
    Alter(InstanceId),
    Perform(InstanceId),
    Event(String),
    Task { kind: Option<(String, u32)>, task_id: String },
}

impl Named {
    /// Reads the subject of a command.
    fn read(subject: &str) -> Result<Self, Garbled> {
        let unknown = || {
            Garbled(format!(
                "{subject} is not the subject of a command: use staunch.cmd.start.<definitionId>, .resume.<instanceId>, \
                 .cancel.<instanceId>, .alter.<instanceId>, .event.<eventName>, .task.<type>.<version>.<taskId> or .task.<taskId>"
            ))
        };
        let rest = subject.strip_prefix(subject::COMMANDS);
        let rest = rest.and_then(|rest| rest.strip_prefix('.')).ok_or_else(unknown)?;
        let (verb, name) = rest.split_once('.').ok_or_else(unknown)?;
        let instance = || instance_of(name);
        Ok(match verb {
            "event" => Self::Event(subject::undotted(name).ok_or_else(unknown)?),
            "start" => Self::Start(DefinitionId::new(subject::untoken(name).ok_or_else(unknown)?)),
            "task" => {
                let tokens: Vec<_> = name.split('.').collect();
                let (kind, task_id) = match *tokens {
                    [task_id] => (None, task_id),
                    [task_type, version, task_id] => {
                        let version = subject::task_version(version).ok_or_else(unknown)?;
                        let task_type = subject::untoken(task_type).ok_or_else(unknown)?;
                        (Some((task_type, version)), task_id)
                    }
                    _ => return Err(unknown()),
                };
                let task_id = subject::untoken(task_id).ok_or_else(unknown)?;
                Self::Task { kind, task_id }
            }
            "resume" => Self::Resume(instance()?),
            "cancel" => Self::Cancel(instance()?),
            "alter" => Self::Alter(instance()?),
            "perform" => Self::Perform(instance()?),
            _ => return Err(unknown()),
        })
    }
}

fn decode_body(message: &Message) -> Result<Body, Garbled> {
    let named = Named::read(&message.subject)?;
    let kind = message.content_type();
    let bytes = &message.payload;
    Ok(match named {
        Named::Event(event_name) => {
            Body::Event(EventRaised { event_name, ..codec::decode_exact(kind, bytes)? })
        }
        Named::Start(definition_id) => {
            let start: Start = codec::decode_exact(kind, bytes)?;
            if let Some(id) = &start.instance_id {
                InstanceId::parse(id.as_str()).map_err(|error| Garbled(error.to_string()))?;
            }
            Body::Start(Start { definition_id, ..start })
        }
        Named::Task { kind: task_type, task_id } => {
            let is_empty = bytes.trim_ascii().is_empty();
            if kind == ContentType::Json && is_empty && message.header(header::PAYLOAD).is_none() {
                return Err(Garbled(
                    "the body is empty: a result is a JSON object, and `{}` is one without output"
                        .to_owned(),
                ));
            }
            let body: TaskCompleted = codec::decode_exact(kind, bytes)?;
            body.check()?;
            let attempt = match (body.attempt, message.header(header::ATTEMPT)) {
                (None, Some(text)) => Some(attempt(text)?),
                (given, _) => given,
            };
            Body::Task(TaskCompleted { task_id, kind: task_type, attempt, ..body })
        }
        Named::Resume(instance_id) => {
            Body::Resume(Resume { instance_id, ..codec::decode_exact(kind, bytes)? })
        }
        Named::Cancel(instance_id) => {
            Body::Cancel(Cancel { instance_id, ..codec::decode_exact(kind, bytes)? })
        }
        Named::Alter(instance_id) => {
            Body::Alter(Alter { instance_id, ..codec::decode_exact(kind, bytes)? })
        }
        Named::Perform(instance_id) => {
            Body::Perform(Perform { instance_id, ..codec::decode_exact(kind, bytes)? })
        }
    })
}

/// The attempt that a body names, whatever else is in it. In JSON, values that are too deep or no JSON do not
/// matter here.
fn attempt_in(message: &Message) -> Option<u32> {
    #[derive(Deserialize)]
    struct About {
        #[serde(default, deserialize_with = "whole::optional")]
        attempt: Option<u32>,
    }
    let body = message.payload.trim_ascii_start();
    // A list would be taken for the members in their order.
    let about: About = match message.content_type() {
        ContentType::Json if body.starts_with(b"{") => serde_json::from_slice(body).ok(),
        ContentType::MessagePack if matches!(body.first(), Some(0x80..=0x8f | 0xde | 0xdf)) => {
            depth::check_messagepack_carrier(body).ok()?;
            rmp_serde::from_slice(body).ok()
        }
        ContentType::Json | ContentType::MessagePack => None,
    }?;
    about.attempt
}

fn attempt(text: &str) -> Result<u32, Garbled> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| {
        Garbled(format!("header {} is {text:?}: use a number, from 1", header::ATTEMPT))
    })
}

fn reply_to(subject: &str) -> Result<&str, Garbled> {
    subject::check_reply(subject)
        .map_err(|Garbled(reason)| Garbled(format!("header {}: {reason}", header::REPLY_TO)))
}

fn lineage(text: &str) -> Result<Lineage, Garbled> {
    let parsed = text.split_once('.').and_then(|(depth, chain)| {
        Some(Lineage { depth: depth.parse().ok()?, chain: chain.parse().ok()? })
    });
    parsed.ok_or_else(|| {
        Garbled(format!("header {} is {text:?}: use <depth>.<chain>", header::LINEAGE))
    })
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
