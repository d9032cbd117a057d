//! Random workflows, played in random order: no invariant breaks, they end, and it makes no
//! difference whether they are suspended, stored and loaded after every single step. Races in loops are
//! played too, and compared with what they must do. Each is replayable from its seed.
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::testing::{Player, parsed};
use engine::{Engine, Library, Reference};
use model::{Bookmark, BookmarkId, Entry, SubStatus};
use serde_json::{Value, json};

/// Activities in one turn of a workflow that is not stored after every step. One that runs longer
/// without a wait is not compared: it may be endless.
const STEPS_MAX: usize = 200;
/// The workflows that others use as activities.
const USED: [&str; 2] = ["child", "other"];

/// A small generator (SplitMix64): the same seed, the same numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[usize::try_from(self.roll(from.len() as u64)).unwrap()]
    }
}

/// Makes activities with ids of their own.
struct Maker {
    dice: Dice,
    ids: u32,
    /// It may use the workflows of [`USED`].
    uses: bool,
}

impl Maker {
    fn node(&mut self, depth: u32) -> Value {
        self.ids += 1;
        let id = format!("n{}", self.ids);
        let sides = if depth == 0 { 11 } else { 20 };
        let mut node = match self.dice.roll(sides) {
            0..=2 => json!({"type": "WriteLine", "text": "line"}),
            3 => json!({"type": "Event", "eventName": self.dice.pick(&["A", "B"])}),
            4 => json!({"type": "Delay", "timeSpan": "00:00:01"}),
            5 => {
                json!({"type": "SetVariable", "variable": "N", "value": {"js": "variables.N + 1"}})
            }
            6 => json!({"type": "FlowDecision", "condition": {"js": "variables.N < 2"}}),
            7 => json!({"type": "SendHttpRequest", "url": "http://example.test"}),
            8 => json!({"type": "RunTask", "taskName": "T"}),
            9 => json!({"type": "FlowJoin",
                "mode": self.dice.pick(&["WaitAny", "WaitAll", "WaitAllActive"])}),
            10 => match self.dice.roll(6) {
                0 => json!({"type": "Fault", "message": "on purpose"}),
                1 => json!({"type": "Break"}),
                2 => json!({"type": "End"}),
                3 => json!({"type": "Complete"}),
                4 => json!({"type": "Finish"}),
                _ => {
                    json!({"type": "HttpEndpoint", "path": "x", "supportedMethods": ["GET", "PUT"]})
                }
            },
            11 | 12 => self.flowchart(depth - 1),
            13 => self.list("Sequence", "activities", depth - 1),
            14 => self.list("Parallel", "activities", depth - 1),
            15 => {
                let mut fork = self.list("Fork", "branches", depth - 1);
                fork["joinMode"] = json!(self.dice.pick(&["WaitAny", "WaitAll"]));
                fork
            }
            16 if self.uses => {
                let used = self.dice.pick(&USED);
                json!({"type": used, "workflowDefinitionId": used})
            }
            16 | 17 => json!({"type": "If", "condition": {"js": "variables.N > 1"},
                "then": self.node(depth - 1), "else": self.node(depth - 1)}),
            _ => {
                let kind = self.dice.pick(&["ForEach", "ParallelForEach"]);
                json!({"type": kind, "items": [1, 2], "body": self.node(depth - 1)})
            }
        };
        node["id"] = json!(id);
        if self.dice.roll(4) == 0 {
            let modes = ["Stream", "Merge", "Converge", "Cascade", "Race"];
            node["customProperties"] = json!({"mergeMode": self.dice.pick(&modes)});
        }
        node
    }

    fn nodes(&mut self, depth: u32) -> Vec<Value> {
        let count = 1 + self.dice.roll(5);
        (0..count).map(|_| self.node(depth)).collect()
    }

    fn list(&mut self, kind: &str, port: &str, depth: u32) -> Value {
        let nodes = self.nodes(depth);
        json!({"type": kind, port: nodes})
    }

    fn flowchart(&mut self, depth: u32) -> Value {
        let nodes = self.nodes(depth);
        let ids: Vec<&str> = nodes.iter().filter_map(|node| node["id"].as_str()).collect();
        let mut links = Vec::new();
        for _ in 0..self.dice.roll(2 * ids.len() as u64 + 1) {
            let port = self.dice.pick(&["Done", "Done", "Done", "True", "False"]);
            let (one, two) = (self.dice.roll(ids.len() as u64), self.dice.roll(ids.len() as u64));
            let back = self.dice.roll(8) == 0;
            let (source, target) =
                if back { (one.max(two), one.min(two)) } else { (one.min(two), one.max(two)) };
            if source == target {
                continue;
            }
            let at = |at: u64| ids[usize::try_from(at).unwrap()];
            let (source, target) = (at(source), at(target));
            links.push(json!({"source": {"activity": source, "port": port},
                "target": {"activity": target}}));
        }
        let mode = self.dice.pick(&["CounterBased", "CounterBased", "TokenBased"]);
        json!({"type": "Flowchart", "activities": nodes, "connections": links,
            "customProperties": {"Flowchart:ExecutionMode": mode}})
    }
}

