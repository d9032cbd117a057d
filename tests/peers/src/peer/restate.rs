//! Restate: one server with four partitions, and one service process with its TypeScript SDK.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tokio::process::Command;

use crate::parts::Parts;
use crate::peer::Sheet;
use crate::process::{Process, eventually, run};
use crate::work::{Doors, NAP, Post, Work, client};

const SOURCE: &str = "tests/peers/restate";
/// The package for this platform; the program in `.bin` is a script that starts it as a child.
const SCOPE: &str = "node_modules/@restatedev";
const SDK: &str = "node_modules/@restatedev/restate-sdk/package.json";
const DURABILITY: &str = "durability: each journal entry and each result is synced to its log \
                          before the next step and before the answer (its default, one replica)";

pub(crate) struct Restate {
    folder: PathBuf,
    server: PathBuf,
    pub(crate) sheet: Sheet,
}

impl Restate {
    /// Installs the packages of the lock file, and prints the versions.
    pub(crate) async fn install(folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.join("restate");
        std::fs::create_dir_all(&folder)?;
        for file in ["package.json", "package-lock.json", "service.mjs"] {
            std::fs::copy(Path::new(SOURCE).join(file), folder.join(file))?;
        }
        run(Command::new("npm").args(["ci", "--ignore-scripts"]).current_dir(&folder)).await?;
        let folder = folder.canonicalize()?;
        let packages = std::fs::read_dir(folder.join(SCOPE))?.flatten();
        let mut binaries = packages.map(|package| package.path().join("bin/restate-server"));
        let server =
            binaries.find(|binary| binary.is_file()).context("no Restate for this platform")?;
        let version = run(Command::new(&server).arg("--version")).await?;
        let sdk: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join(SDK))?)?;
        let node = run(Command::new("node").arg("--version")).await?;
        println!("{version}, SDK {}, node {node}", sdk["version"].as_str().unwrap_or("?"));
        Ok(Self { folder, server, sheet: Sheet::new("Restate", DURABILITY) })
    }

    /// Starts it, measures it, and ends it.
    pub(crate) async fn turn(&mut self, parts: &Parts, length: Duration) -> anyhow::Result<()> {
        let data = tempfile::tempdir_in(parts.directory.path())?;
        let [ingress, admin, fabric, service] = [(); 4].map(|()| nats_server::free_port());
        let (ingress, admin, fabric, service) = (ingress?, admin?, fabric?, service?);
        let mut command = Command::new("node");
        command.arg("service.mjs").current_dir(&self.folder).env("PORT", service.to_string());
        // With it the SDK logs less, and is faster.
        command.env("NODE_ENV", "production").stdout(Stdio::null());
        let sdk = Process::start(&mut command, "node")?;
        let mut command = Command::new(&self.server);
        command.arg("--no-logo").arg("--base-dir").arg(data.path());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        for (name, value) in [
            ("RESTATE_INGRESS__BIND_ADDRESS", format!("127.0.0.1:{ingress}")),
            ("RESTATE_ADMIN__BIND_ADDRESS", format!("127.0.0.1:{admin}")),
            ("RESTATE_BIND_ADDRESS", format!("127.0.0.1:{fabric}")),
            ("RESTATE_LISTEN_MODE", "tcp".to_owned()),
            ("RESTATE_DEFAULT_NUM_PARTITIONS", "4".to_owned()),
            ("RESTATE_DISABLE_TELEMETRY", "true".to_owned()),
            ("RESTATE_LOG_FILTER", "warn".to_owned()),
        ] {
            command.env(name, value);
        }
        let server = Process::start(&mut command, "restate-server")?;
        let client = client()?;
        let body = json!({ "uri": format!("http://127.0.0.1:{service}") });
        eventually("Restate knows the service", async || {
            let url = format!("http://127.0.0.1:{admin}/deployments");
            let request = client.post(url).header("Content-Type", "application/json");
            let answer = request.body(body.to_string()).send().await;
            answer.is_ok_and(|answer| answer.status().is_success())
        })
        .await?;
        let doors = Ingress { url: format!("http://127.0.0.1:{ingress}") };
        let pids = [("restate-server", server.pid()), ("the SDK's process", sdk.pid())];
        let measured = self.sheet.turn(&doors, &pids, length).await;
        server.stop().await?;
        sdk.stop().await?;
        measured
    }
}

#[derive(Clone)]
struct Ingress {
    url: String,
}

impl Doors for Ingress {
    fn run(&self, work: Work, id: &str) -> Post {
        let path = match work {
            Work::Noop => "plain/noop".to_owned(),
            Work::One => format!("one/{id}/run"),
            Work::Three => format!("three/{id}/run"),
            Work::Sleep => "plain/sleep".to_owned(),
            Work::Resume => format!("waiting/{id}/run"),
        };
        let body = json!({ "millis": NAP.as_millis() as u64 }).to_string();
        Post { url: format!("{}/{path}", self.url), body }
    }

    fn resume(&self, id: &str) -> Post {
        Post { url: format!("{}/waiting/{id}/go", self.url), body: json!("go").to_string() }
    }
}
