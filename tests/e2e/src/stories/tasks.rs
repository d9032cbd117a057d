//! A worker is a plain JetStream client, with a consumer that Staunch has made.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::jetstream::{self, Context, Message};
use async_nats::{Client, HeaderMap};
use futures::StreamExt as _;
use serde_json::{Value, json};
use testkit::{eventually, within};

use crate::api::Api;
use crate::workflow::sequence;
use crate::world::World;

const SOON: Duration = Duration::from_secs(90);
const TASKS: u64 = 30;

/// Hands out a task, and has its result.
fn ships(id: &str, more: Value) -> Value {
    let typed = |kind: &str, value: Value| {
        json!({"typeName": kind, "expression": {"type": "Literal", "value": value}})
    };
    let mut task = json!({"id": "ship", "type": "Elsa.RunTask", "version": 1,
        "taskName": typed("String", json!("Ship It")),
        "result": {"typeName": "Object", "memoryReference": {"id": "Result"}}});
    for (name, value) in more.as_object().unwrap() {
        task[name] = match name.as_str() {
            "timeout" => typed("TimeSpan", value.clone()),
            _ => value.clone(),
        };
    }
    sequence(id, &[task])
}

/// The consumer is there before the first task is.
async fn pool(context: &Context) -> PullConsumer {
    let stream = context.get_stream("STAUNCH_TASKS").await.unwrap();
    let find = async || stream.consumer_info("task-Ship=20It-1").await.is_ok();
    eventually("the consumer of the tasks", SOON, find).await;
    stream.get_consumer("task-Ship=20It-1").await.unwrap()
}

async fn pull(pool: &PullConsumer) -> (Message, Value) {
    let pulled = async {
        loop {
            let wait = pool.batch().max_messages(1).expires(Duration::from_secs(5));
            if let Some(message) = wait.messages().await.unwrap().next().await {
                return message.unwrap();
            }
        }
    };
    let message = within("a task", SOON, pulled).await;
    let body = serde_json::from_slice(&message.payload).unwrap();
    (message, body)
}

/// Sends a report; returns the outcome of the instance.
async fn report(client: &Client, id: &Value, attempt: u32, body: Value) -> Value {
    let inbox = client.new_inbox();
    let mut outcomes = client.subscribe(inbox.clone()).await.unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("Staunch-Reply-To", inbox);
    headers.insert("Staunch-Attempt", attempt.to_string());
    let subject = format!("staunch.cmd.task.Ship=20It.1.{}", id.as_str().unwrap());
    let sent = client.request_with_headers(subject, headers, body.to_string().into());
    let kept: Value = serde_json::from_slice(&sent.await.unwrap().payload).unwrap();
    assert_eq!(kept["stream"], "STAUNCH_COMMANDS", "{kept}");
    let outcome = within("an outcome", SOON, outcomes.next()).await.unwrap();
    serde_json::from_slice(&outcome.payload).unwrap()
}

pub(crate) async fn a_worker_is_any_client_and_its_reports_count_once(world: World) {
    let node = world.node("all", "all").await;
    let (api, client) = (Api::new(&node.url()), world.client().await);
    let context = jetstream::new(client.clone());
    let retry = json!({"customProperties": {"retry": {"attempts": 3, "delay": "1s"}}});
    api.publish(&ships("ships", retry)).await;
    let instance = api.start("ships", json!({})).await;
    let pool = pool(&context).await;

    let (message, first) = pull(&pool).await;
    assert_eq!((&first["workflowInstanceId"], &first["attempt"]), (&json!(instance), &json!(1)));
    let header = |message: &Message, name: &str| {
        message.headers.as_ref().unwrap().get(name).unwrap().to_string()
    };
    assert_eq!(json!(header(&message, "Staunch-Task")), first["taskId"]);
    let id = &first["taskId"];
    let failed = json!({"status": "failed", "error": {"title": "no stock"}});
    let outcome = report(&client, id, 1, failed).await;
    assert_eq!((&outcome["affected"], &outcome["refusal"]), (&json!(1), &Value::Null));
    message.double_ack().await.unwrap();

    // The worker of the first attempt is not as dead as it seemed.
    let (message, second) = pull(&pool).await;
    assert_eq!((&second["taskId"], &second["attempt"]), (id, &json!(2)));
    let outcome = report(&client, id, 1, json!({"output": "late"})).await;
    assert_eq!(outcome["refusal"], "alreadyDone", "{outcome}");
    let outcome = report(&client, id, 2, json!({"output": "shipped"})).await;
    assert_eq!(outcome["subStatus"], "Finished", "{outcome}");
    message.double_ack().await.unwrap();
    let view = api.reaches(&instance, "Finished", SOON).await;
    assert!(view.to_string().contains("shipped"), "{view}");
}

