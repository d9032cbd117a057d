//! Whole workflows: the same journal whether or not the state was stored between turns, and the
//! same turn for the same arguments.
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use engine::testing::{Player, env, parsed};
use engine::{Bounds, Engine, Input, Rest, Resume, Start, State, Turn};
use model::{Bookmark, Map, SubStatus, What};
use serde_json::{Value, json};

fn engine() -> Engine {
    Engine::new(activities::all(), expressions::all())
}

/// An order: waits for a payment in a loop, calls out, runs a task, starts a child, joins.
fn order() -> Value {
    let line = |id: &str, js: &str| json!({"type": "WriteLine", "id": id, "text": {"js": js}});
    json!({
        "id": "order-v3", "definitionId": "order", "version": 3, "name": "Order",
        "variables": [
            {"id": "tries", "name": "Tries", "typeName": "Int32", "value": "0"},
            {"id": "paid", "name": "Paid", "typeName": "Object"}
        ],
        "inputs": [{"name": "Amount", "type": "Decimal"}],
        "outputs": [{"name": "Receipt", "type": "String"}],
        "root": {"type": "Flowchart", "id": "flow", "activities": [
            line("begin", "`order of ${getInput('Amount')} is ${newGuid().length} long`"),
            {"type": "Event", "id": "payment", "name": "Payment", "eventName": "Paid",
                "result": {"typeName": "Object", "memoryReference": {"id": "paid"}}},
            {"type": "SetVariable", "id": "count", "variable": "Tries",
                "value": {"js": "variables.Tries + 1"}},
            {"type": "FlowDecision", "id": "enough",
                "condition": {"js": "getOutputFrom('Payment').amount >= getInput('Amount')"}},
            line("retry", "`paid ${variables.Paid.amount} in try ${variables.Tries}`"),
            {"type": "Sequence", "id": "ship", "variables": [
                {"id": "note", "name": "Note", "typeName": "String", "value": "packed"}
            ], "activities": [
                {"type": "Delay", "timeSpan": "00:00:05"},
                {"type": "RunTask", "taskName": "Ship", "result": "Note"},
                line("noted", "variables.Note")
            ]},
            {"type": "FlowSendHttpRequest", "id": "call", "url": "http://example.test/receipts",
                "parsedContent": "Receipt"},
            {"type": "ForEach", "id": "each", "items": ["a", "b"], "body":
                {"type": "Sequence", "activities": [
                    {"type": "ExecuteWorkflow", "workflowDefinitionId": "child",
                        "waitForCompletion": true},
                    line("item", "`${getVariable('CurrentValue')} ${getLastResult().subStatus}`")
                ]}},
            {"type": "FlowJoin", "id": "join", "mode": "WaitAll"},
            line("end", "`end of ${getWorkflowDefinitionId()}`")
        ], "connections": [
            {"source": "begin", "target": "payment"}, {"source": "payment", "target": "count"},
            {"source": "count", "target": "enough"},
            {"source": "enough", "sourcePort": "False", "target": "retry"},
            {"source": "retry", "target": "payment"},
            {"source": "enough", "sourcePort": "True", "target": "ship"},
            {"source": "enough", "sourcePort": "True", "target": "call"},
            {"source": "enough", "sourcePort": "True", "target": "each"},
            {"source": "ship", "target": "join"}, {"source": "call", "target": "join"},
            {"source": "each", "target": "join"}, {"source": "join", "target": "end"}
        ]}
    })
}

/// The answer of the outside world to a bookmark.
fn answered(bookmark: &Bookmark) -> Option<Value> {
    let child = json!({"workflowInstanceId": "c", "status": "Finished", "subStatus": "Finished"});
    Some(match bookmark.name.as_str() {
        "Call" => json!({"statusCode": 200, "content": "receipt 7"}),
        "Elsa.RunTask" => json!({"RunTaskInput": "shipped"}),
        "Elsa.ExecuteWorkflow" => json!({"__Child": child}),
        _ => json!({}),
    })
}

