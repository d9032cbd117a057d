//! The variables that an activity can name.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::tree::Tree;

/// A declared variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The other members that Elsa writes where the variable is named.
    pub(crate) rest: Vec<(String, Value)>,
    /// The bytes of these members.
    pub(crate) bytes: usize,
}

/// The declared variables. Copies share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope(Option<Arc<Frame>>);

/// The variables of one activity, or of the workflow.
#[derive(Debug)]
struct Frame {
    declared: Vec<Declared>,
    /// The last variable of each name.
    by_name: BTreeMap<String, usize>,
    /// The last variable of each id.
    by_id: BTreeMap<String, usize>,
    outer: Scope,
}

impl Scope {
    /// Adds the variables of a list in the full form; returns the scope to give to [`Self::leave`].
    pub(crate) fn enter(&mut self, variables: Option<&Tree>) -> Self {
        let before = self.clone();
        let mut declared = Vec::new();
        for variable in variables.and_then(Tree::items).unwrap_or_default() {
            let text = |name: &str| variable.get(name).and_then(Tree::as_text).map(str::to_owned);
            let Some(name) = text("name").filter(|name| !name.is_empty()) else { continue };
            let id = text("id").filter(|id| !id.is_empty()).unwrap_or_else(|| name.clone());
            let members = variable.members().unwrap_or_default().iter();
            let rest = members.filter(|it| !["id", "name", "isArray"].contains(&it.name.as_str()));
            let (rest, bytes): (Vec<_>, Vec<_>) =
                rest.map(|it| ((it.name.clone(), it.value.value()), it.bytes())).unzip();
            declared.push(Declared { id, name, rest, bytes: bytes.into_iter().sum() });
        }
        if declared.is_empty() {
            return before;
        }
        let by_name = declared.iter().enumerate().map(|(at, it)| (it.name.clone(), at)).collect();
        let by_id = declared.iter().enumerate().map(|(at, it)| (it.id.clone(), at)).collect();
        let outer = before.clone();
        self.0 = Some(Arc::new(Frame { declared, by_name, by_id, outer }));
        before
    }

    /// Forgets the variables that were added since.
    pub(crate) fn leave(&mut self, before: Self) {
        *self = before;
    }

    /// The variable of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Declared> {
        self.find(|frame| frame.by_name.get(name).copied())
    }

    /// The innermost variable that is found in a frame.
    fn find(&self, wanted: impl Fn(&Frame) -> Option<usize>) -> Option<&Declared> {
        let mut scope = self;
        while let Some(frame) = &scope.0 {
            if let Some(found) = wanted(frame).and_then(|at| frame.declared.get(at)) {
                return Some(found);
            }
            scope = &frame.outer;
        }
        None
    }

    /// The name of the variable with this id, if the name means this variable.
    pub(crate) fn name_of(&self, id: &str) -> Option<&str> {
        let found = self.find(|frame| frame.by_id.get(id).copied())?;
        let meant = self.named(&found.name).is_some_and(|declared| declared.id == id);
        meant.then_some(found.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_innermost_variable_of_a_name_is_meant_until_its_activity_is_left() {
        let variables = |list: Value| Tree::of(&list);
        let mut scope = Scope::default();
        let outer = variables(json!([{"id": "v1", "name": "A"}, {"id": "v2", "name": "B"}]));
        let outside = scope.enter(Some(&outer));
        let inner = variables(json!([{"id": "v3", "name": "A", "typeName": "String"}]));
        let before = scope.enter(Some(&inner));
        let id = |scope: &Scope, name: &str| scope.named(name).map(|found| found.id.clone());
        assert_eq!(id(&scope, "A").as_deref(), Some("v3"));
        assert_eq!(id(&scope, "B").as_deref(), Some("v2"));
        assert_eq!((scope.name_of("v3"), scope.name_of("v1")), (Some("A"), None));
        assert!(scope.named("A").is_some_and(|found| found.bytes > 0));
        scope.leave(before);
        assert_eq!((id(&scope, "A").as_deref(), scope.name_of("v1")), (Some("v1"), Some("A")));
        // An activity without variables of its own has the same scope.
        let before = scope.enter(None);
        assert_eq!(scope.name_of("v2"), Some("B"));
        scope.leave(before);
        scope.leave(outside);
        assert!(scope.named("A").is_none());
    }
}
