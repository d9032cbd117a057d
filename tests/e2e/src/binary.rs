//! Where the binaries under test are: beside this test, built anew before the first use.

use std::path::{Path, PathBuf};
use std::process::Command;

use tokio::sync::OnceCell;

static BUILT: OnceCell<()> = OnceCell::const_new();

/// The binary of this name, as the sources are now.
pub(crate) async fn binary(name: &str) -> PathBuf {
    let folder = folder();
    BUILT
        .get_or_init(|| async {
            let folder = folder.clone();
            tokio::task::spawn_blocking(move || build(&folder)).await.unwrap();
        })
        .await;
    folder.join(name)
}

/// `target/debug`, from `target/debug/deps/e2e-…`.
fn folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().to_owned()
}

fn build(folder: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--workspace", "--bins"]);
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    cargo.arg("--target-dir").arg(folder.parent().unwrap());
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    let built = cargo.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}
