//! A lane: one of the tasks that repeat a step at the same time.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use model::{InstanceId, Map, Timestamp};
use tokio::time::Instant;

use crate::door::{self, Door};
use crate::outside::Outside;
use crate::wire::Wire;
use crate::{Connection, Scenario, Times, workflow};

/// The shortest wait of a timer; the longest is this and the spread together.
const NEAR_MILLIS: u64 = 500;
const SPREAD_MILLIS: u64 = 1_000;

pub(crate) struct Lane {
    pub(crate) index: usize,
    pub(crate) scenario: Scenario,
    /// The definition, and the beginning of every id.
    pub(crate) name: Arc<str>,
    pub(crate) door: Door,
    /// For steps that only HTTP offers.
    pub(crate) api: Connection,
    /// For events, which only NATS offers.
    pub(crate) wire: Option<Arc<Wire>>,
    /// For messages to a stream.
    pub(crate) outside: Option<Arc<Outside>>,
    /// The body of large requests.
    pub(crate) body: Vec<u8>,
    /// The few instances that all lanes resume.
    pub(crate) few: Arc<[InstanceId]>,
    /// The wait of a timer, if the order sets one.
    pub(crate) delay: Option<Duration>,
    pub(crate) clock: WallClock,
}

/// The system's time, read once, and the time elapsed since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock {
    began: Instant,
    began_millis: i64,
}

impl WallClock {
    #[expect(clippy::disallowed_methods, reason = "a load tells instants to other processes")]
    pub(crate) fn new() -> Self {
        // A whole millisecond, so that an instant in JSON is exact.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.unwrap_or_default();
        let millis = now.as_millis();
        let past = now - Duration::from_millis(u64::try_from(millis).unwrap_or_default());
        Self {
            began: Instant::now() - past,
            began_millis: i64::try_from(millis).unwrap_or_default(),
        }
    }

    /// This instant, or at most a millisecond later.
    fn whole(self, at: Instant) -> (Instant, Timestamp) {
        let millis = at.duration_since(self.began).as_micros().div_ceil(1_000);
        let millis = u64::try_from(millis).unwrap_or_default();
        let told = self.began_millis + i64::try_from(millis).unwrap_or_default();
        (self.began + Duration::from_millis(millis), Timestamp::from_millis(told))
    }
}

impl Lane {
    /// Does its step once, with a unique number; the step was due at `due`.
    pub(crate) async fn step(
        &mut self,
        number: u64,
        due: Instant,
        times: &Times,
    ) -> anyhow::Result<()> {
        let id = format!("{}-{number}", self.name);
        match self.scenario {
            Scenario::Start | Scenario::Steps | Scenario::Calls | Scenario::Io => {
                self.door.run(&id, &self.name).await?;
                times.note("start to finished", due.elapsed());
            }
            Scenario::Resume => {
                let instance = self.door.begin(&id, &self.name).await?;
                times.note("start to waiting", due.elapsed());
                let resumed = Instant::now();
                self.door.resume(&format!("{id}-go"), &instance, "Finished").await?;
                times.note("event to resumed", resumed.elapsed());
                times.note("start to finished", due.elapsed());
            }
            Scenario::Suspend => {
                self.door.begin(&id, &self.name).await?;
                times.note("start to waiting", due.elapsed());
            }
            Scenario::Contend => {
                let index = usize::try_from(number).unwrap_or_default() % self.few.len();
                self.door.resume(&id, &self.few[index], "Suspended").await?;
                times.note("event to resumed", due.elapsed());
            }
            Scenario::Timer => self.wait_for_time(number, &id, times).await?,
            Scenario::Fanout => {
                self.start_and_hear_its_end(&id).await?;
                times.note("start to all finished", due.elapsed());
            }
            Scenario::Task => {
                self.start_and_hear_its_end(&id).await?;
                times.note("start to finished", due.elapsed());
            }
            Scenario::Listen => {
                let wire = self.wire.as_ref().context("the end is told over NATS")?;
                let outside = self.outside.as_ref().context("a stream is published to")?;
                let told = wire.listen(&id);
                outside.publish(&self.name, &id).await?;
                times.note("message to stored", due.elapsed());
                wire.end(&id, told).await?;
                times.note("message to finished", due.elapsed());
            }
            Scenario::Payload => {
                // Each is another content: one that is kept already is not written again.
                let start = self.body.len().min(size_of::<u64>());
                self.body[..start].copy_from_slice(&number.to_le_bytes()[..start]);
                let path = format!("/workflows/{}", self.name);
                let reply = self.api.upload(&path, &self.body).await?;
                ensure!(reply.status == 200, "the answer is {}", reply.status);
                ensure!(reply.body == self.body, "the answer is not what was sent");
                times.note("up and back", due.elapsed());
            }
            Scenario::Publish => {
                // Each lane has its own definition: two drafts of one definition exclude each
                // other.
                let name = format!("{}-{}", self.name, self.index);
                door::save(&mut self.api, &workflow::news(&name, number)).await?;
                let saved = Instant::now();
                door::publish(&mut self.api, &name).await?;
                times.note("publish to in force", saved.elapsed());
                times.note("with saving", due.elapsed());
            }
        }
        Ok(())
    }

    async fn start_and_hear_its_end(&mut self, id: &str) -> anyhow::Result<()> {
        let wire = self.wire.as_ref().context("the end is told over NATS")?;
        let told = wire.listen(id);
        self.door.accept(id, &self.name, Map::new()).await?;
        wire.end(id, told).await.map(drop)
    }

    async fn wait_for_time(&mut self, number: u64, id: &str, times: &Times) -> anyhow::Result<()> {
        // Spread evenly and without random numbers: consecutive numbers are far from each other.
        let near = || NEAR_MILLIS + number.wrapping_mul(0x9E37_79B9) % SPREAD_MILLIS;
        let away = self.delay.unwrap_or_else(|| Duration::from_millis(near()));
        let (at, told_at) = self.clock.whole(Instant::now() + away);
        let wire = self.wire.as_ref().context("the end is told over NATS")?;
        let told = wire.listen(id);
        let mut input = Map::new();
        input.insert("At".to_owned(), serde_json::to_value(told_at)?);
        let asked = Instant::now();
        self.door.accept(id, &self.name, input).await?;
        times.note("start to accepted", asked.elapsed());
        let ended = wire.end(id, told).await?;
        let lateness = Instant::now().saturating_duration_since(at);
        ensure!(ended >= told_at, "early: {id} was due at {told_at} and ended at {ended}");
        times.note("due to resumed", ended.since(told_at));
        times.note("due to finished", lateness);
        Ok(())
    }
}
