//! What a worker and a client have to do, whatever they are written in.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use testkit::eventually;
use tokio::time::{Instant, sleep};

use crate::gate::Gate;
use crate::language::Program;
use crate::process::{Place, Process};
use crate::world::{PATIENCE, World};

/// A time limit of a consumer that a test can wait for.
const ACK_WAIT: Duration = Duration::from_millis(1_500);
pub(crate) const COMMANDS: &str = "STAUNCH_COMMANDS";
/// The characters of a result that no message carries.
pub(crate) const LARGE: usize = 2 * 1024 * 1024;

/// What a scenario has.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) program: Program,
    pub(crate) place: Place,
    pub(crate) prefix: &'static str,
}

impl Scene {
    /// A worker for the types of tasks of one scenario, and the beginning of their names.
    pub(crate) fn worker(&self, scenario: &str) -> (Process, String) {
        let prefix = format!("{}-{scenario}", self.prefix);
        (self.again(&prefix), prefix)
    }

    fn again(&self, prefix: &str) -> Process {
        Process::start(&self.program, &self.world.cluster.nats_url(), prefix, &self.place)
    }

    async fn noted(&self, prefix: &str, what: &str, count: usize) {
        let all = format!("{count} times {what} in the journal of {prefix}");
        eventually(&all, PATIENCE, async || self.place.count(prefix, what, None) == count).await;
    }
}

pub(crate) async fn a_client_starts_asks_signals_follows_resumes_and_cancels(scene: &Scene) {
    let mut command = scene.program.command();
    command.env("NATS_URL", scene.world.cluster.nats_url()).env("WORKER_PREFIX", scene.prefix);
    let ran = command.env("WORKER_JOURNAL", "").arg("client").output().await.unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let expected = json!({
        "status": "Suspended", "again": "alreadyDone", "query": "Suspended",
        "watched": ["finished"], "late": ["finished"], "output": {"By": {"by": "Ada"}},
        "resumed": "Finished", "refused": "alreadyDone", "cancelled": "Cancelled", "absent": 404,
    });
    assert_eq!(answer, expected);
}

pub(crate) async fn a_task_of_a_type_that_nobody_works_waits(scene: &Scene) {
    let prefix = format!("{}-early", scene.prefix);
    let kind = format!("{prefix} echo.ü");
    let (_, instance) = scene.world.hand_out(&kind, json!({"n": 1})).await;
    // A worker of another type leaves it alone.
    let (_other, other) = scene.worker("other");
    assert_eq!(
        scene.world.result(&format!("{other} echo.ü"), json!({"n": 2})).await["input"]["n"],
        2
    );
    assert_eq!(scene.world.left(&kind).await, 1);
    assert_eq!(scene.world.client.query(&instance).await.unwrap().sub_status, "Suspended");
    let _late = scene.again(&prefix);
    assert_eq!(scene.world.over(&instance, "Finished").await.output["Result"]["input"]["n"], 1);
    scene.world.nothing_left(&kind).await;
}

pub(crate) async fn whoever_asks_is_told_who_works(scene: &Scene) {
    let (mut worker, prefix) = scene.worker("who");
    let slow = json!({"taskType": format!("{prefix} slow"), "version": 1, "concurrency": 3});
    let second = json!({"taskType": format!("{prefix} second"), "version": 2});
    eventually("the worker is among those who work", PATIENCE, async || {
        scene.world.workers().await.iter().any(|who| takes(who, &slow) && takes(who, &second))
    })
    .await;
    for who in scene.world.workers().await {
        assert_eq!(who["name"], "staunch-worker", "{who}");
        assert!(who["host"].is_string(), "{who}");
    }
    worker.signal("TERM");
    assert!(worker.ended().await.success(), "it ends in order");
    assert!(!scene.world.workers().await.iter().any(|who| takes(who, &slow)), "it has left");
}

