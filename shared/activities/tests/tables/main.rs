//! One table for each activity: what it is given, and what happens then. `docs/scenarios.md` equals
//! the page with all of them. A table names each input, each activity in it, and each outcome.

mod activity;
mod composition;
mod connected;
mod flow;
mod http;
mod nats;
mod play;
mod primitives;

use std::collections::BTreeSet;
use std::path::Path;

use engine::Engine;
use play::Table;

const PREFACE: &str = "# Scenarios

Generated from the tables of `shared/activities/tests/tables`, which are tests of the activities:
`UPDATE_EXPECT=1 cargo test -p activities --test tables` writes it anew. Each line is a workflow with
the activity alone, or the workflow that is shown. *Then* is what comes back from outside, one after
the other.
";

fn tables() -> Vec<Table> {
    let mut all = primitives::tables();
    all.extend(composition::tables());
    all.extend(connected::tables());
    all.extend(flow::tables());
    all.extend(http::tables());
    all.extend(nats::tables());
    all.sort_by_key(|table| table.name);
    all
}

#[test]
fn every_scenario_ends_as_documented() {
    let mut page = PREFACE.to_owned();
    tables().iter().for_each(|table| page += &table.page());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md");
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run, not configuration")]
    if std::env::var("UPDATE_EXPECT").is_ok() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(found.lines()).find(|(now, kept)| now != kept);
    assert!(found == page, "docs/scenarios.md is stale: run with UPDATE_EXPECT=1: {differs:#?}");
}

#[test]
fn a_table_names_every_input_and_every_outcome() {
    let missing: Vec<_> = tables().iter().flat_map(Table::missing).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_activity_has_a_table() {
    let engine = Engine::new(activities::all(), expressions::all());
    let known: BTreeSet<_> = tables().iter().map(|table| table.name).collect();
    let missing: Vec<_> = engine
        .descriptors()
        .into_iter()
        .map(|one| one.type_name)
        .filter(|name| !known.contains(name))
        .collect();
    assert_eq!(missing, [""; 0]);
}
