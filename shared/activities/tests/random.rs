//! Random workflows, played in random order: no invariant breaks, they end, and storing the state
//! between turns makes no difference. Each is replayable from its seed.
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use engine::Engine;
use engine::testing::Player;
use model::SubStatus;
use serde_json::{Value, json};

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
}

impl Maker {
    fn node(&mut self, depth: u32) -> Value {
        self.ids += 1;
        let id = format!("n{}", self.ids);
        let sides = if depth == 0 { 11 } else { 18 };
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
            16 => json!({"type": "If", "condition": {"js": "variables.N > 1"},
                "then": self.node(depth - 1), "else": self.node(depth - 1)}),
            _ => {
                let kind = self.dice.pick(&["ForEach", "ParallelForEach"]);
                json!({"type": kind, "items": [1, 2], "body": self.node(depth - 1)})
            }
        };
        node["id"] = json!(id);
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
        json!({"type": "Flowchart", "activities": nodes, "connections": links})
    }
}

fn document(seed: u64) -> Value {
    let mut maker = Maker { dice: Dice(seed), ids: 0 };
    let strategy = maker.dice.pick(&["FaultStrategy", "ContinueWithIncidentsStrategy"]);
    json!({
        "id": "v", "definitionId": "d", "version": 1,
        "variables": [{"name": "N", "typeName": "Int32", "value": "0"}],
        "options": {"incidentStrategyType": strategy},
        "root": maker.flowchart(3)
    })
}

/// Resumes a random bookmark again and again; gives up after a while, since loops need not end.
fn play(player: &mut Player<'_>, seed: u64) {
    const RESUMES_MAX: u32 = 60;
    let mut dice = Dice(seed);
    player.start(json!({}));
    for _ in 0..RESUMES_MAX {
        let open: Vec<_> = player.state().bookmarks.keys().cloned().collect();
        let Ok(count) = u64::try_from(open.len()) else { break };
        if count == 0 || player.rest() == engine::Rest::OutOfBudget {
            break;
        }
        let at = usize::try_from(dice.roll(count)).unwrap();
        player.resume_at(open[at].clone(), json!({"statusCode": 200}));
    }
    if !player.status().is_final() {
        player.give(engine::Input::Cancel { reason: None });
    }
}

#[test]
fn random_workflows_keep_every_invariant_and_replay_exactly() {
    const SEEDS: u64 = 300;
    let engine = Engine::new(activities::all(), expressions::all());
    let mut finished = 0;
    for seed in 0..SEEDS {
        let document = document(seed);
        let kept = Player::new(&engine, document.clone());
        let mut kept = kept.unwrap_or_else(|found| panic!("seed {seed}: {found:?} {document}"));
        kept.stop_after(0);
        let mut stored = Player::new(&engine, document).unwrap().recoding();
        stored.stop_after(0);
        play(&mut kept, seed);
        play(&mut stored, seed);
        assert_eq!(kept.story(), stored.story(), "seed {seed}");
        assert_eq!(kept.journal, stored.journal, "seed {seed}");
        assert_eq!(kept.effects, stored.effects, "seed {seed}");
        assert!(kept.status().is_final(), "seed {seed}");
        finished += u32::from(kept.status() == SubStatus::Finished);
    }
    assert!(finished > 50, "most random workflows should come to their own end: {finished}");
}
