//! A Redis lock as Medallion.Threading takes it: `SET NX PX` with a random value, tried again after
//! a random sleep while another contender has it, and released by a script that compares the value.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::Contender;
use crate::chance::{between, name};
use crate::process::{Process, eventually};

/// Medallion's default expiry.
const EXPIRY_MS: &str = "30000";
const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

/// A redis-server on loopback, without persistence: a lock needs none.
pub(crate) struct Server {
    port: u16,
    pub(crate) version: String,
    _process: Process,
    _directory: TempDir,
}

impl Server {
    /// Starts one; `None` if it is not installed.
    pub(crate) async fn start() -> anyhow::Result<Option<Self>> {
        let asked = tokio::process::Command::new("redis-server").arg("--version").output().await;
        let Ok(asked) = asked else { return Ok(None) };
        let version = String::from_utf8_lossy(&asked.stdout);
        let version = version.split_whitespace().find_map(|word| word.strip_prefix("v="));
        let version = version.unwrap_or("?").to_owned();
        let (directory, port) = (tempfile::tempdir()?, nats_server::free_port()?);
        let mut command = tokio::process::Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        command.arg("--port").arg(port.to_string()).arg("--dir").arg(directory.path());
        let process = Process::start(command.stdout(Stdio::null()), "redis-server")?;
        let server = Self { port, version, _process: process, _directory: directory };
        eventually("redis-server answers", async || server.connect().await.is_ok()).await?;
        Ok(Some(server))
    }

    async fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        stream.set_nodelay(true)?;
        let mut connection = Connection { stream: BufReader::new(stream) };
        connection.ask(&["PING"]).await?;
        Ok(connection)
    }

    /// Contenders for the same key, each on its own connection.
    pub(crate) async fn several(
        &self,
        key: &str,
        count: usize,
        sleep: (Duration, Duration),
    ) -> anyhow::Result<Vec<Waiter>> {
        let mut waiters = Vec::new();
        for _ in 0..count {
            let connection = self.connect().await?;
            waiters.push(Waiter { connection, key: key.to_owned(), value: None, sleep });
        }
        Ok(waiters)
    }
}

pub(crate) struct Waiter {
    connection: Connection,
    key: String,
    value: Option<String>,
    sleep: (Duration, Duration),
}

impl Contender for Waiter {
    async fn take(&mut self) -> anyhow::Result<()> {
        let value = name();
        let set = ["SET", &self.key, &value, "NX", "PX", EXPIRY_MS];
        while self.connection.ask(&set).await?.is_none() {
            tokio::time::sleep(between(self.sleep)).await;
        }
        self.value = Some(value);
        Ok(())
    }

    async fn give(&mut self) -> anyhow::Result<()> {
        let value = self.value.take().context("not held")?;
        let answer = self.connection.ask(&["EVAL", RELEASE, "1", &self.key, &value]).await?;
        anyhow::ensure!(answer.as_deref() == Some("1"), "the lock was lost: {answer:?}");
        Ok(())
    }
}

/// The part of the protocol that a lock needs.
struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    async fn ask(&mut self, words: &[&str]) -> anyhow::Result<Option<String>> {
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        self.stream.write_all(request.as_bytes()).await?;
        let mut line = String::new();
        self.stream.read_line(&mut line).await?;
        let (kind, rest) = line.trim_end().split_at_checked(1).context("Redis has gone")?;
        match kind {
            "+" | ":" => Ok(Some(rest.to_owned())),
            "$" if rest == "-1" => Ok(None),
            "$" => {
                let mut text = vec![0; rest.parse::<usize>()? + 2];
                self.stream.read_exact(&mut text).await?;
                Ok(Some(String::from_utf8_lossy(text.trim_ascii_end()).into_owned()))
            }
            _ => bail!("Redis says {line}"),
        }
    }
}
