use model::{Map, limits};
use serde_json::Value;

use super::*;
use crate::{Headers, Message, header};

fn message(subject: &str, body: &str) -> Message {
    Message { subject: subject.to_owned(), headers: Headers::new(), payload: body.into() }
}

#[test]
fn a_command_survives_the_wire() {
    let mut input = Map::new();
    input.insert("Amount".into(), serde_json::json!({"value": 12.5, "list": [1, null, "é"]}));
    let start = Start { definition_id: "Order Approval".into(), input, ..Start::default() };
    let mut command = Command::new("c1".into(), Body::Start(start));
    command.sequence = Some(Sequence { sender: "a:b".into(), number: 3 });
    command.reply_when = ReplyWhen::Settled;
    command.lineage = Lineage { depth: 3, chain: 17 };
    let sent = command.encode().unwrap();
    assert_eq!(sent.subject, "staunch.cmd.start.Order=20Approval");
    assert_eq!(Command::decode(&sent, "other").unwrap(), command);
}

#[test]
fn what_people_publish_is_read() {
    let command = Command::decode(&message("staunch.cmd.event.order.paid", ""), "f").unwrap();
    assert_eq!(command.id.as_str(), "f");
    assert!(matches!(command.body, Body::Event(event) if event.event_name == "order.paid"));
    let body = r#"{"input":{"A":1},"instanceId":"x-1"}"#;
    let command = Command::decode(&message("staunch.cmd.start.sum", body), "f").unwrap();
    assert_eq!(command.instance_id(), Some("x-1".into()));
}

