//! Definitions that other definitions use as activities.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ActivityType, Definition, DefinitionId, Map, VersionId};
use serde_json::Value;

use crate::placeholder;

const DEFINITION_ID: &str = "workflowDefinitionId";
const VERSION_ID: &str = "workflowDefinitionVersionId";
const LATEST_ID: &str = "latestAvailablePublishedVersionId";
/// The length of a type name that may mean a workflow.
const TYPE_BYTES_MAX: usize = 128;
const LATEST: &str = "latestAvailablePublishedVersion";

/// The way in which an activity names the definition that it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The definition.
    pub definition_id: Option<DefinitionId>,
    /// Its version; it counts if both are given and it exists.
    pub version_id: Option<VersionId>,
    /// The number of its version, where an activity names no version by its id; it counts if it
    /// exists.
    pub version: Option<u32>,
    /// Its name as an activity type, where an activity says nothing else.
    pub type_name: Option<String>,
}

impl Reference {
    /// The reference of this activity, whose type is none of ours: by the ids that it names, else by
    /// its type.
    pub(crate) fn of(raw: &Map, type_name: &str) -> Option<Self> {
        let is_name = type_name.starts_with(char::is_uppercase)
            && type_name.chars().all(char::is_alphanumeric)
            && type_name.len() <= TYPE_BYTES_MAX;
        let named = || Self {
            type_name: Some(type_name.to_owned()),
            version: version(raw),
            ..Self::default()
        };
        Self::ids(raw).or_else(|| is_name.then(named))
    }

    /// Whether it means this definition, in whatever version.
    #[must_use]
    pub fn means(&self, definition: &Definition) -> bool {
        match (&self.definition_id, &self.version_id, &self.type_name) {
            (Some(id), ..) => *id == definition.definition_id,
            (None, Some(id), _) => *id == definition.id,
            (None, None, Some(name)) => {
                definition.is_usable_as_activity() && definition.activity_type() == *name
            }
            (None, None, None) => false,
        }
    }

    /// The ids that this activity names, and the number of the version; none if it names none.
    pub(crate) fn ids(raw: &Map) -> Option<Self> {
        let text = |name| raw.get(name).and_then(Value::as_str).filter(|id| !id.is_empty());
        let definition_id = text(DEFINITION_ID).map(DefinitionId::new);
        let version_id = text(VERSION_ID).map(VersionId::new);
        let version = if version_id.is_none() { version(raw) } else { None };
        (definition_id.is_some() || version_id.is_some()).then_some(Self {
            definition_id,
            version_id,
            version,
            type_name: None,
        })
    }
}

/// The number of a version that an activity names.
pub(crate) fn version(raw: &Map) -> Option<u32> {
    raw.get("version")?.as_u64().and_then(|number| u32::try_from(number).ok())
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.definition_id, &self.version_id) {
            (Some(id), _) => write!(f, "{id}"),
            (None, Some(id)) => write!(f, "version {id}"),
            (None, None) => f.write_str(self.type_name.as_deref().unwrap_or("nothing")),
        }
    }
}

/// The definitions that a definition uses as activities, and those that they use.
#[derive(Clone, Debug, Default)]
pub struct Library {
    versions: BTreeMap<VersionId, Arc<Definition>>,
    by_reference: BTreeMap<Reference, VersionId>,
    namesakes: BTreeMap<String, usize>,
    names: BTreeSet<String>,
    types: Types,
}

/// Activity types that workers perform, by their names and versions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    types: BTreeMap<(String, u32), Arc<ActivityType>>,
    /// They are those of a version that never changes: no other ones count.
    is_final: bool,
}

impl Types {
    /// The types that a definition has written into it.
    pub(crate) fn of(definition: &Definition) -> Self {
        let mut types = Self { is_final: definition.is_immutable(), ..Self::default() };
        definition.activity_types.iter().cloned().for_each(|kind| types.add(kind));
        types
    }

    fn add(&mut self, kind: ActivityType) {
        self.types.insert((kind.type_name.clone(), kind.version), Arc::new(kind));
    }

    /// This version of a type, or its newest.
    fn get(&self, name: &str, version: Option<u32>) -> Option<&Arc<ActivityType>> {
        match version {
            Some(version) => self.types.get(&(name.to_owned(), version)),
            None => self.versions(name).next_back().map(|(_, kind)| kind),
        }
    }

    fn versions(
        &self,
        name: &str,
    ) -> impl DoubleEndedIterator<Item = (&(String, u32), &Arc<ActivityType>)> {
        self.types.range((name.to_owned(), 0)..=(name.to_owned(), u32::MAX))
    }
}

