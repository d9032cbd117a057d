//! The history of an instance: the lines of its journal in Elsa's shape, each with the version of the
//! definition that wrote it.
//!
//! What a definition says is not kept in journals: paths, versions of types and constant inputs are
//! read from the program of the line's version.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Charted, Program, WORKFLOW_ID, WORKFLOW_TYPE};
use model::{Changed, Entry, Map, VersionId, What, execution_id, limits};
use serde_json::{Value, json};
use store::Page;

use crate::record::Seen;
use crate::{App, Problem};

/// The id, the node id and the name of an activity.
pub(crate) type Named = (String, String, Option<String>);

/// The programs that an instance has run. A version that is deleted or does not compile is missing.
pub(crate) struct Programs {
    current: Option<Arc<Program>>,
    past: BTreeMap<VersionId, Arc<Program>>,
    leaves_out_values: bool,
}

impl Programs {
    /// The programs of an instance.
    pub(crate) async fn of(app: &App, seen: &Seen) -> Self {
        let program = async |id: &VersionId| app.cx.catalog.program(id).await.ok().flatten();
        let mut past = BTreeMap::new();
        for id in seen.state().past_versions() {
            if !past.contains_key(id)
                && let Some(found) = program(id).await
            {
                past.insert(id.clone(), found);
            }
        }
        let current = program(&seen.instance.version_id).await;
        Self { current, past, leaves_out_values: app.config.leaves_out_values }
    }

    /// The program that wrote this line.
    pub(crate) fn at(&self, seen: &Seen, sequence: u64) -> Option<&Program> {
        match seen.state().version_at(sequence) {
            Some(id) => self.past.get(id).map(|program| &**program),
            None => self.current.as_deref(),
        }
    }

    /// The activity of a line; none for a line about the instance as a whole, or if its version is not
    /// there any more.
    pub(crate) fn charted(&self, seen: &Seen, entry: &Entry) -> Option<Charted<'_>> {
        let id = entry.activity_id.as_ref()?;
        let node_id = entry.recorded.as_ref().and_then(|recorded| recorded.node_id.as_deref());
        self.at(seen, entry.sequence)?.charted(id.as_str(), node_id)
    }

    /// The path of the activity of a line.
    pub(crate) fn node_id(&self, seen: &Seen, entry: &Entry) -> String {
        let kept = entry.recorded.as_ref().and_then(|recorded| recorded.node_id.clone());
        let charted = || self.charted(seen, entry).map(|charted| charted.node_id().to_owned());
        kept.or_else(charted).unwrap_or_else(|| activity_id(entry).to_owned())
    }

    /// The activity that has this key in the version that the instance runs.
    pub(crate) fn named(&self, key: &str) -> Option<Named> {
        let charted = self.current.as_deref()?.charted(key, None)?;
        let name = charted.name().map(str::to_owned);
        Some((charted.activity_id().to_owned(), charted.node_id().to_owned(), name))
    }

    /// The values of an open activity, which has this key, with the names of its descriptor.
    pub(crate) fn renamed(&self, key: &str, values: Map) -> Map {
        renamed(values, self.current.as_deref().and_then(|program| program.charted(key, None)))
    }

    /// The inputs that the definition has as they are.
    pub(crate) fn constants(&self, charted: Option<Charted<'_>>) -> Map {
        charted.map(|charted| charted.constants(self.leaves_out_values)).unwrap_or_default()
    }
}

/// The id of the activity of a line; that of the workflow for a line about the instance as a whole.
pub(crate) fn activity_id(entry: &Entry) -> &str {
    entry.activity_id.as_ref().map_or(WORKFLOW_ID, |id| id.as_str())
}

/// The type of the activity of a line.
pub(crate) fn activity_type(entry: &Entry) -> &str {
    entry.activity_type.as_deref().unwrap_or(WORKFLOW_TYPE)
}

/// The name of an event.
pub(crate) fn event_name(what: What) -> String {
    format!("{what:?}")
}

/// The values with the names of the descriptor.
pub(crate) fn renamed(values: Map, charted: Option<Charted<'_>>) -> Map {
    let name = |name: String| match charted {
        Some(charted) => charted.descriptor_name(&name),
        None => engine::pascal(&name),
    };
    values.into_iter().map(|(key, value)| (name(key), value)).collect()
}

