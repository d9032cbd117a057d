//! Migrations with a map of activities: what an instance holds at an activity goes on at the one that
//! the map names.
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::collections::BTreeMap;

use engine::Engine;
use engine::testing::Player;
use model::{Alteration, Bookmark, SubStatus, Timestamp, What};
use serde_json::{Value, json};

fn engine() -> Engine {
    Engine::new(activities::all(), expressions::all())
}

fn line(id: &str) -> Value {
    json!({"type": "WriteLine", "id": id, "text": id})
}

fn wait(id: &str) -> Value {
    json!({"type": "Event", "id": id, "eventName": id})
}

fn sequence(id: &str, activities: Vec<Value>) -> Value {
    json!({"type": "Sequence", "id": id, "activities": activities})
}

fn both(activities: Vec<Value>) -> Value {
    json!({"type": "Parallel", "id": "all", "activities": activities})
}

fn flow(activities: Vec<Value>, links: &[(&str, &str, &str)]) -> Value {
    let links = links.iter().map(|(source, port, target)| {
        json!({"source": {"activity": source, "port": port}, "target": {"activity": target}})
    });
    json!({"type": "Flowchart", "id": "flow", "activities": activities,
        "connections": links.collect::<Vec<_>>()})
}

fn definition(version: u32, root: Value) -> Value {
    json!({"id": format!("v{version}"), "definitionId": "d", "version": version, "root": root})
}

fn player<'e>(engine: &'e Engine, root: Value) -> Player<'e> {
    let mut player = Player::new(engine, definition(1, root)).unwrap().recoding();
    player.start(json!({}));
    player
}

fn migrate(activities: &[(&str, &str)]) -> Vec<Alteration> {
    let activities = activities.iter().map(|(was, is)| ((*was).into(), (*is).into())).collect();
    vec![Alteration::Migrate { target_version: 2, activities }]
}

/// Migrates to a version with this root.
fn moved(player: &mut Player<'_>, map: &[(&str, &str)], root: Value) -> Result<(), String> {
    player.alter_to(migrate(map), definition(2, root))
}

/// The activities that wait, each with the event for which it does.
fn waits(player: &Player<'_>) -> BTreeMap<String, String> {
    let wait = |open: &Bookmark| {
        let event = open.payload["EventName"].as_str().unwrap().to_owned();
        (open.activity_node_id.clone(), event)
    };
    player.state().bookmarks.values().map(wait).collect()
}

fn raise(player: &mut Player<'_>) -> bool {
    player.resume("Elsa.Event", json!({}))
}

#[test]
fn a_wait_in_a_sequence_goes_on_under_its_new_id() {
    let engine = engine();
    let mut player = player(&engine, sequence("all", vec![line("a"), wait("old"), line("z")]));
    let new = || sequence("all", vec![line("first"), line("b"), wait("new"), line("end")]);
    let error = moved(&mut player, &[], new()).unwrap_err();
    assert!(error.contains("not there: map it to an activity of version 2"), "{error}");
    moved(&mut player, &[("old", "new")], new()).unwrap();
    let [open] = player.state().bookmarks.values().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!((open.activity_id.as_str(), &*open.activity_node_id), ("new", "Workflow1:all:new"));
    let waited = open.activity_instance_id.clone();
    let altered = player.journal.iter().find(|entry| entry.what == What::Altered).unwrap();
    let payload = json!({"fromVersion": 1, "toVersion": 2, "activities": {"old": "new"}});
    assert_eq!(altered.payload, Some(payload));
    assert!(raise(&mut player));
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["a", "end"]));
    let own = player.journal.iter();
    let own = own.filter(|entry| entry.activity_instance_id.as_ref() == Some(&waited));
    let own: Vec<_> = own.map(|one| (one.what, one.activity_id.clone().unwrap())).collect();
    assert_eq!(own.first(), Some(&(What::Started, "old".into())));
    assert_eq!(own.last(), Some(&(What::Completed, "new".into())));
}

