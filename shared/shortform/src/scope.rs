//! The variables that an activity can name.

use serde_json::Value;

use crate::tree::Tree;

/// A declared variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The other members that Elsa writes where the variable is named.
    pub(crate) rest: Vec<(String, Value)>,
}

/// The declared variables, the innermost last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope(Vec<Declared>);

impl Scope {
    /// Adds the variables of a list in the full form; returns the number to give to [`Self::leave`].
    pub(crate) fn enter(&mut self, variables: Option<&Tree>) -> usize {
        let before = self.0.len();
        for variable in variables.and_then(Tree::items).unwrap_or_default() {
            let text = |name: &str| variable.get(name).and_then(Tree::as_text).map(str::to_owned);
            let Some(name) = text("name").filter(|name| !name.is_empty()) else { continue };
            let id = text("id").filter(|id| !id.is_empty()).unwrap_or_else(|| name.clone());
            let members = variable.members().unwrap_or_default().iter();
            let rest = members.filter(|it| !["id", "name", "isArray"].contains(&it.name.as_str()));
            let rest = rest.map(|it| (it.name.clone(), it.value.value())).collect();
            self.0.push(Declared { id, name, rest });
        }
        before
    }

    /// Forgets the variables that were added since.
    pub(crate) fn leave(&mut self, before: usize) {
        self.0.truncate(before);
    }

    /// The variable of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Declared> {
        self.0.iter().rev().find(|declared| declared.name == name)
    }

    /// The name of the variable with this id, if the name means this variable.
    pub(crate) fn name_of(&self, id: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|declared| declared.id == id)?;
        let meant = self.named(&found.name).is_some_and(|declared| declared.id == id);
        meant.then_some(found.name.as_str())
    }
}
