//! Values of inputs.

use serde_json::Value;

use super::Expansion;
use crate::elsa;
use crate::tree::{Member, Node, Tree};

/// An expression in the full form: its type and its value.
type Expressed = (&'static str, Tree);

impl Expansion<'_> {
    /// A value of an input of this type: `{"typeName": …, "expression": …}`.
    pub(crate) fn value(&mut self, tree: &Tree, type_name: &str) -> Tree {
        match self.expressed(tree) {
            Some((kind, value)) => elsa::wrapped(tree.mark, type_name, kind, value),
            None => tree.clone(),
        }
    }

    /// A condition: `{"type": …, "value": …}`.
    pub(crate) fn typed(&mut self, tree: &Tree) -> Tree {
        match self.expressed(tree) {
            Some((kind, value)) => elsa::typed(tree.mark, kind, value),
            None => tree.clone(),
        }
    }

    /// A member of an activity whose type is not known here: only a short expression is expanded.
    pub(crate) fn guessed(&mut self, tree: &Tree) -> Tree {
        let is_short = |one: &Member| {
            matches!(one.name.as_str(), "js" | "javascript" | "liquid" | "variable" | "input")
        };
        match tree.members() {
            Some([one]) if is_short(one) => self.value(tree, "Object"),
            _ => tree.clone(),
        }
    }

    /// The expression that a short value means; none if it is in the full form already.
    fn expressed(&mut self, tree: &Tree) -> Option<Expressed> {
        let data = |tree: &Tree| ("Object", Tree::text(tree.mark, tree.value().to_string()));
        match &tree.node {
            Node::Scalar(Value::Null) => None,
            Node::Scalar(_) => Some(("Literal", tree.clone())),
            Node::List(_) => Some(data(tree)),
            Node::Map(members) => {
                let is_full = |member: &Member| {
                    let names = ["typeName", "expression", "memoryReference"];
                    names.iter().any(|name| name.eq_ignore_ascii_case(&member.name))
                };
                let is_typed = tree.get("type").is_some() && members.len() <= 2;
                if members.iter().any(is_full) || is_typed {
                    return None;
                }
                match members.as_slice() {
                    [one] => Some(self.single(one).unwrap_or_else(|| data(tree))),
                    _ => Some(data(tree)),
                }
            }
        }
    }

    /// `{js: …}`, `{liquid: …}`, `{variable: …}`, `{input: …}`, `{literal: …}`, `{object: …}`
    fn single(&mut self, one: &Member) -> Option<Expressed> {
        let (value, mark) = (&one.value, one.value.mark);
        let kind = match one.name.as_str() {
            "js" | "javascript" => "JavaScript",
            "liquid" => "Liquid",
            "literal" => return Some(("Literal", value.clone())),
            "object" => "Object",
            "variable" => {
                let named = value.as_text().map(|name| elsa::variable(mark, name, &self.scope));
                return Some(("Variable", named.unwrap_or_else(|| value.clone())));
            }
            "input" => {
                let named = value.as_text();
                let named = named.map(|_| Tree::map(mark, vec![("name", value.clone())]));
                return Some(("Input", named.unwrap_or_else(|| value.clone())));
            }
            _ => return None,
        };
        if value.as_text().is_none() {
            self.flaw(mark, format!("{} is no text: write the expression as a text", one.name));
        }
        Some((kind, value.clone()))
    }
}