#[test]
fn a_flowchart_keeps_count_of_an_activity_with_a_new_id() {
    let engine = engine();
    let join = |id: &str| json!({"type": "FlowJoin", "id": id, "mode": "WaitAll"});
    let links = |one: &'static str, join: &'static str| {
        [
            ("begin", "Done", one),
            ("begin", "Done", "other"),
            (one, "Done", join),
            ("other", "Done", join),
            (join, "Done", "end"),
        ]
    };
    let old = vec![line("begin"), wait("old"), wait("other"), join("join"), line("end")];
    let mut player = player(&engine, flow(old, &links("old", "join")));
    let new = vec![line("end"), join("meet"), wait("other"), wait("new"), line("begin")];
    let map = [("old", "new"), ("join", "meet"), ("end", "end")];
    moved(&mut player, &map, flow(new, &links("new", "meet"))).unwrap();
    assert!(raise(&mut player));
    assert_eq!((player.status(), player.lines()), (SubStatus::Suspended, vec!["begin"]));
    assert!(raise(&mut player));
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["begin", "end"]));
}

#[test]
fn two_ways_become_one_for_an_instance_that_is_on_one_of_them() {
    let engine = engine();
    let choice = || json!({"type": "FlowDecision", "id": "choice", "condition": true});
    let old = || {
        flow(
            vec![choice(), wait("a"), wait("b"), line("end")],
            &[
                ("choice", "True", "a"),
                ("choice", "False", "b"),
                ("a", "Done", "end"),
                ("b", "Done", "end"),
            ],
        )
    };
    let new = |goal: &'static str| {
        let links = [("choice", "False", goal), ("choice", "True", goal), (goal, "Done", "end")];
        flow(vec![line("end"), wait(goal), choice()], &links)
    };
    // `b` is there too: the instance is not at it.
    for (goal, map) in [("c", &[("b", "c"), ("a", "c")][..]), ("b", &[("a", "b")][..])] {
        let mut player = player(&engine, old());
        moved(&mut player, map, new(goal)).unwrap();
        assert!(raise(&mut player));
        assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["end"]));
    }
    let mut player = player(&engine, both(vec![wait("a"), wait("b")]));
    let before = waits(&player);
    for map in [&[("a", "c"), ("b", "c")][..], &[("a", "b")][..]] {
        let new = both(vec![wait("c"), wait("b")]);
        let error = moved(&mut player, map, new).unwrap_err();
        assert!(error.contains("is at this activity and at"), "{error}");
    }
    assert_eq!(waits(&player), before);
}

#[test]
fn two_activities_may_exchange_their_ids() {
    let engine = engine();
    let mut player = player(&engine, both(vec![wait("a"), wait("b")]));
    moved(&mut player, &[("a", "b"), ("b", "a")], both(vec![wait("a"), wait("b")])).unwrap();
    let expected = [("Workflow1:all:a", "b"), ("Workflow1:all:b", "a")];
    let expected = expected.map(|(node, event)| (node.to_owned(), event.to_owned()));
    assert_eq!(waits(&player), BTreeMap::from(expected));
    assert!(raise(&mut player) && raise(&mut player));
    assert_eq!(player.status(), SubStatus::Finished);
}

#[test]
fn what_a_mapped_container_holds_keeps_its_ids_and_variables() {
    let engine = engine();
    let root = |id: &str, last: Value| {
        let mut inner = sequence(
            id,
            vec![
                json!({"type": "RunJavaScript", "id": "set", "script": "variables.Count = 7; return 5"}),
                wait("b"),
                last,
            ],
        );
        inner["variables"] =
            json!([{"id": "count", "name": "Count", "typeName": "Int32", "value": 1}]);
        sequence("all", vec![inner, line("d")])
    };
    let mut player = player(&engine, root("in", line("c")));
    let link = "Workflow1:all:in:b";
    assert_eq!(player.state().bookmarks.values().next().unwrap().activity_node_id, link);
    let says = json!({"type": "WriteLine", "id": "says",
        "text": {"js": "`${variables.Count} ${getOutputFrom('set')}`"}});
    let created = Timestamp::from_millis(1_000);
    player.at(2_000);
    moved(&mut player, &[("in", "inside")], root("inside", says)).unwrap();
    let node = "Workflow1:all:inside:b";
    assert_eq!(waits(&player), BTreeMap::from([(node.to_owned(), "b".to_owned())]));
    assert_eq!(player.state().node_id_since(link, created), node);
    assert_eq!(player.state().node_id_since(link, Timestamp::from_millis(2_000)), link);
    assert!(raise(&mut player));
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["7 5", "d"]));
}

