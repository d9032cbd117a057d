//! The raw limits of the parts: what no engine on top of them can be faster than.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use async_nats::jetstream;
use bus::{Bucket, Bus as _, Kv, Put};
use bytes::Bytes;
use sqlx::{Connection as _, PgConnection};

use crate::chance::name;
use crate::closed::{self, Lane};
use crate::parts::Parts;
use crate::samples::Samples;
use crate::table;

const MANY: usize = 256;
/// Connections to the database; more only wait for each other.
const SESSIONS: usize = 32;
static STATE: [u8; 1024] = [7; 1024];

/// Measures each part alone, and prints it.
pub(crate) async fn limits(parts: &Parts, length: Duration) -> anyhow::Result<()> {
    table::title("raw limits");
    table::head("");
    for lanes in [1, MANY] {
        let samples = publish(parts, lanes, length).await?;
        let what = format!("JetStream publish + ack, {lanes} in flight");
        table::row(&what, &samples.figure(), "1 KiB; written, not synced, before the ack");
    }
    for lanes in [1, MANY] {
        let samples = swap(parts, lanes, length).await?;
        let what = format!("KV create + delete pair, {lanes} in flight");
        table::row(&what, &samples.figure(), "in memory, by compare-and-swap");
    }
    for lanes in [1, SESSIONS] {
        let samples = commit(parts, lanes, length).await?;
        let what = format!("PostgreSQL one-row commits, {lanes} sessions");
        table::row(&what, &samples.figure(), "1 KiB; synced before the answer");
    }
    Ok(())
}

async fn publish(parts: &Parts, lanes: usize, length: Duration) -> anyhow::Result<Samples> {
    let context = jetstream::new(async_nats::connect(parts.nats_url()).await?);
    let (stream, subject) = (name(), format!("peers.{}", name()));
    let config = jetstream::stream::Config {
        name: stream.clone(),
        subjects: vec![format!("{subject}.>")],
        max_bytes: 1 << 30,
        ..Default::default()
    };
    context.create_stream(config).await?;
    let lane = |lane| Publish { context: context.clone(), subject: format!("{subject}.{lane}") };
    let samples = closed::run((0..lanes).map(lane).collect(), length).await?;
    context.delete_stream(stream).await?;
    Ok(samples)
}

struct Publish {
    context: jetstream::Context,
    subject: String,
}

impl Lane for Publish {
    async fn step(&mut self) -> anyhow::Result<Option<Duration>> {
        let body = Bytes::from_static(&STATE);
        self.context.publish(self.subject.clone(), body).await?.await?;
        Ok(None)
    }
}

async fn swap(parts: &Parts, lanes: usize, length: Duration) -> anyhow::Result<Samples> {
    let bus = bus_nats::connect(bus_nats::Options::new(parts.nats_url())).await?;
    let kv = bus.kv(Bucket::Leases);
    let lane = |_| Swap { kv: Arc::clone(&kv), key: name(), revision: 0 };
    let samples = closed::run((0..lanes).map(lane).collect(), length).await?;
    bus.close().await;
    Ok(samples)
}

struct Swap {
    kv: Arc<dyn Kv>,
    key: String,
    revision: u64,
}

impl Lane for Swap {
    async fn step(&mut self) -> anyhow::Result<Option<Duration>> {
        let ttl = Some(Duration::from_secs(15));
        let put = self.kv.put_if(&self.key, "us".into(), self.revision, ttl, &name()).await?;
        let Put::Won(taken) = put else { bail!("{put:?} on a key of our own") };
        let put = self.kv.purge_if(&self.key, taken, &name()).await?;
        let Put::Won(given) = put else { bail!("{put:?} on a key of our own") };
        self.revision = given;
        Ok(None)
    }
}

async fn commit(parts: &Parts, lanes: usize, length: Duration) -> anyhow::Result<Samples> {
    let url = parts.postgres_url("raw");
    let mut sessions = Vec::new();
    for _ in 0..lanes {
        sessions.push(Commit { session: PgConnection::connect(&url).await? });
    }
    let table =
        "CREATE TABLE IF NOT EXISTS state (id text PRIMARY KEY, version bigint, body bytea)";
    if let Some(first) = sessions.first_mut() {
        sqlx::query(table).execute(&mut first.session).await?;
    }
    closed::run(sessions, length).await
}

struct Commit {
    session: PgConnection,
}

impl Lane for Commit {
    async fn step(&mut self) -> anyhow::Result<Option<Duration>> {
        let insert = sqlx::query("INSERT INTO state VALUES ($1, 1, $2)");
        insert.bind(name()).bind(&STATE[..]).execute(&mut self.session).await?;
        Ok(None)
    }
}
