//! The variables and inputs that an expression can use: those that its workflow declares, and those
//! of the activities around it. Also the outputs that its workflow declares.

use model::{Definition, Variable};

use crate::Type;
use crate::near::{hint, near};

/// The visible names.
#[derive(Clone, Debug, Default)]
pub(super) struct Visible {
    /// Names and ids of variables with their types, those of the innermost activity last.
    variables: Vec<(String, Type)>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// The inputs of the activity that is read now: a template finds them as `Input.X`, too.
    pub(super) own_inputs: Vec<&'static str>,
}

impl Visible {
    /// What a workflow declares.
    pub(super) fn of(definition: &Definition) -> Self {
        let mut visible = Self::default();
        visible.declare(&definition.variables);
        visible.inputs.extend(definition.inputs.iter().map(|input| input.name.clone()));
        visible.outputs.extend(definition.outputs.iter().map(|output| output.name.clone()));
        visible
    }

    /// Adds the variables that an activity declares.
    pub(super) fn declare<'v>(&mut self, variables: impl IntoIterator<Item = &'v Variable>) {
        for variable in variables {
            let alias = variable.type_name.as_deref().unwrap_or("Object");
            let ty = Type::from_alias(alias, variable.is_array);
            let names = [&variable.name, &variable.id].into_iter().filter(|name| !name.is_empty());
            self.variables.extend(names.map(|name| (name.clone(), ty.clone())));
        }
    }

    /// Adds the variables that an activity gives to those in it.
    pub(super) fn give(&mut self, names: &[&str]) {
        self.variables.extend(names.iter().map(|name| ((*name).to_owned(), Type::Object)));
    }

    /// The number of variables, for [`Visible::leave`].
    pub(super) fn mark(&self) -> usize {
        self.variables.len()
    }

    /// Removes the variables that were added since the mark.
    pub(super) fn leave(&mut self, mark: usize) {
        self.variables.truncate(mark);
    }

    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.type_of(name).is_some()
    }

    /// The type of the nearest variable of this id or name.
    pub(super) fn type_of(&self, name: &str) -> Option<&Type> {
        self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, ty)| ty)
    }

    /// The warning for a variable that is not there; none for one that is.
    pub(super) fn missing_variable(&self, name: &str) -> Option<String> {
        if self.has_variable(name) {
            return None;
        }
        let known = self.variables.iter().map(|(known, _)| (known.clone(), known.as_str()));
        let near = near(name, known);
        let hint = if near.is_empty() { ": declare it".to_owned() } else { hint(&near) };
        Some(format!("there is no variable {name} here{hint}"))
    }

    /// The warning for an input that is not declared; none for one that is.
    pub(super) fn missing_input(&self, name: &str) -> Option<String> {
        let is_declared = self.inputs.iter().any(|known| known.eq_ignore_ascii_case(name));
        // Whoever starts a child gives it this one.
        if is_declared || name.eq_ignore_ascii_case("ParentInstanceId") {
            return None;
        }
        let near = near(name, self.inputs.iter().map(|known| (known.clone(), known.as_str())));
        let hint = if near.is_empty() { ": declare it".to_owned() } else { hint(&near) };
        Some(format!("the workflow declares no input {name}{hint}"))
    }

    /// The same for an input that a script names.
    pub(super) fn missing_in_script(&self, name: &str) -> Option<String> {
        let is_own = self.own_inputs.iter().any(|own| own.eq_ignore_ascii_case(name));
        if is_own { None } else { self.missing_input(name) }
    }

    /// The warning for an output that is not declared; none for one that is.
    pub(super) fn missing_output(&self, name: &str) -> Option<String> {
        if self.outputs.iter().any(|known| known == name) {
            return None;
        }
        let near = near(name, self.outputs.iter().map(|known| (known.clone(), known.as_str())));
        let hint = if near.is_empty() { ": declare it".to_owned() } else { hint(&near) };
        Some(format!("the workflow declares no output {name}{hint}"))
    }
}
