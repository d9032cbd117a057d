//! A dead letter: a command that could not be applied, as the stream of the dead letters has it.

use model::Timestamp;
use serde_json::{Value, json};

use crate::{
    Command, ContentType, Garbled, Headers, Message, decode_body, encode_body, header, subject,
};

/// The headers that a command has only as a dead letter.
const OURS: [&str; 4] = [header::REASON, header::ORIGIN, header::ATTEMPTS, header::MESSAGE_ID];

/// One dead letter.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// Its place in the stream.
    pub number: u64,
    /// When it was stored.
    pub at: Timestamp,
    /// The command as it was, with the reason in its headers.
    pub message: Message,
}

impl Letter {
    /// The subject that the command was published on.
    #[must_use]
    pub fn origin(&self) -> String {
        match self.message.header(header::ORIGIN) {
            Some(subject) => subject.to_owned(),
            None => self.message.subject.replacen(".dead.", ".", 1),
        }
    }

    /// The id of the command; empty when it has none.
    #[must_use]
    pub fn command_id(&self) -> &str {
        self.message.header(header::COMMAND_ID).or(self.message.id()).unwrap_or_default()
    }

    /// The reason why it is here.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.message.header(header::REASON).unwrap_or_default()
    }

    /// The number of deliveries before it came here; `None` when it was never delivered.
    #[must_use]
    pub fn attempts(&self) -> Option<i64> {
        self.message.header(header::ATTEMPTS)?.parse().ok()
    }

    /// It is a command, and not a row of the database that could not be read, or a message that no
    /// workflow could take, or one whose subject is that of no command. The body of a command may be
    /// unreadable: it can be replayed with another one.
    #[must_use]
    pub fn is_command(&self) -> bool {
        Command::is_subject(&self.origin())
    }

    /// What a letter is that is no command, and what to do instead of publishing it again: the end of a
    /// sentence that begins with the letter. `None` for a command.
    #[must_use]
    pub fn why_not_again(&self) -> Option<String> {
        if self.is_command() {
            return None;
        }
        let (number, origin) = (self.number, self.origin());
        let kind = self.message.subject.strip_prefix(subject::DEAD).unwrap_or_default();
        let is_below_commands = origin.strip_prefix(subject::COMMANDS);
        Some(if is_below_commands.is_some_and(|rest| rest.starts_with('.')) {
            format!(
                "is a message on {origin}, which is the subject of no command: publish the command \
                 on its own subject, and remove the letter with `staunch dead rm {number}`"
            )
        } else if kind.starts_with(".message.") {
            format!(
                "is a message on {origin} that no workflow could take, and no command: mend its \
                 reason, publish the message on {origin} again, and remove the letter with `staunch \
                 dead rm {number}`"
            )
        } else {
            format!(
                "is a row of the database that could not be read, and no command: look at it with \
                 `staunch dead show {number}`"
            )
        })
    }

    /// The command as it is published again: under a new message id, because the stream may still
    /// remember the old one and drop the message as a duplicate. The command id stays, so the
    /// command is not applied twice.
    #[must_use]
    pub fn again(&self) -> Message {
        let id = self.command_id();
        let kept = self.message.headers.iter().filter(|(name, _)| !OURS.contains(&name.as_str()));
        let mut headers: Headers =
            kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        headers.insert(header::MESSAGE_ID.to_owned(), format!("{id}.r{}", self.number));
        if !id.is_empty() {
            headers.insert(header::COMMAND_ID.to_owned(), id.to_owned());
        }
        Message { subject: self.origin(), headers, payload: self.message.payload.clone() }
    }

    /// The command as it is published again with this body, in JSON, instead of its own. Its subject and
    /// its id stay.
    ///
    /// # Errors
    /// [`Garbled`] says why that is not a command of the kind that the subject names.
    pub fn edited(&self, body: &Value) -> Result<(Message, Command), Garbled> {
        let mut message = self.again();
        message.payload = encode_body(ContentType::Json, body)?;
        let json = ContentType::Json.as_str().to_owned();
        message.headers.insert(header::CONTENT_TYPE.to_owned(), json);
        let command = Command::decode(&message, self.command_id())?;
        Ok((message, command))
    }

    /// The body: as JSON, as text, or, if it cannot be decoded, its length.
    #[must_use]
    pub fn body(&self) -> Value {
        let (kind, payload) = (self.message.content_type(), &self.message.payload);
        decode_body(kind, payload).unwrap_or_else(|_| match kind {
            ContentType::Json => json!(String::from_utf8_lossy(payload)),
            ContentType::MessagePack => json!(format!("{} unreadable bytes", payload.len())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Body;

    fn letter(subject: &str, headers: &[(&str, &str)]) -> Letter {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let message = Message { subject: subject.to_owned(), headers, payload: b"{}".to_vec() };
        Letter { number: 7, at: Timestamp::default(), message }
    }

    #[test]
    fn a_replayed_command_keeps_its_id_under_a_new_message_id() {
        let dead = letter(
            "staunch.dead.cmd.start.x",
            &[
                (header::MESSAGE_ID, "c1"),
                (header::REASON, "no such definition"),
                (header::ORIGIN, "staunch.cmd.start.x"),
                (header::ATTEMPTS, "20"),
                (header::CONTENT_TYPE, "application/json"),
            ],
        );
        assert_eq!(dead.attempts(), Some(20));
        assert!(dead.is_command());
        assert_eq!(dead.why_not_again(), None);
        let again = dead.again();
        assert_eq!(again.subject, "staunch.cmd.start.x");
        assert_eq!(again.id(), Some("c1.r7"));
        assert_eq!(again.header(header::COMMAND_ID), Some("c1"));
        assert_eq!(again.header(header::REASON), None);
        assert_eq!(again.header(header::ATTEMPTS), None);
        assert_eq!(again.header(header::CONTENT_TYPE), Some("application/json"));
    }

    #[test]
    fn an_edited_command_is_one_of_the_same_kind() {
        let dead = letter(
            "staunch.dead.cmd.cancel.i-1",
            &[
                (header::COMMAND_ID, "c1"),
                (header::ORIGIN, "staunch.cmd.cancel.i-1"),
                (header::CONTENT_TYPE, "application/msgpack"),
            ],
        );
        let (message, command) = dead.edited(&json!({"reason": "ordered twice"})).unwrap();
        assert_eq!(message.payload, br#"{"reason":"ordered twice"}"#);
        assert_eq!((message.id(), message.content_type()), (Some("c1.r7"), ContentType::Json));
        let Body::Cancel(cancel) = command.body else { panic!("{command:?}") };
        assert_eq!(cancel.instance_id.as_str(), "i-1");
        assert_eq!(cancel.reason.as_deref(), Some("ordered twice"));
        for body in [json!([1]), json!({"reason": 7}), json!("x")] {
            assert!(dead.edited(&body).is_err(), "{body}");
        }
        let row = letter("staunch.dead.row.instances.i-1", &[]);
        assert!(row.edited(&json!({})).is_err());
    }

    #[test]
    fn a_row_is_no_command() {
        let row = letter("staunch.dead.row.instances.i-1", &[(header::REASON, "unreadable")]);
        assert!(!row.is_command());
        assert_eq!(row.origin(), "staunch.row.instances.i-1");
        assert_eq!(row.attempts(), None);
        let why = row.why_not_again().unwrap();
        assert!(why.starts_with("is a row of the database that could not be read"), "{why}");
    }

    #[test]
    fn a_letter_below_the_commands_is_one_only_if_its_subject_is() {
        let on = |origin: &str| letter(&subject::dead(origin), &[(header::ORIGIN, origin)]);
        for origin in [
            "staunch.cmd.start.a=20b",
            "staunch.cmd.resume.i-1",
            "staunch.cmd.cancel.i-1",
            "staunch.cmd.alter.i-1",
            "staunch.cmd.perform.i-1",
            "staunch.cmd.event.order.paid",
            "staunch.cmd.task.t1",
            "staunch.cmd.task.Ship.2.t1",
        ] {
            assert!(on(origin).is_command(), "{origin}");
            assert_eq!(on(origin).why_not_again(), None, "{origin}");
        }
        for origin in [
            "staunch.cmd.nope.x",
            "staunch.cmd.start",
            "staunch.cmd.start.a=2",
            "staunch.cmd.resume.a.b",
            "staunch.cmd.task.Ship.0.t1",
            "staunch.cmd.task.Ship.t1",
        ] {
            assert!(!on(origin).is_command(), "{origin}");
            let why = on(origin).why_not_again().unwrap();
            let expected = format!("is a message on {origin}, which is the subject of no command");
            assert!(why.starts_with(&expected), "{why}");
            assert!(why.ends_with("`staunch dead rm 7`"), "{why}");
        }
    }

    #[test]
    fn a_message_that_no_workflow_could_take_is_no_row() {
        let taken = letter(
            "staunch.dead.message.orders.eu",
            &[(header::ORIGIN, "orders.eu"), (header::REASON, "predicate: no JSON")],
        );
        assert!(!taken.is_command());
        let why = taken.why_not_again().unwrap();
        assert!(why.starts_with("is a message on orders.eu that no workflow could take"), "{why}");
        assert!(why.ends_with("`staunch dead rm 7`"), "{why}");
    }
}
