//! The work that all sides do, over HTTP: each call is answered when its result is durable.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::time::Duration;

use anyhow::ensure;
use reqwest::Client;
use tokio::time::Instant;

use crate::chance::name;
use crate::closed::{self, Lane};
use crate::samples::Samples;

/// How long a workflow of [`Work::Sleep`] sleeps.
pub(crate) const NAP: Duration = Duration::from_millis(100);
/// How long a workflow of [`Work::Resume`] has to begin its wait before the resume is sent.
const SETTLE: Duration = Duration::from_millis(50);
const WARM_UP: Duration = Duration::from_secs(3);
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// The kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Accepted and answered, with nothing durable in between.
    Noop,
    /// A workflow with one durable step.
    One,
    /// A workflow with three, each durable before the next.
    Three,
    /// A durable sleep: its lateness.
    Sleep,
    /// A workflow that waits and is resumed: from the resume to its answer.
    Resume,
}

/// One measurement: the work, and the number of connections.
pub(crate) const PLAN: [(Work, usize); 9] = [
    (Work::Noop, 256),
    (Work::Noop, 1),
    (Work::One, 256),
    (Work::One, 1),
    (Work::Three, 256),
    (Work::Three, 1),
    (Work::Sleep, 256),
    (Work::Sleep, 1),
    (Work::Resume, 1),
];

/// An address, and the body to post there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Post {
    pub(crate) url: String,
    pub(crate) body: String,
}

/// The requests of one side.
pub(crate) trait Doors: Clone + Send + 'static {
    /// Runs a workflow of this id to its end.
    fn run(&self, work: Work, id: &str) -> Post;
    /// Resumes a workflow that waits.
    fn resume(&self, id: &str) -> Post;
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Noop => "no step",
            Self::One => "one durable step",
            Self::Three => "three durable steps",
            Self::Sleep => "sleep of 100 ms: lateness",
            Self::Resume => "resumed: until the answer",
        })
    }
}

/// A client that keeps its connections.
pub(crate) fn client() -> anyhow::Result<Client> {
    // Already installed if there was a client before.
    drop(rustls::crypto::ring::default_provider().install_default());
    Ok(Client::builder().no_proxy().timeout(ANSWER_MAX).tcp_nodelay(true).build()?)
}

/// Lets a side warm up.
pub(crate) async fn warm<D: Doors>(doors: &D) -> anyhow::Result<()> {
    measure(doors, Work::Three, 64, WARM_UP).await?;
    Ok(())
}

/// Measures one line of the plan.
pub(crate) async fn measure<D: Doors>(
    doors: &D,
    work: Work,
    lanes: usize,
    length: Duration,
) -> anyhow::Result<Samples> {
    let client = client()?;
    let caller = || Caller { client: client.clone(), doors: doors.clone(), work };
    closed::run((0..lanes).map(|_| caller()).collect(), length).await
}

struct Caller<D> {
    client: Client,
    doors: D,
    work: Work,
}

impl<D: Doors> Lane for Caller<D> {
    async fn step(&mut self) -> anyhow::Result<Option<Duration>> {
        let id = name();
        let (client, first) = (self.client.clone(), self.doors.run(self.work, &id));
        let asked = Instant::now();
        if self.work != Work::Resume {
            post(&client, first).await?;
            let is_sleep = self.work == Work::Sleep;
            return Ok(is_sleep.then(|| asked.elapsed().saturating_sub(NAP)));
        }
        let waiting = tokio::spawn(async move { post(&client, first).await });
        tokio::time::sleep(SETTLE).await;
        let resumed = Instant::now();
        let resumption = post(&self.client, self.doors.resume(&id));
        let (answered, resumption) = tokio::join!(
            async {
                let answer = waiting.await;
                (resumed.elapsed(), answer)
            },
            resumption
        );
        resumption?;
        answered.1??;
        Ok(Some(answered.0))
    }
}

async fn post(client: &Client, Post { url, body }: Post) -> anyhow::Result<()> {
    let request = client.post(&url).header("Content-Type", "application/json").body(body);
    let answer = request.send().await?;
    let status = answer.status();
    let text = answer.text().await?;
    ensure!(status.is_success(), "{url}: {status} {text}");
    Ok(())
}