impl Library {
    /// Adds the version that a reference means.
    pub fn add(&mut self, reference: Reference, definition: Definition) {
        self.by_reference.insert(reference, definition.id.clone());
        self.versions.insert(definition.id.clone(), Arc::new(definition));
    }

    /// The version that a reference means.
    #[must_use]
    pub fn get(&self, reference: &Reference) -> Option<&Arc<Definition>> {
        let named = reference.version_id.as_ref().and_then(|id| self.versions.get(id));
        named.or_else(|| self.versions.get(self.by_reference.get(reference)?))
    }

    /// The versions.
    pub fn versions(&self) -> impl Iterator<Item = &Definition> {
        self.versions.values().map(|definition| &**definition)
    }

    /// Adds the types that workers have registered.
    pub fn register(&mut self, types: impl IntoIterator<Item = ActivityType>) {
        types.into_iter().for_each(|kind| self.types.add(kind));
    }

    /// This version of a type that workers perform, or its newest. The one that the workflow has
    /// written into it counts where it may not change, and where no worker has registered it.
    pub(crate) fn type_of_worker(
        &self,
        own: &Types,
        name: &str,
        version: Option<u32>,
    ) -> Option<Arc<ActivityType>> {
        let registered = if own.is_final { None } else { self.types.get(name, version) };
        registered.or_else(|| own.get(name, version)).cloned()
    }

    /// The versions of a type that workers perform.
    pub(crate) fn versions_of(&self, own: &Types, name: &str) -> BTreeSet<u32> {
        self.types
            .versions(name)
            .chain(own.versions(name))
            .map(|((_, version), _)| *version)
            .collect()
    }

    /// The names of the types that workers have registered.
    pub(crate) fn registered(&self) -> impl Iterator<Item = &str> {
        self.types.types.keys().map(|(name, _)| name.as_str())
    }

    /// Notes that several published workflows have this name as activity types.
    pub fn ambiguous(&mut self, type_name: &str, count: usize) {
        self.namesakes.insert(type_name.to_owned(), count);
    }

    /// Notes the names that published workflows have as activity types, for advice about others.
    pub fn offer<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) {
        self.names.extend(names.into_iter().cloned());
    }

    /// The names that were noted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The number of published workflows of this name, if there are several.
    pub(crate) fn namesakes(&self, type_name: &str) -> Option<usize> {
        self.namesakes.get(type_name).copied()
    }

    /// The number of versions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.versions.len()
    }

    /// Whether it has no version.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }
}

/// The references of the activities in a definition whose type is none of these.
pub(crate) fn references(root: &Value, is_type: &dyn Fn(&str) -> bool) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut rest = vec![root];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => {
                found.extend(user(map, is_type));
                if let Some(original) = placeholder::original(map) {
                    found.extend(references(&Value::Object(original), is_type));
                }
                rest.extend(map.values());
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Writes into each of these activities the version that its reference means now.
pub(crate) fn pin(root: &mut Value, is_type: &dyn Fn(&str) -> bool, library: &Library) {
    let mut rest = vec![root];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => {
                if let Some(original) = placeholder::original(map).map(Value::Object) {
                    let mut pinned = original.clone();
                    pin(&mut pinned, is_type, library);
                    if pinned != original {
                        placeholder::put(map, &pinned);
                    }
                }
                let meant = user(map, is_type).and_then(|reference| library.get(&reference));
                if let Some(definition) = meant {
                    write(map, definition);
                }
                rest.extend(map.values_mut());
            }
            _ => {}
        }
    }
}

/// Whether something in this root has a type that is none of these.
pub(crate) fn has_other_types(root: &Value, is_type: &dyn Fn(&str) -> bool) -> bool {
    match root {
        Value::Array(items) => items.iter().any(|item| has_other_types(item, is_type)),
        Value::Object(map) => {
            let is_other = map.get("type").and_then(Value::as_str).is_some_and(|it| !is_type(it));
            is_other || map.values().any(|value| has_other_types(value, is_type))
        }
        _ => false,
    }
}

/// The types that workers perform, and that activities in this root have.
pub(crate) fn types_in(
    definition: &Definition,
    is_type: &dyn Fn(&str) -> bool,
    library: &Library,
) -> Vec<ActivityType> {
    let own = Types::of(definition);
    let mut found = BTreeMap::new();
    let meant = |map: &Map| {
        let name = map.get("type").and_then(Value::as_str).filter(|name| !is_type(name))?;
        let is_workflow = user(map, is_type).is_some_and(|it| library.get(&it).is_some());
        if is_workflow { None } else { library.type_of_worker(&own, name, version(map)) }
    };
    each_object(&definition.root, &mut |map| {
        if let Some(kind) = meant(map) {
            found.insert((kind.type_name.clone(), kind.version), (*kind).clone());
        }
    });
    found.into_values().collect()
}

