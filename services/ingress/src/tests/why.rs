use std::time::Duration;

use engine::outside::NatsConfig;
use model::limits;
use protocol::{Cancel, Command};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::world::{BOUND, World, waits_for};
use crate::Config;

const INSTANCES: &str = "/elsa/api/workflow-instances";

async fn why(world: &World, id: &str) -> Value {
    world.get(&format!("{INSTANCES}/{id}/why")).await.expect(200)
}

fn causes(why: &Value) -> Vec<&str> {
    let found = why["findings"].as_array().unwrap().iter();
    found.map(|one| one["cause"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_instance_says_what_it_waits_for_and_what_moves_it() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    world.until(&id, "Suspended").await;
    let found = why(&world, &id).await;
    let answer = found["answer"].as_str().unwrap();
    assert!(answer.starts_with("It waits for the event \"go\" at activity wait"), "{found:#}");
    assert_eq!(found["findings"][0]["cause"], "event");
    let nats = found["findings"][0]["actions"][0]["nats"].as_str().unwrap();
    assert_eq!(nats, format!("nats req staunch.api.event.go '{{\"instanceId\":\"{id}\"}}'"));
    assert_eq!(found["cluster"]["executors"][0]["node"], "node", "{found:#}");
    assert_eq!(found["unknown"], json!([]));
    let lines = found["journal"].as_array().unwrap();
    assert_eq!(lines.last().unwrap()["eventName"], "Workflow", "{found:#}");
    let event = "/elsa/api/events/go/trigger";
    world.post(event, &json!({"workflowInstanceId": id})).await.expect(200);
    world.until(&id, "Finished").await;
    assert_eq!(causes(&why(&world, &id).await), ["ended"]);
    world.get(&format!("{INSTANCES}/nope/why")).await.problem(404);
}

#[tokio::test]
async fn a_stream_that_does_not_exist_and_the_version_of_a_task_are_named() {
    let subjects = [("*".to_owned(), vec!["orders.>".to_owned()])].into();
    let nats = NatsConfig { subjects, ..NatsConfig::default() };
    let world = World::with(Config { nats, ..Config::default() }).await;
    let reads = json!({"type": "Staunch.MessageReceived", "id": "m", "subject": "orders.*",
        "stream": "ORDERS"});
    world.publish("reads", reads).await;
    let task = json!({"type": "Elsa.RunTask", "id": "t", "taskName": "Ship", "taskVersion": 3});
    world.publish("ships", task).await;
    let reads = world.begin("reads").await;
    world.until(&reads, "Suspended").await;
    let found = why(&world, &reads).await;
    assert!(causes(&found).contains(&"message-no-stream"), "{found:#}");
    world.bus.make_stream("ORDERS", "orders.>");
    let found = why(&world, &reads).await;
    assert!(causes(&found).contains(&"message"), "{found:#}");
    let ships = world.begin("ships").await;
    world.until(&ships, "Suspended").await;
    let answer = why(&world, &ships).await["answer"].to_string();
    assert!(answer.contains("Ship\\\", version 3"), "{answer}");
}

#[tokio::test]
async fn an_instance_says_whether_a_worker_has_taken_its_task() {
    let world = World::new().await;
    world.publish("w", json!({"type": "Elsa.RunTask", "id": "t", "taskName": "Ship"})).await;
    let id = world.begin("w").await;
    let says = async |part: &str| {
        testkit::eventually(part, BOUND, async || {
            why(&world, &id).await["answer"].as_str().unwrap().contains(part)
        })
        .await;
        let pools = world.get("/elsa/api/tasks/pools").await.expect(200);
        let pool = &pools["items"][0];
        assert!(pool["oldest"].is_string(), "{pools:#}");
        pool["oldestWaiting"].clone()
    };
    let waiting = says("No worker has taken it yet.").await;
    assert!(model::Timestamp::parse(waiting.as_str().unwrap()).is_ok(), "{waiting}");
    let kinds = [("Ship".to_owned(), 1)];
    let taken = bus::Tasks::take_tasks(&world.bus, &kinds, 1, BOUND).await.unwrap();
    assert_eq!(taken.len(), 1);
    assert_eq!(says("A worker has taken it; if that one dies").await, Value::Null);
    // A consumer that is made anew does not know that.
    testkit::eventually("nothing is said of who has it", BOUND, async || {
        world.bus.remove_pool("task-Ship-1");
        bus::Queue::provide(&world.bus, "Ship", 1).await.unwrap();
        let found = why(&world, &id).await;
        let answer = found["answer"].as_str().unwrap();
        answer.starts_with("It waits for a worker") && !answer.contains("taken")
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_nats_does_not_say_is_named_within_one_bound() {
    let world = World::new().await;
    world.publish("w", json!({"type": "Elsa.RunTask", "id": "t", "taskName": "Ship"})).await;
    let id = world.begin("w").await;
    world.until(&id, "Suspended").await;
    world.broken.silence_bus(true);
    let begun = Instant::now();
    let found = why(&world, &id).await;
    let took = begun.elapsed();
    world.broken.silence_bus(false);
    assert!(took < Duration::from_secs(4), "all is asked at once: {took:?}");
    let unknown: Vec<_> =
        found["unknown"].as_array().unwrap().iter().map(Value::to_string).collect();
    for what in
        ["the lease", "the executors", "the queue", "the dead letters", "the consumers of tasks"]
    {
        let said =
            unknown.iter().filter(|said| said.contains(&format!("\"{what}: no answer within 3 s")));
        assert_eq!(said.count(), 1, "{what}: {unknown:#?}");
    }
}

#[tokio::test]
async fn a_paused_cluster_and_what_it_keeps_are_named() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    world.until(&id, "Suspended").await;
    let runtime = "/elsa/api/admin/workflow-runtime";
    world.post(&format!("{runtime}/pause"), &json!({"reason": "night"})).await.expect(200);
    testkit::eventually("the executor is paused", BOUND, async || {
        let status = world.get(&format!("{runtime}/status")).await.body;
        status["nodes"][0]["state"] == "Paused"
    })
    .await;
    let resume = format!("{INSTANCES}/{id}/resume");
    let now = [("prefer", "respond-async")];
    world.post_with(&resume, &now, &json!({})).await.expect(202);
    let found = why(&world, &id).await;
    assert!(found["answer"].as_str().unwrap().contains("paused"), "{found:#}");
    assert_eq!(causes(&found)[0], "cluster-paused");
    assert!(causes(&found).contains(&"command-unapplied"), "{found:#}");
    assert_eq!(found["commands"][0]["kind"], "resume", "{found:#}");
    world.post(&format!("{runtime}/resume"), &json!({})).await.expect(200);
    world.until(&id, "Finished").await;
}

#[tokio::test]
async fn a_start_without_an_executor_says_so() {
    let world = World::without_executor(Config::default()).await;
    world.publish("w", waits_for("go")).await;
    let body = json!({"definitionId": "w"});
    let started =
        world.post_with(INSTANCES, &[("prefer", "respond-async")], &body).await.expect(202);
    let id = started["workflowInstanceId"].as_str().unwrap();
    let found = why(&world, id).await;
    assert_eq!(found["subStatus"], "Pending");
    // The member of this world says that it is an executor, and nothing answers for it.
    assert_eq!(causes(&found)[0], "executor-silent", "{found:#}");
    assert!(causes(&found).contains(&"start-unapplied"), "{found:#}");
}

#[tokio::test]
async fn dead_letters_and_faults_of_an_instance_are_named() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    world.publish("f", json!({"type": "Elsa.Fault", "id": "bad", "message": "no stock"})).await;
    let id = world.begin("w").await;
    world.until(&id, "Suspended").await;
    let cancel = Cancel { instance_id: id.as_str().into(), reason: None };
    let mut message = Command::new("c-1".into(), protocol::Body::Cancel(cancel)).encode().unwrap();
    message.payload = b"{".to_vec();
    bus::Queue::publish(&world.bus, message).await.unwrap();
    testkit::eventually("the command is a dead letter", BOUND, async || {
        causes(&why(&world, &id).await).contains(&"dead-letter")
    })
    .await;
    let found = why(&world, &id).await;
    assert!(found["answer"].as_str().unwrap().starts_with("It waits for"), "{found:#}");
    assert_eq!(found["deadLetters"][0]["subject"], format!("staunch.cmd.cancel.{id}"));

    let id = world.begin("f").await;
    world.until(&id, "Faulted").await;
    let found = why(&world, &id).await;
    assert!(found["answer"].as_str().unwrap().contains("no stock"), "{found:#}");
    let staunch = &found["findings"][0]["actions"][0]["staunch"];
    assert_eq!(*staunch, format!("staunch instance retry {id}"));
    assert!(found["journal"].as_array().unwrap().len() as u64 <= limits::PAGE_ITEMS_MAX);
}

#[tokio::test]
async fn dead_letters_of_a_task_that_is_waited_for_are_named() {
    let world = World::new().await;
    world.publish("w", json!({"type": "Elsa.RunTask", "id": "t", "taskName": "Ship"})).await;
    let (id, other) = (world.begin("w").await, world.begin("w").await);
    for id in [&id, &other] {
        world.until(id, "Suspended").await;
    }
    let handed_out = || world.bus.stored(bus::Stream::Tasks);
    testkit::eventually("both are handed out", BOUND, async || handed_out().len() == 2).await;
    let bodies = handed_out().into_iter().map(|(_, message)| message.payload);
    let mut bodies = bodies.map(|body| serde_json::from_slice::<Value>(&body).unwrap());
    let task = bodies.find(|task| task["workflowInstanceId"] == id.as_str()).unwrap();
    let task = task["taskId"].as_str().unwrap();
    // Of an attempt that there is not, and so the task goes on waiting.
    let subjects = [format!("staunch.cmd.task.Ship.1.{task}"), format!("staunch.cmd.task.{task}")];
    for subject in &subjects {
        let headers = [("Staunch-Attempt".to_owned(), "9".to_owned())].into();
        let (subject, payload) = (subject.clone(), b"{".to_vec());
        let message = protocol::Message { subject, headers, payload };
        bus::Queue::publish(&world.bus, message).await.unwrap();
    }
    testkit::eventually("both are dead letters", BOUND, async || {
        why(&world, &id).await["deadLetters"].as_array().unwrap().len() == 2
    })
    .await;
    let found = why(&world, &id).await;
    for letter in found["deadLetters"].as_array().unwrap() {
        assert!(subjects.iter().any(|subject| letter["subject"] == *subject), "{found:#}");
    }
    assert_eq!(causes(&found).iter().filter(|cause| **cause == "dead-letter").count(), 2);
    assert_eq!(why(&world, &other).await["deadLetters"], json!([]));
}

#[tokio::test]
async fn a_parent_and_its_child_name_each_other() {
    let world = World::new().await;
    world.publish("child", waits_for("go")).await;
    let root = json!({"type": "Elsa.ExecuteWorkflow", "id": "run", "workflowDefinitionId": "child", "waitForCompletion": true});
    world.publish("parent", root).await;
    let id = world.begin("parent").await;
    testkit::eventually("the child waits", BOUND, async || {
        why(&world, &id).await["children"][0]["subStatus"] == "Suspended"
    })
    .await;
    let found = why(&world, &id).await;
    assert!(found["answer"].as_str().unwrap().contains("the end of its child"), "{found:#}");
    let child = found["children"][0]["workflowInstanceId"].as_str().unwrap();
    let of_child = why(&world, child).await;
    assert_eq!(of_child["parent"]["workflowInstanceId"], id, "{of_child:#}");
    assert_eq!(causes(&of_child), ["event", "parent"]);
    let state = &world.get(&format!("{INSTANCES}/{child}")).await.expect(200)["workflowState"];
    assert_eq!(state["properties"], json!({"ParentInstanceId": id}), "{state:#}");
}
