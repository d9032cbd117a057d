//! One row for each cause.

mod late;
mod retry;
mod task;

use std::collections::BTreeSet;
use std::time::Duration;

use bus::{Holding, Member, Pause, Scope};
use engine::outside::NatsConfig;
use model::{
    Bookmark, Entry, Incident, Instance, InstanceId, Stimulus, SubStatus, Timestamp, What,
};
use protocol::Runtime;
use serde_json::{Value, json};

use super::action::quoted;
use super::answer::Weight::{self, Blocks, Note, Waits};
use super::explain::{explain, findings};
use super::facts::{
    CallFact, Cluster, CommandFact, Facts, LetterFact, Relative, Server, Tasks, Version,
};

const NOW: Timestamp = Timestamp::from_millis(1_795_000_600_000);

fn ago(seconds: u64) -> Timestamp {
    NOW.before(Duration::from_secs(seconds))
}

fn later(seconds: u64) -> Timestamp {
    NOW.after(Duration::from_secs(seconds))
}

fn member(node: &str, roles: &[&str]) -> Member {
    Member {
        node: node.to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        started_at: ago(600),
        address: None,
        version: None,
    }
}

/// A suspended instance in a cluster in which everything works.
fn base() -> Facts {
    let id = InstanceId::new("i-1");
    let mut instance = Instance::new(id, "order".into(), "order-3".into(), 3, ago(400));
    instance.status = SubStatus::Suspended;
    instance.version = 4;
    instance.updated_at = ago(300);
    let answer = Runtime { node: "n1".into(), ..Runtime::default() };
    Facts {
        now: NOW,
        instance,
        definition: Version::There(Some(3)),
        is_paused: false,
        can_be_retried: false,
        waits: Vec::new(),
        nats: NatsConfig {
            subjects: [("*".to_owned(), vec!["orders.>".to_owned()])].into(),
            ..NatsConfig::default()
        },
        missing_streams: BTreeSet::new(),
        tasks: Tasks::default(),
        calls: Vec::new(),
        incidents: Vec::new(),
        commands: Vec::new(),
        letters: Vec::new(),
        journal: Vec::new(),
        parent: None,
        children: Vec::new(),
        cluster: Cluster {
            nodes: vec![member("n1", &["executor"]), member("t1", &["timer"])],
            executors: vec![("n1".to_owned(), Some(answer))],
            backlog: Some(0),
            ..Cluster::default()
        },
        unknown: Vec::new(),
        server: Server { url: "http://h".to_owned(), wants_key: false },
    }
}

fn bookmark(name: &str, payload: Value) -> Bookmark {
    let stimulus = Stimulus { name: name.to_owned(), payload: payload.clone() };
    Bookmark {
        id: "b1".into(),
        name: name.to_owned(),
        hash: stimulus.hash(),
        activity_id: "a1".into(),
        activity_node_id: "a1".to_owned(),
        activity_instance_id: "i-1:1".to_owned(),
        payload,
        created_at: ago(180),
        due_at: None,
    }
}

fn delay(due_at: Timestamp) -> Bookmark {
    Bookmark { due_at: Some(due_at), ..bookmark("Elsa.Delay", json!({"ResumeAt": due_at})) }
}

fn event() -> Bookmark {
    bookmark("Elsa.Event", json!({"EventName": "paid"}))
}

fn at(activity: &str, execution: &str) -> Bookmark {
    let activity_instance_id = execution.to_owned();
    Bookmark { activity_id: activity.into(), activity_instance_id, ..event() }
}

fn call() -> CallFact {
    CallFact {
        bookmark_id: "b2".into(),
        activity_id: "charge".into(),
        activity_instance_id: "i-1:2".to_owned(),
        what: "POST https://pay".to_owned(),
        attempt: 2,
        attempts_max: 5,
        since: ago(180),
        not_before: None,
        again_at: None,
    }
}

fn command(is_waiting: bool, seconds: u64) -> CommandFact {
    CommandFact {
        id: "c1".into(),
        kind: "resume".to_owned(),
        accepted_at: ago(seconds),
        is_waiting,
        expires_at: is_waiting.then(|| later(60)),
    }
}

