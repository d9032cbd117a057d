//! Each role and each kind of client does its work, as its own user.

use std::time::{Duration, Instant};

use async_nats::{Client, HeaderMap, Message, Subscriber, jetstream};
use bus_nats::permissions::{Accounts, Used};
use futures::StreamExt as _;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{eventually, within};

use super::{POOL, SOON, TASK, WORKER, World, said};
use crate::api::Api;
use crate::workflow::{delay, event, sequence, set_output, waiting};

/// Waits for a worker, a timer and an event, one after the other.
fn every_wait() -> Value {
    let name = json!({"typeName": "String", "expression": {"type": "Literal", "value": TASK}});
    let task = json!({"id": "task", "type": "Elsa.RunTask", "version": 1, "taskName": name});
    let steps = [task, delay("pause", 1), event("wait", "go"), set_output("one", "Result", "1")];
    sequence("every-wait", &steps)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_role_and_every_client_works_as_its_own_user() {
    let began = Instant::now();
    let mut world = World::start().await;
    let url = world.process("ingress", "ingress", "ingress").await;
    world.process("executor-1", "executor", "executor").await;
    world.process("executor-2", "executor", "executor").await;
    world.process("timer", "timer", "timer").await;
    world.process("notifier", "cache-notifier", "cache-notifier").await;
    let api = Api::new(&url);
    for document in [every_wait(), waiting("waiting")] {
        let published = api.publish(&document).await;
        assert!(published["everywhere"].as_bool().unwrap_or(true), "{published}");
    }
    a_workflow_goes_from_end_to_end(&world, &api).await;
    an_instance_is_cancelled(&world, &api).await;
    an_operator_uses_everything(&world, &api).await;
    // The buckets in memory are gone with a single server, and are created again.
    world.server.server().restart().await.unwrap();
    eventually("the nodes are ready again", SOON, async || api.is_ready().await).await;
    let id = api.start("waiting", json!({})).await;
    api.reaches(&id, "Suspended", SOON).await;
    api.post("/events/go/trigger", &json!({})).await.ok();
    api.reaches(&id, "Finished", SOON).await;
    let refused: Vec<_> =
        world.accounts.all().flat_map(|account| world.violations(&account.name)).collect();
    assert_eq!(refused, Vec::<String>::new());
    println!("4 roles in 5 processes, 3 clients, an operator: 0 refusals in {:?}", began.elapsed());
}

async fn a_workflow_goes_from_end_to_end(world: &World, api: &Api) {
    let (starter, watcher) = (world.guest("starter").await, world.guest("watcher").await);
    let mut events = watcher.client.subscribe("staunch.event.every-wait.>").await.unwrap();
    let mut journals = watcher.client.subscribe("staunch.journal.>").await.unwrap();
    // The server knows the subscriptions when one of them hears an event.
    let mut heard = Vec::new();
    eventually("the watcher hears", SOON, async || {
        world.admin.publish("staunch.event.every-wait.i.probe", "".into()).await.unwrap();
        world.admin.flush().await.unwrap();
        tokio::time::timeout(Duration::from_millis(20), events.next()).await.is_ok()
    })
    .await;
    let request = starter.client.request("staunch.api.start.every-wait", "{}".into());
    let outcome = body(&within("an outcome", SOON, request).await.unwrap());
    let id = outcome["workflowInstanceId"].as_str().unwrap().to_owned();
    assert_eq!(outcome["subStatus"], "Suspended", "{outcome}");

    let told = a_worker_completes_its_task(world).await;
    assert_eq!(told["affected"], 1, "{told}");
    // The delay is over when the instance waits for the event.
    eventually("the event is waited for", SOON, async || {
        let view = starter.client.request(format!("staunch.api.get.{id}"), "".into());
        let view = body(&within("a view", SOON, view).await.unwrap());
        view["bookmarks"].to_string().contains("Elsa.Event")
    })
    .await;
    let absent = format!("staunch.api.payload.sha256-{}", "0".repeat(64));
    let absent = starter.client.request(absent, "".into());
    assert_eq!(body(&within("a problem", SOON, absent).await.unwrap())["status"], 404);
    let mut outcomes = starter.client.subscribe("staunch.reply.starter.1").await.unwrap();
    let kept = command(&starter.client, "event.go", "staunch.reply.starter.1").await;
    assert!(kept["seq"].is_number(), "{kept}");
    let told = body(&within("an outcome", SOON, outcomes.next()).await.unwrap());
    assert!(told.is_object(), "{told}");
    api.reaches(&id, "Finished", SOON).await;

    while heard.last().is_none_or(|what| what != "finished") {
        let message = within("an event", SOON, events.next()).await.unwrap();
        let what = message.subject.rsplit_once('.').unwrap().1.to_owned();
        if what != "probe" {
            heard.push(what);
        }
    }
    assert_eq!((heard[0].as_str(), heard[1].as_str()), ("started", "suspended"), "{heard:?}");
    within("a journal", SOON, journals.next()).await.unwrap();
    println!("a watcher heard {heard:?}");
}

/// Takes a task, acknowledges it, and sends its result; returns the outcome.
async fn a_worker_completes_its_task(world: &World) -> Value {
    let worker = world.guest(WORKER).await;
    let next = format!("$JS.API.CONSUMER.MSG.NEXT.STAUNCH_TASKS.{POOL}");
    let inbox = worker.client.new_inbox();
    let mut pulled = worker.client.subscribe(inbox.clone()).await.unwrap();
    let pull = json!({"batch": 1, "expires": 20_000_000_000_u64, "idle_heartbeat": 1_000_000_000});
    worker.client.publish_with_reply(next, inbox, pull.to_string().into()).await.unwrap();
    let task = within("a task", SOON, a_message(&mut pulled)).await;
    assert_eq!(task.subject.as_str(), format!("staunch.task.{TASK}.1"));
    let acknowledged = worker.client.request(task.reply.clone().unwrap(), "+ACK".into());
    within("a confirmation", SOON, acknowledged).await.unwrap();
    eventually("the task is gone", SOON, async || world.messages("STAUNCH_TASKS").await == Some(0))
        .await;
    let reply_to = format!("staunch.reply.{WORKER}.1");
    let mut outcomes = worker.client.subscribe(reply_to.clone()).await.unwrap();
    let id = body(&task)["taskId"].as_str().unwrap().to_owned();
    let kept = command(&worker.client, &format!("task.{TASK}.1.{id}"), &reply_to).await;
    assert_eq!(kept["stream"], "STAUNCH_COMMANDS");
    body(&within("an outcome", SOON, outcomes.next()).await.unwrap())
}

async fn an_instance_is_cancelled(world: &World, api: &Api) {
    let starter = world.guest("starter").await;
    let id = api.start("waiting", json!({})).await;
    api.reaches(&id, "Suspended", SOON).await;
    command(&starter.client, &format!("cancel.{id}"), "staunch.reply.starter.2").await;
    api.reaches(&id, "Cancelled", SOON).await;
}

/// Everything that roles ask each other for: pauses, dead letters, live events, pings.
async fn an_operator_uses_everything(world: &World, api: &Api) {
    let starter = world.guest("starter").await;
    for _ in 0..2 {
        starter.client.publish("staunch.cmd.start.waiting", "no JSON".into()).await.unwrap();
    }
    let letters = "/bookmark-queue/dead-letters";
    let list = async || api.get(letters).await.ok()["items"].as_array().unwrap().clone();
    eventually("two dead letters", SOON, async || list().await.len() == 2).await;
    let id = |letter: &Value| letter["id"].as_str().unwrap().to_owned();
    let found = list().await;
    let path = format!("/elsa/api{letters}/{}", id(&found[0]));
    api.raw(Method::DELETE, &path, None).await.ok();
    api.post(&format!("{letters}/{}/replay", id(&found[1])), &json!({})).await.ok();
    eventually("the replayed one is dead again", SOON, async || list().await.len() == 1).await;

    let runtime = "/admin/workflow-runtime";
    api.post(&format!("{runtime}/pause"), &json!({})).await.ok();
    eventually("both executors are paused", SOON, async || {
        api.get(&format!("{runtime}/status")).await.ok().to_string().matches("\"Paused\"").count()
            >= 2
    })
    .await;
    api.post(&format!("{runtime}/resume"), &json!({})).await.ok();

    let live = api.raw_head("/elsa/api/events").await;
    assert_eq!(live, 200);
    let audits = world.jetstream.get_stream("STAUNCH_EVENTS").await.unwrap();
    eventually("the audit log is published", SOON, async || {
        audits.get_last_raw_message_by_subject("staunch.event.audit.*").await.is_ok()
    })
    .await;
    for service in ["ingress", "executor", "timer", "cache-notifier"] {
        let ping = world.admin.request(format!("$SRV.PING.staunch-{service}"), "".into());
        let answer = body(&within("a ping", SOON, ping).await.unwrap());
        assert_eq!(answer["name"], format!("staunch-{service}"));
    }
    let url = world.url("admin");
    world.command(&["dead", "ls", "--nats-url", &url]).await;
    world.command(&["provision", "--check", "--nats-url", &url]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_with_all_roles_works_as_one_user() {
    let mut world = World::start().await;
    let url = world.process("node", "all", "node").await;
    let api = Api::new(&url);
    api.publish(&waiting("waiting")).await;
    let id = api.start("waiting", json!({})).await;
    api.reaches(&id, "Suspended", SOON).await;
    let starter = world.guest("starter").await;
    command(&starter.client, "event.go", "staunch.reply.starter.1").await;
    api.reaches(&id, "Finished", SOON).await;
    assert_eq!(world.violations("STAUNCH"), Vec::<String>::new());
}

/// What workflows do with each activity of NATS, with the permissions that the options of
/// `staunch nats-permissions` add.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn executors_may_use_the_streams_buckets_and_stores_that_were_named() {
    let names = |name: &str| vec![name.to_owned()];
    let used = Used {
        subjects: names("orders.>"),
        streams: names("ORDERS"),
        buckets: names("book"),
        object_stores: names("book-files"),
    };
    let accounts = Accounts::new(&[TASK]).unwrap().for_workflows(&used).unwrap();
    let text = accounts.text();
    let mut world = World::with(accounts, &text).await;
    let config = jetstream::stream::Config {
        name: "ORDERS".to_owned(),
        subjects: names("orders.>"),
        ..jetstream::stream::Config::default()
    };
    world.jetstream.create_stream(config).await.unwrap();
    let bucket = jetstream::kv::Config { bucket: "book".to_owned(), ..Default::default() };
    world.jetstream.create_key_value(bucket).await.unwrap();
    let store =
        jetstream::object_store::Config { bucket: "book-files".to_owned(), ..Default::default() };
    world.jetstream.create_object_store(store).await.unwrap();
    let url = world.process("ingress", "ingress", "ingress").await;
    world.process("executor", "executor", "executor").await;
    world.process("timer", "timer", "timer").await;
    world.process("notifier", "cache-notifier", "cache-notifier").await;
    let api = Api::new(&url);
    let put = |id: &str, content: &str| {
        json!({"type": "Staunch.ObjectPut", "id": id, "bucket": "book-files", "objectName": "a",
            "content": content})
    };
    let takes = [
        json!({"type": "Staunch.MessageReceived", "id": "m", "canStartWorkflow": true,
            "subject": "orders.new", "stream": "ORDERS", "from": "all"}),
        json!({"type": "Staunch.KeyValuePut", "id": "k", "bucket": "book", "key": "a", "value": 1}),
        json!({"type": "Staunch.KeyValueGet", "id": "g", "bucket": "book", "key": "a"}),
        put("first", "one"),
        put("second", "two"),
        json!({"type": "Staunch.ObjectGet", "id": "o", "bucket": "book-files", "objectName": "a"}),
        json!({"type": "Staunch.PublishMessage", "id": "p", "subject": "orders.done",
            "stored": true, "content": "done"}),
    ];
    let listens = |of: Value| {
        let mut trigger = json!({"id": "m", "canStartWorkflow": true});
        trigger.as_object_mut().unwrap().extend(of.as_object().unwrap().clone());
        [trigger]
    };
    let hears = listens(json!({"type": "Staunch.MessageReceived", "subject": "orders.done"}));
    let keys = listens(json!({"type": "Staunch.KeyChanged", "bucket": "book", "from": "all"}));
    let objects =
        listens(json!({"type": "Staunch.ObjectStored", "bucket": "book-files", "from": "all"}));
    api.publish(&sequence("takes", &takes)).await;
    api.publish(&sequence("hears", &hears)).await;
    api.publish(&sequence("keys", &keys)).await;
    api.publish(&sequence("objects", &objects)).await;
    let orders = jetstream::new(world.guest("executor").await.client);
    eventually("each of them has ended", SOON, async || {
        orders.publish("orders.new", "{}".into()).await.unwrap().await.unwrap();
        let mut ended = 0;
        for definition in ["takes", "hears", "keys", "objects"] {
            ended += u64::from(api.count(definition, Some("Finished")).await > 0);
        }
        ended == 4
    })
    .await;
    assert_eq!(world.violations("STAUNCH"), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_whose_user_lacks_a_permission_says_so_at_its_start() {
    let world = World::start().await;
    for (role, user, missing) in [
        ("executor", "timer", "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_COMMANDS.executor"),
        ("timer", "cache-notifier", "$KV.staunch_timers.>"),
        ("ingress", "executor", "$JS.API.STREAM.MSG.DELETE.STAUNCH_DEAD"),
        ("cache-notifier", "ingress", "$KV.staunch_definitions.>"),
    ] {
        let began = Instant::now();
        let (mut process, ..) = world.begin(role, role, user).await;
        let status = within("the end", SOON, process.wait()).await.unwrap();
        let said = said(&world.directory.path().join(format!("{role}.log")));
        assert_eq!(status.code(), Some(6), "{said}");
        for text in [missing, &format!("user {user:?}"), role, "staunch nats-permissions"] {
            assert!(said.contains(text), "{text}: {said}");
        }
        println!("{role} as the user {user}: refused after {:?}", began.elapsed());
    }
}

/// Publishes a command; returns JetStream's answer.
async fn command(client: &Client, rest: &str, reply_to: &str) -> Value {
    let mut headers = HeaderMap::new();
    headers.insert("Staunch-Reply-To", reply_to);
    let subject = format!("staunch.cmd.{rest}");
    let sent = client.request_with_headers(subject, headers, "{}".into());
    body(&within("stored", SOON, sent).await.unwrap())
}

async fn a_message(pulled: &mut Subscriber) -> Message {
    loop {
        let message = pulled.next().await.unwrap();
        if message.status.is_none() {
            return message;
        }
    }
}

fn body(message: &Message) -> Value {
    serde_json::from_slice(&message.payload).unwrap()
}
