//! The values of one turn that its journal keeps: evaluated inputs, outputs, changes of variables.
//!
//! They are collected while the turn runs and put into its lines at its end: inputs into the first line
//! of an execution, outputs into the last one. Outputs of an open execution without a line in the turn are
//! in the state until it has one. Changes of variables are in the last line of the turn, or
//! before that in the line with which an activity begins from which an instance can be restarted. An
//! execution that has no line in the turn, because its lines were folded, keeps no values.

use std::collections::BTreeMap;

use model::large::weight;
use model::{Changed, Entry, Map, Recorded, limits};
use serde_json::Value;

use crate::keeping::{kept, masked};
use crate::state::State;

/// The values that all inputs and outputs of one execution may be as long as together.
const VALUES_MAX: usize = limits::JOURNAL_VALUES_BYTES_MAX / limits::JOURNAL_VALUE_BYTES_MAX;

/// The values so far.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Bytes of one input or output.
    pub(crate) value_bytes_max: usize,
    values: BTreeMap<u64, Values>,
    /// The variables that changed: the execution that has it, or 0 for the workflow, and its id; true
    /// for one whose values are masked.
    changed: BTreeMap<(u64, String), bool>,
    /// The bytes of variables that lines of the turn have already.
    variable_bytes: usize,
}

/// The values of one execution.
#[derive(Debug, Default)]
struct Values {
    inputs: Map,
    outputs: Map,
    bytes: usize,
    /// It has set a variable of which no values are kept, so nothing of it is kept.
    is_withheld: bool,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            value_bytes_max: limits::JOURNAL_VALUE_BYTES_MAX,
            values: BTreeMap::new(),
            changed: BTreeMap::new(),
            variable_bytes: 0,
        }
    }
}

impl Recorder {
    /// With the outputs of earlier turns that no line has yet.
    pub(crate) fn of(state: &mut State) -> Self {
        let mut values = BTreeMap::new();
        for (number, execution) in &mut state.executions {
            if !execution.unwritten.is_empty() {
                let outputs = std::mem::take(&mut execution.unwritten);
                let bytes = outputs.iter().map(|(name, value)| name.len() + weight(value)).sum();
                values.insert(*number, Values { outputs, bytes, ..Values::default() });
            }
        }
        Self { values, ..Self::default() }
    }

    /// Keeps an evaluated input or an output, as far as there is room; the bytes that it takes.
    pub(crate) fn keep(
        &mut self,
        number: u64,
        is_output: bool,
        name: &str,
        value: &Value,
    ) -> usize {
        let values = self.values.entry(number).or_default();
        if values.is_withheld {
            return 0;
        }
        let into = if is_output { &mut values.outputs } else { &mut values.inputs };
        if let Some(before) = into.remove(name) {
            values.bytes = values.bytes.saturating_sub(name.len() + weight(&before));
        }
        let one = self.value_bytes_max;
        let left = one.saturating_mul(VALUES_MAX).saturating_sub(values.bytes);
        let value = kept(value, one.min(left));
        let bytes = name.len() + weight(&value);
        values.bytes += bytes;
        into.insert(name.to_owned(), value);
        bytes
    }

    /// Keeps nothing of an execution.
    pub(crate) fn withhold(&mut self, number: u64) {
        *self.values.entry(number).or_default() = Values { is_withheld: true, ..Values::default() };
    }

    /// A variable has another value now. `is_masked`: the journal says no more than that.
    pub(crate) fn changed(&mut self, owner: u64, id: &str, is_masked: bool) {
        self.changed.insert((owner, id.to_owned()), is_masked);
    }

    /// Puts the values into the lines of the turn. `numbers` has the execution of each line; 0 for a
    /// line about the instance as a whole.
    pub(crate) fn write(mut self, entries: &mut [Entry], numbers: &[u64], state: &mut State) {
        if !self.values.is_empty() {
            for (entry, number) in entries.iter_mut().zip(numbers) {
                let inputs = self.values.get_mut(number).map(|values| &mut values.inputs);
                if let Some(inputs) = inputs.filter(|inputs| !inputs.is_empty()) {
                    recorded(entry).inputs = std::mem::take(inputs);
                }
            }
            for (entry, number) in entries.iter_mut().zip(numbers).rev() {
                let outputs = self.values.get_mut(number).map(|values| &mut values.outputs);
                if let Some(outputs) = outputs.filter(|outputs| !outputs.is_empty()) {
                    recorded(entry).outputs = std::mem::take(outputs);
                }
            }
            for (number, values) in std::mem::take(&mut self.values) {
                if let Some(execution) = state.executions.get_mut(&number) {
                    execution.unwritten = values.outputs;
                }
            }
        }
        let changes = self.take_changes(state);
        if let (false, Some(last)) = (changes.is_empty(), entries.last_mut()) {
            recorded(last).variables.extend(changes);
        }
    }

    /// The values of the variables that changed since they were last taken, and are still there.
    pub(crate) fn take_changes(&mut self, state: &State) -> Vec<Changed> {
        let mut left = limits::JOURNAL_VARIABLES_BYTES_MAX.saturating_sub(self.variable_bytes);
        let changed = std::mem::take(&mut self.changed).into_iter();
        let found = changed.filter_map(|((owner, id), is_masked)| {
            let values = match owner {
                0 => &state.variables,
                number => &state.executions.get(&number)?.variables,
            };
            let value = match (values.get(&id)?, is_masked) {
                (value, true) => masked(value),
                (value, false) => kept(value, limits::JOURNAL_VARIABLE_BYTES_MAX.min(left)),
            };
            let bytes = weight(&value);
            left = left.saturating_sub(bytes);
            self.variable_bytes += bytes;
            Some(Changed { owner, id, value })
        });
        found.collect()
    }

    /// Whether it has something for a line of the turn.
    pub(crate) fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }
}

fn recorded(entry: &mut Entry) -> &mut Recorded {
    entry.recorded.get_or_insert_default()
}
