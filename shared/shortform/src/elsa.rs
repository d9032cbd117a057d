//! The objects of the full form.

use crate::scope::Scope;
use crate::tree::{Mark, Tree};

/// `{"typeName": …, "expression": {"type": …, "value": …}}`
pub(crate) fn wrapped(mark: Mark, type_name: &str, kind: &str, value: Tree) -> Tree {
    let expression = typed(mark, kind, value);
    Tree::map(mark, vec![("typeName", Tree::text(mark, type_name)), ("expression", expression)])
}

/// `{"type": …, "value": …}`
pub(crate) fn typed(mark: Mark, kind: &str, value: Tree) -> Tree {
    Tree::map(mark, vec![("type", Tree::text(mark, kind)), ("value", value)])
}

/// `{"typeName": …, "memoryReference": {"id": …}}`
pub(crate) fn bound(mark: Mark, type_name: &str, id: &str) -> Tree {
    let reference = Tree::map(mark, vec![("id", Tree::text(mark, id))]);
    Tree::map(mark, vec![("typeName", Tree::text(mark, type_name)), ("memoryReference", reference)])
}

/// `{"id": …, "name": …, "typeName": …}`, and the other members of a declared variable.
pub(crate) fn variable(mark: Mark, name: &str, scope: &Scope) -> Tree {
    let Some(found) = scope.named(name) else {
        return Tree::map(
            mark,
            vec![("id", Tree::text(mark, name)), ("name", Tree::text(mark, name))],
        );
    };
    let mut members =
        vec![("id", Tree::text(mark, &*found.id)), ("name", Tree::text(mark, &*found.name))];
    members.extend(found.rest.iter().map(|(name, value)| (name.as_str(), Tree::at(mark, value))));
    Tree::map(mark, members)
}

/// `{"source": {"activity": …, "port": …}, "target": {"activity": …, "port": "In"}}`
pub(crate) fn connection(mark: Mark, source: &str, outcome: &str, target: &str) -> Tree {
    let end = |activity: &str, port: &str| {
        Tree::map(
            mark,
            vec![("activity", Tree::text(mark, activity)), ("port", Tree::text(mark, port))],
        )
    };
    Tree::map(mark, vec![("source", end(source, outcome)), ("target", end(target, "In"))])
}
