//! Starting, resuming, children, replies.

use bus::Wire as _;
use futures::{FutureExt as _, StreamExt as _};
use model::{Instance, SubStatus};
use protocol::{Body, Command, Refusal, ReplyWhen, Start, TaskCompleted};
use serde_json::{Value, json};
use store::{Instances as _, NewInstance};

use crate::Config;
use crate::wired::world::{Peculiar, World, cancel, line, resume, sequence, start, wait_for};

#[tokio::test(start_paused = true)]
async fn a_start_runs_to_its_end_and_tells_everyone() {
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let node = world.node("a").await;
    let mut journal = world.bus.subscribe("staunch.journal.>").await.unwrap();
    let outcome = world.start("hello", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished));
    assert_eq!(outcome.refusal, None);
    let instance = world.instance("i").await.unwrap();
    assert_eq!((instance.version, instance.status), (1, SubStatus::Finished));
    assert!(instance.finished_at.is_some());
    assert_eq!(world.lines("i").await, ["Hello"]);
    world.until_quiet().await;
    assert_eq!(world.events("i"), ["started", "finished"]);
    let burst = journal.next().await.unwrap().message;
    let body: Value = serde_json::from_slice(&burst.payload).unwrap();
    assert_eq!((&*burst.subject, &body["version"]), ("staunch.journal.hello.i", &json!(1)));
    assert!(journal.next().now_or_never().is_none(), "one message for each burst");
    let sizes = world.store.sizes();
    assert_eq!((sizes.pending, sizes.outbox, sizes.bookmarks), (0, 0, 0));
    node.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_input_that_does_not_fit_starts_nothing() {
    let world = World::new();
    let inputs = json!([{"name": "Amount", "type": "Int32"}, {"name": "Name", "isRequired": true}]);
    world.publish("picky", line("Hello"), json!({ "inputs": inputs })).await;
    let node = world.node("a").await;
    let outcome = world.start("picky", "i", json!({"Amount": "many"})).await;
    assert_eq!(outcome.refusal, Some(Refusal::Garbled));
    let message = outcome.message.unwrap_or_default();
    for flaw in ["Amount: \"many\" is not a whole number", "Name: it is required"] {
        assert!(message.contains(flaw), "{message}");
    }
    assert!(world.instance("i").await.is_none());
    let outcome = world.start("picky", "j", json!({"Amount": "3", "Name": "Ada"})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished));
    node.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_instance_waits_and_goes_on() {
    let world = World::new();
    let task = json!({"type": "RunTask", "taskName": "Ship", "payload": {"order": 7},
        "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}});
    world.publish("ship", task, json!({"outputs": [{"name": "Got"}]})).await;
    let _node = world.node("a").await;
    let outcome = world.start("ship", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Suspended));
    assert_eq!(outcome.bookmarks.len(), 1);
    let tasks = world.bus.stored(bus::Stream::Tasks);
    assert_eq!(tasks[0].1.subject, "staunch.task.Ship.1");
    let request: Value = serde_json::from_slice(&tasks[0].1.payload).unwrap();
    assert_eq!(request["input"], json!({"order": 7}));

    let task_id = request["taskId"].as_str().unwrap().to_owned();
    let result = json!({"tracking": "x"});
    let done = TaskCompleted { task_id, result, ..TaskCompleted::default() };
    let done = Command::new("done".into(), Body::Task(done));
    let outcome = world.ask(done, ReplyWhen::Committed).await;
    assert_eq!(outcome.affected, Some(1));
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.record("i").await.state.output["Got"], json!({"tracking": "x"}));
    world.until_quiet().await;
    assert_eq!(world.events("i"), ["started", "suspended", "finished"]);
}

