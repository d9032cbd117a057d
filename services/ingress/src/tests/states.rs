//! Large states: which reads wait for room, and what gives room back.

use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::response::Response;
use futures::future::join_all;
use model::limits;
use serde_json::{Value, json};
use store::{Burst, CommandFilter, Commit, Expected, Inbox as _, Instances as _, Room};
use tower::ServiceExt as _;

use super::world::{BOUND, World, waits_for};
use crate::Config;

const API: &str = "/elsa/api";
const INSTANCES: &str = "/elsa/api/workflow-instances";
/// Bytes of a large state: there is no room for two of them.
const LARGE: usize = 5 * 1024 * 1024;
/// All the room of an ingress.
const ALL: usize = limits::STATE_BYTES_MAX;
/// Longer than any test waits.
const PATIENT: Duration = Duration::from_secs(60);

/// A cluster with a workflow that waits.
async fn patient() -> World {
    let world = World::with(Config { answer_time_max: PATIENT, ..Config::default() }).await;
    world.publish("w", waits_for("go")).await;
    world
}

/// An instance that waits.
async fn waits(world: &World) -> String {
    let id = world.begin("w").await;
    world.until(&id, "Suspended").await;
    id
}

/// Makes the state of an instance that waits as large as this.
async fn enlarge(world: &World, id: &str, bytes: usize) {
    let mut instance = world.store.load(&id.into()).await.unwrap().unwrap().instance;
    let version = instance.version;
    let mut record: Value = rmp_serde::from_slice(&instance.state).unwrap();
    record["state"]["output"]["large"] = json!("x".repeat(bytes));
    (instance.state, instance.version) = (rmp_serde::to_vec_named(&record).unwrap(), version + 1);
    let burst = Burst::new(instance, Expected::Version(version));
    assert!(matches!(world.store.commit(burst).await.unwrap(), Commit::Done { .. }));
}

/// The path of an instance with a large state.
async fn large(world: &World) -> String {
    let id = waits(world).await;
    enlarge(world, &id, LARGE).await;
    format!("{INSTANCES}/{id}")
}

/// Takes all the room.
async fn taken(world: &World) -> Room {
    let mut room = Room::default();
    world.app.states.wait(&mut room, ALL, BOUND).await.unwrap();
    room
}

/// The number of reads that wait for room.
fn waiting(world: &World) -> usize {
    world.app.states.waiting() + world.app.answers.waiting()
}

async fn until_waiting(world: &World, number: usize) {
    let what = format!("{number} reads wait for room");
    testkit::eventually(&what, BOUND, async || waiting(world) == number).await;
}

/// Bytes of the room that is free for states and for answers.
fn free(world: &World) -> (usize, usize) {
    (world.app.states.free_bytes(), world.app.answers.free_bytes())
}

/// An answer whose body nobody has read yet.
async fn unread(world: &World, path: &str) -> Response {
    let request = Request::get(path).header("host", "127.0.0.1:5001").body(Body::empty());
    let answered = world.router().clone().oneshot(request.unwrap());
    let response = testkit::within("an answer", BOUND, answered).await.unwrap();
    assert_eq!(response.status(), 200);
    response
}

#[tokio::test]
async fn large_states_are_read_when_there_is_room_and_small_ones_at_once() {
    const READS: usize = 6;
    let world = patient().await;
    let (path, small) = (large(&world).await, waits(&world).await);
    let room = taken(&world).await;
    let reads = join_all((0..READS).map(|_| world.get(&path)));
    let meanwhile = async {
        until_waiting(&world, READS).await;
        world.get(&format!("{INSTANCES}/{small}")).await.expect(200);
        world.get(&format!("{INSTANCES}/{small}/variables")).await.expect(200);
        assert_eq!(waiting(&world), READS, "no large state is read without room");
        drop(room);
    };
    let (answers, ()) = tokio::join!(reads, meanwhile);
    for answer in answers {
        let body = answer.expect(200);
        assert_eq!(body["workflowState"]["output"]["large"].as_str().map(str::len), Some(LARGE));
    }
    assert_eq!(free(&world), (ALL, ALL));
}

#[tokio::test]
async fn an_answer_that_was_made_of_a_large_state_has_room_until_it_is_sent() {
    let world = patient().await;
    let path = large(&world).await;
    for path in [path.clone(), format!("{path}/export")] {
        let response = unread(&world, &path).await;
        let (states, answers) = free(&world);
        assert_eq!(states, ALL, "{path}: the state is not needed any more");
        assert!((ALL - LARGE..ALL).contains(&answers), "{path}: {answers}");
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        assert_eq!((free(&world), bytes.len() > LARGE), ((ALL, answers), true), "{path}");
        drop(bytes);
        assert_eq!(free(&world), (ALL, ALL), "{path}");
    }
    let status = unread(&world, &format!("{path}/execution-state")).await;
    assert_eq!(free(&world), (ALL, ALL), "an answer of a few bytes has none");
    drop(status);
}