/// Whether a worker takes these tasks; a number that is left out may be any.
fn takes(who: &Value, tasks: &Value) -> bool {
    let same = |taken: &Value| {
        tasks.as_object().unwrap().iter().all(|(name, value)| taken[name] == *value)
    };
    who["tasks"].as_array().unwrap().iter().any(same)
}

pub(crate) async fn values_arrive_as_they_were_sent(scene: &Scene) {
    let (_worker, prefix) = scene.worker("values");
    let kind = format!("{prefix} echo.ü");
    let payload =
        json!({"order": 7, "text": "ä \"\n", "half": 0.5, "none": null, "list": [1, [2]]});
    let (task, instance) = scene.world.hand_out(&kind, payload.clone()).await;
    let result = scene.world.over(&instance, "Finished").await.output["Result"].clone();
    assert_eq!(result["input"], payload);
    let rest = [&result["attempt"], &result["key"], &result["deadline"]];
    assert_eq!(rest, [&json!(1), &json!(format!("{task}.1")), &Value::Null]);
    let names = [&result["workflow"], &result["correlation"]];
    assert_eq!(names, [&json!("Hands out"), &Value::Null]);

    let begun = jiff::Timestamp::now().as_second();
    let (_, instance) = scene.world.hand_out_as("timed", &kind, 1, json!({"n": 1})).await;
    let result = scene.world.over(&instance, "Finished").await.output["Result"].clone();
    let left = result["deadline"].as_f64().unwrap() - f64::from(u32::try_from(begun).unwrap());
    assert!((1.5..8.0).contains(&left), "a deadline in {left} s");

    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("traceparent", trace);
    let input = json!({"TaskName": kind, "Version": 1, "Payload": {}});
    let body = json!({"input": input, "instanceId": prefix, "correlationId": "order-7"});
    let subject = "staunch.api.start.task";
    let nats = &scene.world.nats;
    nats.request_with_headers(subject, headers, body.to_string().into()).await.unwrap();
    let result = scene.world.over(&prefix, "Finished").await.output["Result"].clone();
    let heard = result["trace"].as_str().unwrap();
    assert_eq!(heard[..35], trace[..35], "the trace goes on");
    assert_eq!(result["correlation"], "order-7");

    let second = format!("{prefix} second");
    let (_, instance) = scene.world.hand_out_as("task", &second, 2, json!({})).await;
    assert_eq!(scene.world.over(&instance, "Finished").await.output["Result"], 2);
    let typed = format!("{prefix} typed");
    assert_eq!(scene.world.result(&typed, json!({"number": 4})).await, 5);
    scene.world.nothing_left(&kind).await;
}

pub(crate) async fn failures_are_what_the_handler_means(scene: &Scene) {
    let (_worker, prefix) = scene.worker("failures");
    let kind = |kind: &str| format!("{prefix} {kind}");
    assert_eq!(scene.world.result(&kind("fail-once"), json!({})).await["attempt"], 2);

    let (task, instance) = scene.world.hand_out(&kind("fail-for-good"), json!({})).await;
    let incidents = scene.world.over(&instance, "Faulted").await.incidents.join("; ");
    assert!(incidents.contains("declined") && incidents.contains("no money"), "{incidents}");
    assert_eq!(scene.place.count(&prefix, "begin", Some(&task)), 1, "no second attempt");
    let [sent] = &scene.world.sent(&task, 1).await[..] else { panic!("one result") };
    let expected =
        json!({"type": "CardDeclined", "title": "declined", "detail": "no money", "status": 402});
    assert_eq!((&sent["error"], &sent["retryable"]), (&expected, &json!(false)));

    let begun = Instant::now();
    assert_eq!(scene.world.result(&kind("fail-later"), json!({})).await["attempt"], 2);
    assert!(begun.elapsed() >= Duration::from_secs(2), "retryAfter is respected");

    let said = scene.world.incident(&kind("typed"), json!({"number": "seven"})).await;
    assert!(said.contains("the input is not what the worker takes"), "{said}");
}

