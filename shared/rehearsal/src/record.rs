//! What each activity of a run did: one record for each execution, in the order in which they began.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Charted, Pin, Program};
use model::{Entry, Map, Timestamp, What};
use serde_json::Value;

use crate::play::charted;

/// One execution of an activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The id of the execution.
    pub id: String,
    /// The path of the activity: ids from the workflow down to it, joined with `:`.
    pub node_id: String,
    /// Its id.
    pub activity_id: String,
    /// Its type.
    pub activity_type: String,
    /// Its name, if it has one.
    pub activity_name: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was over; none if it is not.
    pub completed_at: Option<Timestamp>,
    /// `Running`, `Suspended` (it waits), `Completed`, `Canceled` or `Faulted`.
    pub status: &'static str,
    /// Its inputs as they were evaluated, and those that the definition has as they are.
    pub inputs: Map,
    /// Its outputs.
    pub outputs: Map,
    /// The outcomes that it completed with.
    pub outcomes: Vec<String>,
    /// The reason why it failed.
    pub fault: Option<String>,
    /// It did nothing, and has the result that was given.
    pub is_pinned: bool,
    /// Values of it are left out: there are too many.
    pub is_cut: bool,
}

/// The records of a run. The values of all together have at most about `bytes_max` bytes; those after
/// that are left out.
#[must_use]
pub fn records(
    journal: &[Entry],
    program: &Program,
    pins: &[Pin],
    bytes_max: usize,
) -> Vec<Record> {
    let pinned = pins.iter().flat_map(|pin| program.paths(&pin.activity)).collect();
    let mut telling = Telling { program, pinned, found: Vec::new(), places: BTreeMap::new() };
    journal.iter().for_each(|entry| telling.add(entry));
    let mut left = bytes_max;
    for record in &mut telling.found {
        for values in [&mut record.inputs, &mut record.outputs] {
            let bytes =
                values.iter().map(|(name, value)| name.len() + value.to_string().len()).sum();
            match left.checked_sub(bytes) {
                Some(rest) => left = rest,
                None => {
                    values.clear();
                    record.is_cut = true;
                }
            }
        }
    }
    telling.found
}

/// The records so far.
struct Telling<'p> {
    program: &'p Program,
    /// The paths of activities with given results.
    pinned: BTreeSet<&'p str>,
    found: Vec<Record>,
    /// The positions of the records and their activities, by the ids of the executions.
    places: BTreeMap<String, (usize, Charted<'p>)>,
}

impl<'p> Telling<'p> {
    fn add(&mut self, entry: &Entry) {
        let Some(id) = &entry.activity_instance_id else { return };
        if !self.places.contains_key(id)
            && let Some(charted) = charted(self.program, entry)
        {
            let record = self.begun(id, entry, charted);
            self.places.insert(id.clone(), (self.found.len(), charted));
            self.found.push(record);
        }
        let Some((at, charted)) = self.places.get(id).copied() else { return };
        let Some(record) = self.found.get_mut(at) else { return };
        if let Some(recorded) = &entry.recorded {
            record.inputs.extend(named(&recorded.inputs, charted));
            record.outputs.extend(named(&recorded.outputs, charted));
        }
        match entry.what {
            What::Started | What::Resumed | What::Retrying => record.status = "Running",
            What::Suspended => record.status = "Suspended",
            What::Completed => {
                record.status = "Completed";
                let outcomes = entry.payload.as_ref().and_then(|it| it.get("outcomes"));
                let outcomes = outcomes.and_then(Value::as_array).into_iter().flatten();
                record.outcomes = outcomes.filter_map(Value::as_str).map(str::to_owned).collect();
            }
            What::Canceled => record.status = "Canceled",
            What::Faulted => {
                record.status = "Faulted";
                record.fault.clone_from(&entry.message);
            }
            What::Line | What::Workflow | What::Altered => {}
        }
        if matches!(entry.what, What::Completed | What::Canceled | What::Faulted) {
            record.completed_at = Some(entry.timestamp);
        }
    }

    /// The record of an execution that begins with this entry.
    fn begun(&self, id: &str, entry: &Entry, charted: Charted<'p>) -> Record {
        let is_pinned = self.pinned.contains(charted.node_id());
        let inputs = match is_pinned {
            true => Map::new(),
            false => named(&charted.constants(false), charted),
        };
        Record {
            id: id.to_owned(),
            node_id: charted.node_id().to_owned(),
            activity_id: entry.activity_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            activity_type: entry.activity_type.clone().unwrap_or_default(),
            activity_name: entry.activity_name.clone(),
            started_at: entry.timestamp,
            completed_at: None,
            status: "Running",
            inputs,
            outputs: Map::new(),
            outcomes: Vec::new(),
            fault: None,
            is_pinned,
            is_cut: false,
        }
    }
}

/// The values with the names that their descriptors have.
fn named(values: &Map, charted: Charted<'_>) -> Map {
    values.iter().map(|(name, value)| (charted.descriptor_name(name), value.clone())).collect()
}
