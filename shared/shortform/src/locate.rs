//! The places of an activity and its properties in the text that a definition was read from.

use std::collections::{BTreeMap, BTreeSet};

use engine::PortKind;
use model::activity_type::short_name;

use crate::tree::{Mark, Node, Tree};
use crate::vocabulary::Vocabulary;

/// Where the activities of a definition are: found once, for many problems.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<String, Vec<usize>>);

impl Places {
    /// The place in the definition that a problem is about: that of the property, else that of the
    /// activity, else the beginning.
    #[must_use]
    pub fn locate(&self, full: &Tree, activity: Option<&str>, property: Option<&str>) -> Mark {
        let owner = activity.and_then(|id| reached(full, self.0.get(id)?)).unwrap_or(full);
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
}

impl Vocabulary {
    /// The places of all activities of a definition in the full form. One without an id has the id
    /// that the engine gives it; one of a type that is not known here has both that it may get.
    #[must_use]
    pub fn places(&self, full: &Tree) -> Places {
        let mut walk = Walk::new(self);
        if let Some((at, root)) = numbered(full, "root") {
            taken(root, &mut walk.taken);
            walk.within(at, root);
        }
        Places(walk.found)
    }

    /// Every activity of a definition in the full form by its id; see [`Vocabulary::places`].
    #[must_use]
    pub fn activities<'t>(&self, full: &'t Tree) -> BTreeMap<String, &'t Tree> {
        let places = self.places(full).0.into_iter();
        places.filter_map(|(id, path)| Some((id, reached(full, &path)?))).collect()
    }
}

/// The part at the end of a path: the numbers of members and items.
fn reached<'t>(full: &'t Tree, path: &[usize]) -> Option<&'t Tree> {
    path.iter().try_fold(full, |tree, at| match &tree.node {
        Node::Scalar(_) => None,
        Node::List(items) => items.get(*at),
        Node::Map(members) => members.get(*at).map(|member| &member.value),
    })
}

/// A member with its number.
fn numbered<'t>(tree: &'t Tree, name: &str) -> Option<(usize, &'t Tree)> {
    let member = tree.member(name)?;
    let at = tree.members()?.iter().position(|other| std::ptr::eq(other, member))?;
    Some((at, &member.value))
}

/// The item of a list that `1]` of `connections[1]` means.
fn item<'t>(tree: &'t Tree, part: &str) -> Option<&'t Tree> {
    tree.items()?.get(part.strip_suffix(']')?.parse::<usize>().ok()?)
}

struct Walk<'v> {
    vocabulary: &'v Vocabulary,
    found: BTreeMap<String, Vec<usize>>,
    /// The way from the definition to where the walk is.
    path: Vec<usize>,
    taken: BTreeSet<String>,
    numbers: BTreeMap<String, usize>,
}

impl<'v> Walk<'v> {
    fn new(vocabulary: &'v Vocabulary) -> Self {
        Self {
            vocabulary,
            found: BTreeMap::new(),
            path: Vec::new(),
            taken: BTreeSet::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// Walks the activity that is the member or item of this number.
    fn within(&mut self, at: usize, tree: &Tree) {
        self.path.push(at);
        self.activity(tree);
        self.path.pop();
    }

    fn activity(&mut self, tree: &Tree) {
        if tree.members().is_none() {
            return;
        }
        let type_name = tree.get("type").and_then(Tree::as_text).unwrap_or(engine::UNTYPED);
        let descriptor = self.vocabulary.get(type_name);
        // Ids are made of the whole name of a type, or of its last part if workers have registered it.
        let shorts = match descriptor {
            Some(found) => [Some(found.name), None],
            None => [Some(type_name), Some(short_name(type_name)).filter(|it| *it != type_name)],
        };
        for short in shorts.into_iter().flatten() {
            let id = self.id(tree, short);
            let path = &self.path;
            self.found.entry(id).or_insert_with(|| path.clone());
        }
        for port in descriptor.iter().flat_map(|found| &found.ports) {
            if port.kind == PortKind::Flow {
                continue;
            }
            let Some((at, value)) = numbered(tree, port.name) else { continue };
            self.path.push(at);
            self.port(value, port.kind);
            self.path.pop();
        }
    }

    fn port(&mut self, value: &Tree, kind: PortKind) {
        let items = value.items().unwrap_or_default().iter().enumerate();
        match kind {
            PortKind::Flow => {}
            PortKind::Embedded => self.activity(value),
            PortKind::List => items.for_each(|(at, item)| self.within(at, item)),
            PortKind::Parts(members) => {
                for (at, item) in items {
                    self.path.push(at);
                    for (at, activity) in members.iter().filter_map(|it| numbered(item, it)) {
                        self.within(at, activity);
                    }
                    self.path.pop();
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

#[cfg(test)]
mod tests {
    use engine::Engine;

    use super::*;
    use crate::{Notation, read};

    #[test]
    fn activities_and_their_properties_have_places() {
        let engine = Engine::new(activities::all(), expressions::all());
        let vocabulary = Vocabulary::new(engine.descriptors());
        let text = "root:\n  - type: WriteLine\n  - type: If\n    then:\n      type: WriteLine\n      \
                    id: w\n  - type: Switch\n    cases:\n      - label: A\n        activity:\n          \
                    {type: Delay, timeSpan: x}\n";
        let full = vocabulary.expand(&read(text, Notation::Yaml).unwrap(), None).unwrap();
        let places = vocabulary.places(&full);
        let check = |activity: Option<&str>, property: Option<&str>, expected: &str| {
            let found = places.locate(&full, activity, property);
            assert_eq!(found.to_string(), expected, "{activity:?} {property:?}");
        };
        check(None, None, "1:1");
        check(Some("WriteLine1"), None, "2:5");
        check(Some("w"), Some("type"), "5:7");
        check(Some("Delay1"), Some("timeSpan"), "11:25");
        check(Some("Switch1"), Some("cases[0].label"), "9:9");
        check(Some("nobody"), None, "1:1");
        assert_eq!(vocabulary.activities(&full).len(), 6);
    }

    #[test]
    fn an_activity_of_a_type_of_workers_has_a_place_under_each_id_that_it_may_get() {
        let engine = Engine::new(activities::all(), expressions::all());
        let vocabulary = Vocabulary::new(engine.descriptors());
        let text = "root:\n  - type: WriteLine\n  - type: Acme.Pay\n    amount: 1\n  \
                    - {type: Acme.Pay, id: own, amount: 2}\n  - type: Acme.Pay\n    amount: 3\n";
        let full = vocabulary.expand(&read(text, Notation::Yaml).unwrap(), None).unwrap();
        let places = vocabulary.places(&full);
        let at = |id: &str| places.locate(&full, Some(id), Some("amount")).to_string();
        assert_eq!(["Pay1", "own", "Pay2"].map(at), ["4:5", "5:31", "7:5"]);
        let at = |id: &str| places.locate(&full, Some(id), None).to_string();
        assert_eq!(["Acme.Pay1", "Acme.Pay2"].map(at), ["3:5", "6:5"]);
    }
}
