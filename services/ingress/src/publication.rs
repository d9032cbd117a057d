//! Saving, publishing and retracting definitions.
//!
//! A version that was ever published is immutable: instances run it. Publishing validates first
//! and names every problem; nothing is stored when there is one. The answer to a publication
//! comes after the cache barrier, and says which nodes do not have it yet.

use std::sync::Arc;
use std::time::Duration;

use chassis::Point;
use engine::Problem as Flaw;
use model::{CommandId, Definition, DefinitionId, Stimulus, Trigger, VersionId};
use protocol::{ContentType, Headers, Message, Noticed, decode_body, encode_body, header, subject};
use serde_json::{Value, json};
use store::{DefinitionFilter, Page, Publication, Published, VersionOption};

use crate::schedule;
use crate::{App, Problem};

/// Longest wait for the cache barrier.
const BARRIER_TIME_MAX: Duration = Duration::from_secs(6);
/// Tries to find someone who announces a change.
const BARRIER_TRIES: u32 = 3;
const BARRIER_PAUSE: Duration = Duration::from_millis(500);
/// Tries to save a draft that others save at the same time.
const SAVE_TRIES: u32 = 3;
/// Marks a version that was published once: it never changes again.
const PUBLISHED_AT: &str = "publishedAt";

/// What is kept after a change, and how far the news has come.
#[derive(Debug)]
pub(crate) struct Saved {
    /// As it is stored now.
    pub(crate) definition: Definition,
    /// It was not there before.
    pub(crate) is_new: bool,
    /// It was published already, with the same content.
    pub(crate) already_published: bool,
    /// How far the news of a publication has come; none for a draft.
    pub(crate) noticed: Option<Noticed>,
}

