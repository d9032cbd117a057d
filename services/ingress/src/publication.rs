//! Saves, publishes, retracts and deletes definitions.
//!
//! Every change starts from the latest version and names it to the store as its base. When another
//! change was faster, the store makes none, and the change starts again from what is the latest
//! version then: concurrent changes happen one after the other. A version that was published once
//! is immutable; other content becomes the next version.
//!
//! A publication is validated first, and every problem is named. Its answer comes after the cache
//! barrier, and names the nodes that do not have the version yet.

mod barrier;
mod consumers;
mod index;
mod missing;
mod precondition;
mod together;

use std::collections::BTreeSet;
use std::sync::Arc;

use chassis::Point;
use engine::Library;
use model::{Definition, DefinitionId, VersionId, limits};
use serde_json::{Value, json};
use store::{
    Base, DefinitionFilter, Deleted, Listed, Page, Publication, Published, Retracted, VersionOption,
};

use crate::app::App;
use crate::problem::Problem;
pub(crate) use barrier::Told;
use barrier::{announce, announce_all};
use consumers::{Spread, Updates};
pub(crate) use consumers::{Users, all};
use index::{Children, Index};
pub(crate) use missing::{missing_version, unknown};
pub(crate) use precondition::{Precondition, etag};
pub(crate) use together::{check_together, publish_together};

/// A definition after a change, and the nodes that have it.
#[derive(Debug)]
pub(crate) struct Changed {
    /// The stored version.
    pub(crate) definition: Definition,
    /// The definition had no version before.
    pub(crate) is_new: bool,
    /// The version was published before, with the same content.
    pub(crate) already_published: bool,
    /// The new versions of definitions that use this one, published with it.
    pub(crate) consumers: Vec<Definition>,
    /// What its author should know, though it runs.
    pub(crate) warnings: Vec<Value>,
    /// The answer of the cache barrier; none for a draft.
    pub(crate) noticed: Option<Told>,
}

impl Changed {
    fn new(definition: Definition) -> Self {
        Self {
            definition,
            is_new: false,
            already_published: false,
            consumers: Vec::new(),
            warnings: Vec::new(),
            noticed: None,
        }
    }

    fn already(definition: Definition) -> Self {
        Self { already_published: true, ..Self::new(definition) }
    }

    async fn announced(self, app: &App) -> Self {
        let noticed = announce_all(app, &self.definition, &self.consumers).await;
        if !self.already_published {
            app.cx.trail.at(Point::Announced).await;
        }
        Self { noticed, ..self }
    }
}

/// Saves content as a draft.
pub(crate) async fn save(
    app: &App,
    content: Definition,
    precondition: &Precondition,
) -> Result<Changed, Problem> {
    let id = content.definition_id.clone();
    let _lock = app.edit_locks.lock(&id).await;
    for _ in 0..limits::EDIT_TRIES_MAX {
        let latest = latest_of(app, &id).await?;
        refuse_read_only(latest.as_ref())?;
        let is_repeat = latest
            .as_ref()
            .is_some_and(|latest| !latest.is_immutable() && latest.has_content_of(&content));
        if !is_repeat {
            precondition.check(&id, latest.as_ref())?;
        }
        let draft = next_version(app, content.clone(), latest.as_ref());
        match app.cx.store.save(&draft, &Base::of(latest.as_ref())).await? {
            store::Saved::Done => {
                return Ok(Changed { is_new: latest.is_none(), ..Changed::new(draft) });
            }
            store::Saved::Overtaken { .. } => {}
        }
    }
    Err(contended(&id))
}

/// Saves content and publishes it. Content that is published already makes no new version.
pub(crate) async fn save_and_publish(
    app: &Arc<App>,
    content: Definition,
    precondition: &Precondition,
) -> Result<Changed, Problem> {
    let saved = published_content(app, content, precondition).await?;
    Ok(saved.announced(app).await)
}

/// Publishes the latest version of a definition.
pub(crate) async fn publish(
    app: &Arc<App>,
    id: &DefinitionId,
    precondition: &Precondition,
) -> Result<Changed, Problem> {
    let saved = published_latest(app, id, precondition).await?;
    Ok(saved.announced(app).await)
}

