//! Runtime administration: a paused executor takes nothing and loses nothing; a drain waits for the
//! work in progress.

use std::time::Duration;

use bus::Bus as _;
use model::Timestamp;
use serde_json::{Value, json};

use super::world::{BOUND, World, json_request, waits_for, writes_line};
use crate::{Auth, Config};

const ADMIN: &str = "/elsa/api/admin/workflow-runtime";

impl World {
    async fn admin(&self, what: &str) -> Value {
        self.post(&format!("{ADMIN}/{what}"), &json!({"reason": "maintenance"})).await.expect(200)
    }

    /// Waits until the executor takes nothing any more.
    async fn paused(&self) {
        testkit::eventually("the executor is paused", BOUND, async || {
            let status = self.get(&format!("{ADMIN}/status")).await.expect(200);
            status["sources"][0]["state"] == "Paused"
        })
        .await;
    }

    /// Starts an instance without waiting for it.
    async fn accepted(&self, definition_id: &str) -> String {
        let start = json!({"definitionId": definition_id});
        let prefer = [("prefer", "respond-async")];
        let answer = self.post_with("/elsa/api/workflow-instances", &prefer, &start).await;
        answer.expect(202)["workflowInstanceId"].as_str().unwrap().to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_cluster_keeps_its_commands_until_it_goes_on() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let before = world.get(&format!("{ADMIN}/status")).await.expect(200);
    assert_eq!(before["state"]["reason"], "None");
    assert_eq!(before["state"]["isAcceptingNewWork"], true);
    assert_eq!(before["nodes"][0]["version"], chassis::version());
    let generation = before["state"]["generationId"].clone();
    let paused = world.admin("pause").await;
    assert_eq!(paused["state"]["reason"], "AdministrativePause");
    assert_eq!(paused["state"]["isAcceptingNewWork"], false);
    assert_eq!(paused["state"]["pauseReasonText"], "maintenance");
    assert_eq!(paused["state"]["pauseRequestedBy"], "local");
    assert_ne!(paused["state"]["generationId"], generation);
    assert_eq!(paused["sources"][0]["name"], "node");
    world.paused().await;
    let again = world.admin("pause").await;
    assert_eq!(again["state"], paused["state"]);
    let id = world.accepted("line").await;
    // A pull that did not wait for the gate would have taken it by now: the clock is paused.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(bus::Queue::backlog(&world.bus).await.unwrap(), 1);
    let path = format!("/elsa/api/workflow-instances/{id}/execution-state");
    assert_eq!(world.get(&path).await.expect(200)["subStatus"], "Pending");
    let resumed = world.admin("resume").await;
    assert_eq!(resumed["state"]["reason"], "None");
    assert_eq!(world.admin("resume").await["state"]["reason"], "None");
    world.until(&id, "Finished").await;
    let audit = world.get("/elsa/api/audit").await.expect(200).to_string();
    assert!(audit.contains("runtime.pause") && audit.contains("runtime.resume"), "{audit}");
}

#[tokio::test(start_paused = true)]
async fn each_change_has_its_time_and_a_greater_generation() {
    let world = World::new().await;
    let generation = |status: &Value| -> u64 {
        status["state"]["generationId"].as_str().unwrap().parse().unwrap()
    };
    let changed = |status: &Value| -> Timestamp {
        Timestamp::parse(status["sources"][0]["lastTransitionAt"].as_str().unwrap()).unwrap()
    };
    let status = async || world.get(&format!("{ADMIN}/status")).await.expect(200);
    let mut before = generation(&status().await);
    for what in ["pause", "resume", "pause?node=node", "resume?node=node", "pause", "resume"] {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let begun = world.app.now();
        let answer = world.admin(what).await;
        let after = generation(&answer);
        assert!(after > before, "{what}: {before} and then {after}");
        // What was changed for one node counts in the status of the cluster, too, and later.
        tokio::time::sleep(Duration::from_secs(60)).await;
        let later = status().await;
        assert_eq!(generation(&later), after, "{what}");
        for shown in [&answer, &later] {
            let since = changed(shown).since(begun);
            assert!(changed(shown) >= begun && since < Duration::from_secs(10), "{what}: {shown}");
        }
        before = after;
    }
    // Of two pauses, the first has stopped it, and the end of one of them does not start it.
    world.admin("pause").await;
    let paused_at = changed(&status().await);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(changed(&world.admin("pause?node=node").await), paused_at);
    world.admin("resume?node=node").await;
    assert_eq!(changed(&status().await), paused_at);
}

#[tokio::test]
async fn a_pause_holds_for_an_executor_that_starts_later() {
    let world = World::without_executor(Config::default()).await;
    world.publish("line", writes_line()).await;
    world.admin("pause").await;
    let id = world.accepted("line").await;
    world.start_executor().await;
    world.paused().await;
    assert_eq!(bus::Queue::backlog(&world.bus).await.unwrap(), 1);
    world.admin("resume").await;
    world.until(&id, "Finished").await;
}

#[tokio::test]
async fn a_node_is_paused_by_itself() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let status = world.admin("pause?node=node").await;
    assert_eq!(status["state"]["reason"], "AdministrativePause");
    world.paused().await;
    let cluster = world.get(&format!("{ADMIN}/status")).await.expect(200);
    assert_eq!(cluster["state"]["reason"], "None");
    assert_eq!(cluster["state"]["isAcceptingNewWork"], false, "it is the only executor");
    assert_eq!(cluster["pauses"][0]["node"], "node");
    let id = world.accepted("line").await;
    // The pause of the cluster is another one.
    world.admin("resume").await;
    world.paused().await;
    world.admin("resume?node=node").await;
    world.until(&id, "Finished").await;
    let unknown = world.post(&format!("{ADMIN}/pause?node=nobody"), &json!({})).await;
    assert!(unknown.problem(404).contains("nobody"));
    world.get(&format!("{ADMIN}/status?node=nobody")).await.problem(404);
    let unknown = world.post(&format!("{ADMIN}/resume?node=nobody"), &json!({})).await;
    assert!(unknown.problem(404).contains("no live executor nobody"));
}

