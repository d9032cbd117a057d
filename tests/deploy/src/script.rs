//! Runs a script of this folder.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use testkit::{Guard, pip, skip, within};
use tokio::process::Command;
use tokio::sync::Semaphore;

/// The package that brings the others: a YAML reader, JSON Schema, and the schemas of Kubernetes.
const PACKAGE: (&str, &str) = ("kubernetes_validate", "1.37.0");
const SCRIPT_MAX: Duration = Duration::from_secs(600);
/// The exit code of a script that misses a tool; its last line is `SKIP <tool>: <why>`.
const SKIPPED: i32 = 77;
/// Scripts start whole clusters, so they run one after the other.
static TURN: Semaphore = Semaphore::const_new(1);

/// Runs a script with these arguments to its end, and prints what it says.
///
/// # Panics
/// When it fails, or misses a tool that is required.
pub(crate) async fn run(name: &str, arguments: &[&Path]) {
    let Some(packages) = pip(PACKAGE.0, PACKAGE.1) else { return };
    let _turn = TURN.acquire().await.unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut python = Command::new("python3");
    python.arg("-B").arg(folder.join(name)).args(arguments).env("PYTHONPATH", packages);
    python.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = python.spawn().unwrap();
    let guard = Guard::watch(child.id().unwrap(), "KILL", None).unwrap();
    let output = within(name, SCRIPT_MAX, child.wait_with_output()).await.unwrap();
    guard.dismiss();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() == Some(SKIPPED) {
        let last = said.lines().last().unwrap_or_default();
        let reason = last.strip_prefix("SKIP ").and_then(|rest| rest.split_once(": "));
        let Some((tool, why)) = reason else {
            panic!("{name} is skipped without a reason: {said}")
        };
        return skip(tool, name, why);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{said}{errors}", output.status);
    println!("{said}");
}