fn letter() -> LetterFact {
    LetterFact {
        number: 7,
        at: ago(60),
        subject: "staunch.cmd.resume.i-1".to_owned(),
        reason: "no such bookmark".to_owned(),
        can_be_replayed: true,
    }
}

fn incident() -> Incident {
    Incident {
        activity_id: "charge".into(),
        activity_node_id: "charge".to_owned(),
        activity_type: "Elsa.SendHttpRequest".to_owned(),
        code: "HttpStatus".to_owned(),
        message: "the other side\nanswered 500".to_owned(),
        timestamp: ago(60),
        activity_instance_id: None,
    }
}

fn relative(status: Option<SubStatus>, finished: u64) -> Relative {
    let is_over = status.is_some_and(SubStatus::is_final);
    Relative {
        id: "i-2".into(),
        status,
        finished_at: is_over.then(|| ago(finished)),
        bookmark_id: Some("b1".into()),
    }
}

fn with_child(facts: &mut Facts, status: Option<SubStatus>, finished: u64) {
    facts.waits = vec![bookmark("Elsa.ExecuteWorkflow", json!({"ChildInstanceId": "i-2"}))];
    facts.children = vec![relative(status, finished)];
}

fn pause() -> Pause {
    Pause { since: ago(120), by: "key ops".into(), reason: Some("night".into()), drain: None }
}

fn without(facts: &mut Facts, role: &str) {
    facts.cluster.nodes.retain(|node| node.roles != [role]);
    if role == "executor" {
        facts.cluster.executors.clear();
    }
}

fn lease(owner: &str) -> Option<Holding> {
    Some(Holding { owner: owner.to_owned(), next: vec!["n2".to_owned()], ..Holding::default() })
}

fn altered() -> Entry {
    Entry {
        sequence: 9,
        timestamp: ago(120),
        activity_id: None,
        activity_instance_id: None,
        activity_type: None,
        activity_name: None,
        what: What::Altered,
        message: Some("Pause".to_owned()),
        payload: None,
        node: None,
        owner: None,
        recorded: None,
    }
}

