//! The places of an activity and its properties in the text that a definition was read from.

use std::collections::{BTreeMap, BTreeSet};

use engine::PortKind;

use crate::tree::{Mark, Node, Tree};
use crate::vocabulary::Vocabulary;

impl Vocabulary {
    /// The place in a definition in the full form that a problem is about: that of the property,
    /// else that of the activity, else the beginning.
    #[must_use]
    pub fn locate(&self, full: &Tree, activity: Option<&str>, property: Option<&str>) -> Mark {
        let owner = match activity {
            None => full,
            Some(id) => match self.activities(full).get(id) {
                Some(activity) => *activity,
                None => full,
            },
        };
        let mut mark = owner.mark;
        let mut tree = owner;
        for part in property.iter().flat_map(|property| property.split(['.', '['])) {
            if let Some(member) = tree.member(part) {
                mark = member.mark;
                tree = &member.value;
            } else if let Some(item) = item(tree, part) {
                mark = item.mark;
                tree = item;
            } else {
                break;
            }
        }
        mark
    }

    /// Every activity of a definition in the full form by its id; one without an id has the id that
    /// the engine gives it.
    #[must_use]
    pub fn activities<'t>(&self, full: &'t Tree) -> BTreeMap<String, &'t Tree> {
        let mut walk = Walk::new(self);
        if let Some(root) = full.get("root") {
            taken(root, &mut walk.taken);
            walk.activity(root);
        }
        walk.found
    }
}

/// The item of a list that `1]` of `connections[1]` means.
fn item<'t>(tree: &'t Tree, part: &str) -> Option<&'t Tree> {
    tree.items()?.get(part.strip_suffix(']')?.parse::<usize>().ok()?)
}

struct Walk<'v, 't> {
    vocabulary: &'v Vocabulary,
    found: BTreeMap<String, &'t Tree>,
    taken: BTreeSet<String>,
    numbers: BTreeMap<String, usize>,
}

impl<'v, 't> Walk<'v, 't> {
    fn new(vocabulary: &'v Vocabulary) -> Self {
        Self {
            vocabulary,
            found: BTreeMap::new(),
            taken: BTreeSet::new(),
            numbers: BTreeMap::new(),
        }
    }

    fn activity(&mut self, tree: &'t Tree) {
        if tree.members().is_none() {
            return;
        }
        let type_name = tree.get("type").and_then(Tree::as_text).unwrap_or(engine::UNTYPED);
        let descriptor = self.vocabulary.get(type_name);
        let short = descriptor.map_or(type_name, |found| found.name);
        let id = self.id(tree, short);
        self.found.entry(id).or_insert(tree);
        for port in descriptor.iter().flat_map(|found| &found.ports) {
            let Some(value) = tree.get(port.name) else { continue };
            let items = value.items().unwrap_or_default();
            match port.kind {
                PortKind::Flow => {}
                PortKind::Embedded => self.activity(value),
                PortKind::List => items.iter().for_each(|item| self.activity(item)),
                PortKind::Parts(members) => {
                    for item in items {
                        members
                            .iter()
                            .filter_map(|it| item.get(it))
                            .for_each(|it| self.activity(it));
                    }
                }
            }
        }
    }

    fn id(&mut self, tree: &Tree, short: &str) -> String {
        if let Some(id) = tree.get("id").and_then(Tree::as_text).filter(|id| !id.trim().is_empty())
        {
            return id.to_owned();
        }
        let number = self.numbers.entry(short.to_owned()).or_default();
        loop {
            *number += 1;
            let id = format!("{short}{number}");
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

fn taken(tree: &Tree, ids: &mut BTreeSet<String>) {
    match &tree.node {
        Node::Scalar(_) => {}
        Node::List(items) => items.iter().for_each(|item| taken(item, ids)),
        Node::Map(members) => {
            ids.extend(tree.get("id").and_then(Tree::as_text).map(str::to_owned));
            members.iter().for_each(|member| taken(&member.value, ids));
        }
    }
}
