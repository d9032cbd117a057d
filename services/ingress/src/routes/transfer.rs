//! Instances that begin with what another one knew: restarted ones, and those that come from
//! another installation.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::CONTENT_DISPOSITION;
use axum::response::{IntoResponse, Response};
use engine::{Program, State as EngineState};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use model::{Bookmark, Entry, Instance, InstanceId, Map, What, large, limits};
use protocol::{ReplyWhen, Restart};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{
    BookmarkFilter, Burst, Commit, Expected, Page, StoredBookmark, ValueChanges, VersionOption,
    shard_of,
};
use utoipa::ToSchema;

use super::start::begun;
use super::transfers;
use crate::auth::caller::Caller;
use crate::body::{Body, Prefer};
use crate::endpoint::form::unkept;
use crate::history::{Lines, Programs, Values, activity_id as activity_of};
use crate::pipeline::identify::Asking;
use crate::pipeline::reply::Patience;
use crate::pipeline::validate::{self, Beginning};
use crate::present::{InstanceStatus, shape};
use crate::problem::ProblemBody;
use crate::record::Seen;
use crate::{App, Problem, bounds, record};

/// The first format of exported instances.
const FORMAT: u32 = 1;
/// The parts of the path of an activity of the root: the workflow, the root, the activity.
const ROOT_CHILD_PARTS: usize = 3;
/// The journal pages that one export has at most.
const PAGES_MAX: u64 = 10;
/// Bookmarks of an import that are looked for at the same time.
const ASKED_AT_ONCE: usize = 8;

/// Where a new instance begins, and what it knows beside what the old one knew.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RestartRequest {
    /// An activity of the Flowchart that is the root; the start if there is none.
    activity_id: Option<String>,
    /// Workflow variables that have another value, by name.
    #[schema(value_type = Option<Object>)]
    variables: Option<Map>,
    /// Another input; that of the old instance if there is none.
    #[schema(value_type = Option<Object>)]
    input: Option<Map>,
    /// Another version; that of the old instance if there is none.
    version: Option<u32>,
}

/// Starts a new instance that begins at an activity, with the input of this one, and with the variables
/// that it had when the activity last began, or has now if the activity never did. This instance stays
/// as it is. Variables of the memory driver begin with their defaults.
#[utoipa::path(post, path = "/workflow-instances/{id}/restart", tag = "alterations",
    params(("id" = String, Path)), request_body = RestartRequest,
    responses((status = 200, body = InstanceStatus), (status = 202, body = InstanceStatus),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "It has not run, or the journal does not \
            have the whole value of a variable")))]
pub(super) async fn restart(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    prefer: Prefer,
    asking: Asking,
    Body(request): Body<RestartRequest>,
) -> Result<Response, Problem> {
    bounds::optional("activityId", request.activity_id.as_deref())?;
    bounds::version(request.version)?;
    let seen = record::get(&app, &record::id(&id)?).await?;
    if seen.instance.version == 0 {
        return Err(Problem::conflict("unfit", format!("instance {id} has not run yet")));
    }
    if request.version.is_none() {
        must_have_its_version(&app, &seen.instance).await?;
    }
    let activity_id = request.activity_id.filter(|id| !id.is_empty());
    let given = request.variables.unwrap_or_default();
    let row = &seen.instance;
    let beginning = Beginning {
        definition_id: row.definition_id.clone(),
        version: request.version.map(VersionOption::Number),
        version_id: request.version.is_none().then(|| row.version_id.clone()),
        input: request.input.unwrap_or_else(|| seen.state().input.clone()),
        properties: seen.state().properties.clone(),
        correlation_id: row.correlation_id.clone(),
        name: row.name.clone(),
        ..Beginning::default()
    };
    must_be_declared(&app, &beginning, &given).await?;
    let variables = known(&app, &seen, activity_id.as_deref(), given).await?;
    let restart = Restart { activity_id: activity_id.clone().map(Into::into), variables };
    let beginning = Beginning { restart: Some(Box::new(restart)), ..beginning };
    let patience = match prefer.respond_async {
        true => Patience::None,
        false => Patience::Until(ReplyWhen::Committed, prefer.within(app.config.answer_time_max)),
    };
    let details = json!({ "activityId": activity_id });
    let row = seen.into_row();
    let note = app.note(&asking.caller, "instance.restart", row.id.as_str(), details);
    begun(&app, &asking, beginning, patience, Some(note)).await
}

