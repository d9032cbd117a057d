//! The nats-servers of a cluster.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use nats_server::{Options, Server, free_port};

/// One nats-server, or three that form one JetStream cluster.
#[derive(Debug)]
pub struct Brokers(Vec<Server>);

impl Brokers {
    /// Starts them with their data in a folder; `remove` is deleted when this process is killed.
    pub(crate) async fn start(
        count: usize,
        folder: &Path,
        remove: Option<&Path>,
        config: Option<&str>,
        told: fn(&str),
    ) -> anyhow::Result<Self> {
        ensure!(matches!(count, 1 | 3), "{count} brokers: use 1 or 3");
        let binary = nats_server::find(&nats_server::Find::from_environment(), &told).await?.path;
        let mut routes = Vec::new();
        for _ in 0..count {
            routes.push(format!("nats://127.0.0.1:{}", free_port()?));
        }
        let mut servers = Vec::new();
        for (index, route) in routes.iter().enumerate() {
            let name = format!("nats-{}", index + 1);
            let mut options = Options::new(&binary, &folder.join(&name));
            options.log = Some(folder.join(format!("{name}.log")));
            options.remove_if_killed = remove.map(Path::to_owned);
            if let Some(config) = config {
                let path = folder.join("nats.conf");
                std::fs::write(&path, config)?;
                options.config = Some(path);
            }
            if count > 1 {
                let cluster = ["--server_name", &name, "--cluster_name", "staunch"];
                let routes = ["--cluster", route, "--routes", &routes.join(",")];
                // Otherwise clients would learn all addresses and bypass the proxies.
                let silent = ["--no_advertise=true"];
                let arguments = cluster.into_iter().chain(routes).chain(silent);
                options.arguments = arguments.map(str::to_owned).collect();
            }
            servers.push(Server::start(options).await.with_context(|| name)?);
        }
        Ok(Self(servers))
    }

    /// The client URLs of all servers, separated by commas.
    #[must_use]
    pub fn url(&self) -> String {
        self.0.iter().map(Server::url).collect::<Vec<_>>().join(",")
    }

    /// The servers: to kill, restart, suspend and resume them.
    pub fn servers(&mut self) -> &mut [Server] {
        &mut self.0
    }

    /// The number of servers, and of copies of all data.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Kills all, deletes everything that JetStream has stored, and starts them again on the same
    /// ports.
    ///
    /// # Errors
    /// When one of them does not start again.
    pub async fn wipe(&mut self) -> anyhow::Result<()> {
        self.0.iter_mut().try_for_each(Server::kill)?;
        for server in &mut self.0 {
            std::fs::remove_dir_all(server.store_dir())?;
            std::fs::create_dir_all(server.store_dir())?;
            server.restart().await?;
        }
        Ok(())
    }

    pub(crate) async fn stop(&mut self) -> anyhow::Result<()> {
        for server in &mut self.0 {
            server
                .resume()
                .or_else(|error| if server.is_running() { Err(error) } else { Ok(()) })?;
            server.stop().await?;
        }
        Ok(())
    }

    /// The time that a new cluster may take to elect its leaders.
    pub(crate) fn election_max(&self) -> Duration {
        Duration::from_secs(if self.0.len() > 1 { 30 } else { 5 })
    }
}
