//! Activities.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::{Descriptor, PortKind, known_name};

use super::{Expansion, PATH, path_of, verbatim};
use crate::elsa;
use crate::tree::{Member, Node, Tree};
use crate::vocabulary::{Role, role};

/// Members whose short form does not depend on a description. Their names are read in any case, as those of
/// inputs are.
const OWN: [&str; 4] = ["type", "variables", "variable", "cases"];

impl Expansion<'_> {
    /// The full form of an activity. A list is a sequence.
    pub(crate) fn activity(&mut self, tree: &Tree, path: &str) -> Tree {
        if let Some(full) = verbatim(tree) {
            return full.clone();
        }
        let mark = tree.mark;
        match &tree.node {
            Node::List(_) => {
                let members = vec![
                    Member::new("type", mark, Tree::text(mark, "Elsa.Sequence")),
                    Member::new("activities", mark, tree.clone()),
                ];
                self.members_of(Tree { mark, node: Node::Map(members) }, path)
            }
            Node::Map(_) => {
                let tree = self.charted(tree.clone());
                self.members_of(tree, path)
            }
            Node::Scalar(_) => tree.clone(),
        }
    }

    fn members_of(&mut self, tree: Tree, owner_path: &str) -> Tree {
        let descriptor = tree.get("type").and_then(Tree::as_text);
        let descriptor = descriptor.and_then(|name| self.vocabulary.get(name));
        let path = path_of(owner_path, tree.get("id").and_then(Tree::as_text));
        let before = match (tree.get("variables"), descriptor) {
            (Some(variables), Some(_)) => {
                let full = self.variables(variables);
                self.scope.enter(Some(&full))
            }
            _ => self.scope.enter(None),
        };
        let mark = tree.mark;
        let mut full = Vec::new();
        for member in tree.members().unwrap_or_default() {
            let value = match descriptor {
                Some(descriptor) => self.member(descriptor, member, &path),
                None => self.guessed(&member.value),
            };
            full.push(Member { value, ..member.clone() });
        }
        self.scope.leave(before);
        let own: BTreeSet<&str> = full.iter().map(|member| member.name.as_str()).collect();
        let mut common = Vec::new();
        for (default, bytes) in Arc::clone(&self.each).iter() {
            if own.contains(default.name.as_str()) {
                continue;
            }
            let is_path = default.name == "nodeId" && default.value.as_text() == Some(PATH);
            if is_path && path.is_empty() {
                continue;
            }
            if !self.may_copy(default.mark, if is_path { path.len() } else { *bytes }) {
                break;
            }
            let value = if is_path { Tree::text(mark, &*path) } else { default.value.clone() };
            common.push(Member { name: default.name.clone(), mark: default.mark, value });
        }
        full.extend(common);
        Tree { mark, node: Node::Map(full) }
    }

    fn member(&mut self, descriptor: &Descriptor, member: &Member, path: &str) -> Tree {
        let tree = &member.value;
        if tree.is_null() {
            return tree.clone();
        }
        match known_name(&member.name, &OWN).unwrap_or_default() {
            "type" => return Tree::text(tree.mark, descriptor.type_name),
            "variables" => return self.variables(tree),
            "variable" => {
                return match tree.as_text() {
                    Some(name) => self.variable_named(tree.mark, name),
                    None => tree.clone(),
                };
            }
            "cases" if descriptor.ports.iter().all(|port| port.name != "cases") => {
                return self.each_item(tree, |it, item| it.case(item));
            }
            _ => {}
        }
        match role(descriptor, &member.name) {
            Role::Input(input) => self.value(tree, &input.ty.alias()),
            Role::Output(output) => match tree.as_text() {
                Some(name) => {
                    let id = self.scope.named(name).map_or(name, |found| &found.id);
                    elsa::bound(tree.mark, &output.ty.alias(), id)
                }
                None => tree.clone(),
            },
            Role::Port(port) => match port.kind {
                PortKind::Flow => tree.clone(),
                PortKind::Embedded => self.activity(tree, path),
                PortKind::List => self.each_item(tree, |it, item| it.activity(item, path)),
                PortKind::Parts(members) => {
                    let is_cases = port.name == "cases";
                    self.each_item(tree, |it, item| it.part(item, members, is_cases, path))
                }
            },
            Role::Plain => tree.clone(),
        }
    }

    fn each_item(&mut self, tree: &Tree, expand: impl Fn(&mut Self, &Tree) -> Tree) -> Tree {
        match &tree.node {
            Node::List(items) => {
                let items = items.iter().map(|item| expand(self, item)).collect();
                Tree { mark: tree.mark, node: Node::List(items) }
            }
            _ => tree.clone(),
        }
    }

    /// An object with activities in some of its members, and perhaps a condition.
    fn part(&mut self, tree: &Tree, activities: &[&str], is_case: bool, path: &str) -> Tree {
        if let Some(full) = verbatim(tree) {
            return full.clone();
        }
        let tree = if is_case { self.case(tree) } else { tree.clone() };
        let Node::Map(mut members) = tree.node else { return tree };
        for member in &mut members {
            if known_name(&member.name, activities).is_some() && !member.value.is_null() {
                member.value = self.activity(&member.value, path);
            } else if is_condition(member) && !is_case {
                member.value = self.value(&member.value, "Boolean");
            }
        }
        Tree { mark: tree.mark, node: Node::Map(members) }
    }

    /// A case of a switch: its condition is an expression without a type name.
    fn case(&mut self, tree: &Tree) -> Tree {
        if let Some(full) = verbatim(tree) {
            return full.clone();
        }
        let Node::Map(mut members) = tree.node.clone() else { return tree.clone() };
        for member in members.iter_mut().filter(|member| is_condition(member)) {
            member.value = self.typed(&member.value);
        }
        Tree { mark: tree.mark, node: Node::Map(members) }
    }
}

fn is_condition(member: &Member) -> bool {
    member.name.eq_ignore_ascii_case("condition")
}