async fn published_content(
    app: &Arc<App>,
    content: Definition,
    precondition: &Precondition,
) -> Result<Changed, Problem> {
    let id = content.definition_id.clone();
    let _lock = app.edit_locks.lock(&id).await;
    let draft = Definition { is_published: false, published_at: None, ..content };
    let (content, _) = index::pinned(app, draft.clone(), Library::default()).await?;
    for _ in 0..limits::EDIT_TRIES_MAX {
        let latest = latest_of(app, &id).await?;
        refuse_read_only(latest.as_ref())?;
        let same = latest
            .as_ref()
            .filter(|latest| latest.is_immutable() && latest.has_content_of(&content));
        let version = match same {
            Some(same) if same.is_published => return Ok(Changed::already(same.clone())),
            // It was retracted: the same version is published again.
            Some(same) => same.clone(),
            None => {
                let known = Library::default();
                if let Some(same) = index::as_published(app, &draft, latest.as_ref(), known).await?
                {
                    return Ok(Changed::already(same));
                }
                precondition.check(&id, latest.as_ref())?;
                next_version(app, content.clone(), latest.as_ref())
            }
        };
        if let Some(changed) = publish_version(app, version, latest.as_ref()).await? {
            return Ok(Changed { is_new: latest.is_none(), ..changed });
        }
    }
    Err(contended(&id))
}

async fn published_latest(
    app: &Arc<App>,
    id: &DefinitionId,
    precondition: &Precondition,
) -> Result<Changed, Problem> {
    let _lock = app.edit_locks.lock(id).await;
    for _ in 0..limits::EDIT_TRIES_MAX {
        let latest = latest(app, id).await?;
        precondition.check(id, Some(&latest))?;
        if latest.is_published {
            return Ok(Changed::already(latest));
        }
        refuse_read_only(Some(&latest))?;
        if let Some(changed) = publish_version(app, latest.clone(), Some(&latest)).await? {
            return Ok(changed);
        }
    }
    Err(contended(id))
}

/// Makes the latest draft a version that never changes, so that instances can run it; it is not
/// published. Its next save makes the next version.
pub(crate) async fn keep(app: &Arc<App>, draft: Definition) -> Result<Definition, Problem> {
    let id = draft.definition_id.clone();
    let _lock = app.edit_locks.lock(&id).await;
    for _ in 0..limits::EDIT_TRIES_MAX {
        let latest = latest(app, &id).await?;
        if latest.is_immutable() {
            return Ok(latest);
        }
        let Index { mut definition, .. } =
            Index::of(app, latest.clone(), Library::default()).await?;
        definition.published_at = Some(app.now());
        match app.cx.store.save(&definition, &Base::of(Some(&latest))).await? {
            store::Saved::Done => return Ok(definition),
            store::Saved::Overtaken { .. } => {}
        }
    }
    Err(contended(&id))
}

/// Retracts the published version; `None` when none is published.
pub(crate) async fn retract(
    app: &Arc<App>,
    id: &DefinitionId,
    precondition: &Precondition,
) -> Result<Option<Changed>, Problem> {
    let _lock = app.edit_locks.lock(id).await;
    for _ in 0..limits::EDIT_TRIES_MAX {
        let latest = latest_of(app, id).await?;
        precondition.check(id, latest.as_ref())?;
        let definition = match app.cx.store.retract(id, &precondition.base(latest.as_ref())).await?
        {
            Retracted::Done(definition) => *definition,
            Retracted::NotPublished => return Ok(None),
            Retracted::Overtaken => continue,
        };
        app.routes.forget();
        let noticed = announce(app, &definition, false).await;
        return Ok(Some(Changed { noticed, ..Changed::new(definition) }));
    }
    Err(contended(id))
}

/// Announces the published version to all nodes again; false when none is published.
pub(crate) async fn announce_again(app: &App, id: &DefinitionId) -> Result<bool, Problem> {
    let published = app.cx.store.definition(id, VersionOption::Published).await?;
    let Some(published) = published else { return Ok(false) };
    app.routes.forget();
    drop(announce(app, &published, true).await);
    Ok(true)
}

