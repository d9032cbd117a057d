//! What each user was not given, tried: the server refuses it, and it has no effect.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::jetstream::stream;
use async_nats::{ConnectOptions, HeaderMap, Message};
use bus_nats::permissions::Accounts;
use futures::StreamExt as _;
use serde_json::{Value, json};
use testkit::{eventually, within};

use super::{Guest, POOL, SOON, TASK, WORKER, World, password};
use crate::api::Api;
use crate::workflow::waiting;

/// Users of programs outside of Staunch.
const CLIENTS: [&str; 3] = ["starter", "watcher", WORKER];
/// Users of Staunch's own processes.
const PROCESSES: [&str; 5] = ["ingress", "executor", "timer", "cache-notifier", "node"];
const STREAMS: [&str; 9] = [
    "STAUNCH_COMMANDS",
    "STAUNCH_EVENTS",
    "STAUNCH_TASKS",
    "STAUNCH_DEAD",
    "KV_staunch_leases",
    "KV_staunch_timers",
    "KV_staunch_definitions",
    "KV_staunch_nodes",
    "KV_staunch_runtime",
];
/// Long enough for a message on this machine.
const QUIET: Duration = Duration::from_millis(300);
/// What forged messages say.
const FORGED: &str = "forged";

/// One subject of each kind that somebody in a cluster may publish on.
fn targets() -> Vec<String> {
    let mut targets: Vec<String> = [
        "staunch.cmd.start.forged",
        "staunch.cmd.resume.forged",
        "staunch.cmd.cancel.forged",
        "staunch.cmd.alter.forged",
        "staunch.cmd.perform.forged",
        "staunch.cmd.event.forged",
        "staunch.cmd.task.forged",
        "staunch.cmd.task.Ship.1.forged",
        "staunch.cmd.task.Pay.1.forged",
        "staunch.task-cancel.Ship.1.forged",
        "staunch.task-progress.Ship.1.forged",
        "staunch.api.start.forged",
        "staunch.api.alter.forged",
        "staunch.api.get.forged",
        "staunch.event.d.i.finished",
        "staunch.event.audit.forged",
        "staunch.journal.d.i",
        "staunch.task.Ship",
        "staunch.task.Ship.1",
        "staunch.dead.cmd.start.x",
        "staunch.reply.somebody.1",
        "staunch.runtime.node",
        "staunch.lease.wanted.node",
        "staunch.timer.armed",
        "staunch.cache.changed",
        "staunch.cache.ask",
        "staunch.cache.applied.node",
        "$KV.staunch_leases.forged",
        "$KV.staunch_timers.forged",
        "$KV.staunch_definitions.forged",
        "$KV.staunch_nodes.forged",
        "$KV.staunch_runtime.forged",
        "$O.staunch_payload_parts.C.forged",
        "$O.staunch_payload_parts.M.forged",
        "$O.staunch_payloads.C.forged",
        "$O.staunch_payloads.M.forged",
        "$JS.API.INFO",
        "$JS.API.STREAM.LIST",
        "$JS.API.STREAM.CREATE.FORGED",
        "$JS.API.CONSUMER.CREATE.STAUNCH_COMMANDS",
        "$JS.API.CONSUMER.CREATE.STAUNCH_TASKS.x",
        "$JS.API.CONSUMER.CREATE.STAUNCH_TASKS.x.staunch.task.>",
        "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_COMMANDS.executor",
        "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_TASKS.task-Pay-1",
        "$JS.API.CONSUMER.DELETE.STAUNCH_COMMANDS.executor",
        "$JS.API.DIRECT.GET.KV_staunch_leases",
        "$JS.API.STREAM.SNAPSHOT.STAUNCH_EVENTS",
        "$JS.ACK.STAUNCH_COMMANDS.executor.1.1.1.1.0",
        "$JS.ACK.STAUNCH_TASKS.task-Pay-1.1.1.1.1.0",
        "$SYS.REQ.SERVER.PING",
        "$SYS.REQ.ACCOUNT.STAUNCH.CONNZ",
        "$SRV.PING",
        "_INBOX_staunch.executor.forged",
        "_INBOX_staunch.timer.forged",
        "_R_.forged",
        "forged",
    ]
    .map(str::to_owned)
    .into();
    for stream in STREAMS {
        for verb in ["DELETE", "PURGE", "UPDATE", "MSG.DELETE"] {
            targets.push(format!("$JS.API.STREAM.{verb}.{stream}"));
        }
    }
    targets
}

