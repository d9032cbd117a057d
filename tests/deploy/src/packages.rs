//! `compose/packages`: what is made is installed in empty folders, without a registry.

use std::path::Path;

use testkit::{binary, executable, pip};

use crate::script::run;

/// Runs the wheel as `uvx` does.
const UV: (&str, &str) = ("uv", "0.13.9");

#[tokio::test]
async fn the_archive_is_installed_by_its_script() {
    install("archive", &[]).await;
}

#[tokio::test]
async fn the_debian_package_comes_and_goes() {
    install("deb", &[]).await;
}

#[tokio::test]
async fn npx_runs_the_demo() {
    install("npm", &[]).await;
}

#[tokio::test]
async fn uvx_runs_the_demo() {
    let Some(folder) = pip(UV.0, UV.1) else { return };
    install("wheel", &[&folder.join("bin/uv")]).await;
}

/// Makes the packages of one kind from the binary under test, and tries them.
async fn install(kind: &str, more: &[&Path]) {
    let (staunch, nats) = (executable("staunch").await, binary().await);
    let arguments = [&[Path::new(kind), &staunch, &nats], more].concat();
    run("packages_run.py", &arguments).await;
}
