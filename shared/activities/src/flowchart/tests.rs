//! The behaviour of flowcharts: order, joins, dead paths, loops, triggers, cancellation.

use engine::testing::Player;
use model::SubStatus;
use serde_json::{Value, json};

use crate::tests::{check_lines, oversights, player, problems};

/// A flowchart of nodes, `"id"` for a line or a whole activity, and links `"a>b a:Port>b"`.
fn chart(nodes: &[Value], links: &str) -> Value {
    let nodes: Vec<Value> = nodes
        .iter()
        .map(|node| match node {
            Value::String(id) => json!({"type": "WriteLine", "id": id, "text": id}),
            other => other.clone(),
        })
        .collect();
    let links: Vec<Value> = links
        .split_whitespace()
        .map(|link| {
            let (source, target) = link.split_once('>').unwrap();
            let (source, port) = source.split_once(':').unwrap_or((source, "Done"));
            json!({"source": {"activity": source, "port": port.replace('_', " ")},
                "target": {"activity": target, "port": "In"}})
        })
        .collect();
    json!({"type": "Elsa.Flowchart", "id": "chart", "activities": nodes, "connections": links})
}

fn join(mode: &str) -> Value {
    json!({"type": "FlowJoin", "id": "join", "mode": mode})
}

fn decision(id: &str, condition: &str) -> Value {
    json!({"type": "FlowDecision", "id": id, "condition": {"js": condition}})
}

fn event(id: &str) -> Value {
    json!({"type": "Event", "id": id, "eventName": id})
}

/// Resumes the event with this id.
fn raise(player: &mut Player<'_>, id: &str) {
    let bookmarks = &player.state().bookmarks;
    let found = bookmarks.values().find(|bookmark| bookmark.activity_id.as_str() == id);
    let found = found.unwrap_or_else(|| panic!("nothing waits for {id}")).id.clone();
    player.resume_at(found, json!({}));
}

macro_rules! nodes {
    ($($node:expr),* $(,)?) => { &[$(json!($node)),*] };
}

#[test]
fn paths_take_turns_in_the_order_they_were_scheduled() {
    let links = "s>a s>c a>b c>d";
    check_lines(chart(nodes!["s", "a", "b", "c", "d"], links), &["s", "a", "c", "b", "d"]);
    check_lines(chart(nodes!["a"], ""), &["a"]);
    check_lines(chart(nodes![], ""), &[]);
}

#[test]
fn an_activity_with_several_ways_in_runs_once() {
    check_lines(chart(nodes!["s", "a", "b", "e"], "s>a s>b a>e b>e"), &["s", "a", "b", "e"]);
    let links = "s>a s>e a>b b>e";
    check_lines(chart(nodes!["s", "a", "b", "e"], links), &["s", "a", "b", "e"]);
}

#[test]
fn dead_paths_do_not_hold_up_a_meeting() {
    let nodes = nodes!["s", decision("d", "false"), "x", "y", "a", "e"];
    let links = "s>d s>a d:True>x x>y y>e a>e";
    check_lines(chart(nodes, links), &["s", "a", "e"]);
}

#[test]
fn a_path_that_is_dead_everywhere_ends_quietly() {
    let nodes = nodes![decision("d", "false"), "x", "y"];
    check_lines(chart(nodes, "d:True>x x>y"), &[]);
}

#[test]
fn joins_wait_as_their_mode_says() {
    let check = |mode: &str, condition: &str, expected: &[&str]| {
        let nodes = nodes!["s", "a", decision("d", condition), "b", join(mode), "e"];
        check_lines(chart(nodes, "s>a s>d d:True>b a>join b>join join>e"), expected);
    };
    check("WaitAll", "true", &["s", "a", "b", "e"]);
    check("WaitAll", "false", &["s", "a"]);
    check("WaitAllActive", "true", &["s", "a", "b", "e"]);
    check("WaitAllActive", "false", &["s", "a", "e"]);
    check("WaitAny", "true", &["s", "a", "b", "e"]);
    check("WaitAny", "false", &["s", "a", "e"]);
}

#[test]
fn the_first_path_to_a_wait_any_join_cancels_the_others() {
    let nodes = nodes!["s", event("p"), event("q"), "a", "b", join("WaitAny"), "e"];
    let mut player = player(chart(nodes, "s>p s>q p>a q>b a>join b>join join>e"));
    player.start(json!({}));
    raise(&mut player, "q");
    assert_eq!(player.lines(), ["s", "b", "e"]);
    assert_eq!(player.status(), SubStatus::Finished);
    assert!(player.story().contains(&"Canceled p".to_owned()));
}