/// Saves a definition as a draft, and publishes it if that is wanted.
pub(crate) async fn save(
    app: &Arc<App>,
    definition: Definition,
    publish_it: bool,
) -> Result<Saved, Problem> {
    let mut tries = 1;
    loop {
        let latest =
            app.cx.store.definition(&definition.definition_id, VersionOption::Latest).await?;
        refuse_read_only(latest.as_ref())?;
        if publish_it
            && let Some(published) = &latest
            && published.is_published
            && is_same_content(published, &definition)
        {
            let noticed = announce(app, published, true).await;
            let definition = published.clone();
            return Ok(Saved { definition, is_new: false, already_published: true, noticed });
        }
        let is_new = latest.is_none();
        let draft = next_draft(app, definition.clone(), latest);
        if publish_it {
            let saved = publish_version(app, draft).await?;
            return Ok(Saved { is_new, ..saved });
        }
        match app.cx.store.save(&draft).await {
            Ok(()) => {
                return Ok(Saved {
                    definition: draft,
                    is_new,
                    already_published: false,
                    noticed: None,
                });
            }
            // Another has saved or published meanwhile: what follows the latest is another number.
            Err(store::Error::Refused(_)) if tries < SAVE_TRIES => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Publishes the latest version of a definition.
pub(crate) async fn publish(app: &Arc<App>, id: &DefinitionId) -> Result<Saved, Problem> {
    let latest = latest(app, id).await?;
    if latest.is_published {
        let noticed = announce(app, &latest, true).await;
        return Ok(Saved { definition: latest, is_new: false, already_published: true, noticed });
    }
    refuse_read_only(Some(&latest))?;
    publish_version(app, latest).await
}

/// Takes the published version back; `None` when none was.
pub(crate) async fn retract(app: &Arc<App>, id: &DefinitionId) -> Result<Option<Saved>, Problem> {
    let Some(definition) = app.cx.store.retract(id).await? else { return Ok(None) };
    app.routes.forget();
    let noticed = announce(app, &definition, false).await;
    Ok(Some(Saved { definition, is_new: false, already_published: false, noticed }))
}

/// A new draft with the content of an older version.
pub(crate) async fn revert(app: &Arc<App>, old: Definition) -> Result<Saved, Problem> {
    save(app, old, false).await
}

/// Removes all versions of a definition that nothing runs any more.
pub(crate) async fn delete(app: &Arc<App>, id: &DefinitionId) -> Result<bool, Problem> {
    let Some(latest) = app.cx.store.definition(id, VersionOption::Latest).await? else {
        return Ok(false);
    };
    refuse_running(app, id, None).await?;
    let count = app.cx.store.delete_definition(id).await?;
    app.routes.forget();
    // Best effort: the reconciliation of cache-notifier finds it as well.
    let told = announce(app, &latest, false).await;
    tracing::info!(definition = %id, versions = count, everywhere = told.is_some_and(|t| t.everywhere), "definition deleted");
    Ok(count > 0)
}

/// Removes one version that nothing runs any more.
pub(crate) async fn delete_version(app: &Arc<App>, id: &VersionId) -> Result<bool, Problem> {
    let Some(version) = app.cx.store.version(id).await? else { return Ok(false) };
    refuse_running(app, &version.definition_id, Some(id)).await?;
    let is_deleted = app.cx.store.delete_version(id).await?;
    if version.is_published {
        app.routes.forget();
        drop(announce(app, &version, false).await);
    }
    Ok(is_deleted)
}

/// The latest version.
pub(crate) async fn latest(app: &App, id: &DefinitionId) -> Result<Definition, Problem> {
    let latest = app.cx.store.definition(id, VersionOption::Latest).await?;
    latest.ok_or_else(|| unknown(id))
}

/// 404 for a definition.
pub(crate) fn unknown(id: &DefinitionId) -> Problem {
    Problem::not_found(format!("there is no workflow definition {:?}", id.as_str()))
}

/// Whether this version can never change again.
pub(crate) fn is_immutable(definition: &Definition) -> bool {
    definition.is_published || definition.extra.contains_key(PUBLISHED_AT)
}

fn refuse_read_only(target: Option<&Definition>) -> Result<(), Problem> {
    match target {
        Some(target) if target.is_readonly => Err(Problem::forbidden(format!(
            "definition {} is read-only: import it under another definitionId",
            target.definition_id
        ))),
        _ => Ok(()),
    }
}

async fn refuse_running(
    app: &App,
    id: &DefinitionId,
    version: Option<&VersionId>,
) -> Result<(), Problem> {
    let filter = store::InstanceFilter {
        definition_ids: vec![id.clone()],
        version_id: version.cloned(),
        sub_statuses: crate::present::running(),
        ..store::InstanceFilter::default()
    };
    let running = app.cx.store.list(&filter, Page::new(0, 1)).await?.total;
    if running == 0 {
        return Ok(());
    }
    Err(Problem::conflict(
        "still-running",
        format!("{running} instances of it are not finished and need it: cancel them first"),
    ))
}

/// The draft that follows the latest version: the same one while it is a draft, a new one after.
fn next_draft(app: &App, content: Definition, latest: Option<Definition>) -> Definition {
    let now = app.now();
    let mut draft =
        Definition { is_latest: true, is_published: false, is_readonly: false, ..content };
    draft.extra.remove(PUBLISHED_AT);
    draft.extra.remove("links");
    (draft.id, draft.version, draft.created_at) = match latest {
        Some(latest) if !is_immutable(&latest) => {
            (latest.id, latest.version, latest.created_at.or(Some(now)))
        }
        Some(latest) => (VersionId::new(app.fresh_id()), latest.version + 1, Some(now)),
        None => (VersionId::new(app.fresh_id()), 1, Some(now)),
    };
    draft
}

/// Whether two versions say the same, apart from what the server sets.
fn is_same_content(left: &Definition, right: &Definition) -> bool {
    let content = |definition: &Definition| {
        let mut content = definition.clone();
        content.id = VersionId::default();
        content.version = 0;
        content.created_at = None;
        (content.is_latest, content.is_published, content.is_readonly) = (false, false, false);
        content.extra.remove(PUBLISHED_AT);
        content.extra.remove("links");
        content
    };
    content(left) == content(right)
}

async fn publish_version(app: &Arc<App>, definition: Definition) -> Result<Saved, Problem> {
    let (mut definition, triggers, schedules) = index(app, definition).await?;
    definition.extra.insert(PUBLISHED_AT.to_owned(), json!(app.now()));
    (definition.is_latest, definition.is_published) = (true, true);
    let publication = Publication { definition: definition.clone(), triggers, schedules };
    app.cx.trail.at(Point::BeforePublication).await;
    match app.cx.store.publish(publication).await? {
        Published::Done => {}
        Published::RouteTaken { by } => return Err(Problem::invalid_definition(vec![taken(&by)])),
    }
    app.routes.forget();
    tracing::info!(
        definition = %definition.definition_id, version = definition.version, "published"
    );
    app.cx.trail.at(Point::Publicised).await;
    let noticed = announce(app, &definition, true).await;
    app.cx.trail.at(Point::Announced).await;
    Ok(Saved { definition, is_new: false, already_published: false, noticed })
}

type Indexed = (Definition, Vec<Trigger>, Vec<model::Schedule>);

/// Validates a definition and finds what starts it, naming all problems.
async fn index(app: &Arc<App>, definition: Definition) -> Result<Indexed, Problem> {
    let shared = Arc::clone(app);
    let found = tokio::task::spawn_blocking(move || {
        let found = compile(&shared, &definition);
        (definition, found)
    });
    let (definition, found) = found.await.map_err(|error| {
        tracing::error!(%error, "a definition could not be compiled");
        Problem::internal()
    })?;
    let (triggers, mut schedules) = match found {
        Ok(engine::Triggers { stimuli, schedules }) => (stimuli, schedules),
        Err(flaws) => return Err(Problem::invalid_definition(flaws.iter().map(shown).collect())),
    };
    let mut errors = schedule::begin(&mut schedules, app.now());
    errors.extend(clashes(app, &definition.definition_id, &triggers).await?);
    if errors.is_empty() {
        Ok((definition, triggers, schedules))
    } else {
        Err(Problem::invalid_definition(errors))
    }
}

fn compile(app: &App, definition: &Definition) -> Result<engine::Triggers, Vec<Flaw>> {
    let program = app.cx.engine.compile(definition)?;
    let env = app.env(CommandId::new(definition.id.as_str()));
    app.cx.engine.triggers(&program, &env)
}

fn shown(flaw: &Flaw) -> Value {
    json!({"message": flaw.message, "activityId": flaw.activity_id, "property": flaw.property})
}

/// The HTTP routes that other definitions have already.
async fn clashes(
    app: &App,
    id: &DefinitionId,
    triggers: &[Trigger],
) -> Result<Vec<Value>, Problem> {
    let http = Stimulus::http("", "").name;
    let mut errors = Vec::new();
    for trigger in triggers.iter().filter(|trigger| trigger.name == http) {
        let others = app.cx.store.triggers(&trigger.hash).await?;
        if others.iter().any(|other| other.definition_id != *id) {
            errors.push(taken(trigger));
        }
    }
    Ok(errors)
}

/// In Elsa's words.
fn taken(trigger: &Trigger) -> Value {
    let text = |name: &str| trigger.payload.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = format!(
        "The {} path and {} method are already in use by another workflow!",
        text("Path"),
        text("Method")
    );
    json!({"message": message, "activityId": trigger.activity_id, "property": "path"})
}

/// Has the news told to every node, and waits until they have it. Never fails: what cannot be told
/// now is told by the reconciliation, and the answer says that it has not reached everyone.
async fn announce(app: &App, definition: &Definition, is_published: bool) -> Option<Noticed> {
    let news = Noticed {
        definition_id: definition.definition_id.clone(),
        version_id: is_published.then(|| definition.id.clone()),
        version: definition.version,
        revision: 0,
        everywhere: false,
        missing: Vec::new(),
    };
    match ask(app, &news).await {
        Ok(noticed) => Some(noticed),
        Err(error) => {
            tracing::warn!(error, definition = %news.definition_id, "the cache barrier did not answer");
            Some(news)
        }
    }
}

async fn ask(app: &App, news: &Noticed) -> Result<Noticed, String> {
    let payload = encode_body(ContentType::Json, news).map_err(|error| error.to_string())?;
    let headers = Headers::from([(header::CONTENT_TYPE.to_owned(), "application/json".to_owned())]);
    let message = Message { subject: subject::CACHE_CHANGED.to_owned(), headers, payload };
    let mut tries = 1;
    loop {
        match app.cx.bus.request(message.clone(), BARRIER_TIME_MAX).await {
            Ok(answer) => {
                let noticed = decode_body(answer.content_type(), &answer.payload);
                return noticed.map_err(|error| error.to_string());
            }
            // Nobody listens: perhaps a notifier is just being replaced.
            Err(bus::Error::Unavailable(_)) if tries < BARRIER_TRIES => tries += 1,
            Err(error) => return Err(error.to_string()),
        }
        tokio::time::sleep(BARRIER_PAUSE).await;
    }
}

/// All versions, newest first.
pub(crate) async fn versions(app: &App, id: &DefinitionId) -> Result<Vec<Definition>, Problem> {
    let filter = DefinitionFilter {
        definition_ids: vec![id.clone()],
        version: VersionOption::All,
        ..DefinitionFilter::default()
    };
    let mut versions = app.cx.store.definitions(&filter, Page::first()).await?.items;
    versions.sort_by_key(|definition| std::cmp::Reverse(definition.version));
    Ok(versions)
}