pub(crate) async fn large_values_pass_and_larger_ones_fail_for_good(scene: &Scene) {
    let (_worker, prefix) = scene.worker("large");
    let text = "y".repeat(300_000);
    let payload = json!({"text": text});
    let echoed = scene.world.result(&format!("{prefix} echo.ü"), payload).await;
    assert!(echoed["input"]["text"] == text, "the input comes back");
    let big = format!("{prefix} big");
    let result = scene.world.result(&big, json!({"bytes": 500_000})).await;
    assert_eq!(result.as_str().unwrap().len(), 500_000);
    let (task, instance) = scene.world.hand_out(&big, json!({"bytes": 9_000_000})).await;
    let said = scene.world.over(&instance, "Faulted").await.incidents.join("; ");
    assert!(said.contains("bytes, more than the 8388608 that a result may have"), "{said}");
    assert_eq!(scene.place.count(&prefix, "begin", Some(&task)), 1, "no second attempt");
    scene.world.nothing_left(&big).await;

    // A message cannot carry this input, and the handler gets all of it.
    let length = format!("{prefix} length");
    let (task, instance) =
        scene.world.hand_out_as("long", &length, 1, json!({"characters": 700_000})).await;
    let found = scene.world.over(&instance, "Finished").await;
    assert_eq!(found.output["Result"], 700_000, "task {task}");
    // The value of this one rests nowhere.
    let gone = format!("sha256-{}", "0".repeat(64));
    let task = format!("{prefix}-gone");
    let body = json!({
        "taskId": task, "taskType": length, "taskVersion": 1, "attempt": 1, "activityId": "a",
        "input": {"text": {"$payload": gone, "bytes": 9}},
        "workflowInstanceId": "i", "workflowDefinitionId": "d",
    });
    let subject = format!("staunch.task.{}.1", staunch_client::token(&length));
    let js = &scene.world.js;
    js.publish(subject, body.to_string().into()).await.unwrap().await.unwrap();
    let [sent] = &scene.world.sent(&task, 1).await[..] else { panic!("one result") };
    let error = &sent["error"];
    assert_eq!((&error["type"], &sent["retryable"]), (&json!("InputUnavailable"), &json!(false)));
    assert!(error["detail"].as_str().unwrap().contains(&gone), "{sent}");
    scene.world.nothing_left(&length).await;
}

pub(crate) async fn a_large_result_is_an_object(scene: &Scene) {
    let (_worker, prefix) = scene.worker("object");
    let big = format!("{prefix} big");
    let bytes = json!({"bytes": LARGE});
    let (task, instance) = scene.world.hand_out_as("measured", &big, 1, bytes).await;
    let json = scene.world.large_result(&task, &instance, LARGE).await;
    assert!(json == format!("\"{}\"", "x".repeat(LARGE)).into_bytes(), "all of it");
    scene.world.nothing_left(&big).await;
    assert_eq!(scene.place.count(&prefix, "begin", Some(&task)), 1, "the work is done once");
    // A result that the broker does not recognize, and whose object is there, changes nothing.
    let first = scene.world.client.query(&instance).await.unwrap();
    let object = scene.world.results(&task)[0]["object"].as_str().unwrap().to_owned();
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("Staunch-Payload", object.as_str());
    let subject = format!("staunch.cmd.task.{}.1.{task}", staunch_client::token(&big));
    let body = json!({"attempt": 1}).to_string();
    let js = &scene.world.js;
    js.publish_with_headers(subject, headers, body.into()).await.unwrap().await.unwrap();
    assert_eq!(scene.world.result(&big, json!({"bytes": 3})).await, "xxx");
    let after = scene.world.client.query(&instance).await.unwrap();
    assert_eq!((after.version, after.output), (first.version, first.output), "it counts once");
}