/// Subjects to which nobody but an operator has a reason to listen, or some role alone.
const EARS: [&str; 21] = [
    ">",
    "*.>",
    "_INBOX.>",
    "_INBOX.*.*",
    "_INBOX.admin.>",
    "_INBOX.starter.>",
    "_INBOX_staunch.>",
    "_INBOX_staunch.ingress.>",
    "_INBOX_staunch.executor.>",
    "_INBOX_staunch.node.>",
    "_R_.>",
    "staunch.>",
    "staunch.cmd.>",
    "staunch.task.>",
    "staunch.task-cancel.>",
    "staunch.reply.>",
    "staunch.event.audit.*",
    "$KV.>",
    "$JS.>",
    "$JS.API.>",
    "$SYS.>",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_user_was_not_given_is_refused() {
    let world = World::start().await;
    let mut spy = world.admin.subscribe("staunch.>").await.unwrap();
    // Its answers come after the subscription is known.
    let before = contents(&world).await;
    for name in CLIENTS.into_iter().chain(PROCESSES) {
        let guest = world.guest(name).await;
        let published = it_publishes_nothing_else(&guest).await;
        let heard = it_hears_nothing_else(&world, &guest).await;
        println!("{name}: {published} publications and {heard} subscriptions refused");
        assert!(published >= 50 && heard >= 18, "{name}: {published} {heard}");
    }
    // Nothing arrived: neither in streams and buckets, nor where an operator listens. The audit log
    // has what this test has sent.
    let mut after = contents(&world).await;
    let traffic = (CLIENTS.len() + PROCESSES.len()) as u64;
    let events = after.get_mut("STAUNCH_EVENTS").unwrap().as_mut().unwrap();
    *events = (events.0 - traffic, events.1 - traffic);
    assert_eq!(after, before);
    let heard = tokio::time::timeout(QUIET, async {
        while let Some(message) = spy.next().await {
            if message.payload == FORGED.as_bytes() {
                return message.subject.to_string();
            }
        }
        String::new()
    });
    assert!(heard.await.is_err(), "something forged was delivered");
    for bucket in ["leases", "timers", "definitions", "nodes", "runtime"] {
        assert_eq!(world.key(&format!("$KV.staunch_{bucket}.forged")).await, None, "{bucket}");
    }
    nobody_enters_without_a_login(&world).await;
}

/// Publishes on every subject that it may not use; returns their number.
async fn it_publishes_nothing_else(guest: &Guest) -> usize {
    let may = |subject: &String| allows(&guest.user.grant.publish, subject);
    let forbidden: Vec<_> = targets().into_iter().filter(|subject| !may(subject)).collect();
    for subject in &forbidden {
        guest.client.publish(subject.clone(), FORGED.into()).await.unwrap();
    }
    guest.client.flush().await.unwrap();
    eventually(&format!("{}: each publication is refused", guest.user.name), SOON, async || {
        forbidden.iter().all(|subject| guest.was_refused(&format!("Publish to \"{subject}\"")))
    })
    .await;
    forbidden.len()
}

/// Subscribes to every subject that it may not hear; returns their number.
async fn it_hears_nothing_else(world: &World, guest: &Guest) -> usize {
    let granted = &guest.user.grant.subscribe;
    let others = EARS.into_iter().filter(|subject| !granted.contains(*subject));
    let others: Vec<_> = others.collect();
    let mut heard = futures::stream::SelectAll::new();
    for subject in &others {
        heard.push(guest.client.subscribe((*subject).to_owned()).await.unwrap());
    }
    // A watcher may listen to all events, and its account gets those of instances alone.
    let forbidden = others.into_iter().filter(|subject| !allows(granted, subject));
    let forbidden: Vec<_> = forbidden.collect();
    guest.client.flush().await.unwrap();
    eventually(&format!("{}: each subscription is refused", guest.user.name), SOON, async || {
        forbidden.iter().all(|subject| guest.was_refused(&format!("Subscription to \"{subject}\"")))
    })
    .await;
    // Traffic of all kinds: an answer, a command, the write of a key.
    world.jetstream.query_account().await.unwrap();
    for subject in ["staunch.timer.armed", "staunch.reply.somebody.1"] {
        world.admin.publish(subject, "traffic".into()).await.unwrap();
    }
    let audit = world.admin.request("staunch.event.audit.traffic", "{}".into());
    within("an entry of the audit log", SOON, audit).await.unwrap();
    let overheard = tokio::time::timeout(QUIET, heard.next()).await;
    assert!(!matches!(overheard, Ok(Some(_))), "{}: {overheard:?}", guest.user.name);
    forbidden.len()
}

async fn nobody_enters_without_a_login(world: &World) {
    let url = world.server.url();
    assert!(async_nats::connect(&url).await.is_err(), "without a login");
    for (user, password) in [
        ("admin", ""),
        ("admin", "admin"),
        ("admin", "$STAUNCH_NATS_ADMIN_PASSWORD"),
        ("admin", &password("starter")),
        ("sys", "pass"),
    ] {
        let login = ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned());
        assert!(login.connect(&url).await.is_err(), "{user} {password}");
    }
}

