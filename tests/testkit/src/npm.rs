//! Packages from npm for tests, each in a folder of its own, installed once.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skip;

/// The folder below which Node finds this package. `None`, and a line in the output, if there is no
/// Node, or npm does not reach its registry.
///
/// # Panics
/// When `STAUNCH_TEST_REQUIRE` names `npm`.
#[must_use]
pub fn npm(package: &str, version: &str) -> Option<PathBuf> {
    let found = installed(package, version);
    if found.is_none() {
        skip("npm", package, "no node with npm, or npm does not reach its registry");
    }
    found
}

fn installed(package: &str, version: &str) -> Option<PathBuf> {
    run(Command::new("node").arg("--version"))?;
    let name = package.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let cache = std::env::temp_dir().join(format!("staunch-test-npm{name}-{version}"));
    if !has(&cache, package) {
        // Another process may install it at the same time: the first that is done wins.
        let parent = tempfile::Builder::new().prefix("staunch-npm-").tempdir().ok()?;
        let made = parent.path().join("made");
        std::fs::create_dir(&made).ok()?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]);
        run(npm.arg("--prefix").arg(&made).arg(format!("{package}@{version}")))?;
        if std::fs::rename(&made, &cache).is_err() && !has(&cache, package) {
            return None;
        }
    }
    Some(cache)
}

fn has(folder: &Path, package: &str) -> bool {
    folder.join("node_modules").join(package).join("package.json").exists()
}

fn run(command: &mut Command) -> Option<()> {
    command.output().ok().filter(|ran| ran.status.success()).map(drop)
}