pub(crate) async fn a_result_that_cannot_be_read_fails_the_attempt(scene: &Scene) {
    let (_worker, prefix) = scene.worker("unfit");
    let deep = format!("{prefix} deep");
    assert!(scene.world.result(&deep, json!({"levels": 9})).await[0].is_array());
    let (task, instance) = scene.world.hand_out(&deep, json!({"levels": 90})).await;
    let said = scene.world.over(&instance, "Faulted").await.incidents.join("; ");
    assert!(said.contains("nested more than 64 deep"), "{said}");
    assert_eq!(scene.place.count(&prefix, "begin", Some(&task)), 1, "no second attempt");
    scene.world.nothing_left(&deep).await;
}

pub(crate) async fn no_more_tasks_at_once_than_the_handler_takes(scene: &Scene) {
    let (_worker, prefix) = scene.worker("many");
    let kind = format!("{prefix} slow");
    let results = (0..9).map(|_| scene.world.result(&kind, json!({"ms": 400})));
    join_all(results).await;
    assert_eq!(scene.place.most_at_once(&prefix), 3);
    assert_eq!(scene.place.count(&prefix, "begin", None), 9);
}

pub(crate) async fn a_cancelled_task_ends(scene: &Scene) {
    let (_worker, prefix) = scene.worker("cancel");
    for kind in ["slow", "blocking"] {
        let kind = format!("{prefix} {kind}");
        let (task, instance) = scene.world.hand_out(&kind, json!({"ms": 60_000})).await;
        let has = |what| scene.place.count(&prefix, what, Some(&task)) == 1;
        eventually("it is begun", PATIENCE, async || has("begin")).await;
        scene.world.client.cancel(&instance, None).await.unwrap();
        eventually("the handler is cancelled", Duration::from_secs(5), async || has("cancelled"))
            .await;
        scene.world.nothing_left(&kind).await;
        assert_eq!(scene.world.results(&task), Vec::<Value>::new(), "nobody wants a result");
    }
}

pub(crate) async fn a_task_ends_at_its_deadline(scene: &Scene) {
    let (_worker, prefix) = scene.worker("late");
    let kind = format!("{prefix} slow");
    let (task, instance) = scene.world.hand_out_as("timed", &kind, 1, json!({"ms": 60_000})).await;
    scene.noted(&prefix, "cancelled", 1).await;
    scene.world.nothing_left(&kind).await;
    scene.world.over(&instance, "Faulted").await;
    assert_eq!(scene.world.results(&task), Vec::<Value>::new(), "nobody wants a result");
}

pub(crate) async fn a_long_task_is_not_delivered_again(scene: &Scene) {
    let prefix = format!("{}-long", scene.prefix);
    for kind in ["slow", "blocking"] {
        scene.world.limit(&format!("{prefix} {kind}"), ACK_WAIT).await;
    }
    let _workers = [scene.again(&prefix), scene.again(&prefix)];
    let kinds = [format!("{prefix} slow"), format!("{prefix} blocking")];
    let long = json!({"ms": 3 * u64::try_from(ACK_WAIT.as_millis()).unwrap()});
    join_all(kinds.iter().map(|kind| scene.world.result(kind, long.clone()))).await;
    assert_eq!(scene.place.count(&prefix, "begin", None), 2, "each once");
}

pub(crate) async fn what_is_no_task_is_removed(scene: &Scene) {
    let prefix = format!("{}-poison", scene.prefix);
    let kind = format!("{prefix} echo.ü");
    // A real task, whose body somebody has replaced.
    let (_, instance) = scene.world.hand_out(&kind, json!({"n": 1})).await;
    let taken = scene.world.take(&kind).await;
    let mut headers = taken.headers.clone().unwrap();
    headers.insert("Nats-Msg-Id", prefix.as_str());
    let subject = taken.subject.clone();
    let js = &scene.world.js;
    let sent = js.publish_with_headers(subject.clone(), headers, "[]".into()).await.unwrap();
    sent.await.unwrap();
    let other =
        json!({"taskId": "x", "taskType": "Other", "taskVersion": 1, "input": 1, "attempt": 1});
    for body in ["not JSON", "{}", "null", "\u{0}", &other.to_string()] {
        js.publish(subject.clone(), body.to_owned().into()).await.unwrap().await.unwrap();
    }
    let _worker = scene.again(&prefix);
    let said = scene.world.over(&instance, "Faulted").await.incidents.join("; ");
    assert!(said.contains("the worker cannot read the task"), "{said}");
    assert_eq!(
        scene.world.result(&kind, json!({"n": 2})).await["input"]["n"],
        2,
        "the worker goes on"
    );
    scene.world.nothing_left(&kind).await;
    assert_eq!(scene.place.count(&prefix, "begin", None), 1);
}

