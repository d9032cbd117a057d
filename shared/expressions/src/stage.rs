//! A scope of plain maps, for the tests of the languages.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{Identity, Scope, UrlOf};
use model::{Map, Timestamp};
use serde_json::{Value, json};

/// All data that an expression can see and change, for tests to read.
#[derive(Clone, Default)]
pub(crate) struct Stage {
    pub(crate) variables: Vec<(String, Value)>,
    pub(crate) inputs: BTreeMap<String, Value>,
    pub(crate) own_inputs: BTreeMap<String, Value>,
    pub(crate) outputs: BTreeMap<(String, String), Value>,
    pub(crate) arguments: Map,
    pub(crate) last_result: Option<Value>,
    pub(crate) identity: Identity,
    pub(crate) outcomes: Option<Vec<String>>,
    pub(crate) takes_outcomes: bool,
    pub(crate) takes_files: bool,
    pub(crate) urls: Vec<(String, Option<Duration>)>,
    pub(crate) draws: u8,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            identity: Identity {
                definition_id: "orders".into(),
                version_id: "orders-3".into(),
                version: 3,
                instance_id: "i-1".into(),
                correlation_id: Some("c-9".into()),
                instance_name: None,
            },
            takes_outcomes: true,
            ..Self::default()
        }
    }

    pub(crate) fn with_variable(mut self, name: &str, value: Value) -> Self {
        self.variables.push((name.to_owned(), value));
        self
    }

    pub(crate) fn with_input(mut self, name: &str, value: Value) -> Self {
        self.inputs.insert(name.to_owned(), value);
        self
    }

    pub(crate) fn with_output(mut self, activity: &str, output: &str, value: Value) -> Self {
        self.outputs.insert((activity.to_owned(), output.to_owned()), value);
        self
    }
}

impl Scope for Stage {
    fn takes_files(&self) -> bool {
        self.takes_files
    }

    fn variable(&self, name: &str) -> Option<Value> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn set_variable(&mut self, name: &str, value: Value) -> bool {
        match self.variables.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => {
                *old = value;
                true
            }
            None => false,
        }
    }

    fn variable_names(&self) -> Vec<String> {
        self.variables.iter().map(|(name, _)| name.clone()).collect()
    }

    fn input(&self, name: &str) -> Option<Value> {
        self.inputs.get(name).cloned()
    }

    fn activity_input(&self, name: &str) -> Option<Value> {
        self.own_inputs.get(name).cloned()
    }

    fn input_names(&self) -> Vec<String> {
        self.inputs.keys().cloned().collect()
    }

    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value> {
        let key = (activity.to_owned(), output.unwrap_or("Result").to_owned());
        self.outputs.get(&key).cloned()
    }

    fn output_names(&self) -> Vec<(String, String)> {
        self.outputs.keys().cloned().collect()
    }

    fn arguments(&self) -> &Map {
        &self.arguments
    }

    fn last_result(&self) -> Option<Value> {
        self.last_result.clone()
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn set_correlation_id(&mut self, value: Option<String>) {
        self.identity.correlation_id = value;
    }

    fn set_instance_name(&mut self, value: Option<String>) {
        self.identity.instance_name = value;
    }

    fn set_outcomes(&mut self, outcomes: Vec<String>) -> bool {
        if self.takes_outcomes {
            self.outcomes = Some(outcomes);
        }
        self.takes_outcomes
    }

    fn now(&self) -> Timestamp {
        Timestamp::parse("2026-11-21T09:00:00Z").unwrap()
    }

    fn random(&mut self) -> [u8; 16] {
        self.draws += 1;
        [self.draws; 16]
    }

    fn url(&mut self, of: UrlOf<'_>, lifetime: Option<Duration>) -> Result<String, String> {
        let name = match of {
            UrlOf::Event(name) => name.to_owned(),
            UrlOf::Activity("nobody") => return Err("there is no activity nobody".to_owned()),
            UrlOf::Activity(name) => format!("activity {name}"),
        };
        self.urls.push((name, lifetime));
        Ok(format!("http://localhost/bookmarks/resume?t={}", self.urls.len()))
    }
}

/// A stage with one of everything.
pub(crate) fn furnished() -> Stage {
    Stage::new()
        .with_variable("Name", json!("Ada"))
        .with_variable("counter", json!(4))
        .with_variable("Order", json!({"id": 7, "lines": [{"sku": "a"}, {"sku": "b"}]}))
        .with_variable("Empty", Value::Null)
        .with_input("Amount", json!(12.5))
        .with_output("Fetch", "Result", json!({"ok": true}))
        .with_output("Fetch", "StatusCode", json!(200))
}