fn document(seed: u64) -> Value {
    let mut maker = Maker { dice: Dice(seed), ids: 0, uses: true };
    let strategy = maker.dice.pick(&["FaultStrategy", "ContinueWithIncidentsStrategy"]);
    json!({
        "id": "v", "definitionId": "d", "version": 1,
        "variables": [{"name": "N", "typeName": "Int32", "value": "0"}],
        "options": {"incidentStrategyType": strategy},
        "root": maker.flowchart(3)
    })
}

/// The workflows that the one of this seed may use as activities.
fn library(seed: u64) -> Library {
    let mut library = Library::default();
    for (name, salt) in USED.iter().zip(1..) {
        let mut maker = Maker { dice: Dice(seed ^ (salt << 32)), ids: 0, uses: false };
        let document = json!({
            "id": format!("{name}-1"), "definitionId": name, "name": name, "version": 1,
            "isPublished": true, "root": maker.flowchart(1),
            "variables": [{"name": "N", "typeName": "Int32", "value": "0"}]
        });
        let definition = parsed(document).unwrap();
        let definition_id = Some(definition.definition_id.clone());
        library.add(Reference { definition_id, ..Reference::default() }, definition);
    }
    library
}

/// The open bookmarks in the order in which their activities began: their ids have another order
/// in each run.
fn open(player: &Player<'_>) -> Vec<BookmarkId> {
    let begun = |bookmark: &Bookmark| {
        let id = &bookmark.activity_instance_id;
        player.journal.iter().position(|entry| entry.activity_instance_id.as_ref() == Some(id))
    };
    // An endpoint waits at one bookmark for each method.
    let method = |bookmark: &Bookmark| bookmark.payload["Method"].to_string();
    let mut open: Vec<&Bookmark> = player.state().bookmarks.values().collect();
    open.sort_by_key(|bookmark| (begun(bookmark), method(bookmark)));
    open.into_iter().map(|bookmark| bookmark.id.clone()).collect()
}

/// Resumes a random bookmark again and again; gives up after a while, since loops need not end.
/// False if the workflow ran for too long without a wait.
fn play(player: &mut Player<'_>, seed: u64) -> bool {
    const RESUMES_MAX: u32 = 30;
    let mut dice = Dice(seed);
    player.start(json!({}));
    for _ in 0..RESUMES_MAX {
        let open = open(player);
        let Ok(count) = u64::try_from(open.len()) else { break };
        if count == 0 || player.rest() == engine::Rest::OutOfBudget {
            break;
        }
        let at = usize::try_from(dice.roll(count)).unwrap();
        player.resume_at(open[at].clone(), json!({"statusCode": 200}));
    }
    let is_short = player.rest() != engine::Rest::OutOfBudget;
    if !player.status().is_final() {
        player.give(engine::Input::Cancel { reason: None });
    }
    is_short
}

/// How a workflow was played.
#[derive(Debug, PartialEq)]
enum Played {
    /// It came to this status, the same in both runs.
    Same(SubStatus),
    /// It ran for too long to be compared.
    Long,
}

/// Plays a workflow straight through, stored after every step, and stored once after
/// one of the steps.
///
/// # Errors
/// The difference.
fn compared(engine: &Engine, seed: u64, document: &Value) -> Result<Played, String> {
    let library = library(seed);
    let player = || Player::using(engine, document.clone(), &library);
    let mut straight = player().map_err(|found| format!("{found:?}"))?.with_steps(STEPS_MAX);
    straight.stop_after(0);
    let is_short = play(&mut straight, seed);
    let stored = player().map_err(|found| format!("{found:?}"))?.with_steps(STEPS_MAX);
    let mut stored = stored.recoding();
    stored.stop_after(0);
    play(&mut stored, seed);
    if straight.journal != stored.journal || straight.effects != stored.effects {
        return Err("storing the state between turns changes the journal or the effects".to_owned());
    }
    if !straight.status().is_final() {
        return Err(format!("it has no end: {}", straight.status()));
    }
    if !is_short {
        return Ok(Played::Long);
    }
    let again = || Ok::<_, String>(player().map_err(|found| format!("{found:?}"))?.recoding());
    let mut stepwise = again()?.with_steps(1);
    play(&mut stepwise, seed);
    same(&straight, &stepwise).map_err(|found| format!("stored after every step: {found}"))?;
    let steps = straight.state().steps;
    if steps > 1 {
        let cut = 1 + Dice(seed).roll(steps - 1);
        let mut cut_once = again()?.with_steps(STEPS_MAX).cut_after(cut);
        play(&mut cut_once, seed);
        same(&straight, &cut_once).map_err(|found| format!("stored after step {cut}: {found}"))?;
    }
    Ok(Played::Same(straight.status()))
}

