//! The cost of an expression, alone and as a share of the turns of a typical workflow.
//!
//! `cargo run --release -p activities --example scripts` prints microseconds of CPU time on Linux.
//! Compare the columns of one run. Each expression is evaluated three times: as written; as
//! `(0, …)`, which QuickJS always evaluates; and with a comment that names `globalThis`, which puts
//! all functions into the context.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measuring tool, not the product")]

use std::fs;
use std::time::Duration;

use engine::testing::{env, parsed};
use engine::{Engine, Identity, Input, Languages, Rest, Scope, Start, State, UrlOf};
use model::{Map, Timestamp};
use serde_json::{Value, json};

const ROUNDS: u32 = 1_000;

struct World(Vec<(&'static str, Value)>, Map);

impl Scope for World {
    fn variable(&self, name: &str) -> Option<Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }
    fn set_variable(&mut self, name: &str, value: Value) -> bool {
        let found = self.0.iter_mut().find(|(known, _)| *known == name);
        found.map(|(_, old)| *old = value).is_some()
    }
    fn variable_names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
    fn input(&self, _: &str) -> Option<Value> {
        Some(json!(12.5))
    }
    fn activity_input(&self, _: &str) -> Option<Value> {
        None
    }
    fn input_names(&self) -> Vec<String> {
        vec!["Amount".to_owned()]
    }
    fn output_from(&self, _: &str, _: Option<&str>) -> Option<Value> {
        Some(json!({"ok": true}))
    }
    fn output_names(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    fn arguments(&self) -> &Map {
        &self.1
    }
    fn last_result(&self) -> Option<Value> {
        None
    }
    fn identity(&self) -> Identity {
        Identity::default()
    }
    fn set_correlation_id(&mut self, _: Option<String>) {}
    fn set_instance_name(&mut self, _: Option<String>) {}
    fn set_outcomes(&mut self, _: Vec<String>) -> bool {
        true
    }
    fn now(&self) -> Timestamp {
        Timestamp::parse("2026-11-21T09:00:00Z").unwrap()
    }
    fn random(&mut self) -> [u8; 16] {
        [7; 16]
    }
    fn url(&mut self, _: UrlOf<'_>, _: Option<Duration>) -> Result<String, String> {
        Ok(String::new())
    }
}

fn world() -> World {
    let lines: Vec<Value> = (0..20).map(|n| json!({"sku": format!("sku-{n}"), "n": n})).collect();
    let variables = vec![
        ("Tries", json!(3)),
        ("Name", json!("Ada")),
        ("Order", json!({"id": 7, "lines": lines})),
        ("List", json!([1, 2, 3])),
    ];
    World(variables, Map::new())
}

/// CPU time of all threads of this process.
fn cpu() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let nanos = tasks.map(|task| {
        let text = fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap();
        text.split(' ').next().unwrap().parse::<u64>().unwrap()
    });
    Duration::from_nanos(nanos.sum())
}

/// Microseconds of CPU for each round: the best of five runs.
fn best(mut round: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let began = cpu();
        for _ in 0..ROUNDS / 5 {
            round();
        }
        best = best.min((cpu() - began).as_secs_f64() * 1e6 / f64::from(ROUNDS / 5));
    }
    best
}

fn cost(languages: &Languages, source: &str) -> f64 {
    let language = languages.get("JavaScript").unwrap();
    let mut world = world();
    best(|| {
        world.0[3].1 = json!([1, 2, 3]);
        language.evaluate(source, &mut world).unwrap();
    })
}

/// The same script, and no simple expression.
fn quick(source: &str) -> String {
    if source.contains(';') { source.to_owned() } else { format!("(0, {source})") }
}

fn workflow(wrap: &dyn Fn(&str) -> String) -> Value {
    let line =
        |id: &str, js: &str| json!({"type": "WriteLine", "id": id, "text": {"js": wrap(js)}});
    json!({
        "id": "order-v3", "definitionId": "order", "version": 3, "name": "Order",
        "variables": [
            {"id": "tries", "name": "Tries", "typeName": "Int32", "value": "0"},
            {"id": "note", "name": "Note", "typeName": "String", "value": "none"}
        ],
        "inputs": [{"name": "Amount", "type": "Decimal"}],
        "root": {"type": "Flowchart", "id": "flow", "activities": [
            line("begin", "`order of ${getInput('Amount')}`"),
            {"type": "SetVariable", "id": "count", "variable": "Tries",
                "value": {"js": wrap("variables.Tries + 1")}},
            {"type": "FlowDecision", "id": "enough",
                "condition": {"js": wrap("getInput('Amount') >= 9 && variables.Tries < 5")}},
            line("end", "`${variables.Note} after ${variables.Tries}`")
        ], "connections": [
            {"source": "begin", "target": "count"}, {"source": "count", "target": "enough"},
            {"source": "enough", "sourcePort": "True", "target": "end"}
        ]}
    })
}

fn turns(definition: Value) -> f64 {
    let engine = Engine::new(activities::all(), expressions::all());
    let program =
        engine.compile(&parsed(definition).unwrap(), &engine::Library::default()).unwrap();
    best(|| {
        let input = Input::Start(Box::new(Start {
            instance_id: "i".into(),
            trigger: None,
            input: Map::from_iter([("Amount".to_owned(), json!("9"))]),
            properties: Map::new(),
            correlation_id: None,
            name: None,
            restart: None,
            parent: None,
            responds: false,
        }));
        let turn = engine.turn(&program, State::default(), input, &env(0));
        assert_eq!(turn.rest, Rest::Finished);
    })
}

fn main() {
    let languages = expressions::all();
    println!("{:<44} {:>9} {:>9} {:>9}", "µs each", "written", "(0, …)", "global");
    for source in [
        "variables.Tries + 1",
        "variables.Tries < 5 && variables.Name === 'Ada'",
        "`Hello ${variables.Name}`",
        "variables.Order.lines.length > 3",
        "variables.Order.lines.map(l => l.n)",
        "variables.List.push(4)",
        "variables.Tries = variables.Tries + 1",
        "variables.List[variables.Tries - 1]",
        "const i = 1; const l = variables.List; l[i] = 5; l[i]",
        "new Date().getFullYear()",
    ] {
        let plain = cost(&languages, source);
        let full = cost(&languages, &quick(source));
        let all = cost(&languages, &format!("{} /* globalThis */", quick(source)));
        println!("{source:<44} {plain:>9.1} {full:>9.1} {all:>9.1}");
    }
    let plain = turns(workflow(&str::to_owned));
    let quick = turns(workflow(&|js| format!("(0, {js})")));
    let all = turns(workflow(&|js| format!("(0, {js}) /* globalThis */")));
    println!(
        "{:<44} {plain:>9.1} {quick:>9.1} {all:>9.1}",
        "the turns of a workflow with 4 expressions"
    );
}
