//! `staunch dead …`: shows the commands that could not be applied, each with its reason; publishes
//! them again, or removes them.

use bus::{Bus, Stream};
use clap::{Args, Subcommand};
use protocol::Letter;
use serde_json::{Value, json};

use crate::client::Unasked;
use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, input, say};

/// The number of messages that are read at once.
const READ_MAX: usize = 256;

#[derive(Args, Debug)]
pub(crate) struct DeadArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
    #[command(flatten)]
    pub(crate) server: Unasked,
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
    Replay {
        #[command(flatten)]
        which: Which,
        /// The body of the command instead of its own, of one command only: JSON, or @FILE with it
        #[arg(long, value_name = "JSON|@FILE", conflicts_with = "all")]
        body: Option<String>,
    },
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

/// Runs one of the `dead` commands.
///
/// # Errors
/// When the bus does not answer, there is no such number, or a letter cannot be replayed.
pub(crate) async fn run(verb: Verb, bus: &dyn Bus, format: Format) -> Result<(), Failure> {
    match verb {
        Verb::Ls => list(&all(bus).await?, format),
        Verb::Show { number } => show(&one(bus, number).await?),
        Verb::Replay { which, body } => {
            let body = body.as_deref().map(input::parse).transpose()?.map(Value::Object);
            if body.is_some() && which.numbers.len() > 1 {
                return Err(Failure::usage("--body is for one command: name one number"));
            }
            let letters = chosen(bus, &which).await?;
            let Replayed { replayed, refusals } = replay_all(bus, &letters, body.as_ref()).await;
            changed(&replayed, format)?;
            verdict(letters.len(), replayed.len(), &refusals)
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

async fn all(bus: &dyn Bus) -> Result<Vec<Letter>, Failure> {
    let mut found = Vec::new();
    let mut from = 1;
    loop {
        let page = bus.read(Stream::Dead, from, READ_MAX).await?;
        let Some((last, ..)) = page.last() else { return Ok(found) };
        from = last + 1;
        let page = page.into_iter().map(|(number, at, message)| Letter { number, at, message });
        found.extend(page);
    }
}

async fn one(bus: &dyn Bus, number: u64) -> Result<Letter, Failure> {
    let page = bus.read(Stream::Dead, number, 1).await?;
    match page.into_iter().next() {
        Some((found, at, message)) if found == number => Ok(Letter { number, at, message }),
        _ => Err(Failure::new(
            Kind::NotFound,
            format!("there is no dead command {number}; see `staunch dead ls`"),
        )),
    }
}

async fn chosen(bus: &dyn Bus, which: &Which) -> Result<Vec<Letter>, Failure> {
    if which.all {
        return all(bus).await;
    }
    let mut found = Vec::with_capacity(which.numbers.len());
    for number in &which.numbers {
        found.push(one(bus, *number).await?);
    }
    Ok(found)
}

fn list(dead: &[Letter], format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&Value::Array(dead.iter().map(summary).collect()));
    }
    let rows: Vec<Vec<String>> = dead
        .iter()
        .map(|one| {
            let at = one.at.to_string();
            vec![
                one.number.to_string(),
                at,
                one.origin(),
                one.command_id().into(),
                one.reason().into(),
            ]
        })
        .collect();
    output::table(&["NUMBER", "SINCE", "SUBJECT", "COMMAND", "REASON"], &rows)
}

fn summary(dead: &Letter) -> Value {
    json!({
        "number": dead.number, "since": dead.at, "subject": dead.origin(),
        "commandId": dead.command_id(), "reason": dead.reason()
    })
}

fn show(dead: &Letter) -> Result<(), Failure> {
    output::json(&whole(dead))
}

/// A letter with its headers and its body, which is null where it has none.
fn whole(dead: &Letter) -> Value {
    let mut shown = summary(dead);
    shown["headers"] = json!(dead.message.headers);
    shown["body"] = match dead.message.payload.is_empty() {
        true => Value::Null,
        false => dead.body(),
    };
    shown
}

/// What became of the letters that were to be replayed.
struct Replayed {
    /// Those that were published again, for programs.
    replayed: Vec<Value>,
    /// The reasons of the others that were tried.
    refusals: Vec<Kind>,
}

/// Replays each letter that can be, and says at once which cannot and why. Ends early when the bus does
/// not answer: it would not answer for the others either.
async fn replay_all(bus: &dyn Bus, letters: &[Letter], body: Option<&Value>) -> Replayed {
    let mut all = Replayed { replayed: Vec::new(), refusals: Vec::new() };
    for dead in letters {
        let Err(failure) = replay(bus, dead, body).await else {
            say::message(&format!("{} is published again on {}", dead.number, dead.origin()));
            all.replayed.push(summary(dead));
            continue;
        };
        say::message(&format!("{} is not replayed: {failure}", dead.number));
        all.refusals.push(failure.kind);
        if matches!(failure.kind, Kind::Unavailable | Kind::Forbidden) {
            break;
        }
    }
    all
}

/// The failure if some of the letters were not replayed, with their number.
fn verdict(total: usize, replayed: usize, refusals: &[Kind]) -> Result<(), Failure> {
    if refusals.is_empty() {
        return Ok(());
    }
    let is = if replayed == 1 { "is" } else { "are" };
    let mut text = format!("{replayed} of {total} dead commands {is} replayed");
    let left = total - replayed - refusals.len();
    if left > 0 {
        let left = output::counted(left as u64, "was not tried", "were not tried");
        text = format!("{text}; {left}, because the server refuses or does not answer");
    }
    Err(Failure::new(Kind::of_all(refusals), text))
}

async fn replay(bus: &dyn Bus, dead: &Letter, body: Option<&Value>) -> Result<(), Failure> {
    if let Some(why) = dead.why_not_again() {
        return Err(Failure::new(Kind::Conflict, format!("it {why}")));
    }
    let message = match body {
        Some(body) => dead.edited(body).map_err(|error| Failure::usage(error.to_string()))?.0,
        None => dead.again(),
    };
    bus.publish(message).await?;
    bus.remove(Stream::Dead, dead.number).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use bus::{MemoryBus, Queue as _};
    use model::{CommandId, Timestamp};
    use protocol::{Body, Cancel, Command, Message, subject};

    use super::*;

    /// A bus whose dead letters are of these subjects; those of commands can be decoded.
    async fn with_letters(subjects: &[&str]) -> MemoryBus {
        let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
        for (number, of) in subjects.iter().enumerate() {
            let cancel = Cancel { instance_id: "i".into(), ..Cancel::default() };
            let id = CommandId::new(format!("c{number}"));
            let command = Command::new(id, Body::Cancel(cancel)).encode().unwrap();
            bus.publish(Message { subject: subject::dead(of), ..command }).await.unwrap();
        }
        bus
    }

    async fn left(bus: &MemoryBus) -> Vec<String> {
        all(bus).await.unwrap().iter().map(Letter::origin).collect()
    }

    #[test]
    fn an_empty_body_is_shown_as_none() {
        let message =
            Message { subject: "staunch.dead.message.a".to_owned(), ..Message::default() };
        let mut letter = Letter { number: 1, at: Timestamp::from_millis(0), message };
        assert_eq!(whole(&letter)["body"], Value::Null);
        letter.message.payload = b"{}".to_vec();
        assert_eq!(whole(&letter)["body"], json!({}));
    }

    #[tokio::test]
    async fn a_letter_that_is_no_command_holds_up_no_other() {
        let row = "staunch.row.instances.x";
        let cancel = "staunch.cmd.cancel.i";
        let bus = with_letters(&[cancel, row, cancel]).await;
        let which = Which { numbers: Vec::new(), all: true };
        let verb = Verb::Replay { which, body: None };
        let failure = run(verb, &bus, Format::Json).await.unwrap_err();
        assert_eq!(failure.kind, Kind::Conflict);
        assert_eq!(failure.message, "2 of 3 dead commands are replayed");
        assert_eq!(left(&bus).await, [row]);
        assert_eq!(bus.read(Stream::Commands, 1, 10).await.unwrap().len(), 2);
        let letters = all(&bus).await.unwrap();
        let Replayed { replayed, refusals } = replay_all(&bus, &letters, None).await;
        assert_eq!((replayed, refusals), (Vec::new(), vec![Kind::Conflict]));
    }

    #[tokio::test]
    async fn a_letter_on_the_subject_of_no_command_is_not_replayed() {
        let nope = "staunch.cmd.nope.x";
        let bus = with_letters(&[nope, "staunch.cmd.cancel.i"]).await;
        let which = Which { numbers: Vec::new(), all: true };
        let verb = Verb::Replay { which, body: None };
        let failure = run(verb, &bus, Format::Json).await.unwrap_err();
        assert_eq!(failure.kind, Kind::Conflict);
        assert_eq!(failure.message, "1 of 2 dead commands is replayed");
        assert_eq!(left(&bus).await, [nope]);
        let letters = all(&bus).await.unwrap();
        let failure = replay(&bus, &letters[0], None).await.unwrap_err();
        let expected = "it is a message on staunch.cmd.nope.x, which is the subject of no command";
        assert!(failure.message.starts_with(expected), "{failure}");
        assert_eq!(bus.read(Stream::Commands, 1, 10).await.unwrap().len(), 1);
    }

    #[test]
    fn the_verdict_counts_what_was_not_tried() {
        assert!(verdict(3, 3, &[]).is_ok());
        let failure = verdict(5, 1, &[Kind::Conflict, Kind::Unavailable]).unwrap_err();
        assert_eq!(failure.kind, Kind::Failed);
        assert!(failure.message.starts_with("1 of 5 dead commands is replayed; 2 were not tried"));
        let failure = verdict(5, 2, &[Kind::Conflict, Kind::Unavailable]).unwrap_err();
        assert!(failure.message.starts_with("2 of 5 dead commands are replayed; 1 was not tried"));
    }
}
