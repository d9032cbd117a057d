//! DBOS: one Python process on PostgreSQL, behind a small HTTP server.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::parts::Parts;
use crate::peer::Sheet;
use crate::process::{Process, eventually, run};
use crate::work::{Doors, NAP, Post, Work, client};

const APPLICATION: &str = "tests/peers/dbos/app.py";
const REQUIREMENTS: &str = "tests/peers/dbos/requirements.txt";
const DURABILITY: &str = "durability: the start, each step's result and the end are committed in \
                          PostgreSQL (fsync and synchronous_commit on) before the answer";

pub(crate) struct Dbos {
    python: PathBuf,
    pub(crate) sheet: Sheet,
}

impl Dbos {
    /// Installs the packages of the requirements, and prints the versions.
    pub(crate) async fn install(folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.join("dbos");
        run(Command::new("python3").arg("-m").arg("venv").arg(&folder)).await?;
        let python = folder.join("bin/python").canonicalize().map(|_| folder.join("bin/python"))?;
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--requirement", REQUIREMENTS]);
        run(&mut install).await?;
        let versions = "import importlib.metadata as m, sys; \
                        print('dbos', m.version('dbos') + ', Python', sys.version.split()[0])";
        println!("{}", run(Command::new(&python).args(["-c", versions])).await?);
        Ok(Self { python, sheet: Sheet::new("DBOS", DURABILITY) })
    }

    /// Starts it, measures it, and ends it.
    pub(crate) async fn turn(&mut self, parts: &Parts, length: Duration) -> anyhow::Result<()> {
        let port = nats_server::free_port()?;
        let mut command = Command::new(&self.python);
        let database = parts.postgres_url("dbos").replacen("postgres:", "postgresql:", 1);
        command.arg(APPLICATION).env("DATABASE_URL", database).env("PORT", port.to_string());
        command.env("PYTHONUNBUFFERED", "1").stdout(Stdio::null()).stderr(Stdio::null());
        let process = Process::start(&mut command, "python")?;
        let (client, url) = (client()?, format!("http://127.0.0.1:{port}"));
        eventually("DBOS answers", async || {
            client.get(format!("{url}/ready")).send().await.is_ok()
        })
        .await?;
        let mut pids = vec![("the Python process", process.pid())];
        pids.extend(parts.postgres_pid().map(|pid| ("PostgreSQL", pid)));
        let measured = self.sheet.turn(&Server { url }, &pids, length).await;
        process.stop().await?;
        measured
    }
}

#[derive(Clone)]
struct Server {
    url: String,
}

impl Doors for Server {
    fn run(&self, work: Work, id: &str) -> Post {
        let path = match work {
            Work::Noop => "noop".to_owned(),
            Work::One => "one".to_owned(),
            Work::Three => "three".to_owned(),
            Work::Sleep => format!("sleep/{}", NAP.as_millis()),
            Work::Resume => format!("waiting/{id}"),
        };
        Post { url: format!("{}/{path}", self.url), body: String::new() }
    }

    fn resume(&self, id: &str) -> Post {
        Post { url: format!("{}/waiting/{id}/go", self.url), body: String::new() }
    }
}
