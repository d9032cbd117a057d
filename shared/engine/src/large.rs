//! Large values leave the state before it is stored: see [`model::large`].

use std::collections::BTreeMap;

use model::large::{take, take_each};
use model::limits::{PAYLOAD_ABOVE_BYTES_MIN, TASK_INPUT_BYTES_MAX};
use model::{Large, Map};
use serde_json::Value;

use crate::outline::{Declared, Outline};
use crate::program::Program;
use crate::state::{Execution, Output, State};
use crate::{Effect, Task};

/// What is taken, and what was taken so far.
struct Taking<'o> {
    outline: &'o Outline,
    above: usize,
    bytes_max: u64,
    taken: Vec<Large>,
}

impl State {
    /// Takes the values out of the state, and out of what it sends to other instances, that have more than
    /// about `above` bytes, and as JSON at most `bytes_max`. They must be kept as payloads before the state
    /// is stored. Searchable values stay, and so do those of the memory driver, which never leave the
    /// instance, and what activities remember. The input of a task stays as long as a message can carry
    /// it; otherwise its activity remembers what stands for its values, too, so that every attempt has
    /// the same input, and the state refers to the payloads as long as the task is open.
    #[must_use]
    pub fn take_large(
        &mut self,
        program: &Program,
        effects: &mut [Effect],
        above: usize,
        bytes_max: u64,
    ) -> Vec<Large> {
        let outline = &program.outline;
        let mut taking = Taking { outline, above, bytes_max, taken: Vec::new() };
        taking.each(&mut self.input);
        taking.each(&mut self.output);
        taking.variables(&outline.variables, &mut self.variables);
        taking.executions(&mut self.executions);
        self.work.iter_mut().for_each(|work| taking.each(&mut work.given));
        taking.outputs(&mut self.outputs, &mut self.last_result);
        if let Some(halted) = self.halted.as_deref_mut() {
            taking.executions(&mut halted.executions);
            halted.work.iter_mut().for_each(|work| taking.each(&mut work.given));
            taking.outputs(&mut halted.outputs, &mut halted.last_result);
        }
        for effect in effects {
            match effect {
                Effect::Dispatch(dispatch) => taking.each(&mut dispatch.input),
                Effect::Publish(publish) => taking.one(&mut publish.payload),
                Effect::Task(task) => {
                    let has_taken = taking.task(&mut task.payload);
                    if has_taken {
                        self.remember_input(task);
                    }
                }
                _ => {}
            }
        }
        taking.taken
    }

    /// The activity that waits for this task remembers its input as it is handed out.
    fn remember_input(&mut self, task: &Task) {
        let halted = self.halted.as_deref_mut().map(|halted| halted.executions.values_mut());
        let executions = self.executions.values_mut().chain(halted.into_iter().flatten());
        executions.for_each(|execution| task.put_into(&mut execution.memory));
    }
}

impl Taking<'_> {
    /// Takes values out of the input of a task that a message cannot carry: the large ones, and where
    /// that is not enough, smaller ones. Returns whether it has taken any.
    fn task(&mut self, input: &mut Value) -> bool {
        let before = self.taken.len();
        for above in [self.above, PAYLOAD_ABOVE_BYTES_MIN] {
            if fits(input) {
                break;
            }
            let members = input.as_object_mut().into_iter().flat_map(Map::values_mut);
            members.for_each(|value| take(value, above, self.bytes_max, &mut self.taken));
        }
        self.taken.len() > before
    }

    fn one(&mut self, value: &mut Value) {
        take(value, self.above, self.bytes_max, &mut self.taken);
    }

    fn each(&mut self, values: &mut Map) {
        take_each(values, self.above, self.bytes_max, &mut self.taken);
    }

    fn variables(&mut self, declared: &[Declared], values: &mut Map) {
        let stays = |declared: &Declared| declared.searchable.is_some() || declared.is_hidden;
        for (id, value) in values {
            let found = declared.iter().find(|declared| declared.id == *id);
            if !found.is_some_and(stays) {
                self.one(value);
            }
        }
    }

    fn executions(&mut self, executions: &mut BTreeMap<u64, Execution>) {
        for execution in executions.values_mut() {
            let node = self.outline.find(&execution.node);
            let declared = node.map(|node| self.outline.node(node).variables.as_slice());
            self.variables(declared.unwrap_or_default(), &mut execution.variables);
            self.each(&mut execution.given);
            self.each(&mut execution.input);
            self.each(&mut execution.output);
        }
    }

    /// Outputs may be bound to variables of the memory driver, where a workflow has any.
    fn outputs(&mut self, outputs: &mut [Output], last_result: &mut Value) {
        if self.outline.hides {
            return;
        }
        outputs.iter_mut().for_each(|output| self.one(&mut output.value));
        self.one(last_result);
    }
}

/// Whether the message of a task can carry this input.
fn fits(input: &Value) -> bool {
    serde_json::to_vec(input).is_ok_and(|json| json.len() <= TASK_INPUT_BYTES_MAX)
}
