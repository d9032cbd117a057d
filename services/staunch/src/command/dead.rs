//! `staunch dead …`: shows the commands that could not be applied, each with its reason; publishes
//! them again, or removes them.

use bus::{Bus, Stream};
use clap::{Args, Subcommand};
use model::Timestamp;
use protocol::{ContentType, Headers, Message, header};
use serde_json::{Value, json};

use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

/// The number of messages that are read at once.
const READ_MAX: usize = 256;

#[derive(Args, Debug)]
pub(crate) struct DeadArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Lists dead commands, oldest first
    Ls,
    /// Shows one command with its body
    Show {
        /// Its number
        number: u64,
    },
    /// Publishes commands again and removes them from the list
    Replay(Which),
    /// Removes commands
    Rm(Which),
}

impl Verb {
    /// The command changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self, Self::Ls | Self::Show { .. })
    }
}

#[derive(Args, Debug)]
#[group(required = true)]
pub(crate) struct Which {
    /// Their numbers
    #[arg(value_name = "NUMBER")]
    numbers: Vec<u64>,
    /// All dead commands
    #[arg(long, conflicts_with = "numbers")]
    all: bool,
}

/// One dead command.
struct Dead {
    number: u64,
    at: Timestamp,
    message: Message,
}

impl Dead {
    fn origin(&self) -> String {
        match self.message.header(header::ORIGIN) {
            Some(subject) => subject.to_owned(),
            None => self.message.subject.replacen(".dead.", ".", 1),
        }
    }

    fn id(&self) -> &str {
        self.message.header(header::COMMAND_ID).or(self.message.id()).unwrap_or_default()
    }

    fn reason(&self) -> &str {
        self.message.header(header::REASON).unwrap_or_default()
    }
}

/// Runs one of the `dead` commands.
///
/// # Errors
/// When the bus does not answer, or there is no such number.
pub(crate) async fn run(verb: Verb, bus: &dyn Bus, format: Format) -> Result<(), Failure> {
    match verb {
        Verb::Ls => list(&all(bus).await?, format),
        Verb::Show { number } => show(&one(bus, number).await?),
        Verb::Replay(which) => {
            let mut replayed = Vec::new();
            for dead in chosen(bus, &which).await? {
                replay(bus, &dead).await?;
                say::message(&format!("{} is published again on {}", dead.number, dead.origin()));
                replayed.push(summary(&dead));
            }
            changed(&replayed, format)
        }
        Verb::Rm(which) => {
            let mut removed = Vec::new();
            for dead in chosen(bus, &which).await? {
                bus.remove(Stream::Dead, dead.number).await?;
                say::message(&format!("{} is removed", dead.number));
                removed.push(summary(&dead));
            }
            changed(&removed, format)
        }
    }
}

/// The commands that were replayed or removed, for programs.
fn changed(changed: &[Value], format: Format) -> Result<(), Failure> {
    match format {
        Format::Table => Ok(()),
        Format::Json => output::json(&json!(changed)),
    }
}

async fn all(bus: &dyn Bus) -> Result<Vec<Dead>, Failure> {
    let mut found = Vec::new();
    let mut from = 1;
    loop {
        let page = bus.read(Stream::Dead, from, READ_MAX).await?;
        let Some((last, ..)) = page.last() else { return Ok(found) };
        from = last + 1;
        let page = page.into_iter().map(|(number, at, message)| Dead { number, at, message });
        found.extend(page);
    }
}

async fn one(bus: &dyn Bus, number: u64) -> Result<Dead, Failure> {
    let page = bus.read(Stream::Dead, number, 1).await?;
    match page.into_iter().next() {
        Some((found, at, message)) if found == number => Ok(Dead { number, at, message }),
        _ => Err(Failure::new(
            Kind::NotFound,
            format!("there is no dead command {number}; see `staunch dead ls`"),
        )),
    }
}

async fn chosen(bus: &dyn Bus, which: &Which) -> Result<Vec<Dead>, Failure> {
    if which.all {
        return all(bus).await;
    }
    let mut found = Vec::with_capacity(which.numbers.len());
    for number in &which.numbers {
        found.push(one(bus, *number).await?);
    }
    Ok(found)
}

fn list(dead: &[Dead], format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&Value::Array(dead.iter().map(summary).collect()));
    }
    let rows: Vec<Vec<String>> = dead
        .iter()
        .map(|one| {
            let at = one.at.to_string();
            vec![one.number.to_string(), at, one.origin(), one.id().into(), one.reason().into()]
        })
        .collect();
    output::table(&["NUMBER", "SINCE", "SUBJECT", "COMMAND", "REASON"], &rows)
}

fn summary(dead: &Dead) -> Value {
    json!({
        "number": dead.number, "since": dead.at, "subject": dead.origin(),
        "commandId": dead.id(), "reason": dead.reason()
    })
}

fn show(dead: &Dead) -> Result<(), Failure> {
    let mut shown = summary(dead);
    shown["headers"] = json!(dead.message.headers);
    shown["body"] = body(&dead.message);
    output::json(&shown)
}

/// The body: as JSON, as text, or, if it cannot be decoded, its length.
fn body(message: &Message) -> Value {
    let kind = message.content_type();
    protocol::decode_body(kind, &message.payload).unwrap_or_else(|_| match kind {
        ContentType::Json => json!(String::from_utf8_lossy(&message.payload)),
        ContentType::MessagePack => json!(format!("{} unreadable bytes", message.payload.len())),
    })
}

/// Publishes the command unchanged, under a new message id: the stream may still remember the old
/// one and drop the message as a duplicate. The command id stays, so the command is not applied
/// twice.
async fn replay(bus: &dyn Bus, dead: &Dead) -> Result<(), Failure> {
    bus.publish(again(dead)).await?;
    bus.remove(Stream::Dead, dead.number).await?;
    Ok(())
}

fn again(dead: &Dead) -> Message {
    let ours = [header::REASON, header::ORIGIN, header::MESSAGE_ID];
    let kept = dead.message.headers.iter().filter(|(name, _)| !ours.contains(&name.as_str()));
    let mut headers: Headers = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    headers.insert(header::MESSAGE_ID.to_owned(), format!("{}.r{}", dead.id(), dead.number));
    if !dead.id().is_empty() {
        headers.insert(header::COMMAND_ID.to_owned(), dead.id().to_owned());
    }
    Message { subject: dead.origin(), headers, payload: dead.message.payload.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replayed_command_keeps_its_id_under_a_new_message_id() {
        let headers = [
            (header::MESSAGE_ID, "c1"),
            (header::REASON, "no such definition"),
            (header::ORIGIN, "staunch.cmd.start.x"),
            (header::CONTENT_TYPE, "application/json"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let message =
            Message { subject: "staunch.dead.cmd.start.x".into(), headers, payload: b"{}".into() };
        let dead = Dead { number: 7, at: Timestamp::default(), message };
        let replayed = again(&dead);
        assert_eq!(replayed.subject, "staunch.cmd.start.x");
        assert_eq!(replayed.id(), Some("c1.r7"));
        assert_eq!(replayed.header(header::COMMAND_ID), Some("c1"));
        assert_eq!(replayed.header(header::REASON), None);
        assert_eq!(replayed.header(header::CONTENT_TYPE), Some("application/json"));
    }
}
