//! The places of activities in another version of their definition: under the same key, or where a
//! map names another one. What a named container holds and the map does not name keeps its id, in the
//! container's place.

use std::collections::BTreeMap;
use std::fmt;

use model::{ActivityId, limits};

use crate::Problem;
use crate::outline::{Node, NodeRef, Outline};

/// The problems with a map that are told at once.
const SHOWN_MAX: usize = 20;

/// The places of the activities of one version in another one.
pub(crate) struct Mapping<'p> {
    pub(crate) old: &'p Outline,
    pub(crate) new: &'p Outline,
    /// The activities that the map names, and their places.
    named: BTreeMap<NodeRef, NodeRef>,
    /// The places of all activities; empty if the map names none.
    places: Vec<Option<NodeRef>>,
    /// The activities at which the instance is, by their places.
    held: BTreeMap<NodeRef, NodeRef>,
}

impl<'p> Mapping<'p> {
    /// Reads a map of activities: each by its id, or by its path where several have the id.
    ///
    /// # Errors
    /// What the map names and a version does not have, and what has another type in its place.
    pub(crate) fn of(
        old: &'p Outline,
        new: &'p Outline,
        map: &BTreeMap<ActivityId, ActivityId>,
    ) -> Result<Self, Vec<Problem>> {
        let (named, places, held) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        let mut mapping = Self { old, new, named, places, held };
        if map.is_empty() {
            return Ok(mapping);
        }
        if map.len() > limits::ACTIVITIES_MAX {
            let max = limits::ACTIVITIES_MAX;
            return Err(vec![flaw(format!("it has {} entries: use at most {max}", map.len()))]);
        }
        let (before, after) = (Names::of(old), Names::of(new));
        let mut problems = Vec::new();
        for (was, is) in map {
            let (was, is) = (before.find(was), after.find(is));
            let (was, is) = match (was, is) {
                (Ok(was), Ok(is)) => (was, is),
                (was, is) => {
                    problems.extend([was, is].into_iter().filter_map(Result::err).map(flaw));
                    continue;
                }
            };
            problems.extend(mapping.name(was, is));
        }
        if problems.len() > SHOWN_MAX {
            let more = problems.len() - SHOWN_MAX;
            problems.truncate(SHOWN_MAX);
            problems.push(flaw(format!("there are {more} more problems with it")));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        mapping.settle();
        Ok(mapping)
    }

    /// Takes an entry of the map; the reason why it cannot be.
    fn name(&mut self, was: NodeRef, is: NodeRef) -> Option<Problem> {
        let (before, after) = (self.old.node(was), self.new.node(is));
        if before.type_name() != after.type_name() {
            return Some(flaw(format!(
                "{} is {}, and {} is {} there: name an activity of the same type",
                before.id,
                with_article(before.type_name()),
                after.id,
                with_article(after.type_name())
            )));
        }
        let other = self.named.insert(was, is).filter(|other| *other != is)?;
        let other = &self.new.node(other).path;
        Some(flaw(format!("{} has two places, {other} and {}: name one", before.path, after.path)))
    }

    /// Finds the places of all activities, of containers before those of their children.
    fn settle(&mut self) {
        let (old, new) = (self.old, self.new);
        let owners = owners(old);
        let mut children = BTreeMap::new();
        for (owner, child) in pairs(new) {
            children.insert((owner, new.node(child).id.as_str()), child);
        }
        let count = old.nodes.len();
        let (mut places, mut is_inside) = (vec![None; count], vec![false; count]);
        let index = |node: NodeRef| node.0 as usize;
        let nodes: Vec<_> = numbered(old).collect();
        for (node_ref, node) in nodes.into_iter().rev() {
            let at = index(node_ref);
            let owner = owners[at];
            is_inside[at] = owner
                .is_some_and(|owner| is_inside[index(owner)] || self.named.contains_key(&owner));
            let there = owner.filter(|_| is_inside[at]).and_then(|owner| places[index(owner)]);
            let beside = |owner| children.get(&(owner, node.id.as_str())).copied();
            let named = self.named.get(&node_ref).copied();
            places[at] = named.or_else(|| there.and_then(beside)).or_else(|| new.find(&node.key));
        }
        self.places = places;
    }

    /// The place of an activity; none if it has none.
    pub(crate) fn place(&self, node: NodeRef) -> Option<NodeRef> {
        match self.named.is_empty() {
            true => self.new.find(&self.old.node(node).key),
            false => self.places.get(node.0 as usize).copied().flatten(),
        }
    }

    /// The place of the activity with this key.
    pub(crate) fn place_of(&self, key: &str) -> Option<NodeRef> {
        self.place(self.old.find(key)?)
    }

    /// The key that the activity with this key has in the other version.
    pub(crate) fn key_of(&self, key: &str) -> Option<String> {
        Some(self.new.node(self.place_of(key)?).key.clone())
    }

    /// What the activity with this node id is in the other version.
    pub(crate) fn path_of(&self, path: &str) -> Option<&'p Node> {
        let (node_ref, _) = numbered(self.old).find(|(_, node)| node.path == path)?;
        Some(self.new.node(self.place(node_ref)?))
    }

