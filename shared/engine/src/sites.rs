//! The places of the activities in a definition, as designers and clients of Elsa know them: each by
//! the ids from the workflow to it (its node id), with the port through which its owner holds it.
//!
//! Nothing is compiled, so a draft with mistakes has sites too.

use model::activity_type::short_name;
use model::{Definition, DefinitionId, Map, limits};
use serde_json::{Value, json};

use crate::chart::WORKFLOW_ID;
use crate::compile::Ids;
use crate::composite::ROOT;
use crate::descriptor::PortKind;
use crate::library::{Types, version};
use crate::property::find;
use crate::registry::Registry;
use crate::{Library, Reference};

/// The activities of a definition, each at its place.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    /// The root activity as it was written; each activity also has `id`, `nodeId` and `version`, and
    /// `name`, `customProperties` and `metadata`, which are empty where nothing was written.
    pub root: Value,
    /// The activities, each before those that it holds.
    pub list: Vec<Site>,
}

/// The place of an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its id.
    pub id: String,
    /// The ids from the workflow to it, joined with `:`.
    pub node_id: String,
    /// Its type.
    pub type_name: String,
    /// Its name.
    pub name: Option<String>,
    /// The property of its owner that holds it; `Root` for the root activity.
    pub port: String,
    /// Its owner, by its position in the list; none for the root activity.
    pub owner: Option<usize>,
    /// Where it is below the root activity (RFC 6901).
    pub pointer: String,
}

impl Sites {
    /// The sites of a definition. An activity that is a workflow of the library holds that workflow's
    /// root activity in `root`.
    pub(crate) fn of(definition: &Definition, library: &Library, registry: &Registry) -> Self {
        let mut walk = Walk {
            registry,
            library,
            types: Types::of(definition),
            ids: Ids::of(&definition.root),
            using: vec![definition.definition_id.clone()],
            list: Vec::new(),
        };
        let mut root = definition.root.clone();
        walk.activity(&mut root, &Above { node_id: WORKFLOW_ID, owner: None, depth: 0 }, ROOT, "");
        Self { root, list: walk.list }
    }

    /// The activity with this node id, by its position in the list.
    #[must_use]
    pub fn find(&self, node_id: &str) -> Option<usize> {
        self.list.iter().position(|site| site.node_id == node_id)
    }

    /// The activity at a site, with all that it holds.
    #[must_use]
    pub fn activity(&self, site: &Site) -> Option<&Value> {
        self.root.pointer(&site.pointer)
    }

    /// The sites around an activity, from the inside out.
    pub fn around(&self, position: usize) -> impl Iterator<Item = &Site> {
        let owner = |position: usize| self.list.get(position).and_then(|site| site.owner);
        std::iter::successors(owner(position), move |at| owner(*at))
            .filter_map(|at| self.list.get(at))
    }
}

/// Gives every node id in the definition the value that it has in [`Sites`]. An activity without one
/// stays without one.
pub(crate) fn place(definition: &mut Definition, registry: &Registry) {
    let sites = Sites::of(definition, &Library::default(), registry);
    for site in sites.list {
        let activity = definition.root.pointer_mut(&site.pointer);
        if let Some(node_id) = activity.and_then(|activity| activity.get_mut("nodeId")) {
            *node_id = json!(site.node_id);
        }
    }
}

/// The owner of an activity.
struct Above<'w> {
    node_id: &'w str,
    owner: Option<usize>,
    depth: usize,
}

struct Walk<'w> {
    registry: &'w Registry,
    library: &'w Library,
    types: Types,
    ids: Ids,
    /// The workflow that is walked, and those around it.
    using: Vec<DefinitionId>,
    list: Vec<Site>,
}

