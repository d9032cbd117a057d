//! Voyages that go on while something fails; at the end they are counted.

use async_nats::jetstream::Context;
use testkit::{Proxy, eventually};
use tokio::time::{Duration, Instant};

use crate::callee::Callee;
use crate::ledger::{Found, Ledger};
use crate::storm::progress;
use crate::traffic::{Route, Traffic};
use crate::workflow::Names;
use crate::world::{World, last_words};

const SENDERS: usize = 6;
/// How long it may take until an operator sees a failure.
pub(crate) const SEEN_MAX: Duration = Duration::from_secs(30);

/// The load of one test.
pub(crate) struct Load {
    traffic: Traffic,
    callee: Callee,
    _calls: Proxy,
    names: Names,
    jetstream: Context,
}

impl Load {
    /// Begins, with requests to these nodes.
    pub(crate) async fn begin(world: &World, tag: &str, doors: &[usize]) -> Self {
        Self::begin_at(world, tag, doors, "127.0.0.1").await
    }

    /// The same; workflows make their calls to this address of this machine.
    pub(crate) async fn begin_at(world: &World, tag: &str, doors: &[usize], address: &str) -> Self {
        let (callee, names) = (Callee::start().await, Names::new(tag));
        let place = callee.url.trim_start_matches("http://");
        let calls = Proxy::at(&format!("{address}:0"), place).await;
        let url = format!("http://{}", calls.address());
        let doors: Vec<_> = doors.iter().map(|node| world.api(*node)).collect();
        for definition in names.voyages(&url) {
            doors[0].publish(&definition).await;
        }
        let (jetstream, store) = (world.jetstream().await, world.store.clone());
        let route = Route { names: names.clone(), doors, jetstream: jetstream.clone(), store };
        Self { traffic: Traffic::begin(route, SENDERS), callee, _calls: calls, names, jetstream }
    }

    /// Waits until this many more voyages are over; returns the time that it took.
    pub(crate) async fn progress(&self, voyages: usize) -> Duration {
        let began = Instant::now();
        progress(&self.traffic, voyages).await;
        began.elapsed()
    }

    /// Ends; everything that was accepted has to be done, once.
    pub(crate) async fn end(self, world: &World, what: &str) {
        let accepted = self.traffic.end().await;
        let ledger = Ledger::new(world, self.jetstream, &self.callee, self.names);
        ledger.settled(&accepted).await;
        let Found { voyages, repeated_calls } = ledger.balanced(&accepted).await;
        println!(
            "{what}: {voyages} voyages accepted, {voyages} finished once; {repeated_calls} outgoing \
             calls repeated; longest pause {:.1?}",
            accepted.longest_pause()
        );
    }
}

/// Waits until a node's log has all these words, and prints the line.
pub(crate) async fn said(world: &World, node: usize, words: &[&str]) {
    let of = &world.cluster.nodes()[node];
    let find = || {
        let said = of.said();
        let has = |line: &&str| words.iter().all(|word| line.contains(word));
        said.lines().find(has).map(str::to_owned)
    };
    let give_up = Instant::now() + SEEN_MAX;
    loop {
        if let Some(line) = find() {
            println!("the log of {}: {line}", of.name());
            return;
        }
        assert!(Instant::now() < give_up, "no line with {words:?}:\n{}", last_words(of));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until a node is not ready, and its answer has this word; prints the time and the answer.
pub(crate) async fn unready(world: &World, node: usize, word: &str) {
    let (began, api) = (Instant::now(), world.api(node));
    let mut last = String::new();
    let seen = async || {
        let path = "/health/ready";
        let Ok(answer) = api.send(reqwest::Method::GET, path, None, &serde_json::Value::Null).await
        else {
            return false;
        };
        last = format!("{} {}", answer.status, answer.body);
        answer.status == 503 && last.contains(word)
    };
    eventually(&format!("the node is not ready: {word}"), SEEN_MAX, seen).await;
    println!("readiness after {:.1?}: {last}", began.elapsed());
}

/// Waits until a node is ready; prints the time.
pub(crate) async fn ready(world: &World, node: usize) {
    let (began, of) = (Instant::now(), &world.cluster.nodes()[node]);
    eventually("the node is ready again", SEEN_MAX, async || of.is_healthy().await).await;
    println!("{} is ready again after {:.1?}", of.name(), began.elapsed());
}

/// Runs `staunch doctor` with these addresses; it has to find a line with all these words.
pub(crate) async fn doctor(world: &World, arguments: &[&str], words: &[&str]) {
    let asked = [&["doctor"], arguments].concat();
    let output = world.cluster.cli(&asked).await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| words.iter().all(|word| line.contains(word)));
    assert!(line.is_some(), "no line with {words:?} in\n{text}");
    println!("staunch doctor: {}", line.unwrap_or_default().trim());
}
