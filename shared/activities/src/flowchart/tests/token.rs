//! Flowcharts in token mode: merge modes, races, loops, and the choice of the mode.

use model::SubStatus;
use serde_json::{Value, json};

use super::{chart, decision, event, join, raise};
use crate::tests::{check_lines, oversights, player};

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
    // The first branch to arrive cancels the other, whether that runs or is only scheduled.
    let race = || nodes!["s", "a", "b", merging(line("j"), "Race")].to_vec();
    check_lines(tokens(chart(&race(), diamond)), &["s", "a", "j"]);
    for links in ["s>j s>b b>j j>a", "s>b s>j b>j j>a"] {
        check_lines(tokens(chart(&race(), links)), &["s", "j", "a"]);
    }
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
    for mode in ["Merge", "Converge", "merge"] {
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

/// The slow path of the round before is cancelled, and that of this round with it: what follows a race
/// runs once in every round.
#[test]
fn in_token_mode_the_slow_path_of_a_race_does_not_outlive_its_round() {
    let count = || {
        json!({"type": "SetVariable", "id": "count", "variable": "N",
            "value": {"js": "variables.N + 1"}})
    };
    let race = |id: &str| merging(line(id), "Race");
    let slow = json!({"type": "Delay", "id": "slow", "timeSpan": "00:00:01"});
    for meeting in [json!({"type": "FlowJoin", "id": "j", "mode": "WaitAny"}), race("j")] {
        for slow in [slow.clone(), event("slow")] {
            for fork in ["count>fast count>slow", "count>slow count>fast"] {
                let again = decision("again", "variables.N < 3");
                let nodes = nodes![count(), "fast", slow, meeting, "paid", again, "end"];
                let links = format!(
                    "{fork} fast>j slow>j j>paid paid>again again:True>count again:False>end"
                );
                let chosen = json!({"Flowchart:ExecutionMode": "TokenBased"});
                let mut player = player(json!({
                    "root": chart(nodes, &links), "customProperties": chosen,
                    "variables": [{"id": "n", "name": "N", "typeName": "Int32", "value": 0}]
                }));
                player.start(json!({}));
                let lines = player.lines();
                let times = |wanted: &str| lines.iter().filter(|line| **line == wanted).count();
                assert_eq!((times("paid"), times("end")), (3, 1), "{lines:?}");
                assert_eq!(player.status(), SubStatus::Finished);
            }
        }
    }
}

/// A race that is decided forgets the tokens of what it has cancelled, also of an activity that still
/// waited for others.
#[test]
fn in_token_mode_a_decided_race_leaves_nothing_that_waits() {
    let nodes = nodes![
        "s",
        "fast",
        "a",
        event("b"),
        merging(line("m"), "Merge"),
        merging(line("j"), "Race"),
        "end"
    ];
    let links = "s>a s>fast s>b a>m b>m m>j fast>j j>end";
    let mut player = player(tokens(chart(nodes, links)));
    player.start(json!({}));
    assert_eq!((player.status(), player.incident()), (SubStatus::Finished, None));
    assert_eq!(player.lines(), ["s", "a", "fast", "j", "end"]);
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
    // A stored definition may name a mode that does not exist: the configuration decides.
    let mut unknown = blocked();
    unknown["customProperties"] = json!({"Flowchart:ExecutionMode": "Banana"});
    assert_eq!(run(unknown, true), SubStatus::Faulted);
    let mut counted = blocked();
    counted["customProperties"] = json!({"Flowchart:ExecutionMode": "CounterBased"});
    assert_eq!(run(counted, true), SubStatus::Finished);
}

#[test]
fn a_mode_that_does_not_exist_is_named() {
    let banana = json!({"Flowchart:ExecutionMode": "Banana"});
    let said = "there is no execution mode \"Banana\": use TokenBased, CounterBased or Default";
    let mut root = chart(nodes!["a"], "");
    let document = json!({"root": root, "customProperties": banana});
    let place = "customProperties.Flowchart:ExecutionMode";
    assert_eq!(oversights(document), [format!("{place}: {said}")]);
    root["customProperties"] = banana;
    assert_eq!(oversights(root), [format!("activity chart: {place}: {said}")]);
    let mut player = player(chart(nodes!["a"], ""));
    player.start_with(json!({"Flowchart:ExecutionMode": "Banana"}));
    let expected = format!("Flowchart:ExecutionMode: {said}");
    assert_eq!((player.incident(), player.status()), (Some(&*expected), SubStatus::Faulted));
}