fn play(mut player: Player<'_>) -> Player<'_> {
    let paid =
        |amount: u32| json!({"__EventPayloadWorkflowInput": {"payload": {"amount": amount}}});
    player.start(json!({"Amount": "9"}));
    assert!(player.resume("Elsa.Event", paid(4)));
    assert!(player.resume("Elsa.Event", paid(9)));
    player.play(answered);
    player
}

#[test]
fn an_instance_behaves_the_same_whether_or_not_it_was_stored() {
    let engine = engine();
    let kept = play(Player::new(&engine, order()).unwrap());
    let stored = play(Player::new(&engine, order()).unwrap().recoding());
    assert_eq!(kept.status(), SubStatus::Finished, "{:?}", kept.incident());
    assert_eq!(kept.journal, stored.journal);
    assert_eq!(kept.effects, stored.effects);
    assert_eq!(kept.state(), stored.state());
    let mut lines = kept.lines();
    assert_eq!(lines.remove(0), "order of 9 is 36 long");
    assert_eq!(lines.remove(0), "paid 4 in try 1");
    assert_eq!(lines.pop(), Some("end of order"));
    lines.sort_unstable();
    assert_eq!(lines, ["a Finished", "b Finished", "shipped"]);
    assert_eq!(kept.state().output["Receipt"], json!("receipt 7"));
}

#[test]
fn journal_numbers_have_no_gaps() {
    let engine = engine();
    let player = play(Player::new(&engine, order()).unwrap());
    let numbers: Vec<u64> = player.journal.iter().map(|entry| entry.sequence).collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected);
    assert_eq!(player.state().journal_sequence, numbers.len() as u64);
}

fn started(engine: &Engine, document: Value) -> (engine::Program, Turn) {
    let program = engine.compile(&parsed(document).unwrap(), &engine::Library::default()).unwrap();
    let input = Input::Start(Box::new(Start {
        instance_id: "i".into(),
        trigger: None,
        input: Map::new(),
        properties: Map::new(),
        correlation_id: None,
        name: None,
        restart: None,
        parent: None,
        responds: false,
    }));
    let turn = engine.turn(&program, State::default(), input, &env(0));
    (program, turn)
}

#[test]
fn the_same_arguments_give_the_same_turn() {
    let engine = engine();
    let (_, one) = started(&engine, order());
    let (_, two) = started(&engine, order());
    assert_eq!((&one.state, &one.journal, &one.effects), (&two.state, &two.journal, &two.effects));
    assert_eq!(one.rest, Rest::Suspended);
}

#[test]
fn input_that_does_not_fit_changes_nothing() {
    let engine = engine();
    let (program, turn) = started(&engine, order());
    let check = |input: Input| {
        let after = engine.turn(&program, turn.state.clone(), input, &env(1));
        assert!(after.journal.is_empty() && after.effects.is_empty());
        assert_eq!((after.state, after.rest), (turn.state.clone(), turn.rest));
    };
    let unknown = Resume { bookmark_id: "no".into(), input: Map::new(), responds: false };
    check(Input::Resume(unknown));
    check(Input::Continue);
}

#[test]
fn a_bookmark_is_good_once() {
    let engine = engine();
    let (program, turn) = started(&engine, order());
    let id = turn.state.bookmarks.keys().next().unwrap().clone();
    let resume =
        || Input::Resume(Resume { bookmark_id: id.clone(), input: Map::new(), responds: false });
    let once = engine.turn(&program, turn.state, resume(), &env(1));
    assert!(!once.journal.is_empty());
    let twice = engine.turn(&program, once.state.clone(), resume(), &env(2));
    assert!(twice.journal.is_empty());
    assert_eq!(twice.state, once.state);
}

#[test]
fn cancelling_leaves_nothing_open_and_says_why() {
    let engine = engine();
    let (program, turn) = started(&engine, order());
    let cancel = Input::Cancel { reason: Some("changed my mind".to_owned()) };
    let over = engine.turn(&program, turn.state, cancel, &env(1));
    assert_eq!((over.rest, over.state.status), (Rest::Finished, SubStatus::Cancelled));
    assert!(over.state.bookmarks.is_empty());
    let last = over.journal.last().unwrap();
    assert_eq!(last.what, What::Workflow);
    assert_eq!(last.message.as_deref(), Some("Cancelled"));
    assert_eq!(last.payload, Some(json!({"reason": "changed my mind"})));
    let again = Input::Cancel { reason: None };
    let again = engine.turn(&program, over.state, again, &env(2));
    assert!(again.journal.is_empty());
    assert_eq!(again.rest, Rest::Finished);
}

#[test]
fn the_instance_as_a_whole_is_in_the_journal() {
    let engine = engine();
    let player = play(Player::new(&engine, order()).unwrap());
    let story = player.story();
    let whole: Vec<&String> = story.iter().filter(|line| line.starts_with("Workflow")).collect();
    let expected = [
        "Workflow: Executing",
        "Workflow: Suspended",
        "Workflow: Executing",
        "Workflow: Suspended",
        "Workflow: Finished",
    ];
    assert_eq!(whole, expected);
}

