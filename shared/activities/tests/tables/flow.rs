//! The scenarios of activities that decide what runs next.

use serde_json::{Value, json};

use crate::activity::{line, says, sequence, waits, whole};
use crate::play::{Table, row};

pub(crate) fn tables() -> Vec<Table> {
    let mut all = branches();
    all.extend(loops());
    all.extend(containers());
    all
}

fn branches() -> Vec<Table> {
    let cases = |mode: &str| {
        json!({"mode": mode, "cases": [
            {"label": "small", "condition": {"js": "3 < 9"}, "activity": line("small")},
            {"label": "odd", "condition": {"js": "3 % 2 === 1"}, "activity": line("odd")},
            {"label": "big", "condition": {"js": "3 > 9"}, "activity": line("big")}],
            "default": line("none")})
    };
    let labels = |mode: &str| {
        json!({"mode": mode, "cases": [
            {"label": "small", "condition": {"js": "3 < 9"}},
            {"label": "odd", "condition": {"js": "3 % 2 === 1"}}]})
    };
    vec![
        Table::new(
            "Elsa.If",
            vec![
                row("True.", json!({"condition": true, "then": line("yes"), "else": line("no")})),
                row("False.", json!({"condition": false, "then": line("yes"), "else": line("no")})),
                row("No condition is false.", json!({"then": line("yes")})),
                row("A condition that is none.", json!({"condition": {"js": "'perhaps'"}})),
            ],
        ),
        Table::new(
            "Elsa.Switch",
            vec![
                row("The first case that holds.", cases("MatchFirst")),
                row("Every case that holds.", cases("MatchAny")),
                row("None holds.", json!({"cases": [], "default": line("none")})),
                row("A mode that there is not.", cases("MatchSome")),
            ],
        ),
        Table::new(
            "Elsa.FlowSwitch",
            vec![
                row("The first case that holds.", labels("MatchFirst")),
                row("Every case that holds.", labels("MatchAny")),
                row("None holds.", json!({"cases": []})),
            ],
        ),
        Table::new(
            "Elsa.FlowDecision",
            vec![
                row("True.", json!({"condition": {"js": "1 < 2"}})),
                row("False.", json!({"condition": false})),
                row("No condition is false.", json!({})),
            ],
        ),
        Table::new(
            "Elsa.FlowFork",
            vec![
                row("Each branch is an outcome.", json!({"branches": ["A", "B"]})),
                row("No branches.", json!({})),
            ],
        ),
        Table::new(
            "Elsa.FlowNode",
            vec![
                row("The activity in it runs.", json!({"body": line("inside")})),
                row("No activity.", json!({})),
            ],
        ),
    ]
}

fn loops() -> Vec<Table> {
    let value = || says("getCurrentValue()");
    vec![
        Table::new(
            "Elsa.For",
            vec![
                row("Up to the last number.", json!({"start": 1, "end": 3, "body": value()})),
                row(
                    "Without the last number.",
                    json!({"start": 1, "end": 3, "outerBoundInclusive": false, "body": value()}),
                ),
                row("Downwards.", json!({"start": 3, "end": 1, "step": -1, "body": value()})),
                row("Never.", json!({"start": 3, "end": 1, "body": value()})),
                row("A step of nothing.", json!({"end": 3, "step": 0, "body": value()})),
            ],
        ),
        Table::new(
            "Elsa.ForEach",
            vec![
                row(
                    "A round for each item.",
                    json!({"items": ["a", "b"], "body": says("getCurrentIndex() + getCurrentValue()")}),
                ),
                row("No items.", json!({"items": [], "body": value()})),
                row(
                    "What is no list is its only item.",
                    json!({"items": {"js": "7"}, "body": value()}),
                ),
            ],
        ),
        Table::new(
            "Elsa.ParallelForEach",
            vec![
                row("All items at once.", json!({"items": [1, 2], "body": value()})),
                row("It waits for all of them.", json!({"items": [1], "body": waits()})),
                row("No items.", json!({"items": []})),
            ],
        ),
        Table::new(
            "Elsa.While",
            vec![
                row(
                    "As long as the condition holds.",
                    json!({"variables": [{"name": "N", "typeName": "Int32", "value": 0}],
                        "root": {"type": "While", "id": "subject", "condition": {"js": "getN() < 2"},
                            "body": says("setN(getN() + 1); getN()")}}),
                ),
                row("No condition.", json!({"body": line("never")})),
            ],
        ),
    ]
}