impl Walk<'_> {
    /// Visits what should be an activity, and all that it holds.
    fn activity(&mut self, value: &mut Value, above: &Above<'_>, port: &str, pointer: &str) {
        let Some(raw) = value.as_object_mut() else { return };
        let Some(type_name) = find(raw, "type").and_then(Value::as_str).map(str::to_owned) else {
            return;
        };
        if above.depth > limits::NESTING_MAX || self.list.len() >= limits::ACTIVITIES_MAX {
            return;
        }
        let descriptor = self.registry.get(&type_name).map(|known| known.descriptor.clone());
        let short_name = match &descriptor {
            Some(known) => known.name,
            None => self.short_name(raw, &type_name),
        };
        let id = self.ids.of_activity(raw, short_name);
        let node_id = format!("{}:{id}", above.node_id);
        let name = find(raw, "name").and_then(Value::as_str).map(str::to_owned);
        raw.insert("id".to_owned(), json!(id));
        raw.insert("nodeId".to_owned(), json!(node_id));
        if find(raw, "version").is_none_or(Value::is_null) {
            let kind = self.library.type_of_worker(&self.types, &type_name, None);
            raw.insert("version".to_owned(), json!(kind.map_or(1, |kind| kind.version)));
        }
        for (member, empty) in
            [("name", Value::Null), ("customProperties", json!({})), ("metadata", json!({}))]
        {
            if find(raw, member).is_none_or(Value::is_null) {
                raw.insert(member.to_owned(), empty);
            }
        }
        let inside =
            Above { node_id: &node_id, owner: Some(self.list.len()), depth: above.depth + 1 };
        self.list.push(Site {
            id,
            node_id: node_id.clone(),
            type_name: type_name.clone(),
            name,
            port: port.to_owned(),
            owner: above.owner,
            pointer: pointer.to_owned(),
        });
        let Some(descriptor) = descriptor else {
            self.workflow(raw, &type_name, &inside, pointer);
            return;
        };
        for port in &descriptor.ports {
            self.port(raw, port.name, port.kind, &inside, pointer);
        }
    }

    /// The part of an unknown type's name of which ids are made: as the compiler makes them.
    fn short_name<'n>(&self, raw: &Map, type_name: &'n str) -> &'n str {
        let used = Reference::of(raw, type_name);
        let is_workflow = used.is_some_and(|used| self.library.get(&used).is_some());
        let kind = self.library.type_of_worker(&self.types, type_name, version(raw));
        if kind.is_some() && !is_workflow { short_name(type_name) } else { type_name }
    }

    fn port(
        &mut self,
        raw: &mut Map,
        port: &str,
        kind: PortKind,
        inside: &Above<'_>,
        pointer: &str,
    ) {
        let Some((key, value)) = held(raw, port) else { return };
        let pointer = format!("{pointer}/{}", escaped(key));
        match kind {
            PortKind::Flow => {}
            PortKind::Embedded => self.activity(value, inside, port, &pointer),
            PortKind::List => {
                for (at, item) in value.as_array_mut().into_iter().flatten().enumerate() {
                    self.activity(item, inside, port, &format!("{pointer}/{at}"));
                }
            }
            PortKind::Parts(members) => {
                for (at, item) in value.as_array_mut().into_iter().flatten().enumerate() {
                    for member in members {
                        let Some(activity) = item.get_mut(member) else { continue };
                        self.activity(activity, inside, port, &format!("{pointer}/{at}/{member}"));
                    }
                }
            }
        }
    }

    /// Visits the root activity of a workflow that is used as an activity.
    fn workflow(&mut self, raw: &mut Map, type_name: &str, inside: &Above<'_>, pointer: &str) {
        let used =
            Reference::of(raw, type_name).and_then(|named| self.library.get(&named).cloned());
        let Some(used) = used.filter(|used| !self.using.contains(&used.definition_id)) else {
            return;
        };
        let ids = std::mem::replace(&mut self.ids, Ids::of(&used.root));
        self.using.push(used.definition_id.clone());
        let mut root = used.root.clone();
        self.activity(&mut root, inside, ROOT, &format!("{pointer}/root"));
        raw.insert("root".to_owned(), root);
        self.using.pop();
        self.ids = ids;
    }
}

/// A property by name, as [`find`] finds it, and its name as it is written.
fn held<'r>(raw: &'r mut Map, name: &str) -> Option<(&'r str, &'r mut Value)> {
    let is_exact = raw.contains_key(name);
    raw.iter_mut()
        .find(|(key, _)| if is_exact { *key == name } else { key.eq_ignore_ascii_case(name) })
        .map(|(key, value)| (key.as_str(), value))
}

/// A member's name in a pointer (RFC 6901, section 3).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
