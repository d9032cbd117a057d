//! `staunch runtime …`: shows whether executors take commands; pauses, resumes and drains them, all
//! of them or those of one node.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::client::{Client, ClientArgs, segment};
use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

/// The longest wait of a drain.
const DRAIN_SECONDS_MAX: u64 = model::limits::DRAIN_TIME_MAX.as_secs();

#[derive(Args, Debug)]
pub(crate) struct RuntimeArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Shows the executors, their work in progress, and the pauses
    Status(Which),
    /// Lets executors take no more commands; they finish their work, and commands wait
    Pause(Why),
    /// Ends a pause
    Resume(Why),
    /// Pauses, and waits until the work in progress is done; the pause stays
    Drain {
        #[command(flatten)]
        why: Why,
        /// The longest wait, at most 30; drain again if that is not enough
        #[arg(
            long,
            default_value_t = 30,
            value_name = "SECONDS",
            value_parser = clap::value_parser!(u64).range(1..=DRAIN_SECONDS_MAX)
        )]
        seconds: u64,
    },
}

#[derive(Args, Debug)]
struct Which {
    /// Only this node; the whole cluster without it
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
}

#[derive(Args, Debug)]
struct Why {
    #[command(flatten)]
    which: Which,
    /// The reason, for those who look at the status
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Runs one of the `runtime` commands.
///
/// # Errors
/// The server's refusal; a drain that takes too long.
pub(crate) async fn run(args: RuntimeArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    match args.verb {
        Verb::Status(which) => {
            let status = client.get(&path("status", &which, None)).await?;
            show(&status, format)
        }
        Verb::Pause(why) => {
            let status = change(&client, "pause", &why, None).await?;
            show(&status, format)
        }
        Verb::Resume(why) => {
            let status = change(&client, "resume", &why, None).await?;
            show(&status, format)
        }
        Verb::Drain { why, seconds } => {
            let drained = change(&client, "force-drain", &why, Some(seconds)).await?;
            let outcome = drained.get("outcome").cloned().unwrap_or_default();
            let is_done = output::text(&outcome, "overallResult") == "CompletedWithinDeadline";
            if !is_done {
                let left = output::text(&outcome, "activeExecutionCycleCount");
                let message = format!(
                    "commands still at work after {seconds} s, which go on: {left}; no new ones are \
                     taken: see `staunch runtime status`"
                );
                return Err(Failure::new(Kind::Unavailable, message));
            }
            output::done(format, "the work in progress is done, and no more is taken", &drained)
        }
    }
}

async fn change(
    client: &Client,
    what: &str,
    why: &Why,
    seconds: Option<u64>,
) -> Result<Value, Failure> {
    let body = json!({ "reason": why.reason });
    Ok(client.post(&path(what, &why.which, seconds), &body).await?.body)
}

fn path(what: &str, which: &Which, seconds: Option<u64>) -> String {
    let node = which.node.as_ref().map(|node| format!("node={}", segment(node)));
    let seconds = seconds.map(|seconds| format!("seconds={seconds}"));
    let query: Vec<_> = node.into_iter().chain(seconds).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("/admin/workflow-runtime/{what}{mark}{}", query.join("&"))
}

fn show(status: &Value, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(status);
    }
    let list = |name: &str| status.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let rows: Vec<_> = list("nodes").iter().map(cells).collect();
    output::table(&["NODE", "VERSION", "STATE", "COMMANDS", "INSTANCES"], &rows)?;
    for pause in list("pauses") {
        let text = |name: &str| output::text(&pause, name);
        let what = match text("node") {
            node if node.is_empty() => "the cluster".to_owned(),
            node => node,
        };
        let reason = match text("reason") {
            reason if reason.is_empty() => String::new(),
            reason => format!(": {}", say::one_line(&reason)),
        };
        say::message(&format!(
            "{what} is paused since {} by {}{reason}",
            text("since"),
            text("by")
        ));
    }
    Ok(())
}

/// The line of an executor.
fn cells(node: &Value) -> Vec<String> {
    let text = |name: &str, absent: &str| match output::text(node, name) {
        text if text.is_empty() => absent.to_owned(),
        text => text,
    };
    let (version, state) = (text("version", "-"), text("state", "no answer"));
    vec![text("node", ""), version, state, text("commands", ""), text("instances", "")]
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        _runtime: RuntimeArgs,
    }

    #[test]
    fn a_wait_that_no_server_takes_is_no_wait() {
        let parses =
            |seconds: &str| Line::try_parse_from(["x", "drain", "--seconds", seconds]).is_ok();
        assert!(parses("1") && parses("30"));
        assert!(!parses("0") && !parses("31") && !parses("100000") && !parses("abc"));
    }

    #[test]
    fn an_executor_is_shown_with_its_version_if_it_says_it() {
        let node = json!({"node": "n1", "version": "0.2.0", "state": "Paused", "commands": 2,
            "instances": 1});
        assert_eq!(cells(&node), ["n1", "0.2.0", "Paused", "2", "1"]);
        let older = json!({"node": "n2", "version": null, "state": null});
        assert_eq!(cells(&older), ["n2", "-", "no answer", "", ""]);
    }

    #[test]
    fn a_path_has_the_node_and_the_wait() {
        let which = |node: Option<&str>| Which { node: node.map(str::to_owned) };
        assert_eq!(path("status", &which(None), None), "/admin/workflow-runtime/status");
        assert_eq!(
            path("force-drain", &which(Some("a b")), Some(7)),
            "/admin/workflow-runtime/force-drain?node=a%20b&seconds=7"
        );
    }
}
