//! Variables of Elsa's memory driver. They are stored with the instance, so that they survive a
//! suspension, and never leave it: [`State::view`] leaves them out, and an exported state has their
//! defaults.

use std::collections::{BTreeMap, BTreeSet};

use model::Map;
use serde_json::Value;

use crate::outline::{Declared, Outline};
use crate::program::Program;
use crate::state::{Execution, Output, State};

impl State {
    /// The state without the values of hidden variables: they have their defaults, and outputs that
    /// were bound to them are gone.
    #[must_use]
    pub fn without_hidden(mut self, program: &Program) -> Self {
        let outline = &program.outline;
        let bound = bound(outline);
        reset(&outline.variables, &mut self.variables);
        clear(outline, &mut self.executions);
        forget(&bound, &mut self.outputs, &mut self.last_result);
        if let Some(halted) = &mut self.halted {
            clear(outline, &mut halted.executions);
            forget(&bound, &mut halted.outputs, &mut halted.last_result);
        }
        self
    }
}

fn clear(outline: &Outline, executions: &mut BTreeMap<u64, Execution>) {
    for execution in executions.values_mut() {
        let Some(node) = outline.find(&execution.node) else { continue };
        reset(&outline.node(node).variables, &mut execution.variables);
    }
}

fn reset(declared: &[Declared], values: &mut Map) {
    for variable in declared.iter().filter(|variable| variable.is_hidden) {
        if let Some(value) = values.get_mut(&variable.id) {
            *value = variable.default.clone();
        }
    }
}

/// The outputs, by node and name, that are bound to hidden variables.
fn bound(outline: &Outline) -> BTreeSet<(&str, &str)> {
    let inner = outline.nodes.iter().flat_map(|node| &node.variables);
    let hidden = outline.variables.iter().chain(inner).filter(|variable| variable.is_hidden);
    let names: BTreeSet<&str> =
        hidden.flat_map(|variable| [variable.id.as_str(), variable.name.as_str()]).collect();
    let bindings = outline
        .nodes
        .iter()
        .flat_map(|node| node.bindings.iter().map(|binding| (node.key.as_str(), binding)));
    let hidden = bindings.filter(|(_, binding)| names.contains(binding.target.as_str()));
    hidden.map(|(key, binding)| (key, binding.output.as_str())).collect()
}

/// Drops outputs that are bound to hidden variables, and the last result if it is one of them.
fn forget(bound: &BTreeSet<(&str, &str)>, outputs: &mut Vec<Output>, last_result: &mut Value) {
    let is_hidden = |output: &Output| bound.contains(&(output.node.as_str(), output.name.as_str()));
    if outputs.iter().any(|output| is_hidden(output) && output.value == *last_result) {
        *last_result = Value::Null;
    }
    outputs.retain(|output| !is_hidden(output));
}
