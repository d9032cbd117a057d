//! What `dev` and `demo` bring along: a nats-server of their own and a SQLite file.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use chassis::{Origin, Settings};
use nats_server::{Binary, Find, Options, Server, find};

use crate::{Failure, say};

/// A broker on this machine, and where its data and the database are.
#[derive(Debug)]
pub(crate) struct Local {
    binary: Binary,
    server: Server,
    folder: PathBuf,
}

impl Local {
    /// Finds a nats-server, fetches it where there is none, and starts it with a store in this
    /// folder; on this port where it is free, on any other else.
    ///
    /// # Errors
    /// When there is none, and none can be fetched; when it does not start.
    pub(crate) async fn start(
        folder: &Path,
        port: Option<u16>,
        told: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Self, Failure> {
        let binary = find(&Find::from_environment(), told).await?;
        let mut options = Options::new(&binary.path, &folder.join("nats"));
        options.port = port.filter(|port| is_free(*port));
        options.log = Some(folder.join("nats-server.log"));
        let server = Server::start(options).await?;
        Ok(Self { binary, server, folder: folder.to_owned() })
    }

    /// The version of the nats-server.
    pub(crate) fn version(&self) -> String {
        self.binary.version.to_string()
    }

    /// Where clients connect.
    pub(crate) fn nats_url(&self) -> String {
        self.server.url()
    }

    /// The SQLite file, made when it is opened.
    pub(crate) fn database_url(&self) -> String {
        sqlite_in(&self.folder)
    }

    /// Where everything is kept.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends the broker in order.
    ///
    /// # Errors
    /// When the system does not let us.
    pub(crate) async fn stop(&mut self) -> Result<(), Failure> {
        Ok(self.server.stop().await?)
    }
}

/// The SQLite file in this folder.
pub(crate) fn sqlite_in(folder: &Path) -> String {
    format!("sqlite://{}?mode=rwc", folder.join("staunch.db").display())
}

/// Fits settings to one machine: what is missing is created, workflows may call this machine, and
/// only warnings are logged where nobody asked for more.
pub(crate) fn at_home(settings: &mut Settings) {
    settings.provision = true;
    settings.allow_private_addresses = true;
    if is_default(settings, "log") {
        settings.log = "warn".to_owned();
    }
}

/// Listens on another port where the usual one is taken and nobody asked for it.
///
/// # Errors
/// When no port is free.
pub(crate) fn on_a_free_port(settings: &mut Settings) -> Result<(), Failure> {
    if !is_default(settings, "listen") || is_free(settings.listen.port()) {
        return Ok(());
    }
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
    settings.listen = free.map_err(|error| Failure::failed(format!("no port is free: {error}")))?;
    Ok(())
}

/// Nobody has said what this setting should be.
pub(crate) fn is_default(settings: &Settings, name: &str) -> bool {
    let setting = settings.all().iter().find(|setting| setting.name == name);
    setting.is_some_and(|setting| setting.origin == Origin::Default)
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// What to try next, with this server and broker: the example where it is there, else one's own.
pub(crate) fn next_steps(server: &str, nats_url: &str, example: Option<&str>) {
    let body = r#"'{"input": {"OrderId": "7", "Amount": 10}}'"#;
    let own = ["staunch apply -f WORKFLOW.json", "staunch run DEFINITION -i '{}' --wait"];
    let first = match example {
        Some(definition) => [
            format!(
                "curl -X POST {server}/elsa/api/workflow-definitions/{definition}/execute \
                 -H 'Content-Type: application/json' -d {body}"
            ),
            format!("nats -s {nats_url} pub staunch.cmd.start.{definition} {body}"),
        ],
        None => own.map(|command| format!("{command} --server {server}")),
    };
    let then = [
        format!("nats -s {nats_url} sub 'staunch.event.>'"),
        format!("nats -s {nats_url} micro ls"),
        format!("staunch instance ls --server {server}"),
    ];
    say::heading("Try next, in another terminal");
    first.iter().chain(&then).for_each(|line| say::story(&format!("  {line}")));
    say::story(&format!("\nThe HTTP API is at {server}, its description at {server}/openapi.json"));
    say::story("Ctrl-C stops everything");
}