#[tokio::test]
async fn the_pause_of_a_node_that_is_gone_can_be_ended() {
    let world = World::new().await;
    let other = world.join("other", "executor").await;
    let live = || world.app.cx.presence.live();
    testkit::eventually("the node lives", BOUND, async || live().len() == 2).await;
    world.admin("pause?node=other").await;
    other.leave().await;
    testkit::eventually("the node is gone", BOUND, async || live().len() == 1).await;
    assert_eq!(world.admin("resume?node=other").await["state"]["reason"], "None");
    let again = world.post(&format!("{ADMIN}/resume?node=other"), &json!({})).await;
    assert!(again.problem(404).contains("no live executor other"));
    // A live node without a pause goes on.
    assert_eq!(world.admin("resume?node=node").await["state"]["reason"], "None");
}

#[tokio::test]
async fn a_pause_that_does_not_say_for_whom_is_refused() {
    let world = World::new().await;
    let refused = async |path: &str, body: Value, part: &str| {
        let detail = world.post(&format!("{ADMIN}/{path}"), &body).await.problem(400);
        assert!(detail.contains(part), "{path} {body}: {detail}");
    };
    for what in ["pause", "resume", "force-drain"] {
        refused(&format!("{what}?nod=node"), json!({}), "\"nod\"").await;
        refused(what, json!({"nod": "node"}), "nod").await;
        refused(&format!("{what}?node="), json!({}), "node is empty").await;
        refused(what, json!({"node": ""}), "node is empty").await;
        refused(&format!("{what}?node=node"), json!({"node": "other"}), "several nodes").await;
        refused(&format!("{what}?node=node&node=other"), json!({}), "several nodes").await;
    }
    refused("pause?seconds=1", json!({}), "seconds").await;
    world.get(&format!("{ADMIN}/status?nod=node")).await.problem(400);
    let pauses = async || world.get(&format!("{ADMIN}/status")).await.expect(200)["pauses"].clone();
    assert_eq!(pauses().await, json!([]));
    for (path, body) in [("pause", json!({"node": "node"})), ("pause?node=node", json!({}))] {
        world.post(&format!("{ADMIN}/{path}"), &body).await.expect(200);
        let known = pauses().await;
        assert_eq!((known.as_array().unwrap().len(), &known[0]["node"]), (1, &json!("node")));
        world.post(&format!("{ADMIN}/resume"), &json!({"node": "node"})).await.expect(200);
        assert_eq!(pauses().await, json!([]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_is_told_soon_that_all_executors_are_paused() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let path = "/elsa/api/workflow-instances";
    let detail = "all executors are paused";
    for query in ["", "?node=node"] {
        world.admin(&format!("pause{query}")).await;
        world.paused().await;
        tokio::time::sleep(Duration::from_secs(6)).await;
        let begun = tokio::time::Instant::now();
        let answer = world.post(path, &json!({"definitionId": "line"})).await;
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        assert!(answer.header("x-staunch-detail").unwrap_or_default().starts_with(detail));
        let dispatched =
            world.post("/elsa/api/workflow-definitions/line/dispatch", &json!({})).await;
        assert_eq!(dispatched.status, 200);
        assert!(dispatched.header("x-staunch-detail").unwrap_or_default().starts_with(detail));
        let id = answer.expect(202)["workflowInstanceId"].as_str().unwrap().to_owned();
        world.admin(&format!("resume{query}")).await;
        world.until(&id, "Finished").await;
    }
    // One that is not paused carries it out: nobody is told.
    let other = world.join("other", "executor").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.admin("pause?node=other").await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    let answer = world.post(path, &json!({"definitionId": "line"})).await;
    assert_eq!(answer.header("x-staunch-detail"), None);
    answer.expect(200);
    other.leave().await;
}

#[tokio::test]
async fn a_drain_waits_until_the_work_in_progress_is_done() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let drained = world.admin("force-drain").await["outcome"].clone();
    assert_eq!(drained["overallResult"], "CompletedWithinDeadline");
    assert_eq!(drained["executionCyclesForceCancelledCount"], 0);
    assert_eq!(drained["sources"][0]["state"], "Paused");
    assert!(drained["pausePhaseDuration"].as_str().unwrap().starts_with("00:00:0"), "{drained}");
    let status = world.get(&format!("{ADMIN}/status")).await.expect(200);
    assert_eq!(status["state"]["reason"], "AdministrativePause, Drain");
    assert_eq!(status["activeExecutionCycleCount"], 0);
    world.post("/elsa/api/events/go/trigger", &json!({})).await.expect(200);
    world.admin("resume").await;
    world.until(&id, "Finished").await;
    let bad = world.post(&format!("{ADMIN}/force-drain?seconds=0"), &json!({})).await;
    assert!(bad.problem(400).contains("1 to"));
}

#[tokio::test]
async fn a_drain_that_takes_too_long_says_so_and_another_has_to_wait_for_it() {
    let world = World::without_executor(Config::default()).await;
    let (kv, chance) = (world.bus.kv(bus::Bucket::Runtime), world.app.cx.chance.clone());
    // The node says that it is an executor, and does not answer.
    let drained = world.post(&format!("{ADMIN}/force-drain?seconds=1"), &json!({})).await;
    let outcome = drained.expect(200)["outcome"].clone();
    assert_eq!(outcome["overallResult"], "DeadlineExceeded");
    assert_eq!(outcome["sources"][0]["state"], "PauseFailed");
    world.admin("resume").await;
    let now = world.app.now();
    let until = now.after(Duration::from_secs(60));
    let drain = Some(bus::Drain { started_at: now, until, completed_at: None });
    let pause = bus::Pause { since: now, by: "other".to_owned(), reason: None, drain };
    let nonces: bus::Nonces = std::sync::Arc::new(move || chance.new_id());
    let set: Result<_, bus::Error> =
        bus::Pauses::change(&*kv, &bus::Scope::Cluster, &nonces, |_| Ok(Some(pause.clone()))).await;
    set.unwrap();
    for what in ["pause", "resume", "force-drain"] {
        let answer = world.post(&format!("{ADMIN}/{what}"), &json!({})).await;
        assert_eq!(answer.body["code"], "drain-in-progress", "{what}");
        assert_eq!(answer.body["state"]["pauseRequestedBy"], "other", "{what}");
        assert!(answer.problem(409).contains("other is draining cluster"), "{what}");
    }
}

#[tokio::test]
async fn the_status_needs_one_permission_and_a_change_another() {
    const KEY: &str = "a-bootstrap-key-of-length";
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..Config::default() };
    let world = World::with(config).await;
    let send = async |method: &str, path: &str, key: &str, body: &Value| {
        let key = format!("ApiKey {key}");
        world.send(json_request(method, path, &[("authorization", &key)], body)).await
    };
    let make = async |permission: &str| {
        let body = json!({"name": "test", "permissions": [permission]});
        let made = send("POST", "/api/api-keys", KEY, &body).await.expect(201);
        made["key"].as_str().unwrap().to_owned()
    };
    let reads = make("read:workflow-runtime").await;
    let manages = make("ManageWorkflowRuntime").await;
    let neither = make("read:workflow-instances").await;
    let status = format!("{ADMIN}/status");
    for (key, expected) in [(&reads, 200), (&manages, 200), (&neither, 403)] {
        let answer = send("GET", &status, key, &json!({})).await;
        assert_eq!(answer.status.as_u16(), expected);
    }
    for (key, expected) in [(&reads, 403), (&manages, 200), (&neither, 403)] {
        for what in ["pause", "force-drain", "resume"] {
            let answer = send("POST", &format!("{ADMIN}/{what}"), key, &json!({})).await;
            assert_eq!(answer.status.as_u16(), expected, "{what}");
        }
    }
}