#[tokio::test(start_paused = true)]
async fn of_thirty_simultaneous_resumes_one_wins() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x"), line("went on")]), json!({})).await;
    let _nodes = (world.node("a").await, world.node("b").await, world.node("c").await);
    let outcome = world.start("wait", "i", json!({})).await;
    let bookmark = outcome.bookmarks[0].to_string();
    let asks = (0..30).map(|number| {
        let command = resume(&format!("r{number}"), "i", Some(&bookmark), json!({}));
        world.ask(command, ReplyWhen::Committed)
    });
    let outcomes = futures::future::join_all(asks).await;
    let (won, lost): (Vec<_>, Vec<_>) =
        outcomes.iter().partition(|outcome| outcome.refusal.is_none());
    assert_eq!(won.len(), 1);
    assert!(lost.iter().all(|outcome| outcome.refusal == Some(Refusal::AlreadyDone)));
    assert_eq!(world.lines("i").await, ["went on"]);
    assert_eq!(world.instance("i").await.unwrap().version, 2);
    // The journal names the node of each burst once.
    let signed = world.journal("i").await.into_iter().filter_map(|entry| entry.node);
    let signed: Vec<_> = signed.collect();
    assert_eq!(signed.len(), 2);
    assert!(signed.iter().all(|node| ["a", "b", "c"].contains(&node.as_str())), "{signed:?}");
    world.until_quiet().await;
    assert_eq!(world.store.sizes().pending, 0);
}

/// An instance as ingress accepts it.
pub(crate) fn accepted(world: &World, definition: &str, command: &Command) -> NewInstance {
    let now = world.now();
    let version_id = format!("{definition}-v1").into();
    let id = command.instance_id().unwrap();
    let instance = Instance::new(id, definition.into(), version_id, 1, now);
    NewInstance { instance, command: command.encode().unwrap(), activation_key: None }
}

#[tokio::test(start_paused = true)]
async fn a_resume_that_comes_too_early_waits_and_is_applied() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x"), line("went on")]), json!({})).await;
    let _node = world.node("a").await;
    let start = start("wait", "i", json!({}));
    world.store.accept(accepted(&world, "wait", &start)).await.unwrap();
    let early = world.ask(resume("early", "i", None, json!({})), ReplyWhen::Committed).await;
    assert_eq!(early.refusal, Some(Refusal::Waiting));
    assert_eq!(world.store.sizes().pending, 1);
    world.send(&start).await;
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.lines("i").await, ["went on"]);
    world.until_quiet().await;
    assert_eq!(world.store.sizes().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn an_accepted_start_whose_definition_is_gone_ends_with_the_reason() {
    let world = World::new();
    let _node = world.node("a").await;
    let start = start("gone", "i", json!({}));
    world.store.accept(accepted(&world, "gone", &start)).await.unwrap();
    let outcome = world.ask(start, ReplyWhen::Settled).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Faulted));
    assert!(outcome.incidents[0].contains("definition gone"), "{outcome:?}");
    world.until_quiet().await;
    assert_eq!(world.events("i"), ["started", "faulted"]);
    assert!(world.dead().is_empty(), "accepted is kept");
}