#[tokio::test]
async fn slow_readers_keep_other_answers_waiting_and_no_command() {
    let world = patient().await;
    let path = large(&world).await;
    let mut slow = Vec::new();
    while world.app.answers.free_bytes() > LARGE / 3 {
        slow.push(unread(&world, &path).await);
        assert!(slow.len() < 100, "they have no room");
    }
    println!("{} slow readers of {LARGE} bytes have all the room", slow.len());
    assert!(slow.len() > 2, "{}", slow.len());
    let another = world.get(&path);
    let meanwhile = async {
        until_waiting(&world, 1).await;
        world.get(&format!("{path}/execution-state")).await.expect(200);
        let id = path.rsplit('/').next().unwrap_or_default();
        let cancel = format!("{API}/cancel/workflow-instances/{id}");
        assert_eq!(world.post(&cancel, &json!({})).await.expect(200)["cancelled"], true);
        assert_eq!(waiting(&world), 1);
        drop(slow);
    };
    let (answer, ()) = tokio::join!(another, meanwhile);
    answer.expect(200);
    assert_eq!(free(&world), (ALL, ALL));
}

#[tokio::test]
async fn one_export_of_several_instances_is_made_at_a_time() {
    let world = patient().await;
    let (one, two) = (waits(&world).await, waits(&world).await);
    let turn = world.app.exports.try_acquire().unwrap();
    let both = json!({"ids": [one, two]});
    let export = format!("{API}/bulk-actions/export/workflow-instances");
    let single = format!("{INSTANCES}/{one}/export");
    let mut waiting = pin!(world.post(&export, &both));
    for _ in 0..2 {
        tokio::select! {
            biased;
            answer = &mut waiting => unreachable!("it is not its turn: {answer:?}"),
            answer = world.get(&single) => drop(answer.expect(200)),
        }
    }
    drop(turn);
    let answer = testkit::within("the export", BOUND, waiting).await;
    assert_eq!(answer.status, 200, "{:#}", answer.body);
}

#[tokio::test]
async fn a_caller_who_goes_away_leaves_no_room_taken() {
    let world = patient().await;
    let path = large(&world).await;
    let room = taken(&world).await;
    tokio::select! {
        answer = world.get(&path) => unreachable!("there is no room: {answer:?}"),
        () = until_waiting(&world, 1) => {}
    }
    assert_eq!(waiting(&world), 0);
    drop(room);
    assert_eq!(free(&world), (ALL, ALL));
    drop(unread(&world, &path).await);
    assert_eq!(free(&world), (ALL, ALL));
}

#[tokio::test]
async fn more_large_reads_than_may_wait_are_refused_with_the_time_to_try_again() {
    let config = Config { answer_time_max: PATIENT, requests_max: 4, ..Config::default() };
    let world = World::with(config).await;
    world.publish("w", waits_for("go")).await;
    let path = large(&world).await;
    let room = taken(&world).await;
    let reads = join_all((0..2).map(|_| world.get(&path)));
    let meanwhile = async {
        until_waiting(&world, 2).await;
        let refused = world.get(&path).await;
        assert_eq!(refused.header("retry-after"), Some("1"));
        let detail = refused.problem(503);
        assert!(detail.contains("waits for memory") && detail.contains("try again"), "{detail}");
        drop(room);
    };
    let (answers, ()) = tokio::join!(reads, meanwhile);
    answers.into_iter().for_each(|answer| drop(answer.expect(200)));
}

/// With their room in hand, the first to wait for an executor would keep the others from being accepted.
#[tokio::test]
async fn who_waits_for_an_executor_has_no_room() {
    let here = patient().await;
    let config = Config { answer_time_max: PATIENT, ..Config::default() };
    let there = World::without_executor(config).await;
    there.publish("w", waits_for("go")).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        let id = waits(&here).await;
        let exported = here.get(&format!("{INSTANCES}/{id}/export")).await.expect(200);
        let import = format!("{API}/bulk-actions/import/workflow-instances");
        assert_eq!(there.post(&import, &exported).await.expect(200)["imported"], 1);
        enlarge(&there, &id, LARGE).await;
        ids.push(id);
    }
    let [altered, resumed, cancelled, deleted] = ids.as_slice() else { unreachable!() };
    let alter = format!("{INSTANCES}/{altered}/alter");
    let alterations = json!({"alterations": [{"type": "Pause"}]});
    let resume = format!("{INSTANCES}/{resumed}/resume");
    let cancel = format!("{API}/cancel/workflow-instances/{cancelled}");
    let delete = format!("{INSTANCES}/{deleted}");
    let nothing = json!({});
    let asking = async {
        tokio::join!(
            there.post(&alter, &alterations),
            there.post(&resume, &nothing),
            there.post(&cancel, &nothing),
            there.delete(&delete),
        )
    };
    let accepted = async || there.store.accepted(&CommandFilter::default(), 10).await.unwrap();
    let meanwhile = async {
        testkit::eventually("all are accepted", BOUND, async || accepted().await.len() == 4).await;
        there.start_executor().await;
    };
    let ((alter, resume, cancel, delete), ()) =
        Box::pin(async { tokio::join!(asking, meanwhile) }).await;
    for answer in [alter, resume, cancel, delete] {
        assert!(answer.status.is_success(), "{}: {:#}", answer.status, answer.body);
    }
    assert_eq!(free(&there), (ALL, ALL));
}