fn containers() -> Vec<Table> {
    let both = |mode: Value| json!({"joinMode": mode, "branches": [line("a"), waits()]});
    let machine = |states: Value, transitions: Value| json!({"initialState": "Open", "states": states, "transitions": transitions});
    let states = json!([
        {"name": "Open", "entry": line("opened"), "exit": line("left")},
        {"name": "Closed", "entry": line("closed")}]);
    let go = |condition: Value| {
        json!([{"from": "Open", "to": "Closed", "condition": condition, "action": line("closes"),
            "trigger": {"type": "Event", "eventName": "Close"}}])
    };
    vec![
        Table::new(
            "Elsa.Sequence",
            vec![
                row("One after the other.", json!({"activities": [line("a"), line("b")]})),
                row("Nothing.", json!({"activities": []})),
                row(
                    "It stops where one waits.",
                    json!({"activities": [line("a"), waits(), line("b")]}),
                ),
                row(
                    "A failure ends it.",
                    json!({"activities": [{"type": "Fault"}, line("never")]}),
                ),
            ],
        ),
        Table::new(
            "Elsa.Parallel",
            vec![
                row("Side by side.", json!({"activities": [waits(), line("b")]})),
                row("All are over.", json!({"activities": [line("a"), line("b")]})),
                row("Nothing.", json!({"activities": []})),
            ],
        ),
        Table::new(
            "Elsa.Fork",
            vec![
                row("It waits for all branches.", both(json!("WaitAll"))),
                row("It waits for the first.", both(json!("WaitAny"))),
                row("No branches.", json!({"branches": []})),
                row("A mode that there is not.", both(json!("WaitSome"))),
            ],
        ),
        Table::new(
            "Elsa.StateMachine",
            vec![
                row("It waits in its first state.", machine(states.clone(), go(json!(true)))),
                row("A transition leads to the next.", machine(states.clone(), go(json!(true))))
                    .then(json!({})),
                row("Its condition does not hold.", machine(states.clone(), go(json!(false))))
                    .then(json!({})),
                row(
                    "It begins in another state.",
                    json!({"currentState": "Closed", "initialState": "Open", "states": states,
                        "transitions": []}),
                ),
                row(
                    "A state that there is not.",
                    json!({"initialState": "Gone", "states": [], "transitions": []}),
                ),
            ],
        ),
        Table::new(
            "Elsa.Flowchart",
            vec![
                row(
                    "Along the connections.",
                    json!({"activities": [
                        {"type": "WriteLine", "id": "a", "text": "a"},
                        {"type": "WriteLine", "id": "b", "text": "b"}],
                        "connections": [{"source": "a", "target": "b"}]}),
                ),
                row("Nothing.", json!({"activities": [], "connections": []})),
                row(
                    "A connection to what is not there.",
                    json!({"activities": [{"type": "WriteLine", "id": "a", "text": "a"}],
                        "connections": [{"source": "a", "target": "gone"}]}),
                ),
            ],
        ),
        join(),
    ]
}

fn join() -> Table {
    let chart = |mode: &str| {
        json!({"root": {"type": "Flowchart", "activities": [
            {"type": "FlowFork", "id": "fork", "branches": ["A", "B"]},
            {"type": "WriteLine", "id": "a", "text": "a"},
            {"type": "Event", "id": "b", "eventName": "Never"},
            {"type": "FlowJoin", "id": "subject", "mode": mode},
            {"type": "WriteLine", "id": "end", "text": "end"}],
            "connections": [
                {"source": {"activity": "fork", "port": "A"}, "target": {"activity": "a"}},
                {"source": {"activity": "fork", "port": "B"}, "target": {"activity": "b"}},
                {"source": "a", "target": "subject"}, {"source": "b", "target": "subject"},
                {"source": "subject", "target": "end"}]}})
    };
    Table::new(
        "Elsa.FlowJoin",
        vec![
            row("The first path that arrives goes on; others end.", chart("WaitAny")),
            row("All paths have to arrive.", chart("WaitAll")),
            row("All paths have arrived.", chart("WaitAll")).then(json!({})),
            row(
                "A mode that there is not.",
                whole(&sequence(&[json!({"type": "FlowJoin", "mode": "WaitSome"})])),
            ),
        ],
    )
}
