//! Variables, inputs and outputs.

use engine::{ARGUMENT_MEMBERS, VARIABLE_MEMBERS};
use serde_json::Value;

use super::{Expansion, verbatim};
use crate::tree::{Member, Node, Tree};

/// The members of a declaration, one of which it has to have.
const DECLARES: [&str; 8] = [
    "type",
    "typeName",
    "value",
    "id",
    "isArray",
    "storageDriverTypeName",
    "description",
    "searchable",
];

impl Expansion<'_> {
    /// Variables by name, as a list in the full form.
    pub(crate) fn variables(&mut self, tree: &Tree) -> Tree {
        let Node::Map(members) = &tree.node else { return tree.clone() };
        let items = members.iter().map(|member| self.variable(member)).collect();
        Tree { mark: tree.mark, node: Node::List(items) }
    }

    fn variable(&mut self, member: &Member) -> Tree {
        if let Some(full) = verbatim(&member.value) {
            return self.named_item(full, &VARIABLE_MEMBERS);
        }
        let mark = member.mark;
        let declared = match &member.value.node {
            Node::Map(members) => {
                let members = self.under_known_names(members, &DECLARES);
                let is_one = |it: &Member| DECLARES.contains(&it.name.as_str());
                if !members.is_empty() && !members.iter().any(is_one) {
                    let message =
                        "this declares no variable: write {type: …, value: …}, or only a value";
                    self.flaw(member.value.mark, message);
                }
                members
            }
            Node::Scalar(Value::Null) => Vec::new(),
            _ => vec![Member::new("value", member.value.mark, member.value.clone())],
        };
        let has = |name: &str| declared.iter().any(|it| it.name == name);
        let mut full = vec![Member::new("name", mark, Tree::text(mark, &*member.name))];
        if !has("id") {
            full.push(Member::new("id", mark, Tree::text(mark, &*member.name)));
        }
        if !has("type") && !has("typeName") {
            let value = declared.iter().find(|it| it.name == "value");
            let name = type_of(value.map(|it| it.value.value()).as_ref());
            full.push(Member::new("typeName", mark, Tree::text(mark, name)));
        }
        if !has("isArray") {
            let no = Tree { mark, node: Node::Scalar(Value::Bool(false)) };
            full.push(Member::new("isArray", mark, no));
        }
        full.extend(declared.into_iter().map(|it| match it.name.as_str() {
            "type" => Member { name: "typeName".to_owned(), ..it },
            _ => it,
        }));
        Tree { mark, node: Node::Map(full) }
    }

    /// Inputs or outputs by name, as a list in the full form.
    pub(crate) fn arguments(&mut self, tree: &Tree) -> Tree {
        let Node::Map(members) = &tree.node else { return tree.clone() };
        let items = members.iter().map(|member| self.argument(member)).collect();
        Tree { mark: tree.mark, node: Node::List(items) }
    }

    fn argument(&mut self, member: &Member) -> Tree {
        if let Some(full) = verbatim(&member.value) {
            return self.named_item(full, &ARGUMENT_MEMBERS);
        }
        let mark = member.mark;
        let declared = match &member.value.node {
            Node::Map(members) => self.under_known_names(members, &ARGUMENT_MEMBERS),
            Node::Scalar(Value::String(_)) => {
                vec![Member::new("type", member.value.mark, member.value.clone())]
            }
            Node::Scalar(Value::Null) => Vec::new(),
            _ => {
                let message = "write a type, such as String, or {type: String, description: …}";
                self.flaw(member.value.mark, message);
                Vec::new()
            }
        };
        let has = |name: &str| declared.iter().any(|it| it.name == name);
        let mut full = vec![Member::new("name", mark, Tree::text(mark, &*member.name))];
        if !has("type") {
            full.push(Member::new("type", mark, Tree::text(mark, "Object")));
        }
        if !has("isArray") {
            let no = Tree { mark, node: Node::Scalar(Value::Bool(false)) };
            full.push(Member::new("isArray", mark, no));
        }
        full.extend(declared);
        Tree { mark, node: Node::Map(full) }
    }
}

/// The type of a variable with this default and no other type.
pub(crate) fn type_of(value: Option<&Value>) -> &'static str {
    match value {
        Some(Value::String(_)) => "String",
        Some(Value::Bool(_)) => "Boolean",
        Some(Value::Number(number)) => match number.as_i64() {
            Some(whole) if i32::try_from(whole).is_ok() => "Int32",
            Some(_) => "Int64",
            None => "Double",
        },
        _ => "Object",
    }
}