#[test]
fn a_wait_all_join_waits_across_suspensions() {
    let nodes = nodes!["s", event("p"), event("q"), join("WaitAll"), "e"];
    let mut player = player(chart(nodes, "s>p s>q p>join q>join join>e"));
    player.start(json!({}));
    raise(&mut player, "q");
    assert_eq!((player.status(), player.lines()), (SubStatus::Suspended, vec!["s"]));
    raise(&mut player, "p");
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["s", "e"]));
}

fn looped(body: Value) -> Value {
    let count = json!({"type": "SetVariable", "id": "n", "variable": "N",
        "value": {"js": "variables.N + 1"}});
    let nodes = nodes!["s", body, count, decision("d", "variables.N > 2"), "e"];
    json!({
        "variables": [{"name": "N", "typeName": "Int32", "value": "0"}],
        "root": chart(nodes, "s>body body>n n>d d:True>e d:False>body")
    })
}

#[test]
fn a_connection_back_repeats_what_lies_between() {
    let body = json!({"type": "WriteLine", "id": "body", "text": {"js": "variables.N"}});
    check_lines(looped(body), &["s", "0", "1", "2", "e"]);
}

#[test]
fn a_loop_through_a_suspension_is_the_same_loop() {
    let mut player = player(looped(event("body")));
    player.start(json!({}));
    for _ in 0..3 {
        assert_eq!(player.status(), SubStatus::Suspended);
        raise(&mut player, "body");
    }
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["s", "e"]));
}

#[test]
fn a_join_inside_a_loop_joins_in_every_round() {
    let count = json!({"type": "SetVariable", "id": "n", "variable": "N",
        "value": {"js": "variables.N + 1"}});
    let run = |mode: &str| {
        let again = decision("d", "variables.N < 2");
        let nodes = nodes!["s", "a", "b", join(mode), count, again, "e"];
        check_lines(
            json!({
                "variables": [{"name": "N", "typeName": "Int32", "value": "0"}],
                "root": chart(nodes, "s>a s>b a>join b>join join>n n>d d:True>s d:False>e")
            }),
            &["s", "a", "b", "s", "a", "b", "e"],
        );
    };
    run("WaitAll");
    run("WaitAllActive");
    run("WaitAny");
}

#[test]
fn a_connection_back_into_the_middle_of_a_loop_is_an_incident() {
    let nodes = nodes!["s", "a", "b", "c"];
    let mut player = player(chart(nodes, "s>a s>b a>c b>c c>a"));
    player.start(json!({}));
    assert_eq!(player.state().incidents[0].code, "InvalidBackwardConnection");
}

#[test]
fn a_trigger_is_the_start_of_its_own_instances() {
    let trigger = |id: &str| {
        let mut trigger = event(id);
        trigger["canStartWorkflow"] = json!(true);
        trigger
    };
    let document = || chart(nodes![trigger("p"), trigger("q"), "a", "b", "e"], "p>a q>b a>e b>e");
    let check = |at: &str, expected: &[&str]| {
        let mut player = player(document());
        player.start_at(Some(at), json!({}));
        assert_eq!(player.lines(), expected);
        assert_eq!(player.status(), SubStatus::Finished);
    };
    check("p", &["a", "e"]);
    check("q", &["b", "e"]);
}

#[test]
fn the_trigger_is_still_the_start_after_a_suspension() {
    let mut trigger = event("q");
    trigger["customProperties"] = json!({"CanStartWorkflow": true});
    let mut player = player(chart(nodes!["s", "a", trigger, event("w"), "e"], "s>a q>w w>e a>e"));
    player.start_at(Some("q"), json!({}));
    raise(&mut player, "w");
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["e"]));
}

#[test]
fn a_trigger_reached_again_waits_like_any_other() {
    let mut trigger = event("q");
    trigger["canStartWorkflow"] = json!(true);
    let mut player = player(chart(nodes![trigger, "a"], "q>a a>q"));
    player.start_at(Some("q"), json!({}));
    assert_eq!((player.status(), player.lines()), (SubStatus::Suspended, vec!["a"]));
}