/// Messages of each stream, and its last sequence: only its users' own work changes them.
async fn contents(world: &World) -> BTreeMap<&'static str, Option<(u64, u64)>> {
    let mut contents = BTreeMap::new();
    for name in STREAMS {
        let found = world.jetstream.get_stream(name).await.ok();
        let state = found.map(|stream| stream.cached_info().state.clone());
        contents.insert(name, state.map(|state| (state.messages, state.last_sequence)));
    }
    contents
}

fn allows(patterns: &std::collections::BTreeSet<String>, subject: &str) -> bool {
    patterns.iter().any(|pattern| {
        let (mut pattern, mut subject) = (pattern.split('.'), subject.split('.'));
        loop {
            match (pattern.next(), subject.next()) {
                (None, None) | (Some(">"), Some(_)) => return true,
                (Some("*"), Some(_)) => {}
                (Some(mine), Some(token)) if mine == token => {}
                _ => return false,
            }
        }
    })
}

/// nats-server answers on the subject that a client names, with rights of its own. A client of
/// another account reaches only its own account in this way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_client_destroys_a_stream_by_the_subject_of_its_reply() {
    let world = World::start().await;
    for stream in STREAMS {
        let subject = match stream.strip_prefix("KV_") {
            Some(bucket) => format!("$KV.{bucket}.kept"),
            None => format!("staunch.{}.kept", kind_of(stream)),
        };
        let sent = world.admin.request(subject, "{}".into());
        within("a message", SOON, sent).await.unwrap();
    }
    let before = contents(&world).await;
    assert!(before.values().all(|found| found.is_some_and(|(messages, _)| messages > 0)));
    let mut tried = 0;
    for stream in STREAMS {
        for verb in ["DELETE", "PURGE", "MSG.DELETE"] {
            let reply = format!("$JS.API.STREAM.{verb}.{stream}");
            tried += worker_names(&world, &reply).await + starter_names(&world, &reply).await;
        }
    }
    let keys =
        ["leases.kept", "definitions.kept", "nodes.kept"].map(|key| format!("$KV.staunch_{key}"));
    for key in &keys {
        tried += worker_names(&world, key).await + starter_names(&world, key).await;
    }
    tokio::time::sleep(QUIET).await;
    let after = contents(&world).await;
    for (stream, (messages, _)) in STREAMS.map(|stream| (stream, before[stream].unwrap())) {
        let left = after[stream].map(|(messages, _)| messages);
        // Commands and tasks have come from the attempts themselves.
        let is_kept = left.is_some_and(|left| left >= messages);
        assert!(is_kept, "{stream}: {left:?} of {messages} messages");
    }
    for key in &keys {
        assert_eq!(world.key(key).await.as_deref(), Some(&b"{}"[..]), "{key}");
    }
    println!("{tried} replies named by clients: 9 of 9 streams have all their messages");
    the_same_works_within_the_account(&world).await;
}