pub(crate) async fn a_task_that_is_late_or_not_wanted_is_announced(world: World) {
    let node = world.node("all", "all").await;
    let (api, client) = (Api::new(&node.url()), world.client().await);
    let mut cancelled = client.subscribe("staunch.task-cancel.Ship=20It.1.*").await.unwrap();
    client.flush().await.unwrap();
    api.publish(&ships("late", json!({"timeout": "00:00:01"}))).await;
    api.publish(&ships("unwanted", json!({}))).await;
    let pool = async || pool(&jetstream::new(client.clone())).await;

    let late = api.start("late", json!({})).await;
    let (_, task) = pull(&pool().await).await;
    let view = api.reaches(&late, "Faulted", SOON).await;
    assert!(view.to_string().contains("TaskTimeout"), "{view}");
    let notice = within("a notice", SOON, cancelled.next()).await.unwrap();
    assert!(notice.subject.ends_with(task["taskId"].as_str().unwrap()), "{}", notice.subject);

    let unwanted = api.start("unwanted", json!({})).await;
    let (_, task) = pull(&pool().await).await;
    let path = format!("/cancel/workflow-instances/{unwanted}");
    api.post(&path, &json!({})).await.ok();
    let notice = within("a notice", SOON, cancelled.next()).await.unwrap();
    assert!(notice.subject.ends_with(task["taskId"].as_str().unwrap()), "{}", notice.subject);
}

/// Polls until there is a task.
async fn poll(api: &Api) -> Value {
    let body = json!({"types": ["Pay", "Ship It"], "max": 5, "wait": 5});
    let polled = async {
        loop {
            let answer = api.post("/tasks/poll", &body).await.ok();
            assert!(answer["count"].as_u64().unwrap() <= 1, "{answer}");
            if let Some(item) = answer["items"].as_array().unwrap().first() {
                return item.clone();
            }
        }
    };
    within("a task", SOON, polled).await
}

/// The end of a lease is moved so near that a test can wait for it.
async fn shorten(context: &Context, wait: Duration) {
    let stream = context.get_stream("STAUNCH_TASKS").await.unwrap();
    let config = pull::Config {
        durable_name: Some("task-Ship=20It-1".to_owned()),
        filter_subject: "staunch.task.Ship=20It.1".to_owned(),
        ack_wait: wait,
        ..pull::Config::default()
    };
    stream.update_consumer(config).await.unwrap();
}

