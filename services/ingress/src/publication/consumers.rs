//! Definitions that use another one as an activity.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{Engine, Library, Reference};
use model::{Definition, DefinitionId, VersionId};
use store::{DefinitionFilter, Page, Publication, VersionOption};

use crate::app::App;
use crate::problem::Problem;

const PAGE: u64 = 100;

/// The ids of the definitions whose latest version uses this one.
pub(super) async fn of(app: &App, id: &DefinitionId) -> Result<Vec<DefinitionId>, Problem> {
    let latest = all(app, VersionOption::Latest).await?;
    let users = latest.into_iter().filter(|other| uses(&app.cx.engine, other, id));
    Ok(users.map(|other| other.definition_id).collect())
}

/// Refuses with 409 if another definition uses this one as an activity: one of its versions, or
/// this one only. Instances of any version may run, so all versions are searched.
pub(super) async fn refuse_used(
    app: &App,
    id: &DefinitionId,
    version_id: Option<&VersionId>,
) -> Result<(), Problem> {
    let versions = all(app, VersionOption::All).await?;
    let user = versions.iter().filter(|other| other.definition_id != *id).find(|other| {
        let mut references = app.cx.engine.references(other).into_iter();
        references.any(|reference| match version_id {
            Some(version_id) => reference.version_id.as_ref() == Some(version_id),
            None => reference.definition_id.as_ref() == Some(id),
        })
    });
    let Some(user) = user else { return Ok(()) };
    let detail = format!(
        "version {} of workflow definition {} uses it as an activity: delete that version first",
        user.version, user.definition_id
    );
    Err(Problem::conflict("in-use", detail))
}

/// New versions of the published definitions that use another version of this one, each after those
/// that it uses. A definition that uses one of them gets a new version too if the one that it uses
/// asks for that. Drafts and read-only definitions are left as they are.
pub(super) async fn updates(
    app: &Arc<App>,
    changed: &Definition,
) -> Result<Vec<Publication>, Problem> {
    let mut published = all(app, VersionOption::Latest).await?;
    published.retain(|other| other.is_published && !other.is_readonly);
    let engine = &app.cx.engine;
    let mut news = BTreeMap::from([(changed.definition_id.clone(), changed.clone())]);
    // All new versions by their ids: none of them is stored yet.
    let mut known = Library::default();
    known.add(reference_to(changed), changed.clone());
    let mut updates = Vec::new();
    for consumer in affected(engine, changed, &published) {
        let mut next = super::next_version(app, consumer.clone(), Some(consumer));
        let mut meant = Library::default();
        for reference in engine.references(&next) {
            let new = reference.definition_id.as_ref().and_then(|id| news.get(id));
            if let Some(new) = new {
                meant.add(reference, new.clone());
            }
        }
        engine.pin(&mut next, &meant);
        let update = super::publication(app, next, Some(consumer), known.clone()).await;
        let (update, _) = update.map_err(|problem| {
            let id = &consumer.definition_id;
            problem.of(&format!("workflow definition {id} uses it and gets no new version"))
        })?;
        known.add(reference_to(&update.definition), update.definition.clone());
        news.insert(consumer.definition_id.clone(), update.definition.clone());
        updates.push(update);
    }
    Ok(updates)
}

fn reference_to(definition: &Definition) -> Reference {
    Reference {
        definition_id: Some(definition.definition_id.clone()),
        version_id: Some(definition.id.clone()),
        type_name: None,
    }
}

/// The definitions that get a new version, each after those that it uses.
fn affected<'d>(
    engine: &Engine,
    changed: &Definition,
    published: &'d [Definition],
) -> Vec<&'d Definition> {
    let mut spreading = BTreeSet::from([&changed.definition_id]);
    let mut found: BTreeSet<&DefinitionId> = BTreeSet::new();
    loop {
        let new: Vec<_> = published
            .iter()
            .filter(|other| other.definition_id != changed.definition_id)
            .filter(|other| !found.contains(&other.definition_id))
            .filter(|other| {
                let mut references = engine.references(other).into_iter();
                references.any(|reference| {
                    let used = reference.definition_id.as_ref();
                    let is_changed = reference.version_id.as_ref() != Some(&changed.id);
                    used.is_some_and(|used| spreading.contains(used)) && is_changed
                })
            })
            .collect();
        if new.is_empty() {
            break;
        }
        for definition in new {
            found.insert(&definition.definition_id);
            if definition.options.auto_update_consuming_workflows == Some(true) {
                spreading.insert(&definition.definition_id);
            }
        }
    }
    let mut rest: Vec<_> =
        published.iter().filter(|other| found.contains(&other.definition_id)).collect();
    let mut ordered = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let waits =
            |one: &&Definition| rest.iter().any(|other| uses(engine, one, &other.definition_id));
        let (later, now): (Vec<_>, Vec<_>) = rest.iter().copied().partition(waits);
        // No published definition uses itself, so there is always one that waits for no other.
        if now.is_empty() {
            break;
        }
        ordered.extend(now);
        rest = later;
    }
    ordered
}

fn uses(engine: &Engine, user: &Definition, id: &DefinitionId) -> bool {
    let mut references = engine.references(user).into_iter();
    references.any(|reference| reference.definition_id.as_ref() == Some(id))
}

/// Every definition in this version.
pub(crate) async fn all(app: &App, version: VersionOption) -> Result<Vec<Definition>, Problem> {
    let filter = DefinitionFilter { version, ..DefinitionFilter::default() };
    let mut found = Vec::new();
    for number in 0.. {
        let page = app.cx.store.definitions(&filter, Page::numbered(number, PAGE)).await?;
        let is_last = (number + 1) * PAGE >= page.total;
        found.extend(page.items);
        if is_last {
            break;
        }
    }
    Ok(found)
}