/// A cause, its weight, a part of its sentence, a part of one of its lines to copy, and the change of
/// the facts that causes it.
type Row = (&'static str, Weight, &'static str, &'static str, fn(&mut Facts));

const WAITS: &[Row] = &[
    (
        "event",
        Waits,
        "the event \"paid\" at activity a1, since 2026",
        "staunch.api.event.paid",
        |f| {
            f.waits = vec![event()];
        },
    ),
    ("timer", Waits, "another 60 s", "--bookmark b1", |f| f.waits = vec![delay(later(60))]),
    ("timer", Waits, "The time of activity a1 is over at 2026", "", |f| {
        f.waits = vec![event(), delay(later(60))];
    }),
    ("timer", Waits, "the node t1, which owns its shard, fires it then", "", |f| {
        f.waits = vec![delay(later(60))];
    }),
    ("timer", Waits, "the node t2, which owns its shard, fires it then", "", |f| {
        f.cluster.nodes.push(member("t2", &["timer"]));
        f.waits = vec![delay(later(60))];
    }),
    ("timer", Waits, "no node with the role timer lives", "", |f| {
        f.waits = vec![delay(later(60))];
        without(f, "timer");
    }),
    ("timer-no-role", Blocks, "60 s ago, and no node", "staunch server --role timer", |f| {
        f.waits = vec![delay(ago(60))];
        without(f, "timer");
    }),
    ("timer-overdue", Blocks, "t1 owns its shard", "instance resume i-1", |f| {
        f.waits = vec![delay(ago(60))];
    }),
    ("task", Waits, "the task t9 of type \"Ship\"", "staunch.cmd.task.t9", |f| {
        f.waits = vec![bookmark("Elsa.RunTask", json!({"TaskId": "t9", "TaskName": "Ship"}))];
    }),
    ("task", Waits, "of type \"Ship\", version 3", "staunch.cmd.task.t9", |f| {
        f.waits = vec![bookmark("Elsa.RunTask", json!({"TaskId": "t9", "TaskName": "Ship"}))];
        f.tasks.open.insert("b1".into(), task::of(3));
    }),
    ("http", Waits, "POST /workflows/order", "curl -X POST http://h/workflows/order", |f| {
        let payload = json!({"Path": "/order", "Method": "post"});
        f.waits = vec![bookmark("Elsa.HttpEndpoint", payload)];
    }),
    ("message", Waits, "on the subject orders.eu of the stream ORDERS", "--bookmark b1", |f| {
        let listens = json!({"Subject": "orders.eu", "Stream": "ORDERS"});
        f.waits = vec![bookmark(Stimulus::MESSAGE, listens)];
    }),
    ("message-no-stream", Blocks, "The stream ORDERS does not exist", "--bookmark b1", |f| {
        let listens = json!({"Subject": "orders.eu", "Stream": "ORDERS"});
        f.waits = vec![bookmark(Stimulus::MESSAGE, listens)];
        f.missing_streams.insert("ORDERS".to_owned());
    }),
    ("message-not-allowed", Blocks, "in the setting nats-subjects", "--bookmark b1", |f| {
        f.waits = vec![bookmark(Stimulus::MESSAGE, json!({"Subject": "secret.eu"}))];
    }),
    ("bookmark", Waits, "its bookmark \"Acme.Wait\"", "staunch.api.resume.i-1", |f| {
        f.waits = vec![bookmark("Acme.Wait", json!({}))];
    }),
    ("line", Waits, "It waits for a line of text", r#"-i '{"Line":""}'"#, |f| {
        f.waits = vec![bookmark("Elsa.ReadLine", json!({"ActivityId": "a1"}))];
    }),
    ("child", Waits, "its child i-2, which is Suspended", "staunch why i-2", |f| {
        with_child(f, Some(SubStatus::Suspended), 0);
    }),
    ("child-ended", Waits, "has not heard of it", "", |f| {
        with_child(f, Some(SubStatus::Finished), 1);
    }),
    ("child-ended", Blocks, "i-2 is Finished", "instance resume i-1", |f| {
        with_child(f, Some(SubStatus::Finished), 90);
    }),
    ("child-gone", Blocks, "there is no such instance", "instance resume i-1", |f| {
        with_child(f, None, 0);
    }),
    ("children", Waits, "the end of 2 children", "staunch why i-2", |f| {
        with_child(f, Some(SubStatus::Suspended), 0);
        f.children.push(Relative { id: "i-3".into(), ..relative(Some(SubStatus::Pending), 0) });
    }),
];

const WORK: &[Row] = &[
    ("start-unapplied", Waits, "has not run yet", "", |f| {
        f.instance.status = SubStatus::Pending;
        f.instance.created_at = ago(1);
    }),
    ("start-unapplied", Blocks, "sends it again every 10 s", "", |f| {
        f.instance.status = SubStatus::Pending;
    }),
    ("start-unapplied", Blocks, "none lives", "server --role timer", |f| {
        f.instance.status = SubStatus::Pending;
        without(f, "timer");
    }),
    ("command-unapplied", Waits, "resume c1 is not applied yet", "", |f| {
        f.commands = vec![command(false, 10)];
    }),
    ("command-early", Note, "came too early", "", |f| f.commands = vec![command(true, 10)]),
    ("call", Waits, "POST https://pay (attempt 2 of 5)", "", |f| {
        f.instance.status = SubStatus::Executing;
        f.calls = vec![CallFact { not_before: Some(later(5)), ..call() }];
        f.cluster.lease = lease("n1");
    }),
    ("call-left", Blocks, "no live node works on it", "nats pub staunch.cmd.perform.i-1", |f| {
        f.instance.status = SubStatus::Executing;
        f.calls = vec![call()];
    }),
    ("call-retry", Waits, "attempt 2 of 5 is made at", "staunch.api.resume.i-1", |f| {
        f.calls = vec![CallFact { again_at: Some(later(60)), ..call() }];
    }),
    ("call-retry-overdue", Blocks, "which was 60 s ago", "server --role timer", |f| {
        f.calls = vec![CallFact { again_at: Some(ago(60)), ..call() }];
        without(f, "timer");
    }),
    ("turn", Blocks, "It has more to run", "staunch.cmd.perform.i-1", |f| {
        f.instance.status = SubStatus::Executing;
    }),
    ("in-work", Waits, "n1 holds its lease and works on it; 1 node waits", "", |f| {
        f.instance.status = SubStatus::Executing;
        f.cluster.lease = lease("n1");
    }),
    ("lease-of-gone-node", Blocks, "The node n9", "", |f| {
        f.instance.status = SubStatus::Executing;
        f.cluster.lease = lease("n9");
    }),
    ("backlog", Note, "4000 commands are in the queue", "staunch top", |f| {
        f.cluster.backlog = Some(4_000);
    }),
];