/// Refuses an instance whose version was deleted. Its program may be in the cache still: a start that
/// gets as far as an executor would be a dead letter, which a replay could carry out later.
async fn must_have_its_version(app: &App, instance: &Instance) -> Result<(), Problem> {
    if app.cx.store.version(&instance.version_id).await?.is_some() {
        return Ok(());
    }
    app.cx.catalog.forget(&instance.version_id);
    Err(Problem::not_found(format!(
        "version {} of workflow definition {:?} was deleted: name another one in `version`, if there \
         is one",
        instance.definition_version,
        instance.definition_id.as_str()
    )))
}

/// Refuses a value for a variable that the version does not have: it would be lost.
async fn must_be_declared(
    app: &Arc<App>,
    beginning: &Beginning,
    given: &Map,
) -> Result<(), Problem> {
    if given.is_empty() {
        return Ok(());
    }
    let program = validate::program(app, beginning).await?;
    let unknown = given.keys().find_map(|name| Some((name, program.variables_without(name)?)));
    let Some((name, known)) = unknown else { return Ok(()) };
    let known = match known.as_slice() {
        [] => "none".to_owned(),
        known => known.join(", "),
    };
    Err(Problem::bad_request(format!(
        "variables: there is no variable {name}: the workflow has {known}"
    )))
}

/// The variables, by name, with which a new instance begins at this activity.
///
/// # Errors
/// 409 when the journal does not have the whole value of a variable, and none is given.
async fn known(
    app: &App,
    seen: &Seen,
    activity_id: Option<&str>,
    given: Map,
) -> Result<Map, Problem> {
    let view = seen.view(app).await;
    let now = view.get("variables").and_then(Value::as_object).cloned().unwrap_or_default();
    let then = match activity_id {
        Some(id) => when_it_began(app, seen, id).await?,
        None => None,
    };
    let mut known = Map::new();
    for (name, value) in then.unwrap_or_else(|| now.clone()) {
        if given.contains_key(&name) {
            continue;
        }
        let now = match now.get(&name) {
            Some(value) => Some(whole(app, value).await?),
            None => None,
        };
        let Some(value) = engine::in_full(&value, now.as_ref()) else {
            return Err(Problem::conflict(
                "unfit",
                format!(
                    "the journal does not have the whole value of the variable {name} when the \
                     activity began: give it in `variables`"
                ),
            ));
        };
        known.insert(name, value);
    }
    known.extend(given);
    Ok(known)
}

/// The value that rests in a payload, where this one stands for it.
async fn whole(app: &App, value: &Value) -> Result<Value, Problem> {
    let Some(hash) = large::payload(value) else { return Ok(value.clone()) };
    let read = app.payloads.read(&hash, limits::PAYLOADS_LOADED_BYTES_MAX).await;
    let bytes = read.map_err(|error| unkept(error, app.config.body_bytes_max))?;
    let unfit = |reason| Problem::conflict("unfit", format!("the value in {hash}: {reason}"));
    large::read(&bytes).map_err(unfit)
}

/// The variables of the workflow, by name, as they were when an activity of the root last began; none
/// if it never did.
async fn when_it_began(app: &App, seen: &Seen, id: &str) -> Result<Option<Map>, Problem> {
    let programs = Programs::of(app, seen).await;
    let Lines { entries, .. } = Lines::newest(app, seen).await?;
    let began = entries.iter().rev().find(|entry| {
        let path = || programs.node_id(seen, entry);
        let is_it = || activity_of(entry) == id || path() == id;
        entry.what == What::Started && is_it() && path().split(':').count() == ROOT_CHILD_PARTS
    });
    let Some(at) = began.map(|entry| entry.sequence) else { return Ok(None) };
    let values = Values::at(app, seen, at).await?;
    Ok(Some(values.shown(seen, &programs, at).0))
}

/// An instance as a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exported {
    /// [`FORMAT`].
    staunch_instance: u32,
    instance: Instance,
    /// What the executor keeps about it.
    record: Value,
    bookmarks: Vec<Bookmark>,
    journal: Vec<Entry>,
}

