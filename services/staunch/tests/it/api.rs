//! The HTTP API against its own document: schemathesis sends what the document allows and what it does
//! not, and compares each answer with it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use testkit::within;
use tokio::process::Command;

use crate::dev::Dev;

const PACKAGE: &str = "schemathesis";
const VERSION: &str = "4.32.5";
const KEY: &str = "an-api-key-for-schemathesis-of-32-characters";
/// Streams do not end or last for a minute, a poll takes its time, and the hub is no REST.
const LEFT_OUT: &str = "hubs|/events$|/validation$|/docs|/tasks/poll$";
/// The longest run of the phases that are bounded by the document: more than twice what it takes beside
/// other tests.
const BOUNDED_MAX: Duration = Duration::from_secs(600);
/// The longest run of all phases.
const WHOLE_MAX: Duration = Duration::from_secs(3 * 3_600);

/// What `just api-fuzz` asks for: all phases, perhaps from a given seed.
struct Whole {
    seed: Option<String>,
}

impl Whole {
    fn asked() -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "the switch of a longer test")]
        let asked = std::env::var("STAUNCH_API_FUZZ").ok()?;
        let mut words = asked.split_whitespace().skip(1).map(str::to_owned);
        Some(Self { seed: words.next() })
    }
}

#[expect(clippy::print_stdout, reason = "a longer run shows its findings and its seed")]
async fn check(url: &str, packages: &Path, key: Option<&str>) {
    let whole = Whole::asked();
    let here = tempfile::tempdir().unwrap();
    let configuration = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemathesis.toml");
    let checks = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/api/checks.py");
    let mut tool = Command::new("python3");
    tool.current_dir(here.path()).kill_on_drop(true);
    tool.env("PYTHONPATH", packages).env("SCHEMATHESIS_HOOKS", checks);
    tool.args(["-m", "schemathesis.cli", "--config-file", configuration, "--no-color", "run"]);
    tool.arg(format!("{url}/openapi.json")).args(["--exclude-path-regex", LEFT_OUT]);
    let (phases, time_max) = match &whole {
        Some(_) => ("examples,coverage,fuzzing,stateful", WHOLE_MAX),
        None => ("examples,coverage", BOUNDED_MAX),
    };
    tool.args(["--phases", phases]);
    if let Some(seed) = whole.as_ref().and_then(|whole| whole.seed.as_ref()) {
        tool.args(["--seed", seed]);
    }
    if let Some(key) = key {
        tool.args(["--header", &format!("Authorization: ApiKey {key}")]);
    }
    let ran = within("the end of schemathesis", time_max, tool.output()).await.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    // It has the seed.
    if whole.is_some() {
        println!("{said}");
    }
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}{errors}");
    assert!(said.contains("Seed: ") && said.contains("Coverage"), "{said}{errors}");
}

fn packages() -> Option<PathBuf> {
    testkit::pip(PACKAGE, VERSION)
}

#[tokio::test]
async fn the_api_does_what_its_document_says() {
    let Some(packages) = packages() else { return };
    let here = tempfile::tempdir().unwrap();
    let dev = Dev::start(here.path()).await;
    check(&dev.url, &packages, None).await;
    dev.end().await;
}

#[tokio::test]
async fn the_api_with_keys_does_what_its_document_says() {
    let Some(packages) = packages() else { return };
    let here = tempfile::tempdir().unwrap();
    let keyed = ["--auth", "api-key", "--api-key", KEY];
    let dev = Dev::start_with(here.path(), &keyed).await;
    check(&dev.url, &packages, Some(KEY)).await;
    dev.end().await;
}
