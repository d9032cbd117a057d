//! The variables, inputs, outputs and strategies that a definition declares.

use std::collections::{BTreeMap, BTreeSet};

use model::{ActivityId, Argument, Definition, Map, Variable, depth};
use serde_json::Value;

use super::Compiler;
use super::raw::class_of;
use crate::Type;
use crate::convert::{convert, shown};
use crate::keeping::is_credential;
use crate::outline::{Activation, Declared};
use crate::program::type_of;
use crate::property::find;

impl Compiler<'_> {
    /// The variables that an activity declares for itself and the activities in it, by their
    /// positions in its list.
    pub(super) fn container_variables(
        &mut self,
        id: &ActivityId,
        raw: &Map,
    ) -> BTreeMap<usize, Variable> {
        let Some(value) = find(raw, "variables").filter(|value| !value.is_null()) else {
            return BTreeMap::new();
        };
        let mut variables = BTreeMap::new();
        for (at, item) in self.items(id, "variables", value).iter().enumerate() {
            match serde_json::from_value(item.clone()) {
                Ok(variable) => {
                    variables.insert(at, variable);
                }
                Err(error) => {
                    let message = format!("{} is not a variable: {error}", shown(item));
                    let place = format!("variables[{at}]");
                    self.findings.oversight(Some(id), Some(&place), message);
                }
            }
        }
        self.refuse_searchable(id, &variables);
        variables
    }

    /// Reads variables, each with its position in the list that it is from.
    pub(super) fn variables<'v>(
        &mut self,
        activity: Option<&ActivityId>,
        all: impl Iterator<Item = (usize, &'v Variable)>,
    ) -> Vec<Declared> {
        let mut declared: Vec<Declared> = Vec::new();
        let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
        for (at, variable) in all {
            let place = |member: &str| place("variables", at, member);
            let alias = variable.type_name.as_deref().unwrap_or("Object");
            let ty = Type::from_alias(alias, variable.is_array);
            let default = variable.value.clone().unwrap_or_default();
            let name = if variable.name.is_empty() { &variable.id } else { &variable.name };
            let id = if variable.id.is_empty() { &variable.name } else { &variable.id };
            if name.trim().is_empty() {
                let message = "a variable has no name: give it one".to_owned();
                self.findings.oversight(activity, Some(&place("name")), message);
            } else if !names.insert(name) {
                let message = format!("two variables have the name {name}: rename one of them");
                self.findings.oversight(activity, Some(&place("name")), message);
            } else if !ids.insert(id) {
                let message = format!("two variables have the id {id}: give each its own");
                self.findings.oversight(activity, Some(&place("id")), message);
            }
            self.known_type(activity, &place("typeName"), name, alias);
            let fit = depth::check(&default).map_err(|error| error.to_string());
            let default = fit.and_then(|()| convert(default, &ty)).unwrap_or_else(|error| {
                let message = format!("the default of {name} is no {alias}: {error}");
                self.findings.problem(activity, Some(&place("value")), message);
                Value::Null
            });
            let is_hidden = self.is_hidden(activity, &place("storageDriverTypeName"), variable);
            let (id, name) = (id.clone(), name.clone());
            let is_masked = is_hidden || is_credential(&name);
            let searchable = None;
            declared.push(Declared { id, name, ty, default, is_hidden, is_masked, searchable });
        }
        declared
    }

    /// True for a variable of Elsa's memory driver, under each name that it has had.
    fn is_hidden(
        &mut self,
        activity: Option<&ActivityId>,
        property: &str,
        variable: &Variable,
    ) -> bool {
        let driver = variable.storage_driver_type_name.as_deref().unwrap_or_default();
        let class = class_of(driver).to_ascii_lowercase().replace(' ', "");
        match class.strip_suffix("storagedriver").unwrap_or(&class) {
            "" | "workflow" | "workflowinstance" => false,
            "memory" => true,
            _ => {
                let message = format!(
                    "there is no storage driver {driver}: use WorkflowInstanceStorageDriver or \
                     MemoryStorageDriver; variable {} is stored with the instance",
                    variable.name
                );
                self.findings.warning(activity, Some(property), message);
                false
            }
        }
    }

    fn known_type(
        &mut self,
        activity: Option<&ActivityId>,
        property: &str,
        name: &str,
        alias: &str,
    ) {
        if !Type::is_known(alias) {
            let message = format!(
                "the type of {name} is {alias}, which is not known here: use Object, or a type \
                 such as String, Boolean, Int32, Double, DateTime, TimeSpan, String[] or \
                 ObjectDictionary"
            );
            self.findings.oversight(activity, Some(property), message);
        }
    }

    /// Checks the inputs or outputs in this list.
    pub(super) fn arguments(&mut self, list: &str, arguments: &[Argument]) {
        let mut seen = BTreeSet::new();
        for (at, argument) in arguments.iter().enumerate() {
            let place = |member: &str| place(list, at, member);
            if argument.name.trim().is_empty() {
                let message = "one has no name: give each its own";
                self.findings.oversight(None, Some(&place("name")), message.to_owned());
            } else if !seen.insert(argument.name.to_lowercase()) {
                let message = format!("the name {} is used twice", argument.name);
                self.findings.problem(None, Some(&place("name")), message);
            }
            let alias = argument.type_name.as_deref().unwrap_or("Object");
            self.known_type(None, &place("type"), &argument.name, alias);
            let default = argument.extra.get("defaultValue").cloned().unwrap_or_default();
            let fit = depth::check(&default).map_err(|error| error.to_string());
            if let Err(error) = fit.and_then(|()| convert(default, &type_of(argument))) {
                let message = format!("the default of {} is no {alias}: {error}", argument.name);
                self.findings.oversight(None, Some(&place("defaultValue")), message);
            }
        }
    }

    pub(super) fn activation(&mut self, definition: &Definition) -> Activation {
        let Some(name) = definition.options.activation_strategy_type.as_deref() else {
            return Activation::AllowAlways;
        };
        let class = class_of(name);
        match class.strip_suffix("Strategy").unwrap_or(class) {
            "" | "AllowAlways" | "Always" => Activation::AllowAlways,
            "Singleton" => Activation::Singleton,
            "Correlation" => Activation::Correlation,
            "CorrelatedSingleton" => Activation::CorrelatedSingleton,
            other => {
                let message = format!(
                    "there is no activation strategy {other}: use AllowAlwaysStrategy, \
                     SingletonStrategy, CorrelationStrategy or CorrelatedSingletonStrategy"
                );
                self.findings.problem(None, Some("options.activationStrategyType"), message);
                Activation::AllowAlways
            }
        }
    }

    /// The incident strategy; none where the configuration decides.
    pub(super) fn continues_with_incidents(&mut self, definition: &Definition) -> Option<bool> {
        let name = definition.options.incident_strategy_type.as_deref()?;
        let class = class_of(name);
        match class.strip_suffix("Strategy").unwrap_or(class) {
            "" => None,
            "Fault" => Some(false),
            "ContinueWithIncidents" => Some(true),
            _ => {
                let message = format!(
                    "there is no incident strategy {class}: use FaultStrategy or \
                     ContinueWithIncidentsStrategy"
                );
                self.findings.problem(None, Some("options.incidentStrategyType"), message);
                None
            }
        }
    }
}

/// The member of an item of a list, as a property: `variables[2].typeName`.
pub(super) fn place(list: &str, at: usize, member: &str) -> String {
    format!("{list}[{at}].{member}")
}
