//! `staunch why ID`: why an instance is where it is, and what would move it.

use clap::Args;
use model::InstanceId;
use serde_json::Value;

use crate::cli::takes;
use crate::client::ClientArgs;
use crate::output::{self, Format, text};
use crate::{Failure, say};

/// The server that a command asks if none is given.
const USUAL_SERVER: &str = "http://127.0.0.1:5001";

#[derive(Args, Debug)]
pub(crate) struct WhyArgs {
    /// The id of the instance
    id: String,
    #[command(flatten)]
    client: ClientArgs,
}

/// Prints the answer in one sentence, then everything that explains it.
///
/// # Errors
/// The server's refusal; not found when there is no such instance.
pub(crate) async fn run(args: WhyArgs, format: Format) -> Result<(), Failure> {
    let id = InstanceId::parse(&args.id).map_err(|error| Failure::usage(error.to_string()))?;
    let client = args.client.client()?;
    let why = client.get(&format!("/workflow-instances/{id}/why")).await?;
    match format {
        Format::Json => output::json(&why),
        Format::Table => lines(&why, client.server()).iter().try_for_each(|line| say::data(line)),
    }
}

/// The answer for people.
fn lines(why: &Value, server: &str) -> Vec<String> {
    let answer = shown(why, "answer");
    let mut lines = vec![answer.clone(), String::new()];
    for finding in list(why, "findings") {
        // The end of an instance is its answer; nothing blocks it.
        let is_said = shown(&finding, "cause") == "ended" && shown(&finding, "says") == answer;
        if !is_said {
            lines.push(format!("{:<6}  {}", shown(&finding, "weight"), shown(&finding, "says")));
        }
        for action in list(&finding, "actions") {
            let staunch = shown(&action, "staunch");
            let staunch = match server != USUAL_SERVER && takes(&staunch, "server") {
                true => format!("{staunch} --server {server}"),
                false => staunch,
            };
            let copies = [staunch, shown(&action, "nats"), shown(&action, "curl")];
            let copies: Vec<_> = copies.into_iter().filter(|line| !line.is_empty()).collect();
            lines.push(format!("        to {}{}", shown(&action, "what"), colon(&copies)));
            lines.extend(copies.into_iter().map(|line| format!("          {line}")));
        }
    }
    lines.push(String::new());
    lines.push(format!(
        "{} of {} version {} is {}, changed {}",
        shown(why, "workflowInstanceId"),
        shown(why, "definitionId"),
        shown(why, "definitionVersion"),
        shown(why, "subStatus"),
        shown(why, "updatedAt"),
    ));
    for entry in list(why, "journal") {
        let said = [shown(&entry, "eventName"), shown(&entry, "activityId")];
        let said = said.join(" ");
        let line =
            format!("  {}  {said:<28}  {}", shown(&entry, "timestamp"), shown(&entry, "message"));
        lines.push(line.trim_end().to_owned());
    }
    let unknown = list(why, "unknown").into_iter();
    lines
        .extend(unknown.map(|what| {
            format!("not known: {}", say::one_line(what.as_str().unwrap_or_default()))
        }));
    lines
}

fn colon(copies: &[String]) -> &'static str {
    if copies.is_empty() { "" } else { ":" }
}

/// A member as text that cannot control a terminal.
fn shown(value: &Value, name: &str) -> String {
    say::one_line(&text(value, name)).into()
}

fn list(value: &Value, name: &str) -> Vec<Value> {
    value.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_answer_comes_first_and_every_line_can_be_copied() {
        let why = json!({
            "answer": "It waits for the event \"go\".",
            "findings": [{"weight": "waits", "says": "It waits for the event \"go\".", "actions": [
                {"what": "raise it", "staunch": "staunch instance resume i", "nats": "nats req x",
                    "curl": null},
                {"what": "start a node", "staunch": "staunch server --role executor"},
                {"what": "publish it again", "staunch": "staunch dead replay 7"}]}],
            "workflowInstanceId": "i", "definitionId": "w", "definitionVersion": 1,
            "subStatus": "Suspended", "updatedAt": "T",
            "journal": [{"timestamp": "T", "eventName": "Line", "activityId": "a",
                "message": "\u{1b}]0;owned"}],
            "unknown": ["the queue: no answer"]
        });
        let lines = lines(&why, "http://h:1");
        assert_eq!(lines[0], "It waits for the event \"go\".");
        assert!(
            lines.contains(&"          staunch instance resume i --server http://h:1".to_owned())
        );
        // These two have no such option.
        assert!(lines.contains(&"          staunch server --role executor".to_owned()));
        assert!(lines.contains(&"          staunch dead replay 7".to_owned()));
        assert!(lines.contains(&"          nats req x".to_owned()));
        assert!(lines.contains(&"not known: the queue: no answer".to_owned()));
        assert!(!lines.join("").contains('\u{1b}'), "{lines:?}");
    }

    #[test]
    fn the_end_of_an_instance_is_said_once() {
        let says = "It is Finished since T (3 s); nothing moves it any more.";
        let why = json!({"answer": says, "findings": [{"weight": "blocks", "cause": "ended",
            "says": says, "actions": [{"what": "start a new one", "staunch": "staunch x"}]}]});
        let lines = lines(&why, USUAL_SERVER);
        assert_eq!(lines.iter().filter(|line| line.contains(says)).count(), 1, "{lines:?}");
        assert!(lines.contains(&"        to start a new one:".to_owned()), "{lines:?}");
    }
}