/// Compares what two players have seen.
fn same(one: &Player<'_>, two: &Player<'_>) -> Result<(), String> {
    let (whole, parts) = (story(one), story(two));
    if [&whole, &parts].into_iter().flatten().any(|(_, repeats)| *repeats > 0) {
        // A long turn counts what is repeated instead of telling it, so the order is not known.
        let (whole, parts) = (counts(&whole), counts(&parts));
        let differs = |entry: &&&str| whole.get(**entry) != parts.get(**entry);
        if let Some(entry) = whole.keys().chain(parts.keys()).find(differs) {
            let (found, expected) = (parts.get(entry), whole.get(entry));
            return Err(format!("{entry} is there {found:?} times, and not {expected:?}"));
        }
    } else {
        let differs = |at: &usize| whole.get(*at) != parts.get(*at);
        if let Some(at) = (0..whole.len().max(parts.len())).find(differs) {
            return Err(format!("entry {at} is {:?}, and not {:?}", parts.get(at), whole.get(at)));
        }
    }
    let (one, two) = (one.state(), two.state());
    if (one.status, &one.output, one.steps) != (two.status, &two.output, two.steps) {
        return Err(format!(
            "it is {} after {} steps, and not {} after {}",
            two.status, two.steps, one.status, one.steps
        ));
    }
    Ok(())
}

/// What a player has seen, and how often each entry was repeated. A turn that ends in the middle
/// changes the status in between, which is left out.
fn story(player: &Player<'_>) -> Vec<(String, u64)> {
    let repeats = |entry: &Entry| {
        let payload = entry.payload.as_ref();
        payload.and_then(|payload| payload["repeated"].as_u64()).unwrap_or_default()
    };
    let entries = player.story().into_iter().zip(player.journal.iter().map(repeats));
    let in_between = ["Workflow: Executing", "Workflow: Suspended"];
    entries.filter(|(entry, _)| !in_between.contains(&entry.as_str())).collect()
}

/// How often each entry happened.
fn counts(story: &[(String, u64)]) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for (entry, repeats) in story {
        *counts.entry(entry.as_str()).or_default() += 1 + repeats;
    }
    counts
}

/// As [`compared`]; a panic is a difference, too.
fn tried(engine: &Engine, seed: u64, document: &Value) -> Result<Played, String> {
    catch_unwind(AssertUnwindSafe(|| compared(engine, seed, document)))
        .unwrap_or_else(|_| Err("it panics".to_owned()))
}

/// The smallest document that still fails, found by leaving out one part after the other.
fn smallest(fails: impl Fn(&Value) -> bool, mut document: Value) -> Value {
    while let Some(smaller) = smaller(&document).into_iter().find(|smaller| fails(smaller)) {
        document = smaller;
    }
    document
}

/// The document without one of its parts, in every way.
fn smaller(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Array(items) => {
            for at in 0..items.len() {
                let mut without = items.clone();
                without.remove(at);
                found.push(Value::Array(without));
                for part in smaller(&items[at]) {
                    let mut with = items.clone();
                    with[at] = part;
                    found.push(Value::Array(with));
                }
            }
        }
        Value::Object(members) => {
            for name in ["root", "activities", "connections", "branches", "body", "then", "else"] {
                let Some(member) = members.get(name) else { continue };
                for part in smaller(member) {
                    let mut with = members.clone();
                    with.insert(name.to_owned(), part);
                    found.push(Value::Object(with));
                }
            }
        }
        _ => {}
    }
    found
}

#[test]
fn the_smallest_failing_document_has_only_what_fails() {
    let whole = json!({"root": {"activities": [{"type": "WriteLine"}, {"type": "Sequence",
        "activities": [{"type": "WriteLine"}, {"type": "Break"}]}], "connections": [{}]}});
    let small = smallest(|document| document.to_string().contains("Break"), whole);
    let expected = json!({"root": {"activities": [{"type": "Sequence",
        "activities": [{"type": "Break"}]}], "connections": []}});
    assert_eq!(small, expected);
}

