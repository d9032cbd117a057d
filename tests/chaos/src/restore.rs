//! A backup of PostgreSQL that was taken under load is restored, beside JetStream as it is, and
//! beside an empty one.

use std::collections::BTreeSet;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::pull;
use futures::StreamExt as _;
use model::{InstanceId, SubStatus};
use postgres_server::{Copy, Server};
use protocol::subject;
use serde_json::{Value, json};
use testkit::{Proxy, eventually, within};

use crate::callee::Callee;
use crate::failover::{address, url};
use crate::ledger::{FOR_EVER, Ledger};
use crate::scale::is_full;
use crate::storm::progress;
use crate::traffic::{Route, Traffic, publish, publish_with};
use crate::workflow::{LINES, Names, WAITS};
use crate::world::{World, all_roles};

const SENDERS: usize = 8;
/// Longer than the streams' duplicate window and the pauses of the sweep.
const FINISHED_MAX: Duration = Duration::from_secs(360);

/// The consumer of the tasks.
const POOL: &str = "task-Ship-1";
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What JetStream has at the restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Streams {
    /// All that happened since the backup.
    AsTheyAre,
    /// Nothing.
    Empty,
}

/// G1, G2: what was answered before the backup is there after the restore; it goes on, and its
/// journal has every line once. Only by `just chaos`: a start that was published shortly before the
/// restore is published again after the streams' duplicate window of two minutes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_backup_goes_on_beside_streams_as_they_are_g1_g2() {
    if is_full() {
        drill(Streams::AsTheyAre).await;
    }
}

/// G1, G2, G4: the same with a broker that has lost everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_backup_goes_on_beside_empty_streams_g1_g2_g4() {
    drill(Streams::Empty).await;
}

/// G4: a worker has taken a task since the backup, and its result went with the database. The stream
/// of tasks is deleted and made again, as docs/backup.md says: the task is handed out again. In the
/// stream as it was, a task that is not there is a worker's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_was_taken_since_the_backup_is_handed_out_again_g4() {
    let Some(mut lost) = testkit::own_postgres(true).await else { return };
    lost.create("staunch").await.unwrap();
    let proxy = Proxy::to(&address(&lost)).await;
    let mut world = World::start_on(url(&proxy), vec![all_roles("node")]).await;
    let jetstream = world.jetstream().await;
    world.api(0).publish(&Names::shipping("shipping")).await;
    world.api(0).start("shipping", "ships", 0).await.unwrap().ok();
    // A message that the backup still has to publish would not be lost.
    eventually("the task is handed out", FINISHED_MAX, async || {
        let mut stream = jetstream.get_stream(subject::TASKS_STREAM).await.unwrap();
        let is_there = stream.info().await.unwrap().state.messages == 1;
        is_there && world.store.unpublished(FOR_EVER, 1).await.unwrap().is_empty()
    })
    .await;
    let backup = Server::copy_of(&lost, Copy::Backup).await.unwrap();
    let (task, attempt) = taken(&jetstream).await;
    assert_eq!(attempt, 1);
    report(&jetstream, &task, attempt).await;
    ships_are(&world, SubStatus::Finished).await;

    world.cluster.node_mut(0).kill().unwrap();
    lost.kill().unwrap();
    proxy.turn_to(&address(&backup));
    jetstream.delete_stream(subject::TASKS_STREAM).await.unwrap();
    world.cluster.provision().await.unwrap();
    world.cluster.node_mut(0).restart().await.unwrap();
    ships_are(&world, SubStatus::Suspended).await;
    assert_eq!(taken(&jetstream).await, (task.clone(), 2));
    report(&jetstream, &task, 2).await;
    ships_are(&world, SubStatus::Finished).await;
}

async fn ships_are(world: &World, wanted: SubStatus) {
    let is_so = async || status(world, "ships").await == Some(wanted);
    eventually(&format!("the instance is {wanted:?}"), FINISHED_MAX, is_so).await;
}