#[test]
fn obsolete_connections_and_loose_ends_are_understood() {
    let line = |id: &str| json!({"type": "WriteLine", "id": id, "name": id, "text": id});
    check_lines(
        json!({"type": "Elsa.Flowchart", "start": "ignored", "unknown": 1,
        "activities": [line("b"), line("a")],
        "connections": [
            {"source": "a", "target": "b", "sourcePort": "Done", "targetPort": "In"},
            {"source": "a", "target": "nowhere"},
            {"source": {"activity": "nobody"}, "target": {"activity": "b"}},
            {}
        ]}),
        &["a", "b"],
    );
}

#[test]
fn the_same_id_twice_is_a_problem() {
    let problems = problems(chart(nodes!["a", "a"], ""));
    assert_eq!(
        problems,
        ["activity a: id: the id a is used twice here: give each activity its own"]
    );
}

#[test]
fn an_incident_holds_up_its_own_flowchart_only() {
    let fault = json!({"type": "Fault", "id": "f", "message": "no"});
    let mut player = player(json!({
        "options": {"incidentStrategyType": "ContinueWithIncidentsStrategy"},
        "root": chart(nodes!["s", fault, event("p"), "e"], "s>f s>p p>e")
    }));
    player.start(json!({}));
    assert_eq!(player.status(), SubStatus::Suspended);
    raise(&mut player, "p");
    assert_eq!((player.status(), player.lines()), (SubStatus::Faulted, vec!["s", "e"]));
}

#[test]
fn a_long_dead_path_is_walked_without_recursion() {
    const COUNT: usize = 5_000;
    let mut nodes = vec![decision("d", "false")];
    let mut links = "d:True>n0".to_owned();
    for at in 0..COUNT {
        nodes.push(json!(format!("n{at}")));
        if at > 0 {
            links.push_str(&format!(" n{}>n{at}", at - 1));
        }
    }
    check_lines(chart(&nodes, &links), &[]);
}

/// The same flowchart in token mode.
fn tokens(mut chart: Value) -> Value {
    chart["customProperties"] = json!({"Flowchart:ExecutionMode": "TokenBased"});
    chart
}

/// An activity that runs as this merge mode says.
fn merging(mut node: Value, mode: &str) -> Value {
    node["customProperties"] = json!({"mergeMode": mode});
    node
}

fn line(id: &str) -> Value {
    json!({"type": "WriteLine", "id": id, "text": id})
}

#[test]
fn in_token_mode_an_activity_runs_as_its_merge_mode_says() {
    let diamond = "s>a s>b a>j b>j";
    for mode in ["None", "Stream", "Merge", "Converge", "Cascade"] {
        let nodes = nodes!["s", "a", "b", merging(line("j"), mode)];
        check_lines(tokens(chart(nodes, diamond)), &["s", "a", "b", "j"]);
    }
    // The first branch to arrive cancels what runs on the other; what is only scheduled still runs.
    let race = nodes!["s", "a", "b", merging(line("j"), "Race")];
    check_lines(tokens(chart(race, diamond)), &["s", "a", "b", "j"]);
    let branch = nodes![decision("d", "true"), "a", "b", merging(line("j"), "Stream")];
    check_lines(tokens(chart(branch, "d:True>a d:False>b a>j b>j")), &["a", "j"]);
}

#[test]
fn in_token_mode_a_join_waits_for_the_first_path_or_for_all() {
    let waiting = |mode: &str| {
        let nodes = nodes!["s", event("a"), event("b"), join(mode), "end"];
        let mut player = player(tokens(chart(nodes, "s>a s>b a>join b>join join>end")));
        player.start(json!({}));
        player
    };
    let mut any = waiting("WaitAny");
    raise(&mut any, "b");
    assert_eq!((any.lines(), any.status()), (vec!["s", "end"], SubStatus::Finished));
    let mut all = waiting("WaitAll");
    raise(&mut all, "b");
    assert_eq!(all.lines(), ["s"]);
    raise(&mut all, "a");
    assert_eq!((all.lines(), all.status()), (vec!["s", "end"], SubStatus::Finished));
}

#[test]
fn in_token_mode_an_activity_that_waits_for_a_dead_path_is_an_incident() {
    for mode in ["Merge", "Converge"] {
        let nodes = nodes![decision("d", "false"), "a", "b", merging(line("j"), mode)];
        let mut player = player(tokens(chart(nodes, "d:True>a d:False>b a>j b>j")));
        player.start(json!({}));
        assert_eq!((player.lines(), player.status()), (vec!["b"], SubStatus::Faulted), "{mode}");
        assert!(player.incident().unwrap().contains("activity j waits for a token"), "{mode}");
    }
}