#[test]
fn a_single_use_url_is_granted_with_the_hash_of_its_token() {
    let engine = engine();
    let (_, turn) = started(
        &engine,
        json!({"type": "WriteLine", "text": {"js": "createEventTriggerUrl('Go')"}}),
    );
    let line = turn.journal.iter().find(|entry| entry.what == What::Line).unwrap();
    let url = line.message.clone().unwrap();
    assert!(url.starts_with("http://127.0.0.1:5001/bookmarks/resume?t="), "{url}");
    let engine::Effect::Grant(token) = &turn.effects[0] else { panic!("no token") };
    assert_eq!(token.hash.len(), 64);
    assert_eq!(token.target, model::TokenTarget::Event("Go".to_owned()));
    assert!(!url.contains(&token.hash));
}

#[test]
fn a_url_may_be_for_what_an_activity_will_wait_for() {
    let engine = engine();
    let link = |of: &str| {
        let line = json!({"type": "WriteLine", "text": {"js": format!("createBookmarkTriggerUrl('{of}')")}});
        let waits = json!({"id": "Approve", "type": "Event", "eventName": "Approved"});
        started(&engine, json!({"type": "Sequence", "activities": [line, waits]})).1
    };
    let turn = link("Approve");
    let grant = turn.effects.iter().find_map(|effect| match effect {
        engine::Effect::Grant(token) => Some(token.target.clone()),
        _ => None,
    });
    let waits = turn.state.bookmarks.values().next().unwrap();
    let node = waits.activity_node_id.clone();
    assert_eq!(grant, Some(model::TokenTarget::Activity(node)));
    let turn = link("Nobody");
    let told = turn.state.incidents[0].message.clone();
    assert!(told.contains("no activity with the id or name \"Nobody\""), "{told}");
}

#[test]
fn the_view_shows_what_is_going_on() {
    let engine = engine();
    let (program, turn) = started(&engine, order());
    let view = turn.state.view(&program);
    assert_eq!(view["subStatus"], "Suspended");
    assert_eq!(view["variables"]["Tries"], json!(0));
    assert_eq!(view["bookmarks"][0]["name"], "Elsa.Event");
    let contexts = view["activityExecutionContexts"].as_array().unwrap();
    let types: Vec<&str> =
        contexts.iter().filter_map(|context| context["activityType"].as_str()).collect();
    assert_eq!(types, ["Elsa.Workflow", "Elsa.Flowchart", "Elsa.Event"]);
}

#[test]
fn every_descriptor_can_be_listed() {
    let engine = engine();
    let descriptors = serde_json::to_value(engine.descriptors()).unwrap();
    let names: Vec<&str> = descriptors
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|descriptor| descriptor["typeName"].as_str())
        .collect();
    assert!(names.is_sorted() && names.contains(&"Elsa.Flowchart"), "{names:?}");
    let write_line = descriptors.as_array().unwrap().iter();
    let write_line = write_line.into_iter().find(|found| found["typeName"] == "Elsa.WriteLine");
    assert_eq!(write_line.unwrap()["inputs"][0]["typeName"], "String");
}

#[test]
fn a_turn_that_writes_much_yields_early() {
    let engine = engine();
    let (program, turn) = started(
        &engine,
        json!({"type": "While", "condition": true, "body":
            {"type": "WriteLine", "text": {"js": "'x'.repeat(20000)"}}}),
    );
    assert_eq!(turn.rest, Rest::OutOfBudget);
    let bytes: usize =
        turn.journal.iter().filter_map(|entry| entry.message.as_ref()).map(String::len).sum();
    assert!(bytes < 2 * model::limits::BYTES_PER_TURN_MAX, "{bytes}");
    let longest = turn.journal.iter().filter_map(|entry| entry.message.as_ref()).map(String::len);
    assert_eq!(longest.max(), Some(model::limits::JOURNAL_MESSAGE_BYTES_MAX));
    let turn = engine.turn(&program, turn.state, Input::Continue, &env(1));
    assert_eq!(turn.rest, Rest::OutOfBudget);
}

#[test]
fn too_much_scheduled_work_is_an_incident() {
    let engine = engine();
    let (_, turn) = started(
        &engine,
        json!({"type": "ParallelForEach", "items": {"js": "new Array(60000).fill(0)"},
            "body": {"type": "WriteLine"}}),
    );
    assert_eq!(turn.state.status, SubStatus::Faulted);
    assert_eq!(turn.state.incidents[0].code, "TooMuchWork");
}

