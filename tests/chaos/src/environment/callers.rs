//! Callers of HTTP who wait while a server behind the node is killed, or hangs: they hear about as
//! soon as readiness says it, and not after the longest wait of an answer.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cluster::{Database, Plan};
use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::load::{ready, unready};
use crate::api::Api;
use crate::workflow::Names;
use crate::world::{World, all_roles};

const CALLERS: usize = 12;
/// The wait for an answer where nothing is said about it is 30 s. Readiness knows within 3 s that the
/// database is gone.
const DATABASE_WAIT_MAX: Duration = Duration::from_secs(10);
/// An election of the streams' leaders comes before the answer.
const BROKER_WAIT_MAX: Duration = Duration::from_secs(25);
/// How long callers go on after the server was killed.
const WATCHED: Duration = Duration::from_secs(25);
const PAUSE: Duration = Duration::from_millis(100);

/// What the callers got.
#[derive(Default)]
struct Got {
    longest: Duration,
    statuses: BTreeMap<u16, usize>,
}

/// Calls without pause, each for an instance that ends at once, while `strike` runs.
async fn called(api: &Api, id: &str, strike: impl Future<Output = ()>) -> Got {
    api.publish(&Names::quick(id)).await;
    let (got, is_over) = (Mutex::new(Got::default()), AtomicBool::new(false));
    let call = async || {
        while !is_over.load(Ordering::Relaxed) {
            let asked = Instant::now();
            let body = json!({"definitionId": id});
            let answer = api.send(Method::POST, "/elsa/api/workflow-instances", None, &body).await;
            let status = answer.map_or(0, |answer| answer.status);
            {
                let mut got = got.lock().unwrap();
                got.longest = got.longest.max(asked.elapsed());
                *got.statuses.entry(status).or_default() += 1;
            }
            if status != 200 {
                sleep(PAUSE).await;
            }
        }
    };
    let strike = async {
        sleep(Duration::from_secs(1)).await;
        strike.await;
        sleep(WATCHED).await;
        is_over.store(true, Ordering::Relaxed);
    };
    tokio::join!(join_all((0..CALLERS).map(|_| call())), strike);
    got.into_inner().unwrap()
}

fn judge(what: &str, got: &Got, wait_max: Duration) {
    println!(
        "{what}: the longest wait of a caller {:.1?}; answers {:?}",
        got.longest, got.statuses
    );
    assert!(got.longest < wait_max, "{what}: a caller waited {:.1?}", got.longest);
    assert!(got.statuses.get(&200).is_some_and(|count| *count >= CALLERS), "{:?}", got.statuses);
    let other = |status: &u16| !matches!(status, 200..=202 | 503);
    assert!(!got.statuses.keys().any(other), "{:?}", got.statuses);
}

/// G11: the database is killed under callers who wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_hear_soon_that_the_database_is_gone_g11() {
    let Some(mut world) = World::start(1, vec![all_roles("node")]).await else { return };
    let api = world.api(0);
    let got = called(&api, "gone", async {
        world.cluster.postgres().unwrap().kill().unwrap();
        unready(&world, 0, "database").await;
    })
    .await;
    judge("the database is killed", &got, DATABASE_WAIT_MAX);
    // What the stream has is accepted; anything else is refused.
    let unserved = |status: &u16| matches!(status, 202 | 503);
    assert!(got.statuses.keys().any(unserved), "{:?}", got.statuses);
    world.cluster.postgres().unwrap().restart().await.unwrap();
}

/// G11: the database hangs under callers who wait: connections stay open, and nothing is answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_hear_soon_that_the_database_hangs_g11() {
    let Some(mut world) = World::start(1, vec![all_roles("node")]).await else { return };
    let api = world.api(0);
    let got = called(&api, "hung", async {
        world.cluster.postgres().unwrap().suspend().unwrap();
        unready(&world, 0, "database").await;
    })
    .await;
    judge("the database hangs", &got, DATABASE_WAIT_MAX);
    let unserved = |status: &u16| matches!(status, 202 | 503);
    assert!(got.statuses.keys().any(unserved), "{:?}", got.statuses);
    world.cluster.postgres().unwrap().resume().unwrap();
    ready(&world, 0).await;
}

/// G11: of three brokers that which leads the stream of commands is killed under callers who wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_hardly_notice_that_one_of_three_brokers_is_gone_g11() {
    let change = |plan: &mut Plan| {
        plan.brokers = 3;
        plan.database = Database::Postgres { durable: true };
        plan.nodes = vec![all_roles("node")];
    };
    let Some(mut world) = World::planned(change).await else { return };
    let api = world.api(0);
    let stream = world.jetstream().await.get_stream("STAUNCH_COMMANDS").await.unwrap();
    let leader = stream.cached_info().cluster.as_ref().unwrap().leader.clone().unwrap();
    let number: usize = leader.trim_start_matches("nats-").parse().unwrap();
    let got = called(&api, "led", async {
        world.cluster.brokers_mut().servers()[number - 1].kill().unwrap();
    })
    .await;
    judge("one of three brokers is killed", &got, BROKER_WAIT_MAX);
    let served = got.statuses.get(&200).copied().unwrap_or_default();
    assert!(served > 5 * CALLERS, "hardly a start was served afterwards: {:?}", got.statuses);
}
