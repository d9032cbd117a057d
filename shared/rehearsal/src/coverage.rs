//! The activities and connections that tests have run.

use std::collections::BTreeSet;

use model::{Definition, Entry, What};
use serde_json::{Value, json};

/// The coverage of one definition.
pub struct Coverage {
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
    /// Nothing has run yet of the definition in this file. `activities` has their ids, and the lines
    /// that show them.
    #[must_use]
    pub fn new(file: String, activities: Vec<(String, String)>, definition: &Definition) -> Self {
        let mut connections = Vec::new();
        collect(&definition.root, &mut connections);
        Self { file, activities, connections, started: BTreeSet::new(), completed: BTreeSet::new() }
    }

    /// The file of the definition.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Adds a run.
    pub fn add(&mut self, journal: &[Entry]) {
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

    /// The lines of the activities that did not run.
    #[must_use]
    pub fn missed_activities(&self) -> Vec<&str> {
        let missed = self.activities.iter().filter(|(id, _)| !self.started.contains(id));
        missed.map(|(_, line)| line.as_str()).collect()
    }

    /// The connections that were not followed.
    #[must_use]
    pub fn missed_connections(&self) -> Vec<&str> {
        let is_run =
            |it: &&Connection| self.completed.contains(&(it.source.clone(), it.outcome.clone()));
        let missed = self.connections.iter().filter(|it| !is_run(it));
        missed.map(|connection| connection.line.as_str()).collect()
    }

    /// Run and all: activities, connections.
    #[must_use]
    pub fn counts(&self) -> [(usize, usize); 2] {
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

/// The coverage for programs.
#[must_use]
pub fn as_json(coverages: &[Coverage]) -> Value {
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
