//! A compiled definition: its outline, and the activities that run it. Immutable, and shared by every
//! instance that runs it.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{ActivityId, Argument, DefinitionId, Map, VersionId};
use serde_json::Value;

use crate::convert::convert;
use crate::decision::Failure;
use crate::outline::Outline;
use crate::{Activation, Activity, NodeRef, Type};

/// A definition, ready to run. Immutable, and cached by version id.
pub struct Program {
    pub(crate) outline: Arc<Outline>,
    /// The activity of each node, in the order of the nodes.
    pub(crate) activities: Vec<Arc<dyn Activity>>,
}

impl Program {
    /// The definition.
    #[must_use]
    pub fn definition_id(&self) -> &DefinitionId {
        &self.outline.definition_id
    }

    /// The id of the version.
    #[must_use]
    pub fn version_id(&self) -> &VersionId {
        &self.outline.version_id
    }

    /// 1, 2, 3 …
    #[must_use]
    pub fn version(&self) -> u32 {
        self.outline.version
    }

    /// The name of the definition.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.outline.name.as_deref()
    }

    /// The definition is a part of the system, not one of its users'.
    #[must_use]
    pub fn is_system(&self) -> bool {
        self.outline.is_system
    }

    /// The definition has scripts, so a turn may take long.
    #[must_use]
    pub fn has_scripts(&self) -> bool {
        self.outline.has_scripts
    }

    /// The rule for instances that run at the same time.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.outline.activation
    }

    /// The key that at most one unfinished instance may have; none when any number may run.
    #[must_use]
    pub fn activation_key(&self, correlation_id: Option<&str>) -> Option<String> {
        let definition = self.definition_id();
        match (self.activation(), correlation_id) {
            (Activation::AllowAlways, _) => None,
            (Activation::Singleton, _) => Some(format!("singleton:{definition}")),
            (Activation::Correlation, Some(id)) => Some(format!("correlation:{id}")),
            (Activation::CorrelatedSingleton, Some(id)) => {
                Some(format!("correlated:{definition}:{id}"))
            }
            (Activation::Correlation | Activation::CorrelatedSingleton, None) => None,
        }
    }

    /// The id, type and name of every activity, children before their owner.
    pub fn activities(&self) -> impl Iterator<Item = (&ActivityId, &str, Option<&str>)> {
        self.outline.nodes.iter().map(|node| (&node.id, node.type_name(), node.name.as_deref()))
    }

    /// The flaws of a workflow input, by the names of the inputs: those that are required and have
    /// no value, and those whose values do not fit their types. Inputs that are not declared are
    /// allowed.
    #[must_use]
    pub fn input_flaws(&self, input: &Map) -> BTreeMap<String, String> {
        let declared = self.outline.inputs.iter();
        declared.filter_map(|one| Some((one.name.clone(), flaw(one, input)?))).collect()
    }

    pub(crate) fn activity(&self, node: NodeRef) -> &dyn Activity {
        &*self.activities[node.0 as usize]
    }
}

/// Programs of one version are the same: a version is immutable.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.version_id() == other.version_id()
    }
}

/// The reason why this input does not fit its declaration.
fn flaw(declared: &Argument, input: &Map) -> Option<String> {
    let value = match Argument::given(&declared.name, input) {
        Some(value) if !value.is_null() => value,
        _ => {
            let default = declared.extra.get("defaultValue");
            let is_missing = declared.is_required() && default.is_none_or(Value::is_null);
            return is_missing.then(|| "it is required: give it a value".to_owned());
        }
    };
    convert(value.clone(), &type_of(declared)).err()
}

/// The declared type of an input or output.
pub(crate) fn type_of(declared: &Argument) -> Type {
    let alias = declared.type_name.as_deref().unwrap_or("Object");
    Type::from_alias(alias, declared.is_array)
}

/// The required outputs that have no value, as an incident of the workflow that ends without them.
pub(crate) fn missing_outputs(declared: &[Argument], output: &Map) -> Result<(), Failure> {
    let is_missing = |one: &&Argument| {
        one.is_required() && Argument::given(&one.name, output).is_none_or(Value::is_null)
    };
    let names: Vec<&str> =
        declared.iter().filter(is_missing).map(|output| output.name.as_str()).collect();
    let names = match names[..] {
        [] => return Ok(()),
        [one] => format!("output {one} is required, and has"),
        _ => format!("outputs {} are required, and have", names.join(", ")),
    };
    let message = format!("{names} no value: set it before the workflow ends");
    Err(Failure::new("MissingOutput", message))
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("definition_id", &self.outline.definition_id)
            .field("version_id", &self.outline.version_id)
            .field("activities", &self.outline.nodes.len())
            .finish_non_exhaustive()
    }
}
