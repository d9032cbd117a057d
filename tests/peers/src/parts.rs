//! The parts under the sides: one nats-server, and one PostgreSQL that syncs every commit.

use std::path::Path;

use anyhow::Context as _;
use nats_server::Find;
use tempfile::TempDir;

pub(crate) struct Parts {
    nats: nats_server::Server,
    postgres: postgres_server::Server,
    /// The directory of all data; on a disk, not in memory.
    pub(crate) directory: TempDir,
}

impl Parts {
    /// Starts both below `folder`.
    pub(crate) async fn start(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let directory = tempfile::Builder::new().prefix("run-").tempdir_in(folder)?;
        let say = |text: &str| crate::table::note(text);
        let found = nats_server::find(&Find::from_environment(), &say).await?;
        let store = directory.path().join("jetstream");
        let mut options = nats_server::Options::new(&found.path, &store);
        options.remove_if_killed = Some(directory.path().to_owned());
        let nats = nats_server::Server::start(options).await?;
        let bus = bus_nats::connect(bus_nats::Options::new(nats.url())).await?;
        bus.provision(1).await?;
        bus.close().await;
        let programs = postgres_server::find()
            .context("PostgreSQL is not installed: apt install postgresql")?;
        let options = postgres_server::Options::new(programs, true);
        let postgres = postgres_server::Server::start(options).await?;
        postgres.create("raw").await?;
        postgres.create("dbos").await?;
        Ok(Self { nats, postgres, directory })
    }

    pub(crate) fn nats_url(&self) -> String {
        self.nats.url()
    }

    pub(crate) fn postgres_url(&self, database: &str) -> String {
        self.postgres.url(database)
    }

    pub(crate) fn postgres_pid(&self) -> Option<u32> {
        self.postgres.pid()
    }
}