/// Removes all versions of a definition without unfinished instances.
pub(crate) async fn delete(
    app: &Arc<App>,
    id: &DefinitionId,
    precondition: &Precondition,
) -> Result<bool, Problem> {
    let _lock = app.edit_locks.lock(id).await;
    for _ in 0..limits::EDIT_TRIES_MAX {
        let Some(latest) = latest_of(app, id).await? else { return Ok(false) };
        precondition.check(id, Some(&latest))?;
        consumers::refuse_used(app, id, None).await?;
        let base = precondition.base(Some(&latest));
        let versions = match app.cx.store.delete_definition(id, &base).await? {
            Deleted::Done { versions } => versions,
            Deleted::InUse { instances } => return Err(in_use(instances)),
            Deleted::Overtaken => continue,
        };
        app.routes.forget();
        // Best effort: the reconciliation of cache-notifier finds it as well.
        let told = announce(app, &latest, false).await;
        let everywhere = told.is_some_and(|told| told.everywhere);
        tracing::info!(definition = %id, versions, everywhere, "definition deleted");
        return Ok(versions > 0);
    }
    Err(contended(id))
}

/// Removes one version without unfinished instances.
pub(crate) async fn delete_version(app: &Arc<App>, id: &VersionId) -> Result<bool, Problem> {
    let Some(version) = app.cx.store.version(id).await? else { return Ok(false) };
    consumers::refuse_used(app, &version.definition_id, Some(id)).await?;
    let versions = match app.cx.store.delete_version(id).await? {
        Deleted::Done { versions } => versions,
        Deleted::InUse { instances } => return Err(in_use(instances)),
        Deleted::Overtaken => return Err(contended(&version.definition_id)),
    };
    if version.is_published {
        app.routes.forget();
        drop(announce(app, &version, false).await);
    }
    Ok(versions > 0)
}

/// The latest version, or 404.
pub(crate) async fn latest(app: &App, id: &DefinitionId) -> Result<Definition, Problem> {
    latest_of(app, id).await?.ok_or_else(|| unknown(id))
}

/// The latest version, if there is one.
pub(crate) async fn latest_of(app: &App, id: &DefinitionId) -> Result<Option<Definition>, Problem> {
    Ok(app.cx.store.definition(id, VersionOption::Latest).await?)
}

/// Refuses a change of a read-only definition.
pub(crate) fn refuse_read_only(target: Option<&Definition>) -> Result<(), Problem> {
    match target {
        Some(target) if target.is_readonly => Err(Problem::forbidden(format!(
            "definition {} is read-only: import it under another definitionId",
            target.definition_id
        ))),
        _ => Ok(()),
    }
}

/// 503: others changed the definition in every one of the tries.
fn contended(id: &DefinitionId) -> Problem {
    Problem::overloaded(format!(
        "workflow definition {:?} was changed by others in each of {} tries: try again in a moment",
        id.as_str(),
        limits::EDIT_TRIES_MAX
    ))
}

/// 409: instances need what would be deleted.
fn in_use(instances: u64) -> Problem {
    let detail = match instances {
        1 => "1 instance of it is not finished and needs it: cancel it first".to_owned(),
        _ => format!("{instances} instances of it are not finished and need it: cancel them first"),
    };
    Problem::conflict("still-running", detail)
}

/// The content as the latest version while that is a draft, and as the next version otherwise.
fn next_version(app: &App, content: Definition, latest: Option<&Definition>) -> Definition {
    let now = app.now();
    let mut next = Definition {
        is_latest: true,
        is_published: false,
        is_readonly: false,
        published_at: None,
        ..content
    };
    next.extra.remove("links");
    // Who saves a draft without a change has saved nothing.
    next.saved_at = match latest {
        Some(latest) if !latest.is_immutable() && next.has_content_of(latest) => latest.saved_at,
        _ => Some(now),
    };
    (next.id, next.version, next.created_at) = match latest {
        Some(latest) if !latest.is_immutable() => {
            (latest.id.clone(), latest.version, latest.created_at.or(Some(now)))
        }
        Some(latest) => (VersionId::new(app.fresh_id()), latest.version + 1, Some(now)),
        None => (VersionId::new(app.fresh_id()), 1, Some(now)),
    };
    next
}