/// A client whose only numbers have a point writes what the JSON Schema of the message allows.
#[test]
fn whole_numbers_may_be_written_with_a_point() {
    let body = serde_json::json!({"attempt": 2.0, "status": "failed", "retryAfter": 5.0});
    let packed = rmp_serde::to_vec_named(&body).unwrap();
    for (kind, payload) in
        [("application/json", body.to_string().into_bytes()), ("application/msgpack", packed)]
    {
        let mut sent = message("staunch.cmd.task.Fl.1.t", "");
        sent.headers.insert(header::CONTENT_TYPE.to_owned(), kind.to_owned());
        sent.payload = payload;
        let Body::Task(task) = Command::decode(&sent, "f").unwrap().body else { panic!("no task") };
        assert_eq!((task.attempt, task.retry_after), (Some(2), Some(5)), "{kind}");
    }
    let start = message("staunch.cmd.start.sum", r#"{"pointerRevision": 3.0}"#);
    let Body::Start(start) = Command::decode(&start, "f").unwrap().body else { panic!("no start") };
    assert_eq!(start.pointer_revision, Some(3));
    for (member, least) in [("attempt", 1), ("retryAfter", 0)] {
        let half = message("staunch.cmd.task.t", &format!(r#"{{"{member}": 0.5}}"#));
        let error = Command::decode(&half, "f").unwrap_err().to_string();
        let expected = format!("`0.5`, expected a whole number from {least} on");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn what_cannot_be_read_as_a_result_fails_the_attempt_that_it_names() {
    let deep = format!(r#"{{"output": {}1{}, "attempt": 2}}"#, "[".repeat(99), "]".repeat(99));
    let cases = [
        (deep.as_str(), None, Some(2)),
        (deep.as_str(), Some("7"), Some(2)),
        (r#"{"attempt": 2.0, "output": 99999999999999999999999}"#, None, Some(2)),
        (r#"{"output": "\ud800", "attempt": 2}"#, None, Some(2)),
        (r#"{"output": 1, "result": 2, "attempt": 2}"#, None, Some(2)),
        (r#"{"outptu": 1, "attempt": 2}"#, None, Some(2)),
        (r#"{"output": 1, "outcome": 7}"#, Some("3"), Some(3)),
        ("no JSON", Some("3"), Some(3)),
        ("no JSON", Some("0"), None),
        ("[1]", None, None),
        (" ", Some("3"), Some(3)),
    ];
    for (body, header, attempt) in cases {
        let mut sent = message("staunch.cmd.task.Fl=20y.2.t=2E1", body);
        if let Some(header) = header {
            sent.headers.insert(header::ATTEMPT.to_owned(), header.to_owned());
        }
        let reason = Command::decode(&sent, "f").expect_err(body).to_string();
        let failure = TaskCompleted::unfit(&sent, &reason).unwrap();
        assert_eq!(failure.attempt, attempt, "{body}");
        assert_eq!(failure.task_id, "t.1");
        assert_eq!(failure.kind, Some(("Fl y".to_owned(), 2)));
        assert_eq!((failure.status, failure.retryable), (Some(TaskStatus::Failed), Some(false)));
        let error = failure.error.unwrap();
        assert_eq!(error["type"], "ResultUnfit");
        assert_eq!(error["detail"], reason);
    }
    let mut packed = message("staunch.cmd.task.t", "");
    packed.headers.insert(header::CONTENT_TYPE.to_owned(), "application/msgpack".to_owned());
    for (body, attempt) in [
        (serde_json::json!({"status": "lost", "attempt": 4}), Some(4)),
        (serde_json::json!([5]), None),
    ] {
        packed.payload = rmp_serde::to_vec_named(&body).unwrap();
        assert_eq!(TaskCompleted::unfit(&packed, "why").unwrap().attempt, attempt, "{body}");
    }
    let short = message("staunch.cmd.task.t", "[");
    let failure = TaskCompleted::unfit(&short, &"ä".repeat(5_000)).unwrap();
    assert_eq!((failure.kind, failure.task_id.as_str()), (None, "t"));
    assert_eq!(failure.error.unwrap()["detail"].as_str().unwrap().chars().count(), 1_000);
    for subject in ["staunch.cmd.start.t", "staunch.cmd.task.Ship.0.t", "staunch.cmd.task", "x"] {
        assert_eq!(TaskCompleted::unfit(&message(subject, "["), "why"), None, "{subject}");
    }
}

#[test]
fn an_empty_body_is_no_result_unless_an_object_is_named() {
    let mut sent = message("staunch.cmd.task.Ship.1.t", "\n");
    let error = Command::decode(&sent, "f").unwrap_err().to_string();
    assert!(error.contains("`{}` is one without output"), "{error}");
    sent.headers.insert(header::PAYLOAD.to_owned(), "$payload=o".to_owned());
    assert!(Command::decode(&sent, "f").is_ok());
    assert!(Command::decode(&message("staunch.cmd.task.t", "{}"), "f").is_ok());
}

#[test]
fn values_are_as_deep_in_messagepack_as_in_json() {
    let nested =
        |levels: usize| (0..levels).fold(Value::Null, |value, _| Value::Array(vec![value]));
    let check = |subject: &str, body: Value, max: Option<usize>| {
        let packed = rmp_serde::to_vec_named(&body).unwrap();
        let kinds =
            [("application/json", body.to_string().into_bytes()), ("application/msgpack", packed)];
        for (kind, payload) in kinds {
            let mut message = message(subject, "");
            message.headers.insert(header::CONTENT_TYPE.to_owned(), kind.to_owned());
            message.payload = payload;
            let read = Command::decode(&message, "f");
            assert_eq!(read.is_ok(), max.is_none(), "{subject} {kind}");
            if let (Err(error), Some(max)) = (read, max) {
                let expected = format!("nested more than {max} deep");
                assert!(error.to_string().contains(&expected), "{error}");
            }
        }
    };
    // The limit that is passed: of a value, or of the whole message.
    for (levels, max) in [(64, None), (65, Some(64)), (700, Some(96)), (5_000, Some(96))] {
        // Built and dropped on a stack that is large enough for it.
        let run = move || {
            let input = || serde_json::json!({"input": {"A": nested(levels)}});
            check("staunch.cmd.start.d", input(), max);
            check("staunch.cmd.resume.i", input(), max);
            check("staunch.cmd.event.e", serde_json::json!({"payload": nested(levels)}), max);
            check("staunch.cmd.task.t", serde_json::json!({"result": nested(levels)}), max);
        };
        let thread = std::thread::Builder::new().stack_size(512 * 1024 * 1024);
        thread.spawn(run).unwrap().join().unwrap();
    }
}

#[test]
fn a_reply_subject_that_carries_more_than_answers_is_refused() {
    let mut message = message("staunch.cmd.task.t", "{}");
    message.headers.insert(header::REPLY_TO.to_owned(), "$KV.staunch_leases.i".to_owned());
    let error = Command::decode(&message, "f").unwrap_err().to_string();
    assert!(error.contains("header Staunch-Reply-To") && error.contains("$KV."), "{error}");
    message.headers.insert(header::REPLY_TO.to_owned(), "_INBOX.w.1".to_owned());
    assert_eq!(Command::decode(&message, "f").unwrap().reply_to.as_deref(), Some("_INBOX.w.1"));
}

#[test]
fn what_cannot_be_read_says_why() {
    let check = |subject: &str, body: &str, expected: &str| {
        let error = Command::decode(&message(subject, body), "f").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("staunch.cmd.start.sum", "not json", "line 1 column 2");
    check("staunch.cmd.cancel.i", r#"{"why":"x"}"#, "unknown field `why`, expected `reason`");
    check("staunch.cmd.start.sum", r#"{"inputs":{}}"#, "unknown field `inputs`");
    check("staunch.cmd.start.sum", r#"{"instanceId":"a.b"}"#, "instance id \"a.b\"");
    check("staunch.cmd.stop.sum", "{}", "is not the subject of a command");
    check("staunch.cmd.resume.a*", "{}", "instance id");
    // What a client has escaped is named as it was written.
    for (name, written) in [("a=20b", "a b"), ("=", ""), ("a=2", "a=2"), ("=41", "=41")] {
        let says = format!("instance id {written:?} is not valid");
        check(&format!("staunch.cmd.cancel.{name}"), "{}", &says);
    }
    let both = "`output` and `result` are two names of one member: write one of them";
    check("staunch.cmd.task.t", r#"{"output":1,"result":2}"#, both);
    let both = "`input` and `payload` are two names of one member: write one of them";
    check("staunch.cmd.event.e", r#"{"payload":1,"input":2}"#, both);
    // A mistake of its own is named as it is.
    check("staunch.cmd.start.sum", r#"{"input":[],"payload":1}"#, "invalid type: sequence");
    check("staunch.cmd.task.t", r#"{"result":1,"result":2}"#, "duplicate field `result`");
    let large = format!(r#"{{"input":{{"a":"{}"}}}}"#, "x".repeat(limits::COMMAND_BYTES_MAX));
    check("staunch.cmd.start.sum", &large, "more than the 524288 that are allowed");
}

#[test]
fn members_that_a_later_version_adds_are_ignored_in_messagepack_alone() {
    let body = serde_json::json!({"input": {"A": 1}, "later": {"a": [1]}});
    let mut sent = message("staunch.cmd.start.sum", &body.to_string());
    let error = Command::decode(&sent, "f").unwrap_err().to_string();
    assert!(error.contains("unknown field `later`, expected one of `instanceId`"), "{error}");
    sent.headers.insert(header::CONTENT_TYPE.to_owned(), "application/msgpack".to_owned());
    sent.payload = rmp_serde::to_vec_named(&body).unwrap();
    let Body::Start(start) = Command::decode(&sent, "f").unwrap().body else { panic!("no start") };
    assert_eq!(Value::Object(start.input), serde_json::json!({"A": 1}));
    // People may write both names.
    for name in ["payload", "input"] {
        let sent = message("staunch.cmd.event.e", &format!(r#"{{"{name}": 7}}"#));
        let body = Command::decode(&sent, "f").unwrap().body;
        assert!(matches!(body, Body::Event(event) if event.payload == 7), "{name}");
    }
}
