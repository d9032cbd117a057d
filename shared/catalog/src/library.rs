//! Reads the definitions that a definition uses as activities.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Engine, Library, Reference};
use model::{Definition, DefinitionId};
use store::{DefinitionFilter, Error, Page, Store, VersionOption};

/// The greatest number of references that are followed for one definition. One beyond them counts as
/// a reference to a workflow that does not exist.
const REFERENCES_MAX: usize = 256;
/// The number of definitions that are read at once.
const PAGE: u64 = 100;

/// The definitions that this one uses as activities, and those that they use. A reference means the
/// version that it names, by its id or by its number. Where that does not exist, and the definition was not published yet, it
/// means the published version, or the latest where none is published. A reference by name only means
/// the one published workflow that is usable as an activity and has this name. Versions that are not
/// stored yet are in `known`.
///
/// # Errors
/// When the database does not answer.
pub async fn library(
    store: &dyn Store,
    engine: &Engine,
    definition: &Definition,
    known: Library,
) -> Result<Library, Error> {
    let mut library = known;
    let mut usable = None;
    let mut seen = BTreeSet::new();
    let mut rest: Vec<(Reference, bool)> = users(engine, definition).collect();
    while let Some((reference, is_exact)) = rest.pop() {
        if seen.len() >= REFERENCES_MAX || !seen.insert(reference.clone()) {
            continue;
        }
        if let Some(type_name) = &reference.type_name {
            let usable = match &mut usable {
                Some(usable) => usable,
                None => usable.insert(usable_types(store).await?),
            };
            match usable.get(type_name).map(Vec::as_slice) {
                Some([only]) if !is_exact => {
                    let numbered = numbered(store, &only.definition_id, reference.version).await?;
                    let meant = numbered.unwrap_or_else(|| only.clone());
                    rest.extend(users(engine, &meant));
                    library.add(reference, meant);
                }
                Some(several) if several.len() > 1 => library.ambiguous(type_name, several.len()),
                Some(_) => {}
                None => library.offer(usable.keys()),
            }
            continue;
        }
        let known = library.get(&reference).map(|known| (**known).clone());
        let found = match known {
            Some(known) => Some(known),
            None => meant(store, &reference, is_exact).await?,
        };
        if let Some(found) = found {
            rest.extend(users(engine, &found));
            library.add(reference, found);
        }
    }
    Ok(library)
}

/// The references of a definition. Those of an immutable version mean exactly what they name.
fn users<'d>(
    engine: &Engine,
    definition: &'d Definition,
) -> impl Iterator<Item = (Reference, bool)> + use<'d> {
    let is_exact = definition.is_immutable();
    engine.references(definition).into_iter().map(move |reference| (reference, is_exact))
}

/// The published workflows that others may use as activities, by their names as activity types.
async fn usable_types(store: &dyn Store) -> Result<BTreeMap<String, Vec<Definition>>, Error> {
    let filter =
        DefinitionFilter { version: VersionOption::Published, ..DefinitionFilter::default() };
    let mut types: BTreeMap<String, Vec<Definition>> = BTreeMap::new();
    for number in 0.. {
        let page = store.definitions(&filter, Page::numbered(number, PAGE)).await?;
        let is_last = (number + 1) * PAGE >= page.total;
        for definition in page.items.into_iter().filter(Definition::is_usable_as_activity) {
            types.entry(definition.activity_type()).or_default().push(definition);
        }
        if is_last {
            break;
        }
    }
    Ok(types)
}

async fn meant(
    store: &dyn Store,
    reference: &Reference,
    is_exact: bool,
) -> Result<Option<Definition>, Error> {
    if let Some(id) = &reference.version_id
        && let Some(found) = store.version(id).await?
    {
        return Ok(Some(found));
    }
    let Some(id) = reference.definition_id.as_ref().filter(|_| !is_exact) else { return Ok(None) };
    if let Some(numbered) = numbered(store, id, reference.version).await? {
        return Ok(Some(numbered));
    }
    match store.definition(id, VersionOption::Published).await? {
        Some(published) => Ok(Some(published)),
        None => store.definition(id, VersionOption::Latest).await,
    }
}

/// The version of this number, if there is one that was published.
async fn numbered(
    store: &dyn Store,
    id: &DefinitionId,
    version: Option<u32>,
) -> Result<Option<Definition>, Error> {
    let Some(number) = version else { return Ok(None) };
    let found = store.definition(id, VersionOption::Number(number)).await?;
    Ok(found.filter(Definition::is_immutable))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{Languages, Registry};
    use model::Timestamp;
    use serde_json::{Value, json};
    use store::memory::MemoryStore;
    use store::{Base, Publication};

    use super::*;

    fn child(version: u32) -> Definition {
        let document = json!({
            "id": format!("child-{version}"), "definitionId": "child", "name": "Child",
            "version": version, "publishedAt": "2026-01-01T00:00:00Z",
            "options": {"usableAsActivity": true}, "root": {"type": "Nothing"}
        });
        serde_json::from_value(document).unwrap()
    }

    /// The version of the workflow Child that an activity means.
    async fn meant(store: &MemoryStore, node: Value) -> Option<u32> {
        let engine = Engine::new(Registry::default(), Languages::new(Vec::new()));
        let user = Definition { root: node, ..Definition::default() };
        let library = library(store, &engine, &user, Library::default()).await.unwrap();
        library.versions().next().map(|found| found.version)
    }

    #[tokio::test]
    async fn a_version_is_meant_by_its_id_by_its_number_or_because_it_is_published() {
        let store = MemoryStore::new(Arc::new(|| Timestamp::from_millis(0)));
        for version in 1..=2 {
            let publication = Publication {
                definition: child(version),
                base: Base::Any,
                triggers: Vec::new(),
                schedules: Vec::new(),
            };
            store::Definitions::publish(&store, publication).await.unwrap();
        }
        let draft = Definition { published_at: None, ..child(3) };
        store::Definitions::save(&store, &draft, &Base::Any).await.unwrap();
        let id = json!({"type": "Child", "workflowDefinitionId": "child"});
        let with = |mut node: Value, name: &str, value: Value| {
            node[name] = value;
            node
        };
        assert_eq!(meant(&store, id.clone()).await, Some(2));
        assert_eq!(meant(&store, with(id.clone(), "version", json!(1))).await, Some(1));
        // A draft is no version to pin, and what does not exist is not meant.
        assert_eq!(meant(&store, with(id.clone(), "version", json!(3))).await, Some(2));
        assert_eq!(meant(&store, with(id.clone(), "version", json!(9))).await, Some(2));
        let by_name = json!({"type": "Child", "version": 1});
        assert_eq!(meant(&store, by_name).await, Some(1));
        // The id of a version counts before its number.
        let both = with(id, "workflowDefinitionVersionId", json!("child-2"));
        assert_eq!(meant(&store, with(both, "version", json!(1))).await, Some(2));
    }
}
