//! The scenarios of activities that use NATS.

use serde_json::{Value, json};

use crate::activity::line;
use crate::play::{Row, Table, row};

pub(crate) fn tables() -> Vec<Table> {
    let mut all = messages();
    all.push(received());
    all.extend(watched());
    all.extend(keys());
    all.extend(objects());
    all
}

/// The activity in a flowchart, whose outcome leads to a line.
pub(crate) fn leaving(subject: Value, outcome: &str) -> Value {
    let mut subject = subject;
    subject["id"] = json!("subject");
    let mut after = line("the other way");
    after["id"] = json!("after");
    json!({"root": {"type": "Flowchart", "activities": [subject, after], "connections": [
        {"source": {"activity": "subject", "port": outcome}, "target": {"activity": "after"}}]}})
}

fn failures() -> (Value, Value) {
    let late = json!({"error": "timeout", "message": "there was no answer in time"});
    let refused = json!({"error": "refused", "message": "workflows of d may not use it"});
    (late, refused)
}

fn messages() -> Vec<Table> {
    let (late, refused) = failures();
    let sent = || {
        json!({"subject": "orders.new", "content": {"expression": {"type": "Object",
            "value": {"id": 7}}}, "headers": {"expression": {"type": "Object",
            "value": {"X-Shop": "1"}}}})
    };
    let ask = || {
        json!({"type": "Staunch.Request", "subject": "act.upper", "content": "hi",
        "timeout": "00:00:02", "headers": {}})
    };
    let nobody =
        || json!({"error": "connect", "code": "no-responders", "message": "nobody listens"});
    vec![
        Table::new(
            "Staunch.PublishMessage",
            vec![
                row("The message is sent once the instance is stored.", sent()),
                row("It is sent.", sent()).then(json!({})),
                row("A stream has to have it.", json!({"subject": "orders.new", "stored": true}))
                    .then(json!({"stream": "ORDERS", "sequence": 9})),
                row("It is not allowed.", sent()).then(refused.clone()),
                row("A subject of Staunch.", json!({"subject": "staunch.cmd.start.order"})),
                row("A subject of NATS.", json!({"subject": {"js": "'$JS.API.INFO'"}})),
                row("Wildcards.", json!({"subject": "orders.*"})),
                row("No subject.", json!({"content": "x"})),
            ],
        ),
        Table::new(
            "Staunch.Request",
            vec![
                row("The request is sent.", json!({"subject": "act.upper", "content": "hi"})),
                row("The answer is the result.", json!({"subject": "act.upper", "content": "hi"}))
                    .then(json!({"content": "HI", "headers": {"Content-Type": "text/plain"}})),
                row("Nobody listens, and there is a way.", leaving(ask(), "No responders"))
                    .then(nobody()),
                row("Nobody listens.", json!({"subject": "act.upper"})).then(nobody()),
                row("No answer in time, and there is a way.", leaving(ask(), "Timeout"))
                    .then(late.clone()),
                row("No answer in time.", json!({"subject": "act.upper"})).then(late),
                row("The service answers with an error.", json!({"subject": "act.upper"})).then(
                    json!({"content": null, "headers": {}, "statusCode": 422, "message": "too odd"}),
                ),
                row("It is not allowed.", json!({"subject": "act.upper"})).then(refused),
                row("A subject of Staunch.", json!({"subject": "staunch.api.get.x"})),
            ],
        ),
    ]
}

fn received() -> Table {
    let arrived = || {
        json!({"__EventPayloadWorkflowInput": {"payload": {"subject": "orders.eu.new",
            "tokens": ["eu", "new"], "headers": {"X": "1"}, "sequence": 4, "content": {"id": 7}}}})
    };
    Table::new(
        "Staunch.MessageReceived",
        vec![
            row("It waits for a message.", json!({"subject": "orders.>"})),
            row("One arrives.", json!({"subject": "orders.*.*"})).then(arrived()),
            row(
                "From a stream, from a time on.",
                json!({"subject": "orders.>", "stream": "ORDERS", "from": "2026-01-31T08:00:00Z"}),
            )
            .then(arrived()),
            row(
                "It chooses, correlates, knows keys and keeps an order.",
                json!({"subject": "orders.>", "stream": "ORDERS", "inOrder": true,
                    "predicate": {"js": "args.content.id > 5"},
                    "correlationId": {"js": "args.content.customer"},
                    "deduplicationKey": {"liquid": "{{ args.content.id }}"}}),
            )
            .then(arrived()),
            row(
                "A predicate that names a variable.",
                json!({"subject": "a", "predicate": {"js": "args.content.id > variables.Least"}}),
            ),
            row("An order without a stream.", json!({"subject": "a", "inOrder": true})),
            row("A subject that hears everything.", json!({"subject": ">"})),
            row("A subject of Staunch.", json!({"subject": "staunch.event.>"})),
            row("A stream of Staunch.", json!({"subject": "a", "stream": "STAUNCH_EVENTS"})),
            row("What is no time.", json!({"subject": "a", "stream": "A", "from": "soon"})),
            row("No subject.", json!({"stream": "ORDERS"})),
        ],
    )
}

