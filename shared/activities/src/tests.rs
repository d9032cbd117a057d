//! Helpers of the test tables.

mod composite;
mod http_calls;
mod http_endpoint;
mod http_responses;
mod retry;
mod workers;

use std::sync::OnceLock;

use engine::testing::{Player, env, parsed};
use engine::{Engine, Triggers};
use serde_json::{Value, json};

/// An engine with all activities and languages.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(crate::all(), expressions::all()))
}

/// A player of a definition that compiles.
pub(crate) fn player(document: Value) -> Player<'static> {
    match Player::new(engine(), document) {
        Ok(player) => player.recoding(),
        Err(problems) => panic!("the definition has problems: {problems:?}"),
    }
}

/// Runs a workflow that needs nothing from outside, and compares the lines it writes.
pub(crate) fn check_lines(document: Value, expected: &[&str]) {
    let mut player = player(document.clone());
    player.start(json!({}));
    let incidents = &player.state().incidents;
    assert!(player.status().is_final() && incidents.is_empty(), "{document}: {incidents:?}");
    assert_eq!(player.lines(), expected, "{document}");
}

/// Runs one activity, and compares its outcomes.
pub(crate) fn check_outcomes(mut node: Value, expected: &[&str]) {
    node["id"] = json!("subject");
    let mut player = player(node.clone());
    player.start(json!({}));
    assert_eq!(player.incident(), None, "{node}");
    assert_eq!(player.outcomes("subject"), expected, "{node}");
}

/// The problems of a definition that does not compile.
pub(crate) fn problems(document: Value) -> Vec<String> {
    match Player::new(engine(), document) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

/// What is wrong with a definition that is to be published.
pub(crate) fn oversights(document: Value) -> Vec<String> {
    let found = engine()
        .validate(&parsed(document).unwrap(), &engine::Library::default())
        .err()
        .unwrap_or_default();
    found.iter().map(ToString::to_string).collect()
}

/// The triggers of a definition.
pub(crate) fn causes(document: Value) -> Triggers {
    let program =
        engine().compile(&parsed(document).unwrap(), &engine::Library::default()).unwrap();
    engine().triggers(&program, &env(0)).unwrap()
}

/// The problems of the triggers of a definition.
pub(crate) fn trigger_problems(document: Value) -> Vec<String> {
    let program =
        engine().compile(&parsed(document).unwrap(), &engine::Library::default()).unwrap();
    let problems = engine().triggers(&program, &env(0)).unwrap_err();
    problems.iter().map(ToString::to_string).collect()
}

/// The warnings about a definition that is to be published.
pub(crate) fn warnings(document: Value) -> Vec<String> {
    let definition = parsed(document).unwrap();
    let examined = engine().examine(&definition, &engine::Library::default(), &env(0));
    let found = examined.problems.iter().filter(|problem| !problem.is_error());
    found.map(ToString::to_string).collect()
}
