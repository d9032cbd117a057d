//! Packages from PyPI for tests, each in a folder of its own, installed once.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skip;

/// The folder that has this package, for `PYTHONPATH`. `None`, and a line in the output, if there is no
/// Python with pip, or pip does not reach its registry.
///
/// # Panics
/// When `STAUNCH_TEST_REQUIRE` names `pip`.
#[must_use]
pub fn pip(package: &str, version: &str) -> Option<PathBuf> {
    let found = installed(package, version);
    if found.is_none() {
        skip("pip", package, "no python3 with pip, or pip does not reach its registry");
    }
    found
}

fn installed(package: &str, version: &str) -> Option<PathBuf> {
    let cache = std::env::temp_dir().join(format!("staunch-test-pip-{package}-{version}"));
    // The folder of `moto[server]` is that of `moto`.
    let name = package.split('[').next().unwrap_or(package);
    if !has(&cache, name) {
        // Another process may install it at the same time: the first that is done wins.
        let parent = tempfile::Builder::new().prefix("staunch-pip-").tempdir().ok()?;
        let made = parent.path().join("made");
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]);
        let ran = pip.arg(&made).arg(format!("{package}=={version}")).output().ok()?;
        if !ran.status.success() {
            return None;
        }
        if std::fs::rename(&made, &cache).is_err() && !has(&cache, name) {
            return None;
        }
    }
    Some(cache)
}

fn has(folder: &Path, package: &str) -> bool {
    folder.join(package).join("__init__.py").exists()
}
