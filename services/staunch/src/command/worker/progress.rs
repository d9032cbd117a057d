//! `staunch worker progress`: what workers say of the tasks that they work at, as it comes.

use bus::Wire;
use clap::Args;
use futures::StreamExt as _;
use protocol::{Message, TaskProgress, subject};

use crate::output::Format;
use crate::{Failure, input, say};

#[derive(Args, Debug)]
pub(crate) struct ProgressArgs {
    /// Only of tasks of this type; `Ship@2` is version 2, and `Ship` version 1
    #[arg(value_name = "TASK[@VERSION]", value_parser = input::task_kind)]
    kind: Option<String>,
    /// Ends after this many messages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Prints a message a line, until there were as many as asked for, or an interrupt.
///
/// # Errors
/// When the user of NATS may not listen, or the connection has ended.
pub(crate) async fn progress(
    args: &ProgressArgs,
    bus: &impl Wire,
    format: Format,
) -> Result<(), Failure> {
    let kind = args.kind.as_deref().map(subject::task_kind).transpose();
    let subject = TaskProgress::subjects(kind.map_err(Failure::usage)?);
    let mut heard = bus.subscribe_if_allowed(&subject).await?;
    say::message(&format!("Listens on {subject}, for what is sent from now on."));
    let mut left = args.count;
    while left != Some(0) {
        let Some(next) = heard.next().await else {
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

/// The progress in a message. The subject is what NATS has allowed its sender, so the task that the body
/// names has to be the one of the subject.
fn read(message: &Message) -> Result<TaskProgress, String> {
    let said = serde_json::from_slice::<TaskProgress>(&message.payload);
    let said = said.map_err(|error| format!("it is no progress of a task: {error}"))?;
    let own = said.own_subject();
    if own == message.subject {
        Ok(said)
    } else {
        Err(format!("it is about a task whose progress is sent on {own}"))
    }
}

fn show(said: &TaskProgress, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        let said = serde_json::to_value(said);
        return say::json_line(&said.map_err(|error| Failure::failed(error.to_string()))?);
    }
    say::data(&line(said))
}

/// The progress for people: type, task, instance, attempt, and what is said.
fn line(said: &TaskProgress) -> String {
    let TaskProgress { task_id, task_type, task_version, workflow_instance_id, .. } = said;
    let line = format!(
        "{task_type}@{task_version}  {task_id}  {workflow_instance_id}  attempt {}  {}",
        said.attempt, said.progress
    );
    say::one_line(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn message(subject: &str, body: &Value) -> Message {
        Message {
            subject: subject.to_owned(),
            payload: body.to_string().into_bytes(),
            ..Message::default()
        }
    }

    #[test]
    fn progress_is_a_line_and_no_worker_speaks_for_the_tasks_of_another() {
        let body = json!({
            "taskId": "t1", "taskType": "Ship", "taskVersion": 2, "workflowInstanceId": "i1",
            "attempt": 1, "progress": {"percent": 40, "at": "a\nb\u{1b}"},
        });
        let said = read(&message("staunch.task-progress.Ship.2.t1", &body)).unwrap();
        let expected = r#"Ship@2  t1  i1  attempt 1  {"percent":40,"at":"a\nb\u001b"}"#;
        assert_eq!(line(&said), expected);
        for (subject, body, expected) in [
            ("staunch.task-progress.Pay.2.t1", &body, "sent on staunch.task-progress.Ship.2.t1"),
            ("staunch.task-progress.Ship.2.t2", &body, "sent on staunch.task-progress.Ship.2.t1"),
            ("staunch.task-progress.Ship.2.t1", &json!(7), "no progress of a task"),
        ] {
            let why = read(&message(subject, body)).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }
}