/// Publishes this version over that latest one, with new versions of the definitions that use it if
/// it asks for that; `None` when another change was faster.
async fn publish_version(
    app: &Arc<App>,
    definition: Definition,
    latest: Option<&Definition>,
) -> Result<Option<Changed>, Problem> {
    let Checked { publication, mut warnings, children } =
        publication(app, definition, latest, Library::default()).await?;
    let definition = publication.definition.clone();
    let own = BTreeSet::from([definition.definition_id.clone()]);
    warnings.extend(index::missing(app, children, &own).await?);
    let updates = match definition.options.auto_update_consuming_workflows {
        Some(true) => consumers::updates(app, Spread::of(&definition)).await?,
        _ => Updates::default(),
    };
    let consumers = updates.definitions();
    warnings.extend(updates.warnings);
    let publications = std::iter::once(publication).chain(updates.publications).collect();
    app.cx.trail.at(Point::BeforePublication).await;
    if !made_public(app, publications).await? {
        return Ok(None);
    }
    app.cx.trail.at(Point::Publicised).await;
    Ok(Some(Changed { consumers, warnings, ..Changed::new(definition) }))
}

/// Publishes the versions, all or none; false when another change was faster.
async fn made_public(app: &App, publications: Vec<Publication>) -> Result<bool, Problem> {
    let name = |publication: &Publication| {
        let Definition { definition_id, version, .. } = &publication.definition;
        (definition_id.clone(), *version)
    };
    let names: Vec<_> = publications.iter().map(name).collect();
    match app.cx.store.publish_all(publications).await? {
        Published::Done => {}
        Published::Overtaken { .. } => return Ok(false),
        Published::RouteTaken { by } => return Err(index::route_taken(&by)),
    }
    app.routes.forget();
    for (definition, version) in names {
        tracing::info!(%definition, version, "published");
    }
    Ok(true)
}

/// An error or a warning, with the definition that has it.
fn of_definition(finding: &Value, id: &DefinitionId) -> Value {
    let mut finding = finding.clone();
    finding["definitionId"] = json!(id);
    finding
}

/// A publication of which nothing is wrong.
struct Checked {
    publication: Publication,
    warnings: Vec<Value>,
    children: Children,
}

/// The publication of this version over that latest one.
async fn publication(
    app: &Arc<App>,
    definition: Definition,
    latest: Option<&Definition>,
    known: Library,
) -> Result<Checked, Problem> {
    let Index { mut definition, triggers, schedules, warnings, children } =
        Index::of(app, definition, known).await?;
    definition.published_at = definition.published_at.or(Some(app.now()));
    (definition.is_latest, definition.is_published) = (true, true);
    let base = Base::of(latest);
    let publication = Publication { definition, base, triggers, schedules };
    Ok(Checked { publication, warnings, children })
}

/// Gives every published definition that uses this one a new version that uses its published
/// version; returns these versions.
pub(crate) async fn update_consumers(
    app: &Arc<App>,
    id: &DefinitionId,
) -> Result<Vec<Definition>, Problem> {
    let _lock = app.edit_locks.lock(id).await;
    for _ in 0..limits::EDIT_TRIES_MAX {
        let published = app.cx.store.definition(id, VersionOption::Published).await?;
        let Some(published) = published else {
            latest(app, id).await?;
            return Ok(Vec::new());
        };
        let updates = consumers::updates(app, Spread::of(&published)).await?;
        let updated = updates.definitions();
        if updated.is_empty() || made_public(app, updates.publications).await? {
            for consumer in &updated {
                announce(app, consumer, true).await;
            }
            return Ok(updated);
        }
    }
    Err(contended(id))
}

/// The ids of the definitions whose latest version uses this one as an activity, directly or through
/// others.
pub(crate) async fn consumers_of(
    app: &App,
    id: &DefinitionId,
) -> Result<Vec<DefinitionId>, Problem> {
    latest(app, id).await?;
    consumers::of(app, id).await
}

/// The definitions whose latest version uses this one: as an activity, or by its id.
pub(crate) async fn users_of(app: &App, id: &DefinitionId) -> Result<Users, Problem> {
    latest(app, id).await?;
    consumers::users(app, id).await
}

/// One page of the versions of a definition, newest first, and the number of all of them.
pub(crate) async fn versions(
    app: &App,
    id: &DefinitionId,
    page: Page,
) -> Result<Listed<Definition>, Problem> {
    let filter = DefinitionFilter {
        definition_ids: vec![id.clone()],
        version: VersionOption::All,
        ..DefinitionFilter::default()
    };
    let mut found = app.cx.store.definitions(&filter, page).await?;
    found.items.sort_by_key(|definition| std::cmp::Reverse(definition.version));
    Ok(found)
}