/// An instance as a file: its state and its journal. It stays here. Variables of the memory driver
/// have their defaults in it.
#[utoipa::path(get, path = "/workflow-instances/{id}/export", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 200, body = shape::instance::InstanceFile, description = "The file that `import` reads"),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn export(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<impl IntoResponse, Problem> {
    let seen = record::get(&app, &record::id(&id)?).await?;
    let file = exported(&app, &seen, Contents { bookmarks: true, journal: true }).await?;
    app.audit_later(&caller, "instance.export", seen.instance.id.as_str(), Value::Null).await;
    let attached = format!("attachment; filename=\"{}\"", transfers::file_name(&id));
    Ok(([(CONTENT_DISPOSITION, attached)], seen.answer(&app, &file)))
}

/// What an export has of an instance beside its state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contents {
    pub(super) bookmarks: bool,
    pub(super) journal: bool,
}

/// An instance as a file.
pub(super) async fn exported(app: &App, seen: &Seen, contents: Contents) -> Result<Value, Problem> {
    let id = &seen.instance.id;
    if seen.instance.version == 0 {
        return Err(Problem::conflict("unfit", format!("instance {id} has not run yet")));
    }
    let mut journal = Vec::new();
    for number in 0..if contents.journal { PAGES_MAX } else { 0 } {
        let page = Page::new(number * limits::PAGE_ITEMS_MAX, limits::PAGE_ITEMS_MAX);
        let found = app.cx.store.journal(id, page).await?;
        journal.extend(found.items);
        if (number + 1) * limits::PAGE_ITEMS_MAX >= found.total {
            break;
        }
    }
    let bookmarks = seen.open().filter(|_| contents.bookmarks);
    let exported = Exported {
        staunch_instance: FORMAT,
        record: shareable(app, seen).await?,
        bookmarks: bookmarks.cloned().collect(),
        instance: Instance { state: Vec::new(), ..seen.instance.clone() },
        journal,
    };
    Ok(json!(exported))
}

/// What the executor keeps about an instance, without the values of hidden variables.
async fn shareable(app: &App, seen: &Seen) -> Result<Value, Problem> {
    let Instance { id, version_id, definition_version, .. } = &seen.instance;
    let Some(program) = app.cx.catalog.program(version_id).await? else {
        return Err(Problem::conflict(
            "unfit",
            format!(
                "version {definition_version} of its definition was deleted: it says which \
                 variables may be exported"
            ),
        ));
    };
    let unreadable = |error: &dyn std::fmt::Display| {
        tracing::error!(%error, instance = %id, "the state of an instance cannot be exported");
        Problem::internal()
    };
    let mut record: Value =
        rmp_serde::from_slice(&seen.instance.state).map_err(|error| unreadable(&error))?;
    let state = seen.state().clone().without_hidden(&program);
    let bytes = rmp_serde::to_vec_named(&state).map_err(|error| unreadable(&error))?;
    record["state"] = rmp_serde::from_slice(&bytes).map_err(|error| unreadable(&error))?;
    Ok(record)
}

/// A file that has been read, and not been taken in.
#[derive(Debug)]
pub(super) struct Imported(Exported);

impl Imported {
    /// Reads an exported instance.
    pub(super) fn read(document: Value) -> Result<Self, Problem> {
        let exported: Exported = serde_json::from_value(document).map_err(|error| {
            Problem::bad_request(format!("this is not an exported instance: {error}"))
        })?;
        if exported.staunch_instance != FORMAT {
            let format = exported.staunch_instance;
            return Err(Problem::bad_request(format!(
                "the file has format {format}, and this server reads format {FORMAT}"
            )));
        }
        record::id(exported.instance.id.as_str())?;
        if !exported.record.get("state").is_some_and(Value::is_object) {
            return Err(Problem::bad_request(
                "this is not an exported instance: its record has no state; export it again",
            ));
        }
        Ok(Self(exported))
    }
}

