//! The activities of a program, as the journal and the API show them.

use model::{Map, Timestamp, VersionId, limits};

use crate::keeping::{kept, masked};
use crate::outline::{Declared, Node, Outline, Source};
use crate::program::Program;
use crate::state::{Renamed, State};

/// Elsa's name for the workflow around the root activity: its id, and its path.
pub const WORKFLOW_ID: &str = "Workflow1";
/// The type of the workflow in journals and records.
pub const WORKFLOW_TYPE: &str = "Elsa.Workflow";

/// An activity of a program.
#[derive(Clone, Copy)]
pub struct Charted<'p> {
    outline: &'p Outline,
    node: &'p Node,
}

/// A declared variable.
#[derive(Clone, Copy)]
pub struct ChartedVariable<'p>(&'p Declared);

impl Program {
    /// The activity that a line of the journal names: by its path where the line has one, else by
    /// its id, which is unique then.
    #[must_use]
    pub fn charted(&self, activity_id: &str, node_id: Option<&str>) -> Option<Charted<'_>> {
        let outline = &self.outline;
        let found = outline.find(node_id.unwrap_or(activity_id))?;
        Some(Charted { outline, node: outline.node(found) })
    }

    /// The variables of the workflow, without those of the memory driver.
    pub fn variables(&self) -> impl Iterator<Item = ChartedVariable<'_>> {
        shown(&self.outline.variables)
    }
}

impl<'p> Charted<'p> {
    pub(crate) fn new(outline: &'p Outline, node: &'p Node) -> Self {
        Self { outline, node }
    }

    /// Its id.
    #[must_use]
    pub fn activity_id(&self) -> &'p str {
        self.node.id.as_str()
    }

    /// Its name, if the definition gives it one.
    #[must_use]
    pub fn name(&self) -> Option<&'p str> {
        self.node.name.as_deref()
    }

    /// Ids from the workflow down to the activity, joined with `:`.
    #[must_use]
    pub fn node_id(&self) -> &'p str {
        &self.node.path
    }

    /// The version of its type.
    #[must_use]
    pub fn type_version(&self) -> u32 {
        let own = self.node.descriptor.version;
        self.node.used.as_ref().map_or(own, |composite| composite.version)
    }

    /// The place in a program from which the definition was generated, if it names one.
    #[must_use]
    pub fn source(&self) -> Option<&'p str> {
        self.node.custom.get("source")?.as_str()
    }

    /// Its variables, without those of the memory driver.
    pub fn variables(&self) -> impl Iterator<Item = ChartedVariable<'p>> {
        shown(&self.node.variables)
    }

    /// The inputs that need no evaluation, with the names that its descriptor has: those that the
    /// definition has as they are, and defaults. Without those that the journal would not keep.
    #[must_use]
    pub fn constants(&self, leaves_out_values: bool) -> Map {
        let Node { descriptor, inputs, used, keeping, .. } = self.node;
        let mut constants = Map::new();
        if self.sets_hidden() {
            return constants;
        }
        let keeps = |name: &str| keeping.keeps_input(name, !leaves_out_values);
        for input in descriptor.inputs.iter().filter(|input| keeps(input.name)) {
            let value = match inputs.get(input.name).map(|expression| &expression.0) {
                Some(Source::Literal(value)) if !value.is_null() => value,
                Some(Source::Literal(_)) | None => &input.default_value,
                Some(_) => continue,
            };
            if !value.is_null() {
                let value = kept(value, limits::JOURNAL_VALUE_BYTES_MAX);
                constants.insert(input.name.to_owned(), value);
            }
        }
        for (name, (expression, _)) in used.iter().flat_map(|found| &found.given) {
            if let (Source::Literal(value), true) = (&expression.0, keeps(name)) {
                constants.insert(name.clone(), kept(value, limits::JOURNAL_VALUE_BYTES_MAX));
            }
        }
        constants
    }

    /// The name of an input or output in its descriptor, which begins with a capital. A workflow that
    /// is used as an activity has the names that it declares.
    #[must_use]
    pub fn descriptor_name(&self, name: &str) -> String {
        if self.node.used.is_some() { name.to_owned() } else { pascal(name) }
    }

    /// It names a variable whose values the journal does not show, and may give it one.
    fn sets_hidden(&self) -> bool {
        let Some(Source::Literal(named)) = self.node.inputs.get("variable").map(|found| &found.0)
        else {
            return false;
        };
        let inner = self.outline.nodes.iter().flat_map(|node| &node.variables);
        let mut hidden =
            self.outline.variables.iter().chain(inner).filter(|variable| variable.is_masked);
        let names: Vec<_> = [Some(named), named.get("id"), named.get("name")]
            .into_iter()
            .filter_map(|value| value?.as_str())
            .collect();
        hidden.any(|variable| {
            names.contains(&variable.id.as_str()) || names.contains(&variable.name.as_str())
        })
    }
}

impl<'p> ChartedVariable<'p> {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &'p str {
        &self.0.id
    }

    /// The name that expressions refer to.
    #[must_use]
    pub fn name(&self) -> &'p str {
        &self.0.name
    }

    /// The value with which it begins, as a journal shows it.
    #[must_use]
    pub fn default_value(&self) -> serde_json::Value {
        if self.0.is_masked { masked(&self.0.default) } else { self.0.default.clone() }
    }
}

fn shown(declared: &[Declared]) -> impl Iterator<Item = ChartedVariable<'_>> {
    declared.iter().filter(|variable| !variable.is_hidden).map(ChartedVariable)
}

/// The name with a capital.
#[must_use]
pub fn pascal(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

impl State {
    /// The versions that the instance ran before, as far as it remembers them.
    pub fn past_versions(&self) -> impl Iterator<Item = &VersionId> {
        self.migrations.iter().map(|migrated| &migrated.from)
    }

    /// The version that the instance ran when it wrote this line of its journal; none for the one that
    /// it runs now.
    #[must_use]
    pub fn version_at(&self, sequence: u64) -> Option<&VersionId> {
        let found = self.migrations.iter().find(|migrated| sequence < migrated.at);
        found.map(|migrated| &migrated.from)
    }

    /// The node id that an activity has now, if it had this one at that time: a migration may have
    /// given it another one.
    #[must_use]
    pub fn node_id_since(&self, node_id: &str, time: Timestamp) -> String {
        let renamed = self.migrations.iter().filter_map(|migrated| migrated.renamed.as_ref());
        let later = renamed.filter(|renamed| renamed.time > time);
        later.fold(node_id.to_owned(), |id, renamed| renamed.of(&id).unwrap_or(id))
    }

    /// Whether a migration has given an activity another node id, as far as is remembered.
    #[must_use]
    pub fn has_renamed(&self) -> bool {
        self.migrations.iter().any(|migrated| migrated.renamed.is_some())
    }

    /// The executions that run, wait or are faulted, by their ids, each with the key of its activity.
    pub fn activities(&self) -> impl Iterator<Item = (&str, &str)> {
        let halted = self.halted.iter().flat_map(|halted| halted.executions.values());
        let open = self.executions.values().chain(halted);
        open.map(|one| (one.id.as_str(), one.node.as_str()))
    }
}

impl Renamed {
    /// What a node id became; none if it did not change.
    fn of(&self, node_id: &str) -> Option<String> {
        let mut around = node_id;
        loop {
            if let Some(is) = self.paths.get(around) {
                return Some(format!("{is}{}", node_id.get(around.len()..)?));
            }
            around = around.rsplit_once(':')?.0;
        }
    }
}