pub(crate) async fn a_crash_before_the_result_repeats_the_task(scene: &Scene) {
    let prefix = format!("{}-before", scene.prefix);
    let kind = format!("{prefix} crash-before-result");
    scene.world.limit(&kind, ACK_WAIT).await;
    let mut worker = scene.again(&prefix);
    let (task, instance) = scene.world.hand_out(&kind, json!({})).await;
    assert!(!worker.ended().await.success(), "it has crashed");
    assert_eq!(scene.world.left(&kind).await, 1);
    let _second = scene.again(&prefix);
    scene.world.over(&instance, "Finished").await;
    scene.world.nothing_left(&kind).await;
    assert_eq!(scene.place.count(&prefix, "begin", Some(&task)), 2);
    assert_eq!(scene.world.sent(&task, 1).await.len(), 1);
}

pub(crate) async fn a_crash_after_the_result_changes_nothing(scene: &Scene) {
    let prefix = format!("{}-after", scene.prefix);
    let kind = format!("{prefix} echo.ü");
    scene.world.limit(&kind, ACK_WAIT).await;
    let gate = Gate::before(&scene.world.cluster.nats_url()).await;
    let mut worker = Process::start(&scene.program, &gate.url, &prefix, &scene.place);
    let (task, instance) = scene.world.hand_out(&kind, json!({"n": 1})).await;
    gate.closed().await;
    // It acknowledges, and so the result is stored.
    assert_eq!(scene.world.sent(&task, 1).await.len(), 1);
    worker.kill();
    worker.ended().await;
    let first = scene.world.over(&instance, "Finished").await;
    assert_eq!(scene.world.left(&kind).await, 1);
    let _second = scene.again(&prefix);
    scene.world.nothing_left(&kind).await;
    assert_eq!(scene.place.count(&prefix, "begin", Some(&task)), 2, "the work is done again");
    let results = scene.world.sent(&task, 2).await;
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["id"], results[1]["id"], "which the broker recognizes");
    // A result that it does not recognize.
    let subject = format!("staunch.cmd.task.{}.1.{task}", staunch_client::token(&kind));
    let foreign = json!({"attempt": 1, "output": "another"}).to_string();
    scene.world.js.publish(subject, foreign.into()).await.unwrap().await.unwrap();
    assert_eq!(scene.world.result(&kind, json!({"n": 2})).await["input"]["n"], 2);
    let after = scene.world.client.query(&instance).await.unwrap();
    assert_eq!(
        (after.version, after.output),
        (first.version, first.output),
        "a result counts once"
    );
}

