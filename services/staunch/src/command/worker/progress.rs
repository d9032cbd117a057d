//! `staunch worker progress`: what workers say of the tasks that they work at, as it comes.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::Duration;

use bus::{Attempt, Wire};
use clap::{Arg, Args};
use futures::StreamExt as _;
use futures::stream::Peekable;
use model::whole;
use node::NatsBus;
use protocol::{Message, TaskProgress, subject};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::{interval, timeout};

use crate::command::NATS_SETTINGS;
use crate::output::Format;
use crate::{Failure, input, say};

/// NATS says only that it refuses a subscription, after a round trip: without a word in this time it has
/// accepted one.
const REFUSED_WITHIN: Duration = Duration::from_millis(500);

/// How often it is looked whether the connection is there.
const LOOK: Duration = Duration::from_millis(200);

/// What the help shows beside the settings of the connection to NATS.
const SHOWN: [&str; 2] = ["config", "count"];
const OTHERS: &str =
    "Every other setting of the server is accepted, too: see `staunch config --help`.";

#[derive(Args, Debug)]
#[command(mut_args(shown), after_help = OTHERS)]
pub(crate) struct ProgressArgs {
    /// Only of tasks of this type; `Ship@2` is version 2, and `Ship` version 1
    #[arg(value_name = "TASK[@VERSION]", value_parser = input::task_kind)]
    kind: Option<String>,
    /// Ends after this many messages
    #[arg(long, value_name = "N", value_parser = message_count, allow_negative_numbers = true)]
    count: Option<u64>,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Leaves the settings out of the help that decide nothing here. They are accepted all the same.
fn shown(argument: Arg) -> Arg {
    let is_shown = |name: &str| SHOWN.contains(&name) || NATS_SETTINGS.contains(&name);
    let is_shown = argument.get_long().is_none_or(is_shown);
    argument.hide(!is_shown)
}

/// The number of messages in a text.
fn message_count(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("write a whole number from 1 to {}", u64::MAX))
}

/// The progress in a message, as its worker wrote it: whatever JSON can say is shown.
#[derive(Debug)]
struct Said {
    task_id: String,
    task_type: String,
    task_version: u32,
    instance_id: String,
    attempt: u32,
    /// JSON without space around its parts.
    progress: String,
}

/// Prints a message a line, until there were as many as asked for, or an interrupt.
///
/// # Errors
/// When the user of NATS may not listen, or the connection has ended.
pub(crate) async fn progress(
    args: &ProgressArgs,
    bus: &NatsBus,
    format: Format,
) -> Result<(), Failure> {
    let kind = args.kind.as_deref().map(subject::task_kind).transpose();
    let subject = TaskProgress::subjects(kind.map_err(Failure::usage)?);
    let mut heard = bus.subscribe_if_allowed(&subject).await?.peekable();
    if is_accepted(&mut heard).await {
        say::message(&format!("Listens on {subject}, for what is sent from now on."));
    }
    let (mut left, mut is_there, mut looks) = (args.count, true, interval(LOOK));
    while left != Some(0) {
        let next = tokio::select! {
            biased;
            next = heard.next() => next,
            _ = looks.tick() => {
                if let Some(said) = turned(&mut is_there, bus.is_connected()) {
                    say::message(said);
                }
                continue;
            }
        };
        let Some(next) = next else {
            return Err(Failure::unavailable("the connection to NATS has ended"));
        };
        let message = next?.message;
        match read(&message) {
            Ok(said) => {
                show(&said, format)?;
                left = left.map(|left| left - 1);
            }
            Err(why) => say::message(&say::one_line(&format!(
                "A message on {} is not shown: {why}",
                message.subject
            ))),
        }
    }
    Ok(())
}

/// What is to be said once the connection is lost, and once it is there again.
fn turned(is_there: &mut bool, is_connected: bool) -> Option<&'static str> {
    if std::mem::replace(is_there, is_connected) == is_connected {
        return None;
    }
    Some(match is_connected {
        true => "Connected to NATS again.",
        false => "The connection to NATS is lost: what is said before it is back is not heard.",
    })
}

/// Whether NATS lets this process listen. What is heard meanwhile is kept.
async fn is_accepted(heard: &mut Peekable<Attempt>) -> bool {
    let first = timeout(REFUSED_WITHIN, Pin::new(heard).peek()).await;
    matches!(first, Err(_) | Ok(Some(Ok(_))))
}

