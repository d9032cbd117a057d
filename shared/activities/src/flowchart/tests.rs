//! The behaviour of flowcharts: order, joins, dead paths, loops, triggers, cancellation.

use engine::testing::Player;
use model::SubStatus;
use serde_json::{Value, json};

use crate::tests::{check_lines, player, problems, warnings};

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

mod token;

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

#[test]
fn a_start_that_changes_nothing_is_a_warning() {
    let check = |start: Value, expected: &[&str]| {
        let mut chart = chart(nodes!["a", "b"], "a>b");
        chart["start"] = start;
        let found = warnings(chart);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    };
    check(json!("a"), &[]);
    check(json!(null), &[]);
    check(json!("b"), &["activity chart: start: start has no effect: the flowchart begins with a"]);
    let expected = "activity chart: start: start has no effect, and it names an activity that is not \
                    in this flowchart: the flowchart begins with a; to begin elsewhere, put an \
                    Elsa.Start there";
    check(json!("nowhere"), &[expected]);
}