fn watched() -> Vec<Table> {
    let chooses = |bucket: &str| {
        json!({"bucket": bucket, "inOrder": true, "predicate": {"js": "args.sequence > 5"},
            "correlationId": {"js": "args.subject"}, "deduplicationKey": {"js": "args.sequence"}})
    };
    let changed = || {
        json!({"__EventPayloadWorkflowInput": {"payload": {"key": "prices.a", "operation": "put",
            "sequence": 7, "content": {"eur": 3}}}})
    };
    let stored = || {
        json!({"__EventPayloadWorkflowInput": {"payload": {"name": "a.pdf", "size": 9,
            "digest": "SHA-256=abc", "metadata": {"of": "ann"}, "headers": {}}}})
    };
    let keys = Table::new(
        "Staunch.KeyChanged",
        vec![
            row("It waits for any key.", json!({"bucket": "config"})),
            row("One is written.", json!({"bucket": "config", "key": "prices.*"})).then(changed()),
            row(
                "Some operations, from the beginning.",
                json!({"bucket": "config", "operations": ["put", "delete"], "from": "all"}),
            )
            .then(changed()),
            row("It chooses, correlates, knows keys and keeps an order.", chooses("config"))
                .then(changed()),
            row("What is no operation.", json!({"bucket": "config", "operations": ["touch"]})),
            row("A bucket of Staunch.", json!({"bucket": "staunch_leases"})),
            row("What is no pattern.", json!({"bucket": "config", "key": "a..b"})),
            row("No bucket.", json!({"key": "a"})),
        ],
    );
    let objects = Table::new(
        "Staunch.ObjectStored",
        vec![
            row("It waits for an object.", json!({"bucket": "files"})),
            row("One is stored.", json!({"bucket": "files"})).then(stored()),
            row(
                "Large ones alone.",
                json!({"bucket": "files", "predicate": {"js": "args.content.size > 1000"}}),
            )
            .then(stored()),
            row("It chooses, correlates, knows keys and keeps an order.", chooses("files"))
                .then(stored()),
            row("A store of Staunch.", json!({"bucket": "staunch_payloads"})),
            row("What is no time.", json!({"bucket": "files", "from": "soon"})),
            row("No store.", json!({})),
        ],
    );
    vec![keys, objects]
}

fn keys() -> Vec<Table> {
    let (_, refused) = failures();
    let write = |ty: &'static str, more: Value| -> Vec<Row> {
        let given = |extra: Value| {
            let mut given = json!({"bucket": "config", "key": "shop.url"});
            for (name, value) in more.as_object().into_iter().chain(extra.as_object()).flatten() {
                given[name] = value.clone();
            }
            given
        };
        let mut in_a_flow = given(json!({"revision": 3}));
        in_a_flow["type"] = json!(ty);
        let conflict = || json!({"conflict": true});
        vec![
            row("The write is made.", given(json!({}))),
            row("It is done.", given(json!({}))).then(json!({"revision": 4})),
            row("Only at this revision.", given(json!({"revision": 3})))
                .then(json!({"revision": 4})),
            row("It is at another, and there is a way.", leaving(in_a_flow, "Conflict"))
                .then(conflict()),
            row("It is at another.", given(json!({"revision": 3}))).then(conflict()),
            row("It is not allowed.", given(json!({}))).then(refused.clone()),
            row("A bucket of Staunch.", given(json!({"bucket": "staunch_leases"}))),
            row("What is no key.", given(json!({"key": "a b"}))),
        ]
    };
    let get = || json!({"type": "Staunch.KeyValueGet", "bucket": "config", "key": "shop.url"});
    let named = || json!({"bucket": "config", "key": "shop.url"});
    vec![
        Table::new(
            "Staunch.KeyValueGet",
            vec![
                row("The key is read.", named()),
                row("It has a value.", named()).then(json!({"value": "https://x", "revision": 4})),
                row("There is none, and there is a way.", leaving(get(), "Not found"))
                    .then(json!({})),
                row("There is none.", named()).then(json!({})),
                row("It is not allowed.", named()).then(refused.clone()),
                row("A bucket of Staunch.", json!({"bucket": "staunch_timers", "key": "a"})),
            ],
        ),
        Table::new("Staunch.KeyValuePut", write("Staunch.KeyValuePut", json!({"value": "x"}))),
        Table::new("Staunch.KeyValueDelete", write("Staunch.KeyValueDelete", json!({}))),
    ]
}

fn objects() -> Vec<Table> {
    let (_, refused) = failures();
    let named = || json!({"bucket": "uploads", "objectName": "a.txt"});
    let get = || json!({"type": "Staunch.ObjectGet", "bucket": "uploads", "objectName": "a.txt"});
    let put = || json!({"bucket": "uploads", "objectName": "a.txt", "content": "hello"});
    let file = || json!({"object": {"fileName": "a.txt", "size": 2, "content": "aGk="}});
    vec![
        Table::new(
            "Staunch.ObjectGet",
            vec![
                row("The object is read.", named()),
                row("It is the result.", named()).then(file()),
                row("There is none, and there is a way.", leaving(get(), "Not found"))
                    .then(json!({})),
                row("There is none.", named()).then(json!({})),
                row("It is not allowed.", named()).then(refused.clone()),
                row("A store of Staunch.", json!({"bucket": "STAUNCH_x", "objectName": "a"})),
            ],
        ),
        Table::new(
            "Staunch.ObjectPut",
            vec![
                row("The object is written.", put()),
                row("It is done.", put()).then(json!({"size": 5})),
                row("It is not allowed.", put()).then(refused),
                row("No name.", json!({"bucket": "uploads", "content": "x"})),
            ],
        ),
    ]
}
