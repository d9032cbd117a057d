//! Activity execution records: one for each execution of an activity, computed from the journal. The
//! workflow itself has one too.

use std::collections::{BTreeMap, BTreeSet};

use engine::{WORKFLOW_ID, WORKFLOW_TYPE};
use model::{Entry, Map, SubStatus, Timestamp, What, execution_id, instance_of};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::history::{Lines, Named, Programs, activity_id, activity_type, renamed, shown_payload};
use crate::record::Seen;
use crate::{App, Problem};

/// One execution of an activity, in Elsa's shape.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutionRecord {
    #[serde(flatten)]
    pub(crate) summary: ExecutionSummary,
    /// Inputs, as they were evaluated.
    #[schema(value_type = Object)]
    activity_state: Map,
    /// Outcomes, and other details of its end.
    #[schema(value_type = Object, nullable)]
    payload: Option<Value>,
    #[schema(value_type = Object)]
    outputs: Map,
    #[schema(value_type = Object)]
    properties: Map,
    /// `{type, message, stackTrace, innerException, metadata}` if it failed.
    #[schema(value_type = Object, nullable)]
    exception: Option<Value>,
    /// The execution that it belongs to.
    pub(crate) scheduling_activity_execution_id: Option<String>,
    scheduling_activity_id: Option<String>,
    /// The instance that started this one, in the record of the workflow itself.
    pub(crate) scheduling_workflow_instance_id: Option<String>,
    /// The number of executions around it.
    call_stack_depth: u32,
}

/// One execution of an activity, without its values.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutionSummary {
    /// The id of the execution: `activityInstanceId` in journals.
    pub(crate) id: String,
    workflow_instance_id: String,
    pub(crate) activity_id: String,
    /// Ids from the workflow down to the activity.
    pub(crate) activity_node_id: String,
    pub(crate) activity_type: String,
    activity_type_version: u32,
    pub(crate) activity_name: Option<String>,
    /// RFC 3339.
    #[schema(value_type = String)]
    started_at: Timestamp,
    /// It waits at a bookmark.
    has_bookmarks: bool,
    /// `Pending`, `Running`, `Completed`, `Canceled` or `Faulted`.
    pub(crate) status: &'static str,
    #[schema(value_type = Object)]
    metadata: Map,
    /// Failures of it and of the activities in it.
    aggregate_fault_count: u32,
    /// RFC 3339.
    #[schema(value_type = Option<String>)]
    pub(crate) completed_at: Option<Timestamp>,
}

/// The executions of one activity, counted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutionStats {
    activity_id: String,
    activity_node_id: String,
    started_count: u64,
    completed_count: u64,
    uncompleted_count: u64,
    /// One of them waits at a bookmark.
    is_blocked: bool,
    is_faulted: bool,
    aggregate_fault_count: u32,
    #[schema(value_type = Object)]
    metadata: Map,
}

/// The records of one instance, in the order in which the executions began.
pub(crate) struct Executions {
    records: Vec<ExecutionRecord>,
    /// What the lines of each record count.
    counts: Vec<Counts>,
    by_id: BTreeMap<String, usize>,
    /// The journal is longer than what was read: the oldest executions are missing.
    pub(crate) is_cut: bool,
}

/// What the lines of one record count. In a long turn, a line that repeats an earlier one of the same
/// activity is counted there and not written.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// It has a line for its start.
    has_start: bool,
    /// Its end is counted in the line of another execution.
    is_ended_elsewhere: bool,
    /// Starts and ends of other executions that its lines count.
    starts: u64,
    ends: u64,
}

impl Executions {
    /// The records of an instance.
    pub(crate) async fn of(app: &App, seen: &Seen) -> Result<Self, Problem> {
        let programs = Programs::of(app, seen).await;
        let Lines { entries, is_cut } = Lines::newest(app, seen).await?;
        let workflow = workflow(seen);
        let mut found = Self {
            by_id: BTreeMap::from([(workflow.summary.id.clone(), 0)]),
            records: vec![workflow],
            counts: vec![Counts { has_start: true, ..Counts::default() }],
            is_cut,
        };
        for entry in &entries {
            found.follow(seen, &programs, entry);
        }
        found.catch_up(seen, &programs);
        found.end_elsewhere();
        found.rename(seen, &programs, &entries);
        found.close(seen);
        found.relate();
        Ok(found)
    }

    pub(crate) fn all(&self) -> &[ExecutionRecord] {
        &self.records
    }