/// Takes the next task and acknowledges it, as a worker does; returns its id and its attempt.
async fn taken(jetstream: &Context) -> (String, u64) {
    let pulled = async {
        loop {
            let pool = jetstream
                .get_consumer_from_stream::<pull::Config, _, _>(POOL, subject::TASKS_STREAM)
                .await;
            if let Ok(pool) = pool {
                let batch = pool.batch().max_messages(1).expires(Duration::from_secs(5));
                let message = batch.messages().await.unwrap().next().await;
                if let Some(Ok(message)) = message {
                    return message;
                }
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    let message = within("a task", FINISHED_MAX, pulled).await;
    message.double_ack().await.unwrap();
    let body: Value = serde_json::from_slice(&message.payload).unwrap();
    let task = body["taskId"].as_str().unwrap().to_owned();
    (task, body["attempt"].as_u64().unwrap())
}

/// Sends the result of a task.
async fn report(jetstream: &Context, task: &str, attempt: u64) {
    let mut headers = HeaderMap::new();
    headers.insert("Staunch-Attempt", attempt.to_string());
    let subject = format!("staunch.cmd.task.Ship.1.{task}");
    publish_with(jetstream, &subject, headers, "{\"output\": \"shipped\"}").await;
}

async fn status(world: &World, instance: &str) -> Option<SubStatus> {
    let loaded = world.store.load(&InstanceId::new(instance)).await;
    loaded.ok().flatten().map(|loaded| loaded.instance.status)
}

async fn drill(streams: Streams) {
    let Some(mut lost) = testkit::own_postgres(true).await else { return };
    lost.create("staunch").await.unwrap();
    let proxy = Proxy::to(&address(&lost)).await;
    let mut world = World::start_on(url(&proxy), vec![all_roles("node")]).await;
    let callee = Callee::start().await;
    let names = Names::new(if streams == Streams::Empty { "empty" } else { "kept" });
    for definition in names.voyages(&callee.url) {
        world.api(0).publish(&definition).await;
    }
    let (jetstream, store) = (world.jetstream().await, world.store.clone());
    let doors = vec![world.api(0)];
    let route = Route { names: names.clone(), doors, jetstream: jetstream.clone(), store };
    let traffic = Traffic::begin(route, SENDERS);
    progress(&traffic, 20).await;
    // A start over NATS is answered by the stream; it is in the database when its first burst is.
    let before = begun(&world, &traffic.accepted()).await;
    let backup = Server::copy_of(&lost, Copy::Backup).await.unwrap();
    progress(&traffic, 20).await;
    let accepted = traffic.end().await;

    world.cluster.node_mut(0).kill().unwrap();
    lost.kill().unwrap();
    proxy.turn_to(&address(&backup));
    if streams == Streams::Empty {
        world.cluster.brokers_mut().wipe().await.unwrap();
        world.cluster.provision().await.unwrap();
    }
    world.cluster.node_mut(0).restart().await.unwrap();

    let ledger = Ledger::new(&world, jetstream.clone(), &callee, names.clone());
    let missing: Vec<_> = unknown(&world, &before).await;
    assert_eq!(missing, [] as [String; 0], "what was answered before the backup is lost");
    // The events of the time after the backup are gone with it: their senders send them again.
    for instance in &before {
        for which in 0..WAITS {
            let subject = format!("staunch.cmd.event.{}", names.go);
            let body = json!({"instanceId": instance}).to_string();
            publish(&jetstream, &subject, &format!("again-{which}-{instance}"), &body).await;
        }
    }
    eventually("what was restored has finished", FINISHED_MAX, async || {
        let mut finished = true;
        for instance in &before {
            finished &= status(&world, instance).await == Some(SubStatus::Finished);
        }
        finished
    })
    .await;
    let mut repeated = 0;
    for instance in &before {
        assert_eq!(ledger.lines(instance).await, LINES, "{instance}");
        let (calls, keys) = callee.asked(instance);
        assert_eq!(keys, 1, "{instance} called under {keys} keys");
        repeated += calls - 1;
    }
    let after = accepted.voyages.difference(&before).cloned().collect();
    let gone = unknown(&world, &after).await.len();
    println!(
        "restore, streams {streams:?}: {} voyages answered before the backup, none lost, each line \
         once, {repeated} outgoing calls repeated under their keys; of {} answered after it {gone} \
         are gone with it",
        before.len(),
        after.len()
    );
    let one = world.api(0).start(&names.child, "after-the-restore", 0).await.unwrap();
    assert!(one.is_ok(), "{one:?}");
}

/// Those of these voyages that the database has.
async fn begun(world: &World, voyages: &BTreeSet<String>) -> BTreeSet<String> {
    let missing: BTreeSet<_> = unknown(world, voyages).await.into_iter().collect();
    voyages.difference(&missing).cloned().collect()
}

async fn unknown(world: &World, voyages: &BTreeSet<String>) -> Vec<String> {
    let mut unknown = Vec::new();
    for voyage in voyages {
        let id = InstanceId::new(voyage.as_str());
        let mut loaded = world.store.load(&id).await;
        // The connections of the lost server end at their next use.
        for _ in 0..20 {
            if loaded.is_ok() {
                break;
            }
            loaded = world.store.load(&id).await;
        }
        if loaded.unwrap().is_none() {
            unknown.push(voyage.clone());
        }
    }
    unknown
}