#[test]
fn in_token_mode_a_loop_goes_round() {
    let count = json!({"type": "SetVariable", "id": "count", "variable": "N",
        "value": {"js": "variables.N + 1"}});
    let nodes = nodes!["s", count, decision("d", "variables.N < 3"), "end"];
    let links = "s>count count>d d:True>s d:False>end";
    let chosen = json!({"Flowchart:ExecutionMode": "TokenBased"});
    check_lines(
        json!({"root": chart(nodes, links), "customProperties": chosen,
            "variables": [{"id": "n", "name": "N", "typeName": "Int32", "value": 0}]}),
        &["s", "s", "s", "end"],
    );
}

/// What a join of one round blocked does not keep the next round from it.
#[test]
fn in_token_mode_every_round_of_a_loop_has_its_own_race() {
    let counted = |root: Value| {
        let chosen = json!({"Flowchart:ExecutionMode": "TokenBased"});
        let mut player = player(json!({"root": root, "customProperties": chosen,
            "variables": [{"id": "n", "name": "N", "typeName": "Int32", "value": 0}]}));
        player.start(json!({}));
        player
    };
    let count = || {
        json!({"type": "SetVariable", "id": "count", "variable": "N",
            "value": {"js": "variables.N + 1"}})
    };
    let again = || decision("again", "variables.N < 3");
    for mode in ["Race", "Cascade"] {
        let which = decision("which", "variables.N == 1");
        let nodes = nodes![which, "a", "b", merging(line("j"), mode), count(), again(), "end"];
        let links = "which:True>a which:False>b a>j b>j j>count count>again again:True>which \
                     again:False>end";
        let player = counted(chart(nodes, links));
        assert_eq!(player.lines(), ["b", "j", "a", "j", "b", "j", "end"], "{mode}");
        assert_eq!(player.status(), SubStatus::Finished, "{mode}");
    }
    let nodes = nodes!["s", event("a"), event("b"), join("WaitAny"), count(), again(), "end"];
    let links = "s>a s>b a>join b>join join>count count>again again:True>s again:False>end";
    let mut player = counted(chart(nodes, links));
    for name in ["a", "b", "a"] {
        raise(&mut player, name);
    }
    assert_eq!(
        (player.lines(), player.status()),
        (vec!["s", "s", "s", "end"], SubStatus::Finished)
    );
}

/// In the mode `Cascade`, a slow path is dropped also where the join is over when it arrives.
#[test]
fn in_token_mode_a_late_path_does_not_run_a_cascade_again() {
    let nodes = nodes!["s", "a", event("b"), merging(line("j"), "Cascade")];
    let mut player = player(tokens(chart(nodes, "s>a s>b a>j b>j")));
    player.start(json!({}));
    assert_eq!(player.lines(), ["s", "a", "j"]);
    raise(&mut player, "b");
    assert_eq!((player.lines(), player.status()), (vec!["s", "a", "j"], SubStatus::Finished));
}

#[test]
fn an_unknown_merge_mode_is_named_at_publish() {
    let found = oversights(chart(nodes!["a", merging(line("b"), "Sometimes")], "a>b"));
    assert!(found[0].contains("activity b has the merge mode \"Sometimes\""), "{found:?}");
}

#[test]
fn the_configuration_chooses_the_mode_where_nothing_else_does() {
    // A merge with a dead path is blocked in token mode only.
    let run = |chart: Value, token_mode: bool| {
        let mut player = player(chart);
        player.configure(|installation| installation.token_mode = token_mode);
        player.start(json!({}));
        player.status()
    };
    let blocked = || {
        let nodes = nodes![decision("d", "false"), "a", "b", merging(line("j"), "Merge")];
        chart(nodes, "d:True>a d:False>b a>j b>j")
    };
    assert_eq!(run(blocked(), false), SubStatus::Finished);
    assert_eq!(run(blocked(), true), SubStatus::Faulted);
    let mut counted = blocked();
    counted["customProperties"] = json!({"Flowchart:ExecutionMode": "CounterBased"});
    assert_eq!(run(counted, true), SubStatus::Finished);
}
