//! The activities and connections that tests have run.

use std::collections::BTreeSet;

use engine::Program;
use model::{Definition, Entry, What};
use serde_json::{Value, json};

use crate::document::{Document, vocabulary};
use crate::output;
use crate::{Failure, say};

/// The coverage of one definition.
pub(super) struct Coverage {
    file: String,
    /// Its activities: their ids, and the lines that show them.
    activities: Vec<(String, String)>,
    connections: Vec<Connection>,
    started: BTreeSet<String>,
    /// Activities and outcomes that they completed with.
    completed: BTreeSet<(String, String)>,
}

struct Connection {
    source: String,
    outcome: String,
    line: String,
}

impl Coverage {
    pub(super) fn of(document: &Document, definition: &Definition, program: &Program) -> Self {
        let file = document.path.display().to_string();
        let all = vocabulary().activities(&document.tree);
        let own = program.activities().filter(|(id, _, _)| all.contains_key(id.as_str()));
        let activities: BTreeSet<(usize, usize, String, String)> = own
            .map(|(id, _, name)| {
                let mark = all.get(id.as_str()).map(|tree| tree.mark).unwrap_or_default();
                let shown = name.filter(|name| *name != id.as_str());
                let shown = shown.map_or(id.to_string(), |name| format!("{name} ({id})"));
                (mark.line, mark.column, id.to_string(), format!("{file}:{mark}: {shown}"))
            })
            .collect();
        let mut connections = Vec::new();
        collect(&definition.root, &mut connections);
        let activities = activities.into_iter().map(|(_, _, id, line)| (id, line)).collect();
        Self { file, activities, connections, started: BTreeSet::new(), completed: BTreeSet::new() }
    }

    /// Adds a run.
    pub(super) fn add(&mut self, journal: &[Entry]) {
        for entry in journal {
            let Some(id) = &entry.activity_id else { continue };
            match entry.what {
                What::Started => {
                    self.started.insert(id.to_string());
                }
                What::Completed => {
                    let outcomes = entry.payload.as_ref().and_then(|it| it.get("outcomes"));
                    for outcome in outcomes.and_then(Value::as_array).into_iter().flatten() {
                        let outcome = outcome.as_str().unwrap_or_default().to_owned();
                        self.completed.insert((id.to_string(), outcome));
                    }
                }
                _ => {}
            }
        }
    }

    fn missed_activities(&self) -> Vec<&str> {
        let missed = self.activities.iter().filter(|(id, _)| !self.started.contains(id));
        missed.map(|(_, line)| line.as_str()).collect()
    }

    fn missed_connections(&self) -> Vec<&str> {
        let is_run =
            |it: &&Connection| self.completed.contains(&(it.source.clone(), it.outcome.clone()));
        let missed = self.connections.iter().filter(|it| !is_run(it));
        missed.map(|connection| connection.line.as_str()).collect()
    }

    /// Run and all: activities, connections.
    fn counts(&self) -> [(usize, usize); 2] {
        let (activities, connections) = (self.activities.len(), self.connections.len());
        [
            (activities - self.missed_activities().len(), activities),
            (connections - self.missed_connections().len(), connections),
        ]
    }
}

/// Every connection of every flowchart in a part of a definition.
fn collect(part: &Value, found: &mut Vec<Connection>) {
    match part {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            for link in members.get("connections").and_then(Value::as_array).into_iter().flatten() {
                let text = |pointer: &str| link.pointer(pointer).and_then(Value::as_str);
                let Some(source) = text("/source/activity") else { continue };
                let outcome = text("/source/port").filter(|it| !it.is_empty()).unwrap_or("Done");
                let target = text("/target/activity").unwrap_or_default();
                let from = if outcome == "Done" {
                    source.to_owned()
                } else {
                    format!("{source}.{outcome}")
                };
                found.push(Connection {
                    source: source.to_owned(),
                    outcome: outcome.to_owned(),
                    line: format!("{from} -> {target}"),
                });
            }
            members.values().for_each(|member| collect(member, found));
        }
        _ => {}
    }
}

/// Prints a table with a total, and every part that no test has run.
pub(super) fn print(coverages: &[Coverage]) -> Result<(), Failure> {
    let share = |(run, all): (usize, usize)| format!("{run}/{all}");
    let mut rows = Vec::new();
    let mut total = [(0, 0); 2];
    for coverage in coverages {
        let counts = coverage.counts();
        rows.push(vec![coverage.file.clone(), share(counts[0]), share(counts[1])]);
        for (sum, count) in total.iter_mut().zip(counts) {
            *sum = (sum.0 + count.0, sum.1 + count.1);
        }
    }
    rows.push(vec!["total".to_owned(), share(total[0]), share(total[1])]);
    say::data("")?;
    output::table(&["FILE", "ACTIVITIES", "CONNECTIONS"], &rows)?;
    for coverage in coverages {
        for line in coverage.missed_activities() {
            say::data(&format!("no test runs {line}"))?;
        }
        for line in coverage.missed_connections() {
            say::data(&format!("no test follows {}: {line}", coverage.file))?;
        }
    }
    Ok(())
}

/// The coverage for programs.
pub(super) fn as_json(coverages: &[Coverage]) -> Value {
    let one = |coverage: &Coverage| {
        let [activities, connections] = coverage.counts();
        json!({
            "file": coverage.file,
            "activities": {"run": activities.0, "all": activities.1, "missed": coverage.missed_activities()},
            "connections": {"run": connections.0, "all": connections.1, "missed": coverage.missed_connections()},
        })
    };
    coverages.iter().map(one).collect()
}