    /// Notes that the instance is at this activity; a problem if another one at which it is has the same
    /// place: their parts of the state could not be told apart any more.
    pub(crate) fn hold(&mut self, key: &str) -> Option<Problem> {
        let (node_ref, node) = self.old.keyed(key);
        let place = self.place(node_ref)?;
        let first = *self.held.entry(place).or_insert(node_ref);
        (first != node_ref).then(|| {
            let (first, place) = (&self.old.node(first).id, &self.new.node(place).id);
            let message = format!(
                "the instance is at this activity and at {first}, and both would be {place} there: \
                 map them to different activities"
            );
            Problem::error(Some(&node.id), None, message)
        })
    }

    /// The place of an activity. Of several with one place, only the one at which the instance is has
    /// it.
    pub(crate) fn place_held(&self, node: NodeRef) -> Option<NodeRef> {
        let is_held = |place: &NodeRef| self.held.get(place).is_none_or(|held| *held == node);
        self.place(node).filter(is_held)
    }

    /// The activities at which the instance is and that have another key there: each with that key.
    pub(crate) fn moved(&self) -> BTreeMap<&str, &str> {
        let keys = |(after, before): (&NodeRef, &NodeRef)| {
            (self.old.node(*before).key.as_str(), self.new.node(*after).key.as_str())
        };
        self.held.iter().map(keys).filter(|(was, is)| was != is).collect()
    }

    /// The node ids that the map changes, without those of activities in a named container.
    pub(crate) fn paths(&self) -> BTreeMap<String, String> {
        let paths = |(was, is): (&NodeRef, &NodeRef)| {
            (self.old.node(*was).path.clone(), self.new.node(*is).path.clone())
        };
        self.named.iter().map(paths).filter(|(was, is)| was != is).collect()
    }

    /// Whether the map names no activity.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }
}

/// The activities of a version by their ids and paths.
struct Names<'p> {
    outline: &'p Outline,
    /// None where several activities have the id.
    found: BTreeMap<&'p str, Option<NodeRef>>,
    /// The path of one of the activities that have an id.
    paths: BTreeMap<&'p str, &'p str>,
}

impl<'p> Names<'p> {
    fn of(outline: &'p Outline) -> Self {
        let (mut found, mut paths) = (BTreeMap::new(), BTreeMap::new());
        for (node_ref, node) in numbered(outline) {
            found.entry(node.id.as_str()).and_modify(|one| *one = None).or_insert(Some(node_ref));
            paths.insert(node.id.as_str(), node.path.as_str());
        }
        for (node_ref, node) in numbered(outline) {
            found.entry(node.path.as_str()).or_insert(Some(node_ref));
        }
        Self { outline, found, paths }
    }

    fn find(&self, id: &ActivityId) -> Result<NodeRef, String> {
        let version = self.outline.version;
        match self.found.get(id.as_str()) {
            Some(Some(node)) => Ok(*node),
            Some(None) => {
                let path = self.paths.get(id.as_str()).copied().unwrap_or_default();
                Err(format!(
                    "version {version} has several activities {id}: name one by its path, such as \
                     {path}"
                ))
            }
            None => Err(format!("version {version} has no activity {id}")),
        }
    }
}

fn numbered(outline: &Outline) -> impl Iterator<Item = (NodeRef, &Node)> {
    outline.nodes.iter().zip(0..).map(|(node, at)| (NodeRef(at), node))
}

/// Every container with each of its children.
fn pairs(outline: &Outline) -> impl Iterator<Item = (NodeRef, NodeRef)> {
    numbered(outline).flat_map(|(owner, node)| {
        node.children.values().flatten().map(move |child| (owner, *child))
    })
}

/// The container of each node.
fn owners(outline: &Outline) -> Vec<Option<NodeRef>> {
    let mut owners = vec![None; outline.nodes.len()];
    for (owner, child) in pairs(outline) {
        if let Some(known) = owners.get_mut(child.0 as usize) {
            *known = Some(owner);
        }
    }
    owners
}

/// A problem of the map. It is read in answers of the API, in Studio and on the command line, which have
/// different names for the map.
fn flaw(message: impl fmt::Display) -> Problem {
    Problem::error(None, None, format!("the map of activities: {message}"))
}

/// The name of a type, with the article that fits it.
pub(crate) fn with_article(type_name: &str) -> String {
    let has_vowel = type_name.starts_with(['A', 'E', 'I', 'O', 'U', 'a', 'e', 'i', 'o', 'u']);
    format!("{} {type_name}", if has_vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_the_article_that_fits_it() {
        for (name, expected) in [
            ("Elsa.Event", "an Elsa.Event"),
            ("Acme.Order", "an Acme.Order"),
            ("Shop.Order", "a Shop.Order"),
            ("event", "an event"),
        ] {
            assert_eq!(with_article(name), expected);
        }
    }
}