const CLUSTER: &[Row] = &[
    ("no-executor", Note, "No executor lives", "server --role executor", |f| {
        f.waits = vec![event()];
        without(f, "executor");
    }),
    ("no-executor", Blocks, "No executor lives", "server --role executor", |f| {
        f.instance.status = SubStatus::Pending;
        without(f, "executor");
    }),
    ("no-consumer", Note, "NATS has no consumer executor", "staunch provision", |f| {
        f.waits = vec![event()];
        f.cluster.has_no_consumer = true;
    }),
    ("no-consumer", Blocks, "no command is applied", "staunch provision", |f| {
        f.commands = vec![command(false, 10)];
        f.cluster.has_no_consumer = true;
    }),
    ("cluster-paused", Blocks, "by key ops: night", "staunch runtime resume", |f| {
        f.commands = vec![command(false, 10)];
        f.cluster.pauses = vec![(Scope::Cluster, pause())];
    }),
    ("executors-paused", Blocks, "The executor n1 is paused", "runtime resume --node n1", |f| {
        f.commands = vec![command(false, 10)];
        f.cluster.pauses = vec![(Scope::Node("n1".to_owned()), pause())];
    }),
    ("executor-paused", Note, "The executor n1 is paused", "runtime resume --node n1", |f| {
        f.commands = vec![command(false, 10)];
        f.cluster.nodes.push(member("n2", &["executor"]));
        f.cluster.pauses = vec![(Scope::Node("n1".to_owned()), pause())];
    }),
    ("executor-silent", Blocks, "n1 does not answer", "", |f| {
        f.instance.status = SubStatus::Executing;
        f.cluster.executors = vec![("n1".to_owned(), None)];
    }),
    ("cut-off", Note, "is cut off from the others", "", |f| f.cluster.is_cut_off = true),
];

const INSTANCE: &[Row] = &[
    ("paused", Blocks, "An operator has paused it since 2026", "instance unpause i-1", |f| {
        f.is_paused = true;
        f.journal = vec![altered()];
    }),
    ("ended", Blocks, "It is Finished", "instance restart i-1", |f| {
        f.instance.status = SubStatus::Finished;
        f.instance.finished_at = Some(ago(30));
    }),
    ("faulted", Blocks, "charge failed: the other side answered 500.", "instance retry i-1", |f| {
        f.instance.status = SubStatus::Faulted;
        f.can_be_retried = true;
        f.incidents = vec![incident()];
    }),
    ("faulted", Blocks, " (5 min): the other side answered", "instance migrate i-1 --to 4", |f| {
        f.instance.status = SubStatus::Faulted;
        f.incidents = vec![Incident { activity_id: "".into(), ..incident() }];
        f.can_be_retried = true;
        f.definition = Version::There(Some(4));
    }),
    ("incidents", Note, "It goes on with 1 incidents", "instance retry i-1", |f| {
        f.instance.incidents = 1;
        f.incidents = vec![incident()];
    }),
    (
        "version-gone",
        Blocks,
        "version 3 of order that it runs is deleted",
        "migrate i-1 --to 5",
        |f| {
            f.definition = Version::Gone(Some(5));
        },
    ),
    ("version-broken", Blocks, "cannot run version 3", "instance cancel i-1", |f| {
        f.definition = Version::Broken("activity x is unknown".to_owned());
    }),
    ("dead-letter", Note, "is dead letter 7, since", "staunch dead replay 7", |f| {
        f.letters = vec![letter()];
    }),
    ("dead-letter", Blocks, "no such bookmark", "dead-letters/7/replay", |f| {
        f.instance.status = SubStatus::Pending;
        f.letters = vec![letter()];
    }),
    ("parent", Note, "i-2 has started it and waits for its end; it is Suspended", "why i-2", |f| {
        f.parent = Some(relative(Some(SubStatus::Suspended), 0));
    }),
];

