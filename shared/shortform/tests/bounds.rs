//! A short text means no definition of any size, and a large one is read in a short time.

use engine::Engine;
use serde_json::{Value, json};
use shortform::{Notation, Vocabulary, read};

fn vocabulary() -> Vocabulary {
    let engine = Engine::new(activities::all(), expressions::all());
    Vocabulary::new(engine.descriptors())
}

/// The flaws of a text.
fn flaws(text: &str) -> Vec<String> {
    match read(text, Notation::Yaml) {
        Ok(tree) => {
            vocabulary().expand_all(&tree, None).1.iter().map(ToString::to_string).collect()
        }
        Err(flaw) => vec![flaw.to_string()],
    }
}

#[test]
fn what_each_and_variables_add_to_activities_has_a_bound() {
    let long = "x".repeat(100_000);
    let lines = |count: usize| "  - {type: WriteLine, text: a}\n".repeat(count);
    let few = format!("each: {{note: {long}}}\nroot:\n{}", lines(10));
    assert_eq!(flaws(&few), [""; 0]);
    let many = format!("each: {{note: {long}}}\nroot:\n{}", lines(100));
    let found = flaws(&many);
    assert_eq!(found.len(), 1, "it is said once");
    assert!(found[0].starts_with("1:8: what each and variables add"), "{}", found[0]);
    let lines = |count: usize| "  - {type: WriteLine, text: {variable: A}}\n".repeat(count);
    let few = format!("variables: {{A: {long}}}\nroot:\n{}", lines(10));
    assert_eq!(flaws(&few), [""; 0]);
    let many = format!("variables: {{A: {long}}}\nroot:\n{}", lines(100));
    assert!(flaws(&many).concat().contains("what each and variables add"));
}

#[test]
fn a_large_object_is_read_in_a_short_time() {
    let members: String = (0..50_000).map(|at| format!("m{at}: 1\n")).collect();
    assert_eq!(read(&members, Notation::Yaml).unwrap().members().unwrap().len(), 50_000);
    let twice = format!("{members}m7: 2\n");
    let flaw = read(&twice, Notation::Yaml).unwrap_err().to_string();
    assert_eq!(flaw, "50001:1: m7 is there twice: remove one");
}

#[test]
fn a_flowchart_has_next_where_its_connections_are_in_that_order() {
    let chart = |ends: &[(&str, &str, &str)]| {
        let end = |id: &str, port: &str| json!({"activity": id, "port": port});
        let links = ends.iter().map(
            |(from, outcome, to)| json!({"source": end(from, outcome), "target": end(to, "In")}),
        );
        let line = |id: &str| json!({"type": "Elsa.WriteLine", "id": id});
        json!({"definitionId": "d", "root": {"type": "Elsa.Flowchart", "activities":
            [line("a"), line("b"), line("c")], "connections": links.collect::<Value>()}})
    };
    let sorted = chart(&[("a", "X", "b"), ("a", "X", "c"), ("a", "Y", "c"), ("b", "Done", "c")]);
    let short = vocabulary().shorten(&sorted);
    assert_eq!(short["flow"]["a"]["next"], json!({"X": ["b", "c"], "Y": "c"}));
    assert_eq!((&short["flow"]["b"]["next"], &short["connections"]), (&json!("c"), &Value::Null));
    let mixed = chart(&[("a", "X", "b"), ("a", "Y", "c"), ("a", "X", "c")]);
    let short = vocabulary().shorten(&mixed);
    let links = short.pointer("/root/connections").or_else(|| short.get("connections")).unwrap();
    assert_eq!(*links, json!(["a.X -> b", "a.Y -> c", "a.X -> c"]));
}