    /// The number of executions of the activities with these paths and ids, as the report has it: also
    /// of those that have no record. Of all, or of those alone that are over, or are not.
    pub(crate) fn count(&self, is_of: impl Fn(&str, &str) -> bool, completed: Option<bool>) -> u64 {
        let stats = self.stats(&[]).into_iter();
        let wanted = stats.filter(|one| is_of(&one.activity_node_id, &one.activity_id));
        let counts = wanted.map(|one| match completed {
            None => one.started_count,
            Some(true) => one.completed_count,
            Some(false) => one.uncompleted_count,
        });
        counts.sum()
    }

    pub(crate) fn get(&self, id: &str) -> Option<&ExecutionRecord> {
        self.by_id.get(id).and_then(|at| self.records.get(*at))
    }

    /// The record and those around it, the outermost first.
    pub(crate) fn chain(&self, id: &str) -> Vec<&ExecutionRecord> {
        let mut chain = Vec::new();
        let mut at = self.get(id);
        // Owners begin before what belongs to them, so this ends.
        while let Some(record) = at.filter(|_| chain.len() <= self.records.len()) {
            chain.push(record);
            let owner = record.scheduling_activity_execution_id.as_deref();
            at = owner.and_then(|owner| self.get(owner));
        }
        chain.reverse();
        chain
    }

    /// The executions of these activities, counted; of all if none is named. Activities that never
    /// ran are left out.
    pub(crate) fn stats(&self, node_ids: &[String]) -> Vec<ExecutionStats> {
        let wanted: BTreeSet<&str> = node_ids.iter().map(String::as_str).collect();
        let mut stats: BTreeMap<&str, ExecutionStats> = BTreeMap::new();
        for (record, counts) in self.records.iter().zip(&self.counts) {
            let summary = &record.summary;
            let node_id = summary.activity_node_id.as_str();
            if !wanted.is_empty() && !wanted.contains(node_id) {
                continue;
            }
            let found = stats.entry(node_id).or_insert_with(|| ExecutionStats::of(summary));
            let is_over = summary.completed_at.is_some() && !counts.is_ended_elsewhere;
            found.started_count += u64::from(counts.has_start) + counts.starts;
            found.completed_count += u64::from(is_over) + counts.ends;
            found.is_blocked |= summary.has_bookmarks;
            found.is_faulted |= summary.status == FAULTED;
            found.aggregate_fault_count = summary.aggregate_fault_count;
            found.metadata.clone_from(&summary.metadata);
        }
        let counted = stats.into_values().map(|mut found| {
            found.uncompleted_count = found.started_count.saturating_sub(found.completed_count);
            found
        });
        counted.collect()
    }

    fn follow(&mut self, seen: &Seen, programs: &Programs, entry: &Entry) {
        let Some(id) = &entry.activity_instance_id else { return };
        let at = self.by_id.get(id).copied().unwrap_or_else(|| {
            self.by_id.insert(id.clone(), self.records.len());
            self.records.push(begun(seen, programs, entry, id));
            // The start of one that began before what was read is no line here.
            let has_start = entry.what == What::Started || self.is_cut;
            self.counts.push(Counts { has_start, ..Counts::default() });
            self.records.len() - 1
        });
        let (Some(record), Some(counts)) = (self.records.get_mut(at), self.counts.get_mut(at))
        else {
            return;
        };
        let repeated = entry.payload.as_ref().and_then(|payload| payload.get("repeated"));
        let repeated = repeated.and_then(Value::as_u64).unwrap_or_default();
        record.take_values(programs, seen, entry);
        match entry.what {
            What::Started => counts.starts += repeated,
            What::Retrying => record.summary.retries(),
            What::Completed => {
                record.payload = shown_payload(entry);
                record.end("Completed", entry);
                counts.ends += repeated;
            }
            What::Canceled => record.end("Canceled", entry),
            What::Faulted => record.fail(entry),
            _ => {}
        }
    }

    /// Adds the newest outputs of open executions, which no line has yet.
    fn catch_up(&mut self, seen: &Seen, programs: &Programs) {
        for (id, key, outputs) in seen.state().unwritten_outputs() {
            let record = self.by_id.get(id).and_then(|at| self.records.get_mut(*at));
            if let Some(record) = record {
                record.outputs.extend(programs.renamed(key, outputs.clone()));
            }
        }
    }

    /// Completes the records whose ends are counted in lines of other executions: those that began
    /// first.
    fn end_elsewhere(&mut self) {
        let mut left: BTreeMap<String, i128> = BTreeMap::new();
        for (record, counts) in self.records.iter().zip(&self.counts) {
            let ends = i128::from(counts.ends) - i128::from(counts.starts);
            let ends = ends + i128::from(!counts.has_start);
            if ends != 0 {
                *left.entry(record.summary.activity_node_id.clone()).or_default() += ends;
            }
        }
        for (record, counts) in self.records.iter_mut().zip(&mut self.counts) {
            let summary = &mut record.summary;
            let Some(left) = left.get_mut(&summary.activity_node_id) else { continue };
            if *left > 0 && summary.completed_at.is_none() {
                *left -= 1;
                counts.is_ended_elsewhere = true;
                summary.status = "Completed";
                summary.completed_at = Some(summary.started_at);
            }
        }
    }