pub(crate) async fn a_worker_without_nats_polls_and_any_node_answers_for_it(world: World) {
    let nodes = [
        world.node("a", "all").await,
        world.node("b", "all").await,
        world.node("c", "all").await,
    ];
    let [a, b, c] = nodes.each_ref().map(|node| Api::new(&node.url()));
    let context = jetstream::new(world.client().await);
    let retry = json!({"customProperties": {"retry": {"attempts": 3, "delay": "1s"}}});
    a.publish(&ships("ships", retry)).await;
    let instance = a.start("ships", json!({})).await;
    pool(&context).await;
    shorten(&context, Duration::from_secs(10)).await;

    // Taken at one node, kept at another for longer than one lease.
    let item = poll(&a).await;
    assert_eq!((&item["attempt"], &item["deliveries"]), (&json!(1), &json!(1)), "{item}");
    let task = item["taskId"].as_str().unwrap().to_owned();
    let (heartbeat, complete) = (format!("/tasks/{task}/heartbeat"), format!("/tasks/{task}/complete"));
    let mut lease = item["lease"].clone();
    let begun = tokio::time::Instant::now();
    while begun.elapsed() < Duration::from_secs(12) {
        lease = b.post(&heartbeat, &json!({"lease": lease})).await.ok()["lease"].take();
        let none = json!({"types": ["Ship It"], "wait": 1});
        let others = c.post("/tasks/poll", &none).await.ok();
        assert_eq!(others["count"], 0, "a heartbeat keeps the task: {others}");
    }
    let old = b.post(&heartbeat, &json!({"lease": item["lease"]})).await;
    assert_eq!((old.status, old.body["type"].as_str().unwrap()), (409, "urn:staunch:problem:lease-expired"));

    // The worker dies: another gets the same attempt, and the lease of the first is worth nothing.
    let again = poll(&c).await;
    assert_eq!((&again["attempt"], &again["deliveries"]), (&json!(1), &json!(2)), "{again}");
    assert_eq!(again["idempotencyKey"], item["idempotencyKey"]);
    assert_eq!(a.post(&complete, &json!({"lease": lease})).await.status, 409);

    // It fails; a result for that attempt is late, one for the next counts, once.
    let failed = json!({"lease": again["lease"], "error": {"title": "no stock"}});
    b.post(&format!("/tasks/{task}/fail"), &failed).await.ok();
    let second = poll(&b).await;
    assert_eq!((&second["attempt"], &second["deliveries"]), (&json!(2), &json!(1)), "{second}");
    let late = c.post(&complete, &json!({"lease": again["lease"], "result": "late"})).await;
    assert_eq!(late.status, 409, "{}", late.body);
    let shipped = json!({"lease": second["lease"], "result": "shipped"});
    for api in [&c, &a] {
        let done = api.post(&complete, &shipped).await.ok();
        assert_eq!(done["workflowInstanceId"], json!(instance), "{done}");
    }
    let view = a.reaches(&instance, "Finished", SOON).await;
    assert!(view.to_string().contains("shipped"), "{view}");
    let stream = context.get_stream("STAUNCH_TASKS").await.unwrap();
    eventually("no task is left", SOON, async || {
        stream.get_info().await.unwrap().state.messages == 0
    })
    .await;
}

/// G4: the broker loses everything while tasks are open. Each is handed out again, under the same id as
/// the next attempt, and counts once.
pub(crate) async fn tasks_that_the_broker_lost_are_done_once_g4(mut world: World) {
    let node = world.node("all", "all").await;
    let api = Api::new(&node.url());
    api.publish(&ships("ships", json!({}))).await;
    let mut instances = BTreeSet::new();
    for _ in 0..TASKS {
        instances.insert(api.start("ships", json!({})).await);
    }
    let client = world.client().await;
    let mut tasks = BTreeSet::new();
    {
        let pool = pool(&jetstream::new(client.clone())).await;
        // Some are done, some are acknowledged or not while the worker is at work, the rest waits.
        for number in 0..TASKS / 2 {
            let (message, task) = pull(&pool).await;
            tasks.insert(task["taskId"].as_str().unwrap().to_owned());
            if number % 3 == 0 {
                report(&client, &task["taskId"], 1, json!({"output": 1})).await;
                instances.remove(task["workflowInstanceId"].as_str().unwrap());
            }
            if number % 3 < 2 {
                message.double_ack().await.unwrap();
            }
        }
    }
    world.cluster.brokers_mut().wipe().await.unwrap();
    world.cluster.provision().await.unwrap();

    let client = world.client().await;
    let pool = pool(&jetstream::new(client.clone())).await;
    let (mut done, mut taken) = (BTreeMap::<String, u32>::new(), 0);
    let open = instances.len();
    while !instances.is_empty() {
        let (message, task) = pull(&pool).await;
        taken += 1;
        let id = task["taskId"].as_str().unwrap().to_owned();
        let attempt = u32::try_from(task["attempt"].as_u64().unwrap()).unwrap();
        assert_eq!(attempt, 2, "{task}");
        let late = report(&client, &task["taskId"], 1, json!({"output": "late"})).await;
        assert_eq!(late["refusal"], "alreadyDone", "{late}");
        let outcome = report(&client, &task["taskId"], attempt, json!({"output": 2})).await;
        message.double_ack().await.unwrap();
        if outcome["subStatus"] == "Finished" {
            instances.remove(task["workflowInstanceId"].as_str().unwrap());
            *done.entry(id).or_default() += 1;
        }
    }
    assert!(done.values().all(|count| *count == 1), "{done:?}");
    assert_eq!(done.len(), open);
    assert_eq!(api.count("ships", Some("Finished")).await, TASKS);
    println!("{TASKS} tasks, {open} open when the broker lost everything: {taken} handed out again");
    assert_eq!(taken, open);
}
