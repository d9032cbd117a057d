//! The variables, inputs, outputs and strategies that a definition declares.

use std::collections::BTreeSet;

use model::{ActivityId, Argument, Definition, Map, Variable, depth};
use serde_json::Value;

use super::Compiler;
use super::raw::class_of;
use crate::Type;
use crate::convert::{convert, shown};
use crate::outline::{Activation, Declared};
use crate::program::type_of;
use crate::property::find;

impl Compiler<'_> {
    /// The variables that an activity declares for itself and the activities in it.
    pub(super) fn container_variables(&mut self, id: &ActivityId, raw: &Map) -> Vec<Variable> {
        let Some(value) = find(raw, "variables").filter(|value| !value.is_null()) else {
            return Vec::new();
        };
        let mut variables = Vec::new();
        for item in self.items(id, "variables", value) {
            match serde_json::from_value(item.clone()) {
                Ok(variable) => variables.push(variable),
                Err(error) => {
                    let message = format!("{} is not a variable: {error}", shown(item));
                    self.findings.oversight(Some(id), Some("variables"), message);
                }
            }
        }
        self.refuse_searchable(id, &variables);
        variables
    }

    pub(super) fn variables(
        &mut self,
        activity: Option<&ActivityId>,
        all: &[Variable],
    ) -> Vec<Declared> {
        let mut declared: Vec<Declared> = Vec::with_capacity(all.len());
        let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
        for variable in all {
            let alias = variable.type_name.as_deref().unwrap_or("Object");
            let ty = Type::from_alias(alias, variable.is_array);
            let default = variable.value.clone().unwrap_or_default();
            let name = if variable.name.is_empty() { &variable.id } else { &variable.name };
            let id = if variable.id.is_empty() { &variable.name } else { &variable.id };
            if name.trim().is_empty() {
                let message = "a variable has no name: give it one".to_owned();
                self.findings.oversight(activity, Some("variables"), message);
            } else if !names.insert(name) {
                let message = format!("two variables have the name {name}: rename one of them");
                self.findings.oversight(activity, Some("variables"), message);
            } else if !ids.insert(id) {
                let message = format!("two variables have the id {id}: give each its own");
                self.findings.oversight(activity, Some("variables"), message);
            }
            self.known_type(activity, "variables", name, alias);
            let fit = depth::check(&default).map_err(|error| error.to_string());
            let default = fit.and_then(|()| convert(default, &ty)).unwrap_or_else(|error| {
                let message = format!("the default of {name} is no {alias}: {error}");
                self.findings.problem(activity, Some("variables"), message);
                Value::Null
            });
            let is_hidden = self.is_hidden(activity, variable);
            let (id, name) = (id.clone(), name.clone());
            declared.push(Declared { id, name, ty, default, is_hidden, searchable: None });
        }
        declared
    }

    /// True for a variable of Elsa's memory driver, under each name that it has had.
    fn is_hidden(&mut self, activity: Option<&ActivityId>, variable: &Variable) -> bool {
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
                self.findings.warning(activity, Some("variables"), message);
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

    pub(super) fn unique_names(&mut self, property: &str, arguments: &[Argument]) {
        let mut seen = BTreeSet::new();
        for argument in arguments {
            if argument.name.trim().is_empty() {
                let message = "one has no name: give each its own";
                self.findings.oversight(None, Some(property), message.to_owned());
            } else if !seen.insert(argument.name.to_lowercase()) {
                let message = format!("the name {} is used twice", argument.name);
                self.findings.problem(None, Some(property), message);
            }
            let alias = argument.type_name.as_deref().unwrap_or("Object");
            self.known_type(None, property, &argument.name, alias);
            let default = argument.extra.get("defaultValue").cloned().unwrap_or_default();
            let fit = depth::check(&default).map_err(|error| error.to_string());
            if let Err(error) = fit.and_then(|()| convert(default, &type_of(argument))) {
                let message = format!("the default of {} is no {alias}: {error}", argument.name);
                self.findings.oversight(None, Some(property), message);
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