/// The progress in a message. The subject is what NATS has allowed its sender, so the task that the body
/// names has to be the one of the subject.
fn read(message: &Message) -> Result<Said, String> {
    let body: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(&message.payload)
        .map_err(|_unread| "it is no JSON object, so it is no progress of a task".to_owned())?;
    let member = |name: &str| {
        let found = body.get(name).map(|value| value.get());
        found.ok_or_else(|| format!("it has no {name}, so it is no progress of a task"))
    };
    let text = |name: &str| {
        let read = serde_json::from_str::<String>(member(name)?);
        read.map_err(|_unread| format!("its {name} is no text"))
    };
    let number = |name: &str| {
        let mut value = serde_json::Deserializer::from_str(member(name)?);
        let read = whole::ordinal::<_, u32>(&mut value).ok().filter(|number| *number > 0);
        read.ok_or_else(|| format!("its {name} is not a whole number from 1 to {}", u32::MAX))
    };
    let progress = member("progress")?;
    if progress.len() > TaskProgress::BYTES_MAX {
        let (bytes, max) = (progress.len(), TaskProgress::BYTES_MAX);
        return Err(format!(
            "its progress has {bytes} bytes, more than the {max} that it may have"
        ));
    }
    let said = Said {
        task_id: text("taskId")?,
        task_type: text("taskType")?,
        task_version: number("taskVersion")?,
        instance_id: text("workflowInstanceId")?,
        attempt: number("attempt")?,
        progress: compact(progress),
    };
    let own = TaskProgress::subject(&said.task_type, said.task_version, &said.task_id);
    if own == message.subject {
        Ok(said)
    } else {
        Err(format!("it is about a task whose progress is sent on {own}"))
    }
}

/// JSON without the space around its parts.
fn compact(json: &str) -> String {
    let (mut is_text, mut is_escaped) = (false, false);
    let is_kept = |c: &char| {
        if !is_text {
            is_text = *c == '"';
            return !c.is_ascii_whitespace();
        }
        if is_escaped {
            is_escaped = false;
        } else {
            is_escaped = *c == '\\';
            is_text = *c != '"';
        }
        true
    };
    json.chars().filter(is_kept).collect()
}

fn show(said: &Said, format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => say::json_line_of(&document(said)),
        Format::Table => say::data(&line(said)),
    }
}

/// The progress for programs: the message, with the numbers of the progress as they were written.
fn document(said: &Said) -> String {
    let Said { task_id, task_type, task_version, instance_id, attempt, progress } = said;
    let [task_id, task_type, instance_id] =
        [task_id, task_type, instance_id].map(|text| Value::from(text.as_str()));
    format!(
        r#"{{"taskId":{task_id},"taskType":{task_type},"taskVersion":{task_version},"workflowInstanceId":{instance_id},"attempt":{attempt},"progress":{progress}}}"#
    )
}