/// Takes in an instance that another installation exported. Its definition must be here, in the same
/// version. An instance that has the id, or one of the bookmarks, already stays as it is (409).
pub(super) async fn take_in(
    app: &App,
    asking: &Asking,
    imported: Imported,
) -> Result<InstanceId, Problem> {
    let Imported(exported) = imported;
    let id = exported.instance.id.clone();
    let burst = burst(app, exported).await?;
    must_be_no_copy(app, &id, &burst.created).await?;
    match app.cx.store.commit(burst).await? {
        Commit::Done { .. } => {}
        Commit::NotAllowed(by) => {
            let detail =
                format!("instance {by} is unfinished, and the activation strategy allows one");
            return Err(Problem::conflict("not-allowed", detail));
        }
        Commit::Conflict | Commit::Gone(_) => {
            return Err(Problem::conflict("exists", format!("there is an instance {id} already")));
        }
    }
    app.audit(&asking.caller, "instance.import", id.as_str(), Value::Null).await;
    Ok(id)
}

/// Refuses an instance whose bookmarks another one has here: what resumes one of them would leave the
/// other waiting.
async fn must_be_no_copy(
    app: &App,
    id: &InstanceId,
    created: &[StoredBookmark],
) -> Result<(), Problem> {
    let ids: Vec<_> = created.iter().map(|open| open.bookmark.id.clone()).collect();
    let asked = ids.into_iter().map(|id| async move {
        let filter = BookmarkFilter { id: Some(id), ..BookmarkFilter::default() };
        app.cx.store.find(&filter, 2).await
    });
    let mut asked = stream::iter(asked).buffered(ASKED_AT_ONCE);
    while let Some(found) = asked.try_next().await? {
        if let Some(other) = found.iter().find(|found| found.instance_id != *id) {
            let detail = format!(
                "instance {} is here and has the bookmark {} of this file, which is a copy of it under \
                 the id {id}: one event would resume one of the two alone. Take the copy in where the \
                 other one is not, or begin a new instance with a restart of it",
                other.instance_id, other.bookmark.id
            );
            return Err(Problem::conflict("exists", detail));
        }
    }
    Ok(())
}

async fn burst(app: &App, exported: Exported) -> Result<Burst, Problem> {
    let Exported { instance, mut record, journal, .. } = exported;
    let bad =
        |what: String| Problem::bad_request(format!("the instance cannot be taken in: {what}"));
    let option = VersionOption::Number(instance.definition_version);
    let here = match app.cx.store.version(&instance.version_id).await? {
        Some(here) => Some(here),
        None => app.cx.store.definition(&instance.definition_id, option).await?,
    };
    let here = here.ok_or_else(|| {
        let (definition, version) = (&instance.definition_id, instance.definition_version);
        bad(format!("version {version} of definition {definition} is not here: import it first"))
    })?;
    let packed =
        |record: &Value| rmp_serde::to_vec_named(record).map_err(|error| bad(error.to_string()));
    let read = record::read(&packed(&record)?).map_err(|error| bad(error.to_string()))?;
    let Some(program) = app.cx.catalog.program(&here.id).await? else {
        return Err(bad(format!("version {} of its definition is not here", here.version)));
    };
    let problems = app.cx.engine.places(&program, &read.state);
    if let Some(first) = problems.first() {
        return Err(bad(first.to_string()));
    }
    let values = searchable(&program, &read.state, &mut record);
    let state = packed(&record)?;
    let key = record.get("activation_key").and_then(Value::as_str).map(str::to_owned);
    let instance = Instance {
        version: 1,
        version_id: here.id,
        definition_version: here.version,
        status: read.status(instance.status),
        updated_at: app.now(),
        state,
        ..instance
    };
    let created = read.open().map(|open| StoredBookmark {
        instance_id: instance.id.clone(),
        definition_id: instance.definition_id.clone(),
        correlation_id: instance.correlation_id.clone(),
        shard: shard_of(instance.id.as_str()),
        bookmark: open.clone(),
    });
    let created = created.collect();
    let new = Burst::new(instance, Expected::Absent);
    Ok(Burst { created, journal, values, activation_key: key, ..new })
}

/// The searchable values of the state, as this server has them; the record says the same.
fn searchable(program: &Program, state: &EngineState, record: &mut Value) -> ValueChanges {
    let Some(members) = record.as_object_mut() else { return ValueChanges::default() };
    members.shift_remove("indexed");
    if !program.is_searchable() {
        return ValueChanges::default();
    }
    let set = program.search_keys(state);
    members.insert("indexed".to_owned(), json!(set));
    ValueChanges { set, ..ValueChanges::default() }
}