    /// Names the activities that executions have since a migration: the one of the newest line, or of
    /// the state while it is open.
    fn rename(&mut self, seen: &Seen, programs: &Programs, entries: &[Entry]) {
        if !seen.state().has_renamed() {
            return;
        }
        let open: BTreeMap<&str, &str> = seen.state().activities().collect();
        let mut renamed: BTreeMap<&str, Named> = BTreeMap::new();
        for entry in entries {
            let Some(id) = &entry.activity_instance_id else { continue };
            let node_id = programs.node_id(seen, entry);
            renamed
                .insert(id, (activity_id(entry).to_owned(), node_id, entry.activity_name.clone()));
        }
        for record in self.records.iter_mut().skip(1) {
            let summary = &mut record.summary;
            let id = summary.id.as_str();
            let named = open.get(id).and_then(|key| programs.named(key));
            let Some(named) = named.or_else(|| renamed.remove(id)) else { continue };
            (summary.activity_id, summary.activity_node_id, summary.activity_name) = named;
        }
    }

    /// Ends the records that no line has ended, if the instance is over.
    fn close(&mut self, seen: &Seen) {
        let status = seen.status();
        let over = [SubStatus::Finished, SubStatus::Cancelled].contains(&status);
        let owner = |record: &ExecutionRecord| record.scheduling_activity_execution_id.clone();
        let owners: BTreeSet<String> = self.records.iter().filter_map(owner).collect();
        let waiting: BTreeSet<&str> = seen
            .state()
            .bookmarks
            .values()
            .map(|bookmark| bookmark.activity_instance_id.as_str())
            .collect();
        for record in self.records.iter_mut().skip(1) {
            let summary = &mut record.summary;
            summary.has_bookmarks = waiting.contains(summary.id.as_str());
            if over && summary.completed_at.is_none() && summary.status != FAULTED {
                // `Finish` ends a workflow from within its containers, which are done then.
                let is_done = status == SubStatus::Finished && owners.contains(&summary.id);
                summary.status = if is_done { "Completed" } else { "Canceled" };
                summary.completed_at = seen.instance.finished_at;
            }
        }
    }

    /// Fills in what records have from those around them.
    fn relate(&mut self) {
        let chains: Vec<Vec<usize>> = (0..self.records.len())
            .map(|at| {
                let id = self.records.get(at).map(|record| record.summary.id.as_str());
                let chain = self.chain(id.unwrap_or_default());
                chain.iter().filter_map(|one| self.by_id.get(&one.summary.id).copied()).collect()
            })
            .collect();
        for (at, chain) in chains.iter().enumerate() {
            let owner = chain.len().checked_sub(2).and_then(|owner| chain.get(owner));
            let owner = owner.and_then(|owner| self.records.get(*owner));
            let owner = owner.map(|owner| owner.summary.activity_id.clone());
            let is_faulted = self.records.get(at).is_some_and(|one| one.summary.status == FAULTED);
            if let Some(record) = self.records.get_mut(at) {
                record.scheduling_activity_id = owner;
                record.call_stack_depth =
                    u32::try_from(chain.len().saturating_sub(1)).unwrap_or(u32::MAX);
            }
            let retries = self.records.get(at).is_some_and(|one| one.summary.has_retries());
            for around in chain.iter().filter(|_| at > 0 && (is_faulted || retries)) {
                let Some(record) = self.records.get_mut(*around) else { continue };
                record.summary.aggregate_fault_count += u32::from(is_faulted);
                if retries {
                    record.summary.retries();
                }
            }
        }
    }
}

/// Everything that the status of an execution may be. None is `Pending` here.
pub(crate) const EXECUTION_STATUSES: [&str; 5] =
    ["Pending", "Running", "Completed", "Canceled", FAULTED];

/// The status of an execution that failed.
pub(crate) const FAULTED: &str = "Faulted";

impl ExecutionRecord {
    fn take_values(&mut self, programs: &Programs, seen: &Seen, entry: &Entry) {
        let Some(recorded) = &entry.recorded else { return };
        let charted = programs.charted(seen, entry);
        self.activity_state.extend(renamed(recorded.inputs.clone(), charted));
        self.outputs.extend(renamed(recorded.outputs.clone(), charted));
    }

