//! The commands as a person or a script runs them: real processes on real servers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends with the first thing that is wrong"
)]

mod api;
mod bench;
mod cli;
mod config;
mod demo;
mod dev;
mod diagnose;
mod forward;
mod identity;
mod label;
mod operate;
mod places;
mod progress;
mod retention;
mod secret;
mod stranger;
mod studio;
mod tls;
mod validate;
mod workflow;

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use testkit::within;
use tokio::process::Command;
use tokio::sync::Semaphore;

/// Tests that measure time run one at a time: two clusters at once would disturb each other's
/// figures.
static TURN: Semaphore = Semaphore::const_new(1);
/// The longest duration of a command that starts no cluster, on any machine.
const COMMAND_MAX: Duration = Duration::from_secs(60);

fn staunch() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_staunch"))
}

/// A command whose output is captured, and which does not outlive the test.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(staunch());
    command.args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Runs a command in a folder to its end.
async fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = command(arguments);
    command.current_dir(folder);
    within("the end of the command", COMMAND_MAX, command.output()).await.unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output, which is one JSON document.
#[track_caller]
fn json(output: &Output) -> Value {
    match serde_json::from_slice(&output.stdout) {
        Ok(document) => document,
        Err(error) => panic!("{error}: {output:?}"),
    }
}