/// `GRAPHS=100000 cargo test -p activities --test random`, or `just graphs`, plays more of them;
/// with `GRAPH_SEED` it plays one.
#[test]
fn random_workflows_are_the_same_wherever_they_are_stored() {
    const GRAPHS: u64 = 10_000;
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run, not configuration")]
    let graphs = std::env::var("GRAPHS").map_or(GRAPHS, |count| count.parse().unwrap());
    let engine = Engine::new(activities::all(), expressions::all());
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run, not configuration")]
    let one = std::env::var("GRAPH_SEED").ok().map(|seed| seed.parse::<u64>().unwrap());
    let (mut finished, mut compared) = (0, 0);
    for seed in one.map_or(0..graphs, |seed| seed..seed + 1) {
        let whole = document(seed);
        match tried(&engine, seed, &whole) {
            Ok(Played::Long) => {}
            Ok(Played::Same(status)) => {
                compared += 1;
                finished += u64::from(status == SubStatus::Finished);
            }
            Err(reason) => {
                let fails = |document: &Value| tried(&engine, seed, document).is_err();
                let small = smallest(fails, whole);
                panic!("seed {seed}: {reason}; the smallest that fails: {small:#}");
            }
        }
    }
    if one.is_some() {
        return;
    }
    println!("{graphs} graphs: {compared} compared, {finished} of them finished by themselves");
    assert!(compared * 10 > graphs * 8, "most are short enough: {compared}");
    assert!(finished * 6 > graphs, "many come to their own end: {finished}");
}

/// A loop of which each round is a race between branches, and the number of its rounds. Each branch has
/// activities that wait and others that do not; some branches lead nowhere.
fn races(seed: u64) -> (Value, usize) {
    let mut dice = Dice(seed);
    let rounds = 1 + dice.roll(3);
    let meeting = dice.pick(&["WaitAny", "WaitAny", "Race", "Cascade"]);
    let mode = match meeting {
        "WaitAny" => dice.pick(&["TokenBased", "TokenBased", "CounterBased"]),
        _ => "TokenBased",
    };
    let meet = match meeting {
        "WaitAny" => json!({"type": "FlowJoin", "id": "meet", "mode": meeting}),
        _ => json!({"type": "WriteLine", "id": "meet", "text": "met",
            "customProperties": {"mergeMode": meeting}}),
    };
    let mut nodes = vec![
        json!({"type": "SetVariable", "id": "count", "variable": "N",
            "value": {"js": "variables.N + 1"}}),
        meet,
        json!({"type": "WriteLine", "id": "paid", "text": "paid"}),
        json!({"type": "FlowDecision", "id": "again",
            "condition": {"js": format!("variables.N < {rounds}")}}),
        json!({"type": "WriteLine", "id": "end", "text": "end"}),
    ];
    let link = |source: &str, port: &str, target: &str| json!({"source": {"activity": source, "port": port}, "target": {"activity": target}});
    let mut links = vec![
        link("meet", "Done", "paid"),
        link("paid", "Done", "again"),
        link("again", "True", "count"),
        link("again", "False", "end"),
    ];
    for branch in 0..2 + dice.roll(2) {
        let mut before = ("count".to_owned(), "Done");
        for at in 0..1 + dice.roll(3) {
            let id = format!("b{branch}_{at}");
            // A late path of a cascade is dropped where it arrives, so it has to arrive.
            let is_dead = branch > 0 && meeting != "Cascade" && dice.roll(6) == 0;
            let mut node = match dice.roll(4) {
                _ if is_dead => json!({"type": "FlowDecision", "condition": false}),
                0 => json!({"type": "Delay", "timeSpan": "00:00:01"}),
                1 => json!({"type": "Event", "eventName": "A"}),
                2 => json!({"type": "Sequence",
                    "activities": [{"type": "Event", "id": format!("{id}e"), "eventName": "B"}]}),
                _ => json!({"type": "WriteLine", "text": "line"}),
            };
            node["id"] = json!(id);
            nodes.push(node);
            links.push(link(&before.0, before.1, &id));
            before = (id, if is_dead { "True" } else { "Done" });
        }
        links.push(link(&before.0, before.1, "meet"));
    }
    let document = json!({
        "id": "v", "definitionId": "d", "version": 1,
        "variables": [{"name": "N", "typeName": "Int32", "value": 0}],
        "root": {"type": "Flowchart", "activities": nodes, "connections": links,
            "customProperties": {"Flowchart:ExecutionMode": mode}}
    });
    (document, usize::try_from(rounds).unwrap())
}

#[test]
fn what_follows_a_race_runs_once_in_every_round() {
    const RACES: u64 = 3_000;
    let engine = Engine::new(activities::all(), expressions::all());
    let library = Library::default();
    for seed in 0..RACES {
        let (document, rounds) = races(seed);
        for steps in [1, STEPS_MAX] {
            let player = Player::using(&engine, document.clone(), &library).unwrap();
            let mut player = player.recoding().with_steps(steps);
            play(&mut player, seed);
            let lines = player.lines();
            let count = |wanted: &str| lines.iter().filter(|line| **line == wanted).count();
            assert_eq!(
                (player.status(), count("paid"), count("end")),
                (SubStatus::Finished, rounds, 1),
                "seed {seed}: {:?} of {document:#}",
                player.story()
            );
        }
    }
}
