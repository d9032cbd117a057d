//! The parts that `dev` and `demo` start themselves: a nats-server, with a SQLite file beside its
//! data.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use chassis::{Chance as _, Settings, SystemChance};
use nats_server::{Binary, Find, Options, Server, find};

use crate::{Failure, say};

/// A nats-server on this machine, and the folder of its data and of the database.
#[derive(Debug)]
pub(crate) struct Local {
    binary: Binary,
    server: Server,
    folder: PathBuf,
}

impl Local {
    /// Finds a nats-server, downloads one if there is none, and starts it with a store in this
    /// folder; on this port if it is free, else on another.
    ///
    /// # Errors
    /// When there is none and it cannot be downloaded; when it does not start.
    pub(crate) async fn start(
        folder: &Path,
        port: Option<u16>,
        told: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Self, Failure> {
        let binary = find(&Find::from_environment(), told).await?;
        let mut options = Options::new(&binary.path, &folder.join("nats"));
        options.port = port.filter(|port| is_free(*port));
        options.log = Some(folder.join("nats-server.log"));
        let server = match Server::start(options.clone()).await {
            // Another process may have taken the port meanwhile.
            Err(_) if options.port.take().is_some_and(|port| !is_free(port)) => {
                Server::start(options).await?
            }
            started => started?,
        };
        Ok(Self { binary, server, folder: folder.to_owned() })
    }

    /// The version of the nats-server.
    pub(crate) fn version(&self) -> String {
        self.binary.version.to_string()
    }

    /// The address for clients.
    pub(crate) fn nats_url(&self) -> String {
        self.server.url()
    }

    /// The URL of the SQLite file, which is created when it is opened.
    pub(crate) fn database_url(&self) -> String {
        sqlite_in(&self.folder)
    }

    /// The folder of all data.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stops the nats-server in order.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub(crate) async fn stop(&mut self) -> Result<(), Failure> {
        Ok(self.server.stop().await?)
    }
}

/// The URL of the SQLite file in this folder.
pub(crate) fn sqlite_in(folder: &Path) -> String {
    format!("sqlite://{}?mode=rwc", folder.join("staunch.db").display())
}

/// The file with the master key of secrets in this folder; it is made if there is none.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn master_key_in(folder: &Path) -> Result<PathBuf, Failure> {
    let file = folder.join("secrets.key");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = match options.open(&file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(file),
        Err(error) => Err(error),
        Ok(mut new) => {
            let digits = SystemChance.seed().map(|byte| format!("{byte:02x}")).concat();
            new.write_all(format!("{digits}\n").as_bytes()).and_then(|()| new.sync_all())
        }
    };
    let shown = file.display();
    written.map_err(|error| Failure::failed(format!("cannot write {shown}: {error}")))?;
    Ok(file)
}

/// The defaults of a command for one machine: missing streams and tables are created, workflows may
/// call this machine, only warnings are logged, and nobody sends requests late. Settings that are given take precedence.
pub(crate) fn defaults() -> [(&'static str, String); 4] {
    [
        ("provision", "true"),
        ("allow-private-addresses", "true"),
        ("log", "warn"),
        ("drain-delay", "0s"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
}

/// Chooses another port for HTTP if the default port is taken and no address was given.
///
/// # Errors
/// When no port is free.
pub(crate) fn on_a_free_port(settings: &mut Settings) -> Result<(), Failure> {
    if !settings.is_default("listen") || is_free(settings.listen.port()) {
        return Ok(());
    }
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
    let free = free.map_err(|error| Failure::failed(format!("no port is free: {error}")))?;
    let taken = settings.listen.port();
    say::progress(&format!(
        "port {taken} is taken, so HTTP listens on {free}; --listen names another"
    ));
    settings.listen = free;
    Ok(())
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Prints commands to try next; those of the demo, if its example is named.
pub(crate) fn next_steps(server: &str, nats_url: &str, example: Option<&str>) {
    let body = r#"'{"input": {"OrderId": "7", "Amount": 10}}'"#;
    let own = ["staunch apply -f WORKFLOW.json", "staunch run DEFINITION -i '{}' --wait"];
    let first = match example {
        Some(definition) => vec![
            format!(
                "curl -X POST {server}/elsa/api/workflow-definitions/{definition}/execute \
                 -H 'Content-Type: application/json' -d {body}"
            ),
            format!("nats -s {nats_url} pub staunch.cmd.start.{definition} {body}"),
            format!("curl -X POST {server}/elsa/api/demo/executors/kill"),
        ],
        None => own.map(|command| format!("{command} --server {server}")).to_vec(),
    };
    let then = [
        format!("nats -s {nats_url} sub 'staunch.event.>'"),
        format!("nats -s {nats_url} micro ls"),
        format!("staunch instance ls --server {server}"),
    ];
    say::progress(&format!("\nStudio is at {server}/"));
    if example.is_some() {
        say::progress(
            "Its page Home starts an order, approves it and kills the executor: a click each",
        );
    }
    say::heading("Try next, in another terminal");
    first.iter().chain(&then).for_each(|line| say::progress(&format!("  {line}")));
    say::progress(&format!("\nThe HTTP API is at {server}, its description at {server}/docs"));
    say::progress("Ctrl-C stops everything");
}