/// Visits every object in this value, and in what placeholders stand for.
fn each_object(root: &Value, visit: &mut dyn FnMut(&Map)) {
    let mut rest = vec![root];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => {
                if let Some(original) = placeholder::original(map) {
                    each_object(&Value::Object(original), visit);
                }
                visit(map);
                rest.extend(map.values());
            }
            _ => {}
        }
    }
}

fn user(map: &Map, is_type: &dyn Fn(&str) -> bool) -> Option<Reference> {
    let type_name = map.get("type").and_then(Value::as_str)?;
    if is_type(type_name) { None } else { Reference::of(map, type_name) }
}

fn write(map: &mut Map, definition: &Definition) {
    map.insert(DEFINITION_ID.to_owned(), definition.definition_id.as_str().into());
    map.insert(VERSION_ID.to_owned(), definition.id.as_str().into());
    map.insert("version".to_owned(), definition.version.into());
    if definition.is_published {
        map.insert(LATEST.to_owned(), definition.version.into());
        map.insert(LATEST_ID.to_owned(), definition.id.as_str().into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn child() -> Definition {
        let mut child = Definition {
            id: "c-2".into(),
            version: 2,
            is_published: true,
            ..Definition::default()
        };
        child.definition_id = "child".into();
        child
    }

    fn is_type(name: &str) -> bool {
        name == "Elsa.ExecuteWorkflow"
    }

    #[test]
    fn only_activities_of_an_unknown_type_refer_to_definitions() {
        let root = json!({"activities": [
            {"type": "Child", "workflowDefinitionId": "child"},
            {"type": "Child", "workflowDefinitionId": "child"},
            {"type": "Other", "workflowDefinitionVersionId": "o-1", "version": 7},
            {"type": "Child", "workflowDefinitionId": "child", "version": 1},
            {"type": "Elsa.ExecuteWorkflow", "workflowDefinitionId": "x"},
            {"workflowDefinitionId": "no type"},
            {"type": "nothing"},
            {"type": "SendInvoice", "id": "i"},
            {"type": "Acme.Unheard", "id": "i"}
        ]});
        let found = references(&root, &is_type);
        let found: Vec<_> = found.iter().map(|one| (one.to_string(), one.version)).collect();
        let expected =
            [("SendInvoice", None), ("version o-1", None), ("child", None), ("child", Some(1))];
        assert_eq!(found, expected.map(|(name, version)| (name.to_owned(), version)));
    }

    #[test]
    fn a_placeholder_refers_to_what_its_original_refers_to() {
        let original = r#"{"type": "Child", "workflowDefinitionId": "child"}"#;
        let mut root = json!({"type": "Elsa.NotFoundActivity", "id": "n",
            "originalActivityJson": original});
        let reference = references(&root, &is_type).remove(0);
        assert_eq!(reference.to_string(), "child");
        let mut library = Library::default();
        pin(&mut root, &is_type, &library);
        assert_eq!(root["originalActivityJson"], original, "nothing to pin, nothing changed");
        library.add(reference, child());
        pin(&mut root, &is_type, &library);
        let text = root["originalActivityJson"].as_str().unwrap();
        let pinned: Value = serde_json::from_str(text).unwrap();
        assert_eq!(pinned["workflowDefinitionVersionId"], "c-2");
    }

    #[test]
    fn a_pinned_reference_names_the_version_that_it_meant() {
        let mut root = json!({"type": "Child", "workflowDefinitionId": "child", "workflowDefinitionVersionId": "gone"});
        let reference = references(&root, &is_type).remove(0);
        let mut library = Library::default();
        pin(&mut root, &is_type, &library);
        assert_eq!(root["workflowDefinitionVersionId"], "gone");
        library.add(reference, child());
        pin(&mut root, &is_type, &library);
        let expected = json!({"type": "Child", "version": 2,
            "workflowDefinitionId": "child", "workflowDefinitionVersionId": "c-2",
            "latestAvailablePublishedVersion": 2, "latestAvailablePublishedVersionId": "c-2"});
        assert_eq!(root, expected);
        let pinned = references(&root, &is_type).remove(0);
        assert_eq!(library.get(&pinned).unwrap().version, 2);
    }
}