#[tokio::test(start_paused = true)]
async fn a_pending_instance_can_be_cancelled_and_is_never_started_then() {
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let _node = world.node("a").await;
    let start = start("hello", "i", json!({}));
    world.store.accept(accepted(&world, "hello", &start)).await.unwrap();
    let outcome = world.ask(cancel("c", "i"), ReplyWhen::Committed).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Cancelled));
    let outcome = world.ask(start, ReplyWhen::Settled).await;
    assert_eq!(outcome.refusal, Some(Refusal::AlreadyDone));
    assert!(world.lines("i").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_parent_waits_for_its_child() {
    let world = World::new();
    let end = json!({"type": "SetOutput", "outputName": "Sum", "outputValue": 42});
    world.publish("child", end, json!({"outputs": [{"name": "Sum"}]})).await;
    let run = json!({"type": "ExecuteWorkflow", "workflowDefinitionId": "child",
        "waitForCompletion": true,
        "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}});
    world.publish("parent", run, json!({"outputs": [{"name": "Got"}]})).await;
    let _nodes = (world.node("a").await, world.node("b").await);
    world.start("parent", "p", json!({})).await;
    world.until_status("p", SubStatus::Finished).await;
    let got = world.record("p").await.state.output["Got"].clone();
    assert_eq!(got["subStatus"], "Finished", "{got}");
    assert_eq!(got["output"], json!({"Sum": 42}));
    world.until_quiet().await;
    assert_eq!(world.store.sizes().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn every_child_of_a_bulk_dispatch_counts_once_on_whichever_node_it_ends() {
    // Few enough for one page of the parent's journal.
    const CHILDREN: usize = 150;
    let world = World::new();
    let odd = json!({"type": "If", "condition": {"js": "getInput('Item') % 2 === 1"},
        "then": {"type": "Fault", "message": "odd"}});
    world.publish("child", odd, json!({})).await;
    let items: Vec<_> = (0..CHILDREN).collect();
    let bulk = json!({"type": "BulkDispatchWorkflows", "workflowDefinitionId": "child",
        "items": items, "childCompleted": line("even"), "childFaulted": line("odd")});
    world.publish("parent", bulk, json!({})).await;
    let _nodes = (world.node("a").await, world.node("b").await);
    world.start("parent", "p", json!({})).await;
    world.until_status("p", SubStatus::Finished).await;
    let lines = world.lines("p").await;
    let evens = lines.iter().filter(|line| *line == "even").count();
    assert_eq!((evens, lines.len()), (CHILDREN / 2, CHILDREN));
    world.until_quiet().await;
    assert_eq!(world.store.sizes().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn a_child_that_cannot_run_is_an_incident_of_its_parent() {
    let world = World::new();
    let run = json!({"type": "ExecuteWorkflow", "workflowDefinitionId": "nobody",
        "waitForCompletion": true,
        "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}});
    world.publish("parent", run, json!({"outputs": [{"name": "Got"}]})).await;
    let _node = world.node("a").await;
    world.start("parent", "p", json!({})).await;
    world.until_status("p", SubStatus::Faulted).await;
    let incidents = world.record("p").await.state.incidents;
    assert_eq!(incidents[0].code, "ChildRefused");
    assert_eq!(incidents[0].message, "definition nobody does not exist or is not published");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_runs_out_of_budget_goes_on() {
    let world = World::new();
    let long = json!({"type": "For", "start": 1, "end": 15_000, "body": line("x")});
    world.publish("long", long, json!({})).await;
    let _node = world.node("a").await;
    let outcome = world.start("long", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished));
    let instance = world.instance("i").await.unwrap();
    let record = world.record("i").await;
    assert!(record.state.steps > 15_000);
    assert_eq!(instance.version, 2, "one commit for 10,000 steps");
    assert_eq!(record.state.turns, 3, "the first turn is divided where it leaves the event loop");
    world.until_quiet().await;
    assert_eq!(world.events("i"), ["started", "finished"]);
}

// The loop never lets a paused clock advance.
#[tokio::test]
async fn an_endless_loop_can_be_cancelled() {
    let world = World::new();
    let endless = json!({"type": "While", "condition": true, "body": line("x")});
    world.publish("endless", endless, json!({})).await;
    // However fast the machine is, the cancel comes before the bound of steps.
    let config = Config { steps_without_wait_max: u64::MAX, ..World::config() };
    let _node = world.peculiar("a", Peculiar { config: Some(config), ..Peculiar::default() }).await;
    world.send(&start("endless", "i", json!({}))).await;
    world.until_status("i", SubStatus::Executing).await;
    let outcome = world.ask(cancel("c", "i"), ReplyWhen::Settled).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Cancelled));
    world.until_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_singleton_runs_once_at_a_time() {
    let world = World::new();
    let more = json!({"options": {"activationStrategyType": "SingletonStrategy"}});
    world.publish("one", sequence(vec![wait_for("x")]), more).await;
    let _node = world.node("a").await;
    assert_eq!(world.start("one", "i1", json!({})).await.refusal, None);
    let second = world.start("one", "i2", json!({})).await;
    assert_eq!(second.refusal, Some(Refusal::NotAllowed));
    assert_eq!(world.instance("i2").await, None);
    world.ask(cancel("c", "i1"), ReplyWhen::Committed).await;
    assert_eq!(world.start("one", "i3", json!({})).await.refusal, None);
    world.until_quiet().await;
    assert!(world.dead().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_correlated_singleton_needs_a_correlation_id() {
    let world = World::new();
    let more = json!({"options": {"activationStrategyType": "CorrelatedSingletonStrategy"}});
    world.publish("one", sequence(vec![wait_for("x")]), more).await;
    let _node = world.node("a").await;
    let correlated = async |id: &str, correlation_id: &str| {
        let body = Start {
            definition_id: "one".into(),
            instance_id: Some(id.into()),
            correlation_id: Some(correlation_id.to_owned()),
            ..Start::default()
        };
        let command = Command::new(format!("start-{id}").as_str().into(), Body::Start(body));
        world.ask(command, ReplyWhen::Settled).await
    };
    let outcome = world.start("one", "i1", json!({})).await;
    assert_eq!(outcome.refusal, Some(Refusal::NotAllowed));
    assert_eq!(correlated("i2", " ").await.refusal, Some(Refusal::NotAllowed));
    assert_eq!((world.instance("i1").await, world.instance("i2").await), (None, None));
    assert_eq!(correlated("i3", "c").await.refusal, None);
    assert_eq!(correlated("i4", "c").await.refusal, Some(Refusal::NotAllowed));
    assert_eq!(correlated("i5", "d").await.refusal, None);
}

#[tokio::test(start_paused = true)]
async fn a_child_is_not_held_back_by_an_activation_strategy_but_an_accepted_start_is() {
    let world = World::new();
    let more = json!({"options": {"activationStrategyType": "SingletonStrategy"}});
    world.publish("one", sequence(vec![wait_for("x")]), more).await;
    let _node = world.node("a").await;
    world.start("one", "i1", json!({})).await;
    let late = start("one", "i2", json!({}));
    world.store.accept(accepted(&world, "one", &late)).await.unwrap();
    let outcome = world.ask(late, ReplyWhen::Settled).await;
    assert_eq!(outcome.refusal, Some(Refusal::NotAllowed));
    assert_eq!(world.status("i2").await, Some(SubStatus::Cancelled), "it leaves a trace");
    let run = json!({"type": "DispatchWorkflow", "workflowDefinitionId": "one"});
    world.publish("parent", run, json!({})).await;
    world.start("parent", "p", json!({})).await;
    world.until_quiet().await;
    let all = world.store.list(&Default::default(), store::Page::first()).await.unwrap();
    let suspended = all.items.iter().filter(|one| one.status == SubStatus::Suspended).count();
    assert_eq!(suspended, 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_for_an_http_client_is_told_after_the_commit() {
    let world = World::new();
    let respond = json!({"type": "WriteHttpResponse", "statusCode": 201, "content": "made"});
    world.publish("respond", sequence(vec![respond, wait_for("x")]), json!({})).await;
    let _node = world.node("a").await;
    let body = Start {
        definition_id: "respond".into(),
        instance_id: Some("i".into()),
        responds: true,
        ..Start::default()
    };
    let outcome = world.ask(Command::new("s".into(), Body::Start(body)), ReplyWhen::Settled).await;
    let answer = outcome.response.unwrap();
    assert_eq!((answer.status_code, answer.content), (201, json!("made")));
    assert_eq!(outcome.sub_status, Some(SubStatus::Suspended));
}

#[tokio::test(start_paused = true)]
async fn a_resume_without_a_name_needs_exactly_one_bookmark() {
    let world = World::new();
    let both = json!({"type": "Parallel", "activities": [wait_for("x"), wait_for("y")]});
    world.publish("both", both, json!({})).await;
    let _node = world.node("a").await;
    let waiting = world.start("both", "i", json!({})).await.bookmarks;
    let unnamed = world.ask(resume("r1", "i", None, json!({})), ReplyWhen::Committed).await;
    assert_eq!(unnamed.refusal, Some(Refusal::Ambiguous));
    assert!(waiting.iter().all(|id| unnamed.message.as_ref().unwrap().contains(id.as_str())));
    let named = resume("r2", "i", Some(waiting[0].as_str()), json!({}));
    assert_eq!(world.ask(named, ReplyWhen::Committed).await.refusal, None);
    let rest = world.ask(resume("r3", "i", None, json!({})), ReplyWhen::Committed).await;
    assert_eq!(rest.sub_status, Some(SubStatus::Finished));
}