/// The progress for people: type, task, instance, attempt, and what is said.
fn line(said: &Said) -> String {
    let Said { task_id, task_type, task_version, instance_id, attempt, progress } = said;
    let line = format!(
        "{task_type}@{task_version}  {task_id}  {instance_id}  attempt {attempt}  {progress}"
    );
    say::one_line(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use bus::Incoming;
    use futures::stream::{once, pending};
    use serde_json::json;

    use super::*;

    const SUBJECT: &str = "staunch.task-progress.Ship.2.t1";

    fn message(subject: &str, body: &str) -> Message {
        Message {
            subject: subject.to_owned(),
            payload: body.as_bytes().to_vec(),
            ..Message::default()
        }
    }

    /// A body with this version, attempt and progress.
    fn body(version: &str, attempt: &str, progress: &str) -> String {
        format!(
            r#"{{"taskId": "t1", "taskType": "Ship", "taskVersion": {version},
                "workflowInstanceId": "i1", "attempt": {attempt}, "progress": {progress}}}"#
        )
    }

    #[test]
    fn progress_is_a_line_and_no_worker_speaks_for_the_tasks_of_another() {
        let body = json!({
            "taskId": "t1", "taskType": "Ship", "taskVersion": 2, "workflowInstanceId": "i1",
            "attempt": 1, "progress": {"percent": 40, "at": "a\nb\u{1b}"},
        });
        let said = read(&message(SUBJECT, &body.to_string())).unwrap();
        let expected = r#"Ship@2  t1  i1  attempt 1  {"percent":40,"at":"a\nb\u001b"}"#;
        assert_eq!(line(&said), expected);
        assert_eq!(serde_json::from_str::<Value>(&document(&said)).unwrap(), body);
        for subject in ["staunch.task-progress.Pay.2.t1", "staunch.task-progress.Ship.2.t2"] {
            let why = read(&message(subject, &body.to_string())).unwrap_err();
            assert!(why.contains("sent on staunch.task-progress.Ship.2.t1"), "{why}");
        }
    }

    #[test]
    fn the_help_shows_what_counts_and_every_setting_is_accepted() {
        let mut command = ProgressArgs::augment_args(clap::Command::new("progress"));
        let help = command.render_long_help().to_string();
        for name in SHOWN.into_iter().chain(NATS_SETTINGS) {
            let is_there = [" ", "\n"].iter().any(|end| help.contains(&format!("--{name}{end}")));
            assert!(is_there, "{name}: {help}");
        }
        assert!(help.contains("TASK[@VERSION]") && help.contains(OTHERS), "{help}");
        for name in ["listen", "oidc-issuer", "smtp-url", "database-url"] {
            assert!(!help.contains(&format!("--{name}")), "{name}: {help}");
        }
        let line = ["progress", "Ship", "--smtp-url", "smtp://127.0.0.1:1"];
        assert!(command.try_get_matches_from(line).is_ok());
    }

    #[test]
    fn a_count_that_is_none_says_what_it_must_be() {
        let command = || ProgressArgs::augment_args(clap::Command::new("progress"));
        for wrong in ["x", "-1", "0", "1.5", "18446744073709551616"] {
            let error = command().try_get_matches_from(["progress", "--count", wrong]).unwrap_err();
            let said = error.to_string();
            assert!(said.contains("a whole number from 1 to 18446744073709551615"), "{said}");
            assert!(said.contains(wrong), "{said}");
        }
        assert!(command().try_get_matches_from(["progress", "--count", "1"]).is_ok());
    }

    #[test]
    fn a_connection_that_is_lost_is_told_when_it_begins_and_when_it_ends() {
        let mut is_there = true;
        let said = [true, false, false, true, true].map(|now| turned(&mut is_there, now));
        assert_eq!(said.map(|one| one.is_some()), [false, true, false, true, false]);
        assert!(said[1].unwrap().contains("is lost") && said[3].unwrap().contains("again"));
    }

    #[test]
    fn whatever_json_can_say_is_shown_as_it_was_written() {
        let deep = "[".repeat(5_000) + &"]".repeat(5_000);
        let largest = format!("\"{}\"", "x".repeat(TaskProgress::BYTES_MAX - 2));
        for progress in [
            "1.0",
            "12345678901234567890123456789.50",
            r#"{"a":"  b \" , c\\","d":[1,2]}"#,
            r#""\ud800""#,
            "null",
            &deep,
            &largest,
        ] {
            let said = read(&message(SUBJECT, &body("2.0", "1.0", progress))).unwrap();
            assert_eq!((said.progress.as_str(), said.task_version), (progress, 2));
            assert!(document(&said).ends_with(&format!(r#""attempt":1,"progress":{progress}}}"#)));
        }
        let spaced = read(&message(SUBJECT, &body("2", "1", "{ \"a b\" :\n[ 1 ,\t2 ]\r\n}")));
        assert_eq!(spaced.unwrap().progress, r#"{"a b":[1,2]}"#);
    }

    #[test]
    fn what_is_no_progress_says_why_in_plain_words() {
        let large = format!("\"{}\"", "x".repeat(TaskProgress::BYTES_MAX));
        for (body, expected) in [
            ("7".to_owned(), "it is no JSON object, so it is no progress of a task"),
            ("{\"a\": ".to_owned(), "it is no JSON object, so it is no progress of a task"),
            ("{}".to_owned(), "it has no progress, so it is no progress of a task"),
            (
                r#"{"progress": 1, "taskId": "t1"}"#.to_owned(),
                "it has no taskType, so it is no progress of a task",
            ),
            (r#"{"progress": 1, "taskId": 7}"#.to_owned(), "its taskId is no text"),
            (body("2", "0", "1"), "its attempt is not a whole number from 1 to 4294967295"),
            (body("2", "1.5", "1"), "its attempt is not a whole number from 1 to 4294967295"),
            (body("\"2\"", "1", "1"), "its taskVersion is not a whole number from 1 to 4294967295"),
            (body("2", "1", &large), "its progress has 65538 bytes, more than the 65536"),
        ] {
            let why = read(&message(SUBJECT, &body)).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscription_counts_once_a_refusal_is_late_or_something_is_heard() {
        let denied = once(async { Err(bus::Error::Denied("no".to_owned())) });
        let mut refused: Peekable<Attempt> = denied.chain(pending()).boxed().peekable();
        assert!(!is_accepted(&mut refused).await);
        assert!(refused.next().await.unwrap().is_err(), "the refusal is what is said");
        let mut silent: Peekable<Attempt> = pending().boxed().peekable();
        assert!(is_accepted(&mut silent).await);
        let first = Incoming { message: message(SUBJECT, "1"), reply: None };
        let mut heard: Peekable<Attempt> = once(async { Ok(first) }).boxed().peekable();
        assert!(is_accepted(&mut heard).await);
        assert_eq!(heard.next().await.unwrap().unwrap().message.subject, SUBJECT);
    }
}