pub(crate) async fn a_frozen_worker_loses_its_task(scene: &Scene) {
    let prefix = format!("{}-frozen", scene.prefix);
    let kind = format!("{prefix} slow");
    scene.world.limit(&kind, ACK_WAIT).await;
    let frozen = scene.again(&prefix);
    let (task, instance) = scene.world.hand_out(&kind, json!({"ms": 2_000})).await;
    scene.noted(&prefix, "begin", 1).await;
    frozen.signal("STOP");
    let _second = scene.again(&prefix);
    let found = scene.world.over(&instance, "Finished").await;
    frozen.signal("CONT");
    // The broker may have delivered the task to the frozen worker a second time, for its last pull.
    let count = |what| scene.place.count(&prefix, what, Some(&task));
    eventually("all that was begun has ended", PATIENCE, async || {
        count("end") >= 2 && count("end") == count("begin")
    })
    .await;
    scene.world.nothing_left(&kind).await;
    let results = scene.world.sent(&task, 2).await;
    assert!(count("begin") <= 3, "{results:?}");
    assert!(results.iter().all(|one| one["id"] == results[0]["id"]), "{results:?}");
    let after = scene.world.client.query(&instance).await.unwrap();
    assert_eq!(
        (after.version, after.output),
        (found.version, found.output),
        "a result counts once"
    );
}

pub(crate) async fn a_result_that_is_not_stored_is_sent_again(scene: &Scene) {
    let (_worker, prefix) = scene.worker("full");
    let kind = format!("{prefix} slow");
    let (task, instance) = scene.world.hand_out(&kind, json!({"ms": 1_000})).await;
    scene.noted(&prefix, "begin", 1).await;
    let stream = scene.world.js.get_stream(COMMANDS).await.unwrap();
    let good = stream.cached_info().config.clone();
    let mut full = good.clone();
    full.max_message_size = 1;
    scene.world.js.update_stream(full).await.unwrap();
    eventually("it was refused", PATIENCE, async || scene.world.results(&task).len() > 1).await;
    assert_eq!(scene.world.left(&kind).await, 1, "and the task is not acknowledged");
    scene.world.js.update_stream(good).await.unwrap();
    scene.world.over(&instance, "Finished").await;
    scene.world.nothing_left(&kind).await;
    assert_eq!(scene.place.count(&prefix, "begin", Some(&task)), 1, "the work is done once");
}

pub(crate) async fn a_stopped_worker_finishes_what_is_in_hand(scene: &Scene) {
    let (mut worker, prefix) = scene.worker("drain");
    let kind = format!("{prefix} slow");
    let tasks = (0..5).map(|_| scene.world.hand_out(&kind, json!({"ms": 2_000})));
    let tasks = join_all(tasks).await;
    scene.noted(&prefix, "begin", 3).await;
    worker.signal("TERM");
    assert!(worker.ended().await.success(), "it ends in order");
    assert_eq!(scene.place.count(&prefix, "begin", None), 3, "nothing is taken any more");
    assert_eq!(scene.place.count(&prefix, "end", None), 3, "and what is in hand is finished");
    eventually("what is finished is acknowledged", PATIENCE, async || {
        scene.world.left(&kind).await == 2
    })
    .await;
    let begun = Instant::now();
    let _second = scene.again(&prefix);
    for (_, instance) in &tasks {
        scene.world.over(instance, "Finished").await;
    }
    // Nothing was lost on the way to a worker that does not pull any more: that would come after 30 s.
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert_eq!(scene.place.count(&prefix, "begin", None), 5);
}

pub(crate) async fn a_stopped_worker_gives_back_what_takes_too_long(scene: &Scene) {
    let prefix = format!("{}-limit", scene.prefix);
    let kinds = [format!("{prefix} slow"), format!("{prefix} blocking")];
    let url = scene.world.cluster.nats_url();
    let mut worker = Process::start(&scene.program, &url, &prefix, &scene.place.draining(1));
    for kind in &kinds {
        scene.world.hand_out(kind, json!({"ms": 15_000})).await;
    }
    scene.noted(&prefix, "begin", 2).await;
    let begun = Instant::now();
    worker.signal("TERM");
    assert!(worker.ended().await.success(), "it ends in order");
    // It did not wait for its tasks, which take 15 s.
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let _second = scene.again(&prefix);
    let given_back = Instant::now();
    scene.noted(&prefix, "begin", 4).await;
    assert!(given_back.elapsed() < Duration::from_secs(10), "before the 30 s of ack_wait");
    sleep(Duration::from_millis(100)).await;
}