/// The details of a line. Clients of Elsa look for the outcomes under a name with a capital.
pub(crate) fn shown_payload(entry: &Entry) -> Option<Value> {
    let mut payload = entry.payload.clone()?;
    if let Some(members) = payload.as_object_mut()
        && let Some(outcomes) = members.get("outcomes").cloned()
    {
        members.insert("Outcomes".to_owned(), outcomes);
    }
    Some(payload)
}

/// Lines in Elsa's shape, one after the other: a line that has no inputs of its own has those of the
/// lines of the same execution before it.
pub(crate) struct Telling<'s> {
    seen: &'s Seen,
    programs: &'s Programs,
    inputs: BTreeMap<String, Map>,
}

impl<'s> Telling<'s> {
    pub(crate) fn new(seen: &'s Seen, programs: &'s Programs) -> Self {
        Self { seen, programs, inputs: BTreeMap::new() }
    }

    /// Takes the inputs of lines that come before those that are told.
    pub(crate) fn recall(&mut self, earlier: &[Entry]) {
        for entry in earlier.iter().filter(|entry| entry.activity_id.is_some()) {
            let has_inputs =
                entry.recorded.as_ref().is_some_and(|recorded| !recorded.inputs.is_empty());
            if has_inputs {
                drop(self.state(entry, self.programs.charted(self.seen, entry)));
            }
        }
    }

    /// The next line.
    pub(crate) fn line(&mut self, entry: &Entry) -> Value {
        let instance = &self.seen.instance;
        let program = self.programs.at(self.seen, entry.sequence);
        let version_id = self.seen.state().version_at(entry.sequence);
        let charted = self.programs.charted(self.seen, entry);
        let is_whole = entry.activity_id.is_none();
        let own_id = || Some(execution_id(&instance.id, 0)).filter(|_| is_whole);
        let parent = entry.owner.map(|owner| execution_id(&instance.id, owner));
        let outputs = entry.recorded.as_ref().map(|recorded| recorded.outputs.clone());
        let mut line = json!({
            "id": format!("{}-{}", instance.id, entry.sequence),
            "workflowInstanceId": instance.id,
            "workflowDefinitionId": instance.definition_id,
            "workflowDefinitionVersionId": version_id.unwrap_or(&instance.version_id),
            "workflowVersion": program.map_or(instance.definition_version, Program::version),
            "activityInstanceId": entry.activity_instance_id.clone().or_else(own_id),
            "parentActivityInstanceId": parent,
            "activityId": activity_id(entry),
            "activityType": activity_type(entry),
            "activityTypeVersion": charted.map_or(1, |charted| charted.type_version()),
            "activityName": entry.activity_name,
            "nodeId": self.programs.node_id(self.seen, entry),
            "timestamp": entry.timestamp,
            "sequence": entry.sequence,
            "eventName": event_name(entry.what),
            "message": entry.message,
            "source": charted.and_then(|charted| charted.source()),
            "activityState": (!is_whole).then(|| self.state(entry, charted)),
            "payload": shown_payload(entry),
            "outputs": renamed(outputs.unwrap_or_default(), charted),
        });
        if let (Some(line), Some(node)) = (line.as_object_mut(), &entry.node) {
            line.insert("node".to_owned(), json!(node));
        }
        line
    }

    /// The inputs of the activity, as far as they are known.
    fn state(&mut self, entry: &Entry, charted: Option<Charted<'_>>) -> Map {
        let id = entry.activity_instance_id.clone().unwrap_or_default();
        let programs = self.programs;
        let inputs = self.inputs.entry(id).or_insert_with(|| programs.constants(charted));
        if let Some(recorded) = &entry.recorded {
            inputs.extend(recorded.inputs.clone());
        }
        let inputs = inputs.clone();
        renamed(inputs, charted)
    }
}

/// The journal of an instance, or its newest part.
pub(crate) struct Lines {
    pub(crate) entries: Vec<Entry>,
    /// The journal has earlier lines, which were not read.
    pub(crate) is_cut: bool,
}

