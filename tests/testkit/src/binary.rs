//! The paths of the binaries under test: beside the test, built before the first use.

use std::path::{Path, PathBuf};
use std::process::Command;

use tokio::sync::OnceCell;

/// A folder of binaries that are used without building them.
const GIVEN: &str = "STAUNCH_TEST_BINARIES";

static FOLDER: OnceCell<PathBuf> = OnceCell::const_new();

/// The beginnings of the variables that cargo sets for the tests of a package.
const PACKAGE: [&str; 2] = ["CARGO_MANIFEST_", "CARGO_PKG_"];

/// The binary of this name, built from the current sources; or the one in the folder that
/// `STAUNCH_TEST_BINARIES` names.
///
/// # Panics
/// When it cannot be built, or does not exist.
pub async fn executable(name: &str) -> PathBuf {
    let folder = FOLDER.get_or_init(|| async {
        if let Some(folder) = given() {
            return folder;
        }
        let folder = beside();
        build(&folder).await;
        folder
    });
    let binary = folder.await.join(name);
    assert!(binary.is_file(), "there is no {}", binary.display());
    binary
}

#[expect(clippy::disallowed_methods, reason = "a switch for those who have built already")]
fn given() -> Option<PathBuf> {
    std::env::var(GIVEN).ok().filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// `target/debug`, from `target/debug/deps/e2e-…`.
#[expect(clippy::expect_used, reason = "a test without what it tests cannot go on")]
fn beside() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().and_then(Path::parent).expect("a test is in a folder").to_owned()
}

/// Builds everything that `cargo test --workspace` builds, so that nothing is built afterwards:
/// fewer targets would have other features, and be compiled again.
#[expect(clippy::expect_used, reason = "a test without what it tests cannot go on")]
async fn build(folder: &Path) {
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => "dev",
        Some(name) => name,
    };
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--workspace", "--all-targets", "--profile", profile]);
    cargo.arg("--target-dir").arg(folder.parent().expect("a target folder"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    // What cargo tells a test of its own package would count as a change for the build script of
    // `ring`, and with it everything above would be compiled again.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| PACKAGE.iter().any(|it| name.starts_with(it))) {
            cargo.env_remove(name);
        }
    }
    let built = tokio::process::Command::from(cargo).output().await.expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}