#[test]
fn an_instance_that_runs_too_long_without_a_wait_is_stopped() {
    let engine = engine();
    let (program, mut turn) = started(&engine, json!({"type": "While", "condition": true}));
    turn.state.steps_without_wait = model::limits::STEPS_WITHOUT_WAIT_MAX;
    let over = engine.turn(&program, turn.state, Input::Continue, &env(1));
    assert_eq!((over.rest, over.state.status), (Rest::Finished, SubStatus::Faulted));
    assert_eq!(over.state.incidents[0].code, "TooManySteps");
    assert!(over.state.incidents[0].message.contains("run 1000000 activities"));
}

#[test]
fn a_loop_that_waits_is_not_endless() {
    let engine = engine();
    let body = json!({"type": "Sequence", "activities": [
        {"type": "WriteLine", "text": "a"}, {"type": "Event", "eventName": "x"}]});
    let (program, mut turn) =
        started(&engine, json!({"type": "While", "condition": true, "body": body}));
    let bounds = Bounds { steps_without_wait: 10, ..Bounds::default() };
    for _ in 0..10 {
        assert_eq!((turn.rest, turn.state.steps_without_wait), (Rest::Suspended, 0));
        let bookmark_id = turn.state.bookmarks.keys().next().unwrap().clone();
        let resume = Resume { bookmark_id, input: Map::new(), responds: false };
        turn = engine.turn_within(&program, turn.state, Input::Resume(resume), &env(1), bounds);
    }
    assert!(turn.state.steps > 10, "{}", turn.state.steps);
}

#[test]
fn repeats_of_a_loop_are_folded_in_the_journal() {
    let engine = engine();
    let body = json!({"type": "WriteLine", "text": "again"});
    let (program, turn) =
        started(&engine, json!({"type": "While", "condition": true, "body": body}));
    let whole = model::limits::JOURNAL_ENTRIES_WHOLE_MAX;
    assert!((whole..whole + 20).contains(&turn.journal.len()), "{}", turn.journal.len());
    let sequences: Vec<_> = turn.journal.iter().map(|entry| entry.sequence).collect();
    assert_eq!(sequences, (1..=turn.journal.len() as u64).collect::<Vec<_>>(), "no gaps");
    let lines = |turn: &Turn| {
        let lines = turn.journal.iter().filter(|entry| entry.what == What::Line);
        let repeated = |entry: &model::Entry| {
            entry.payload.as_ref().and_then(|payload| payload["repeated"].as_u64()).unwrap_or(0)
        };
        lines.map(|entry| 1 + repeated(entry)).sum::<u64>()
    };
    let first = lines(&turn);
    assert!(first >= 4_000, "each line is counted: {first}");
    let next = engine.turn(&program, turn.state, Input::Continue, &env(1));
    assert!(next.journal.len() < 150, "{}", next.journal.len());
    assert!(lines(&next) >= 4_000);
}

#[test]
fn lines_that_differ_are_all_written() {
    let engine = engine();
    let text = json!({"js": "'line ' + getVariable('CurrentValue')"});
    let (_, turn) = started(
        &engine,
        json!({"type": "For", "start": 1, "end": 3000, "step": 1,
            "body": {"type": "WriteLine", "text": text}}),
    );
    let lines: std::collections::BTreeSet<_> = turn
        .journal
        .iter()
        .filter(|entry| entry.what == What::Line)
        .filter_map(|entry| entry.message.clone())
        .collect();
    assert_eq!(lines.len(), 3_000);
}

#[test]
fn engines_and_programs_are_shared_between_threads() {
    fn check<T: Send + Sync>(_: &T) {}
    let engine = engine();
    let (program, _) = started(&engine, json!({"type": "WriteLine"}));
    check(&engine);
    check(&program);
}

#[test]
fn a_long_flowchart_runs_in_one_turn() {
    let engine = engine();
    let nodes: Vec<Value> =
        (0..5_000).map(|at| json!({"type": "Start", "id": format!("n{at}")})).collect();
    let links: Vec<Value> = (1..5_000)
        .map(|at| json!({"source": format!("n{}", at - 1), "target": format!("n{at}")}))
        .collect();
    let (_, turn) =
        started(&engine, json!({"type": "Flowchart", "activities": nodes, "connections": links}));
    assert_eq!((turn.rest, turn.state.steps), (Rest::Finished, 5_001));
}