/// A pull without messages, a pull with one, and an acknowledgement are answered there; all answers
/// but the message are empty, as a request to delete a stream has to be.
async fn worker_names(world: &World, reply: &str) -> usize {
    let worker = world.guest(WORKER).await;
    let next = format!("$JS.API.CONSUMER.MSG.NEXT.STAUNCH_TASKS.{POOL}");
    let pull = json!({"batch": 1, "no_wait": true}).to_string();
    let publish = async |subject: &str, text: &str| {
        let sent = worker.client.publish_with_reply(
            subject.to_owned(),
            reply.to_owned(),
            text.to_owned().into(),
        );
        sent.await.unwrap();
    };
    let task = format!("staunch.task.{TASK}.1");
    let tasks = world.jetstream.get_stream("STAUNCH_TASKS").await.unwrap();
    tasks.purge().filter(&task).await.unwrap();
    publish(&next, &pull).await;
    let inbox = worker.client.new_inbox();
    let mut pulled = worker.client.subscribe(inbox.clone()).await.unwrap();
    worker.client.publish_with_reply(next.clone(), inbox, "1".into()).await.unwrap();
    // The first pull may take a task if it is late.
    let message: Message = within("a task", SOON, async {
        loop {
            world.admin.request(task.clone(), "".into()).await.unwrap();
            if let Ok(message) = tokio::time::timeout(QUIET, pulled.next()).await {
                return message.unwrap();
            }
        }
    })
    .await;
    publish(message.reply.as_deref().unwrap(), "+WPI").await;
    publish(message.reply.as_deref().unwrap(), "+ACK").await;
    publish(&next, &pull).await;
    publish("staunch.cmd.task.Ship.1.forged", "{}").await;
    worker.client.flush().await.unwrap();
    assert_eq!(worker.refusals(), Vec::<String>::new());
    5
}

async fn starter_names(world: &World, reply: &str) -> usize {
    let starter = world.guest("starter").await;
    let subjects = ["staunch.cmd.event.forged", "staunch.api.get.forged"];
    for subject in subjects {
        let sent = starter.client.publish_with_reply(subject, reply.to_owned(), "{}".into());
        sent.await.unwrap();
    }
    starter.client.flush().await.unwrap();
    assert_eq!(starter.refusals(), Vec::<String>::new());
    subjects.len()
}

/// The limit of permissions, and the proof that the attempts above are dangerous: a process of
/// Staunch that is taken over can do it.
async fn the_same_works_within_the_account(world: &World) {
    let config = stream::Config { name: "VICTIM".to_owned(), ..Default::default() };
    world.jetstream.create_stream(config).await.unwrap();
    let executor = world.guest("executor").await;
    // The commands that wait are taken first: only an empty answer deletes.
    world.jetstream.get_stream("STAUNCH_COMMANDS").await.unwrap().purge().await.unwrap();
    let next = "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_COMMANDS.executor";
    let pull = json!({"batch": 1, "no_wait": true}).to_string();
    let reply = "$JS.API.STREAM.DELETE.VICTIM";
    executor.client.publish_with_reply(next, reply, pull.into()).await.unwrap();
    eventually("the stream is gone", SOON, async || world.messages("VICTIM").await.is_none()).await;
    println!("within the account of Staunch, a reply to an executor's pull deletes a stream");
}

/// Permissions do not see headers: a message on a subject that a client may use could ask the server to
/// remove what other users have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_client_removes_what_others_have_by_a_roll_up() {
    let world = World::start().await;
    let others = ["Pay.1", "upper.1"].map(|key| format!("$KV.staunch_activities.{key}"));
    for key in &others {
        within("a type", SOON, world.admin.request(key.clone(), "{}".into())).await.unwrap();
    }
    let objects = world.jetstream.get_object_store("staunch_payloads").await.unwrap();
    objects.put("theirs", &mut &b"7"[..]).await.unwrap();
    let rolling = |extent: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Rollup", extent);
        headers
    };

    let worker = world.guest(WORKER).await;
    let registers = async |headers: HeaderMap| -> Value {
        let own = format!("$KV.staunch_activities.{TASK}.1");
        let sent = worker.client.request_with_headers(own, headers, "{}".into());
        serde_json::from_slice(&within("an answer", SOON, sent).await.unwrap().payload).unwrap()
    };
    assert!(registers(HeaderMap::new()).await["seq"].is_u64(), "it registers its own type");
    for extent in ["all", "sub"] {
        let answer = registers(rolling(extent)).await;
        assert_eq!(answer["error"]["description"], "rollup not permitted", "{answer}");
    }
    // The store of objects takes roll-ups, so who has not asked for it puts none.
    let about = "$O.staunch_payloads.M.forged";
    for name in [WORKER, "starter"] {
        let guest = world.guest(name).await;
        let sent = guest.client.publish_with_headers(about, rolling("all"), "{}".into());
        sent.await.unwrap();
        guest.client.flush().await.unwrap();
        let what = format!("Publish to \"{about}\"");
        eventually(&format!("{name} is refused"), SOON, async || guest.was_refused(&what)).await;
    }
    for key in &others {
        assert_eq!(world.key(key).await.as_deref(), Some(&b"{}"[..]), "{key}");
    }
    objects.info("theirs").await.unwrap();
}

