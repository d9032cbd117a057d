//! `staunch dead …`: shows the commands that could not be applied, each with its reason; publishes
//! them again, or removes them.

use bus::{Bus, Stream};
use clap::{Args, Subcommand};
use protocol::Letter;
use serde_json::{Value, json};

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
/// When the bus does not answer, or there is no such number.
pub(crate) async fn run(verb: Verb, bus: &dyn Bus, format: Format) -> Result<(), Failure> {
    match verb {
        Verb::Ls => list(&all(bus).await?, format),
        Verb::Show { number } => show(&one(bus, number).await?),
        Verb::Replay { which, body } => {
            let body = body.as_deref().map(input::parse).transpose()?.map(Value::Object);
            if body.is_some() && which.numbers.len() > 1 {
                return Err(Failure::usage("--body is for one command: name one number"));
            }
            let mut replayed = Vec::new();
            for dead in chosen(bus, &which).await? {
                replay(bus, &dead, body.as_ref()).await?;
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
    let mut shown = summary(dead);
    shown["headers"] = json!(dead.message.headers);
    shown["body"] = dead.body();
    output::json(&shown)
}

async fn replay(bus: &dyn Bus, dead: &Letter, body: Option<&Value>) -> Result<(), Failure> {
    if let Some(why) = dead.why_not_again() {
        return Err(Failure::new(Kind::Conflict, format!("{} {why}", dead.number)));
    }
    let message = match body {
        Some(body) => dead.edited(body).map_err(|error| Failure::usage(error.to_string()))?.0,
        None => dead.again(),
    };
    bus.publish(message).await?;
    bus.remove(Stream::Dead, dead.number).await?;
    Ok(())
}