    fn end(&mut self, status: &'static str, entry: &Entry) {
        self.summary.status = status;
        self.summary.completed_at = Some(entry.timestamp);
    }

    fn fail(&mut self, entry: &Entry) {
        self.end(FAULTED, entry);
        self.exception = Some(exception(entry));
    }
}

/// The failure that a line is about, in Elsa's shape: the same as that of its incident. The payload of
/// the line has its type and category.
pub(crate) fn exception(entry: &Entry) -> Value {
    let code = entry.payload.as_ref().and_then(|payload| payload.get("code"));
    let code = code.and_then(Value::as_str).unwrap_or("Fault");
    engine::exception(code, entry.message.as_deref().unwrap_or_default())
}

/// Elsa's name of the mark of an execution with retries, and of those around it.
const RETRIES: &str = "HasRetryAttempts";

impl ExecutionSummary {
    /// When it began.
    pub(crate) fn started_at(&self) -> Timestamp {
        self.started_at
    }

    fn retries(&mut self) {
        self.metadata.insert(RETRIES.to_owned(), json!(true));
    }

    fn has_retries(&self) -> bool {
        self.metadata.contains_key(RETRIES)
    }
}

impl ExecutionStats {
    fn of(summary: &ExecutionSummary) -> Self {
        Self {
            activity_id: summary.activity_id.clone(),
            activity_node_id: summary.activity_node_id.clone(),
            started_count: 0,
            completed_count: 0,
            uncompleted_count: 0,
            is_blocked: false,
            is_faulted: false,
            aggregate_fault_count: 0,
            metadata: Map::new(),
        }
    }
}

/// A record that begins with this line.
fn begun(seen: &Seen, programs: &Programs, entry: &Entry, id: &str) -> ExecutionRecord {
    let instance = &seen.instance.id;
    let charted = programs.charted(seen, entry);
    ExecutionRecord {
        summary: ExecutionSummary {
            id: id.to_owned(),
            workflow_instance_id: instance.to_string(),
            activity_id: activity_id(entry).to_owned(),
            activity_node_id: programs.node_id(seen, entry),
            activity_type: activity_type(entry).to_owned(),
            activity_type_version: charted.map_or(1, |charted| charted.type_version()),
            activity_name: entry.activity_name.clone(),
            started_at: entry.timestamp,
            has_bookmarks: false,
            status: "Running",
            metadata: Map::new(),
            aggregate_fault_count: 0,
            completed_at: None,
        },
        activity_state: renamed(programs.constants(charted), charted),
        payload: None,
        outputs: Map::new(),
        properties: Map::new(),
        exception: None,
        scheduling_activity_execution_id: entry.owner.map(|owner| execution_id(instance, owner)),
        scheduling_activity_id: None,
        scheduling_workflow_instance_id: None,
        call_stack_depth: 0,
    }
}

/// The record of the workflow itself.
fn workflow(seen: &Seen) -> ExecutionRecord {
    let instance = &seen.instance;
    let state = seen.state();
    let failed = state.incidents.last().filter(|_| instance.status == SubStatus::Faulted);
    let parent = instance.parent.as_ref().map(|parent| parent.instance_id.to_string());
    ExecutionRecord {
        summary: ExecutionSummary {
            id: execution_id(&instance.id, 0),
            workflow_instance_id: instance.id.to_string(),
            activity_id: WORKFLOW_ID.to_owned(),
            activity_node_id: WORKFLOW_ID.to_owned(),
            activity_type: WORKFLOW_TYPE.to_owned(),
            activity_type_version: 1,
            activity_name: None,
            started_at: instance.created_at,
            has_bookmarks: false,
            status: engine::workflow_status(instance.status),
            metadata: Map::new(),
            aggregate_fault_count: 0,
            completed_at: instance.finished_at,
        },
        activity_state: Map::new(),
        payload: None,
        outputs: Map::new(),
        properties: Map::new(),
        exception: failed.map(|failed| engine::exception(&failed.code, &failed.message)),
        scheduling_activity_execution_id: None,
        scheduling_activity_id: None,
        scheduling_workflow_instance_id: parent,
        call_stack_depth: 0,
    }
}

/// The instance that an execution belongs to.
///
/// # Errors
/// 404 for an id that does not name its instance.
pub(crate) fn instance_in(id: &str) -> Result<model::InstanceId, Problem> {
    instance_of(id).map(|(instance, _)| instance).ok_or_else(|| missing(id))
}

/// 404: no execution has this id.
pub(crate) fn missing(id: &str) -> Problem {
    Problem::not_found(format!(
        "there is no activity execution {id}: the list of an instance has the ids of its executions"
    ))
}