fn kind_of(stream: &str) -> String {
    match stream {
        "STAUNCH_COMMANDS" => "cmd".to_owned(),
        "STAUNCH_EVENTS" => "event".to_owned(),
        "STAUNCH_TASKS" => "task".to_owned(),
        _ => "dead".to_owned(),
    }
}

/// A header of a command cannot make an executor publish to leases, pointers, presence, events or
/// the inboxes of Staunch itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_client_makes_an_executor_publish_what_matters() {
    let mut world = World::start().await;
    let url = world.process("node", "all", "node").await;
    let api = Api::new(&url);
    api.publish(&waiting("waiting")).await;
    let targets = [
        "$KV.staunch_leases.forged",
        "$KV.staunch_definitions.forged",
        "$KV.staunch_nodes.forged",
        "$JS.API.STREAM.DELETE.STAUNCH_EVENTS",
        "staunch.event.forged.forged.finished",
        "staunch.cmd.start.waiting",
        "_INBOX_staunch.node.forged",
    ];
    let mut spy = world.admin.subscribe("staunch.event.forged.>").await.unwrap();
    world.admin.flush().await.unwrap();
    for (user, kind) in
        [(WORKER, "task.Ship.1.forged"), ("starter", "event.go"), ("starter", "start.waiting")]
    {
        let guest = world.guest(user).await;
        let before = world.messages("STAUNCH_DEAD").await.unwrap();
        for target in targets {
            let mut headers = HeaderMap::new();
            headers.insert("Staunch-Reply-To", target);
            let sent = guest.client.publish_with_headers(
                format!("staunch.cmd.{kind}"),
                headers,
                "{}".into(),
            );
            sent.await.unwrap();
        }
        let dead = before + targets.len() as u64;
        eventually(&format!("{user}: each {kind} is refused"), SOON, async || {
            world.messages("STAUNCH_DEAD").await == Some(dead)
        })
        .await;
    }
    let letters = api.get("/bookmark-queue/dead-letters").await.ok();
    let letters = letters["items"].as_array().unwrap().clone();
    let says = |letter: &Value| letter.to_string().contains("answers cannot be sent to");
    assert!(letters.iter().all(says) && !letters.is_empty(), "{letters:?}");
    for bucket in ["leases", "definitions", "nodes"] {
        assert_eq!(world.key(&format!("$KV.staunch_{bucket}.forged")).await, None, "{bucket}");
    }
    assert!(tokio::time::timeout(QUIET, spy.next()).await.is_err());
    assert!(world.messages("STAUNCH_EVENTS").await.is_some());
    assert_eq!(api.count("waiting", None).await, 0);
    assert_eq!(world.violations("STAUNCH"), Vec::<String>::new());
    println!("21 commands that name such a subject: 21 dead letters, 0 deliveries");
}

#[tokio::test]
async fn a_broker_without_one_of_the_passwords_does_not_start() {
    let accounts = Accounts::new(&[TASK]).unwrap();
    let users: Vec<_> = accounts.all().flat_map(|account| &account.users).collect();
    let binary = testkit::binary().await;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../nats/accounts.conf");
    let check = async |missing: Option<&str>| {
        let mut command = tokio::process::Command::new(&binary);
        command.args(["-t", "--config", file]).kill_on_drop(true);
        for user in &users {
            if missing != Some(&user.variable) {
                command.env(&user.variable, password(&user.name));
            } else {
                command.env_remove(&user.variable);
            }
        }
        within("the check", SOON, command.output()).await.unwrap()
    };
    assert!(check(None).await.status.success());
    for user in &users {
        let output = check(Some(&user.variable)).await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(&user.variable), "{said}");
    }
    println!("{} passwords, each of them required", users.len());
}