#[test]
fn a_machine_follows_the_transition_of_the_trigger_that_is_named() {
    let engine = engine();
    let machine = |trigger: &str, other: &str| {
        json!({"type": "StateMachine", "id": "machine", "initialState": "a",
        "states": [{"name": "a"}, {"name": "b", "entry": line("in b")},
            {"name": "c", "entry": line("in c")}],
        "transitions": [
            {"from": "a", "to": "b", "trigger": wait(other)},
            {"from": "a", "to": "c", "trigger": wait(trigger)}]})
    };
    let mut player = player(&engine, machine("go", "stay"));
    moved(&mut player, &[("go", "run"), ("stay", "rest")], machine("rest", "run")).unwrap();
    let open = player.state().bookmarks.values().next().unwrap();
    let (id, first) = (open.id.clone(), open.activity_id.clone());
    player.resume_at(id, json!({}));
    // Each trigger leads where it does there.
    let line = if first.as_str() == "run" { "in b" } else { "in c" };
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec![line]));
}

#[test]
fn a_faulted_activity_is_retried_under_its_new_id() {
    let engine = engine();
    let root = |id: &str, condition: Value| {
        let check = json!({"type": "If", "id": id, "condition": condition, "then": line("good")});
        sequence("all", vec![line("a"), check, line("z")])
    };
    let mut player = player(&engine, root("check", json!({"js": "throw new Error('bad')"})));
    assert_eq!((player.status(), player.state().incident_count), (SubStatus::Faulted, 1));
    moved(&mut player, &[("check", "verify")], root("verify", json!(true))).unwrap();
    let incident = &player.state().incidents[0];
    assert_eq!(incident.activity_id.as_str(), "verify");
    assert_eq!(incident.activity_node_id, "Workflow1:all:verify");
    player.alter(vec![Alteration::Retry { activity_ids: vec!["verify".into()] }]).unwrap();
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["a", "good", "z"]));
    assert!(player.state().incidents.is_empty());
}

#[test]
fn a_map_that_does_not_fit_is_refused() {
    let engine = engine();
    let inner = || sequence("in", vec![wait("b")]);
    let mut player = player(&engine, sequence("all", vec![inner(), line("c")]));
    let new = || sequence("all", vec![sequence("in", vec![line("x"), wait("y")]), wait("w")]);
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[("nope", "y")], "the map of activities: version 1 has no activity nope"),
        (&[("b", "nope")], "the map of activities: version 2 has no activity nope"),
        (&[("b", "x")], "b is an Elsa.Event, and x is an Elsa.WriteLine there"),
        (&[("b", "w")], "not a part of in there"),
        (&[("c", "x")], "activity b: the instance is at this activity, which is not there"),
        (&[("b", "y"), ("Workflow1:all:in:b", "w")], "Workflow1:all:in:b has two places"),
    ];
    for (map, why) in cases {
        let error = moved(&mut player, map, new()).unwrap_err();
        assert!(error.contains(why), "{map:?}: {error}");
    }
    let unknown: Vec<_> = (0..50).map(|at| (format!("u{at:02}"), format!("v{at:02}"))).collect();
    let unknown: Vec<_> = unknown.iter().map(|(was, is)| (was.as_str(), is.as_str())).collect();
    let error = moved(&mut player, &unknown, new()).unwrap_err();
    assert!(error.ends_with("there are 80 more problems with it"), "{error}");
    moved(&mut player, &[("Workflow1:all:in:b", "y")], new()).unwrap();
    assert!(raise(&mut player) && raise(&mut player));
    assert_eq!(player.status(), SubStatus::Finished);
}
