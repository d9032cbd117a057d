//! Large values leave the state before it is stored: see [`model::large`].

use std::collections::BTreeMap;

use model::large::{take, take_each};
use model::{Large, Map};

use crate::Effect;
use crate::program::Program;
use crate::state::{Execution, Output, State};

/// What is taken, and what was taken so far.
struct Taking {
    above: usize,
    bytes_max: u64,
    taken: Vec<Large>,
}

impl State {
    /// Takes the values out of the state, and out of what it sends to other instances, that have more than
    /// about `above` bytes, and as JSON at most `bytes_max`. They must be kept as payloads before the state
    /// is stored. Searchable values stay, and so does what activities remember.
    #[must_use]
    pub fn take_large(
        &mut self,
        program: &Program,
        effects: &mut [Effect],
        above: usize,
        bytes_max: u64,
    ) -> Vec<Large> {
        let mut taking = Taking { above, bytes_max, taken: Vec::new() };
        taking.each(&mut self.input);
        taking.each(&mut self.output);
        let variables = &program.outline.variables;
        for (id, value) in &mut self.variables {
            let is_it = |declared: &&crate::outline::Declared| declared.id == *id;
            if variables.iter().find(is_it).is_none_or(|found| found.searchable.is_none()) {
                taking.one(value);
            }
        }
        taking.executions(&mut self.executions);
        self.work.iter_mut().for_each(|work| taking.each(&mut work.given));
        taking.outputs(&mut self.outputs);
        taking.one(&mut self.last_result);
        if let Some(halted) = self.halted.as_deref_mut() {
            taking.executions(&mut halted.executions);
            halted.work.iter_mut().for_each(|work| taking.each(&mut work.given));
            taking.outputs(&mut halted.outputs);
            taking.one(&mut halted.last_result);
        }
        for effect in effects {
            match effect {
                Effect::Dispatch(dispatch) => taking.each(&mut dispatch.input),
                Effect::Publish(publish) => taking.one(&mut publish.payload),
                _ => {}
            }
        }
        taking.taken
    }
}

impl Taking {
    fn one(&mut self, value: &mut serde_json::Value) {
        take(value, self.above, self.bytes_max, &mut self.taken);
    }

    fn each(&mut self, values: &mut Map) {
        take_each(values, self.above, self.bytes_max, &mut self.taken);
    }

    fn executions(&mut self, executions: &mut BTreeMap<u64, Execution>) {
        for execution in executions.values_mut() {
            self.each(&mut execution.variables);
            self.each(&mut execution.given);
            self.each(&mut execution.input);
            self.each(&mut execution.output);
        }
    }

    fn outputs(&mut self, outputs: &mut [Output]) {
        outputs.iter_mut().for_each(|output| self.one(&mut output.value));
    }
}