impl Lines {
    /// The newest lines, at most [`limits::HISTORY_LINES_MAX`].
    pub(crate) async fn newest(app: &App, seen: &Seen) -> Result<Self, Problem> {
        let total = seen.state().journal_sequence;
        let skipped = total.saturating_sub(limits::HISTORY_LINES_MAX);
        let entries = read(app, seen, skipped, total).await?;
        Ok(Self { entries, is_cut: skipped > 0 })
    }
}

/// The lines after the first `skip` ones, up to this sequence number.
async fn read(app: &App, seen: &Seen, skip: u64, last: u64) -> Result<Vec<Entry>, Problem> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut next = skip;
    while next < last {
        let take = limits::PAGE_ITEMS_MAX.min(last - next);
        let found = app.cx.store.journal(&seen.instance.id, Page::new(next, take)).await?;
        if found.items.is_empty() {
            break;
        }
        entries.extend(found.items);
        next += take;
    }
    Ok(entries)
}

/// The variables of an instance after a line of its journal.
pub(crate) struct Values {
    /// By the number of the execution that has them, 0 for the workflow, and by id.
    values: BTreeMap<u64, BTreeMap<String, Value>>,
    /// The executions that were open then, with their lines.
    open: BTreeMap<u64, Entry>,
    /// The last line with changes, 0 if there is none.
    changed_at: u64,
}

impl Values {
    /// The variables as they were after this line.
    ///
    /// # Errors
    /// 400 when the journal has more lines before it than are read at once; 409 when it does not have
    /// the changes.
    pub(crate) async fn at(app: &App, seen: &Seen, sequence: u64) -> Result<Self, Problem> {
        if sequence > limits::HISTORY_LINES_MAX {
            return Err(Problem::bad_request(format!(
                "at is {sequence}: variables can be shown as they were up to line {} of the journal",
                limits::HISTORY_LINES_MAX
            )));
        }
        let mut found = Self { values: BTreeMap::new(), open: BTreeMap::new(), changed_at: 0 };
        for entry in read(app, seen, 0, sequence).await? {
            if entry.activity_id.is_some() && entry.owner.is_none() {
                return Err(Problem::conflict(
                    "not-recorded",
                    format!(
                        "instance {} began before changes of variables were kept: its variables can \
                         be shown as they are now",
                        seen.instance.id
                    ),
                ));
            }
            for Changed { owner, id, value } in
                entry.recorded.iter().flat_map(|recorded| recorded.variables.iter().cloned())
            {
                found.values.entry(owner).or_default().insert(id, value);
                found.changed_at = entry.sequence;
            }
            found.follow(entry);
        }
        Ok(found)
    }

    /// The last line with changes of variables, 0 if there is none.
    pub(crate) fn changed_at(&self) -> u64 {
        self.changed_at
    }

    /// Notes which executions are open.
    fn follow(&mut self, entry: Entry) {
        let number = entry.activity_instance_id.as_deref().and_then(model::instance_of);
        let Some((_, number)) = number else { return };
        match entry.what {
            What::Started => {
                self.open.insert(number, entry);
            }
            What::Completed | What::Canceled => {
                self.open.remove(&number);
            }
            _ => {}
        }
    }

    /// The variables of the workflow by name, and those of the containers that were open.
    pub(crate) fn shown(&self, seen: &Seen, programs: &Programs, sequence: u64) -> (Map, Value) {
        let value = |number: u64, variable: engine::ChartedVariable<'_>| {
            let changed = self.values.get(&number).and_then(|values| values.get(variable.id()));
            let value = changed.cloned().unwrap_or_else(|| variable.default_value());
            (variable.name().to_owned(), value)
        };
        // The line of a migration is the first one of the version after it.
        let program = programs.at(seen, sequence);
        let workflow = program.into_iter().flat_map(Program::variables);
        let workflow = workflow.map(|variable| value(0, variable)).collect();
        let containers = self.open.iter().filter_map(|(number, entry)| {
            let charted = programs.charted(seen, entry)?;
            let values: Map =
                charted.variables().map(|variable| value(*number, variable)).collect();
            (!values.is_empty()).then(|| {
                json!({
                    "activityInstanceId": entry.activity_instance_id,
                    "activityId": entry.activity_id,
                    "activityNodeId": charted.node_id(),
                    "variables": values,
                })
            })
        });
        (workflow, containers.collect())
    }
}