#[test]
fn every_cause_is_found_with_its_weight_and_what_to_do() {
    for (cause, weight, says, line, change) in [WAITS, WORK, CLUSTER, INSTANCE].concat() {
        let mut facts = base();
        change(&mut facts);
        let found = findings(&facts);
        let all = format!("{cause} of {found:#?}");
        let one = found.iter().find(|one| one.cause == cause && one.says.contains(says));
        let one = one.unwrap_or_else(|| panic!("{all}"));
        assert_eq!(one.weight, weight, "{all}");
        let lines = one.actions.iter().flat_map(|it| [&it.staunch, &it.nats, &it.curl]);
        let mut lines = lines.flatten();
        assert!(line.is_empty() || lines.any(|it| it.contains(line)), "{line:?} in {all}");
        assert!(one.says.ends_with('.') && !one.says.contains(".."), "{all}");
    }
}

#[test]
fn what_is_in_the_way_is_the_answer_and_else_what_it_waits_for() {
    let answer = |change: fn(&mut Facts)| {
        let mut facts = base();
        change(&mut facts);
        explain(facts).answer
    };
    assert_eq!(answer(|_| {}), "It is Suspended, and nothing is in its way.");
    let waits = answer(|f| f.waits = vec![event()]);
    assert!(waits.starts_with("It waits for the event \"paid\""), "{waits}");
    // One activity with a time limit, or with several executions, and several activities.
    let limited = answer(|f| f.waits = vec![delay(later(9)), event()]);
    assert!(limited.starts_with("It waits for the event \"paid\" at activity a1"), "{limited}");
    let each = answer(|f| f.waits = vec![at("a1", "x1"), at("a1", "x2"), at("a1", "x3")]);
    assert_eq!(each, "It waits at activity a1, in 3 executions of it.");
    let several = answer(|f| f.waits = vec![at("a1", "x1"), at("a2", "x2"), at("a1", "x3")]);
    assert_eq!(several, "It waits at 2 activities: a1, a2.");
    let paused = answer(|f| {
        f.waits = vec![event()];
        f.is_paused = true;
    });
    assert!(paused.starts_with("An operator has paused it"), "{paused}");
    // An instance that waits needs no executor before something comes.
    let waits = answer(|f| {
        f.waits = vec![event()];
        f.cluster.pauses = vec![(Scope::Cluster, pause())];
    });
    assert!(waits.starts_with("It waits for the event"), "{waits}");
}

#[test]
fn an_instance_that_is_over_waits_for_nothing() {
    let mut facts = base();
    facts.instance.status = SubStatus::Finished;
    facts.instance.finished_at = Some(ago(30));
    without(&mut facts, "executor");
    let causes: Vec<_> = findings(&facts).into_iter().map(|one| one.cause).collect();
    assert_eq!(causes, ["ended"]);
}

#[test]
fn what_goes_into_a_line_cannot_leave_it() {
    for (text, expected) in [
        ("i-1", "i-1"),
        ("", "''"),
        ("a b", "'a b'"),
        ("it's; rm -rf /", r"'it'\''s; rm -rf /'"),
        ("$(x)`y`", "'$(x)`y`'"),
        ("a\nb", "'a\nb'"),
    ] {
        assert_eq!(quoted(text), expected);
    }
    let mut facts = base();
    facts.waits = vec![bookmark("Elsa.Event", json!({"EventName": "it's $HOME/../x"}))];
    let found = findings(&facts);
    let curl = found[0].actions[0].curl.as_ref().unwrap();
    assert!(curl.contains("/events/it%27s%20%24HOME%2F..%2Fx/trigger"), "{curl}");
    let nats = found[0].actions[0].nats.as_ref().unwrap();
    assert!(!nats.contains("$HOME"), "{nats}");
}
