//! The journal of an instance, and its variables as they were.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use model::{Entry, limits};
use serde::Deserialize;
use serde_json::{Value, json};
use store::Page;
use utoipa::ToSchema;

use crate::body::{Body, Params};
use crate::history::{Lines, Programs, Telling, Values, activity_id, activity_type, event_name};
use crate::paging::Part;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::record::Seen;
use crate::{App, Problem, bounds, record};

/// The journal of an instance, in order.
#[utoipa::path(get, path = "/workflow-instances/{id}/journal", tag = "instances",
    params(("id" = String, Path), ("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query),
        ("skip" = Option<u64>, Query), ("take" = Option<u64>, Query)),
    responses((status = 200, body = shape::journal::JournalPage, description = "Lines in Elsa's shape: \
        with `nodeId`, `activityTypeVersion`, `activityState` (inputs) and `outputs`"),
        (status = 404, body = ProblemBody)))]
pub(super) async fn journal(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let part = Part::of_list(&params, &[])?;
    let seen = record::get(&app, &record::id(&id)?).await?;
    page(&app, &seen, part).await
}

/// One page of the whole journal.
async fn page(app: &App, seen: &Seen, part: Part) -> Result<Json<Value>, Problem> {
    let page = part.page()?;
    let found = app.cx.store.journal(&seen.instance.id, page).await?;
    let programs = Programs::of(app, seen).await;
    let mut telling = Telling::new(seen, &programs);
    if page.skip() > 0 && !found.items.is_empty() {
        // Inputs are in the first line of an execution: most of them are on the pages just before.
        let skip = page.skip().saturating_sub(limits::PAGE_ITEMS_MAX);
        let before = Page::new(skip, page.skip() - skip);
        telling.recall(&app.cx.store.journal(&seen.instance.id, before).await?.items);
    }
    let items: Vec<_> = found.items.iter().map(|entry| telling.line(entry)).collect();
    Ok(Json(json!({"items": items, "totalCount": found.total})))
}

/// A part of a journal.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct JournalRequest {
    filter: Option<JournalFilter>,
    page: Option<u64>,
    page_size: Option<u64>,
    skip: Option<u64>,
    take: Option<u64>,
}

/// The filter of the entries.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct JournalFilter {
    activity_ids: Option<Vec<String>>,
    /// Paths of activities, as `nodeId` has them.
    activity_node_ids: Option<Vec<String>>,
    excluded_activity_types: Option<Vec<String>>,
    event_names: Option<Vec<String>>,
}

/// The filter as lines are held against it: an empty set leaves out none.
struct Wanted<'f> {
    activity_ids: BTreeSet<&'f str>,
    node_ids: BTreeSet<&'f str>,
    excluded_types: BTreeSet<&'f str>,
    event_names: BTreeSet<&'f str>,
}

impl JournalFilter {
    /// Reads the filter, within its limits.
    fn read(&self) -> Result<Wanted<'_>, Problem> {
        let activity_ids = self.activity_ids.as_deref().unwrap_or_default();
        let node_ids = self.activity_node_ids.as_deref().unwrap_or_default();
        let excluded_types = self.excluded_activity_types.as_deref().unwrap_or_default();
        let event_names = self.event_names.as_deref().unwrap_or_default();
        bounds::activities("activityIds", activity_ids)?;
        bounds::activities("activityNodeIds", node_ids)?;
        bounds::list("excludedActivityTypes", excluded_types)?;
        bounds::list("eventNames", event_names)?;
        Ok(Wanted {
            activity_ids: set(activity_ids),
            node_ids: set(node_ids),
            excluded_types: set(excluded_types),
            event_names: set(event_names),
        })
    }
}

fn set(items: &[String]) -> BTreeSet<&str> {
    items.iter().map(String::as_str).collect()
}

impl Wanted<'_> {
    /// True if every line fits.
    fn is_empty(&self) -> bool {
        [&self.activity_ids, &self.node_ids, &self.excluded_types, &self.event_names]
            .into_iter()
            .all(BTreeSet::is_empty)
    }

    fn fits(&self, seen: &Seen, programs: &Programs, entry: &Entry) -> bool {
        let has = |set: &BTreeSet<&str>, text: &str| set.is_empty() || set.contains(text);
        has(&self.activity_ids, activity_id(entry))
            && has(&self.event_names, &event_name(entry.what))
            && !self.excluded_types.contains(activity_type(entry))
            && (self.node_ids.is_empty() || has(&self.node_ids, &programs.node_id(seen, entry)))
    }
}

/// The journal of an instance, filtered.
#[utoipa::path(post, path = "/workflow-instances/{id}/journal", tag = "instances",
    params(("id" = String, Path), ("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query),
        ("skip" = Option<u64>, Query), ("take" = Option<u64>, Query)),
    request_body = JournalRequest,
    responses((status = 200, body = shape::journal::JournalPage, description = "With `isCut: true` \
        where a filter was applied to the newest 50000 lines only"),
        (status = 404, body = ProblemBody)))]
pub(super) async fn journal_filtered(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
    Body(request): Body<JournalRequest>,
) -> Result<Json<Value>, Problem> {
    let given = Part::of_list(&params, &[])?;
    let seen = record::get(&app, &record::id(&id)?).await?;
    let JournalRequest { filter, page: number, page_size, skip, take } = request;
    let part = given.or(Part { page: number, page_size, skip, take })?;
    let filter = filter.unwrap_or_default();
    let filter = filter.read()?;
    let shown = part.page()?;
    if filter.is_empty() {
        return page(&app, &seen, part).await;
    }
    let programs = Programs::of(&app, &seen).await;
    let Lines { entries, is_cut } = Lines::newest(&app, &seen).await?;
    let fitting: Vec<_> =
        entries.iter().filter(|entry| filter.fits(&seen, &programs, entry)).collect();
    let found = shown.of(fitting.into_iter());
    let mut telling = Telling::new(&seen, &programs);
    let items: Vec<_> = found.items.into_iter().map(|entry| telling.line(entry)).collect();
    let mut answer = json!({"items": items, "totalCount": found.total});
    if is_cut {
        answer["isCut"] = json!(true);
    }
    Ok(Json(answer))
}

/// The newest line about an activity.
#[utoipa::path(get, path = "/workflow-instances/{id}/journal/{activityId}", tag = "instances",
    params(("id" = String, Path), ("activityId" = String, Path)),
    responses((status = 200, body = shape::journal::JournalEntry, description = "A line of the journal"),
        (status = 404, body = ProblemBody)))]
pub(super) async fn newest(
    State(app): State<Arc<App>>,
    Path((id, activity)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let seen = record::get(&app, &record::id(&id)?).await?;
    let programs = Programs::of(&app, &seen).await;
    let Lines { entries, .. } = Lines::newest(&app, &seen).await?;
    let mut telling = Telling::new(&seen, &programs);
    let own = entries.iter().filter(|entry| activity_id(entry) == activity);
    let newest = own.map(|entry| telling.line(entry)).last();
    newest.map(Json).ok_or_else(|| {
        Problem::not_found(format!("the journal of instance {id} has no activity {activity}"))
    })
}

/// The variables of an instance as they were after a line of its journal. The changes of a burst are in
/// its last line, and in those with which activities of the root begin.
#[utoipa::path(get, path = "/workflow-instances/{id}/state", tag = "instances",
    params(("id" = String, Path), ("at" = Option<u64>, Query, minimum = 1,
        description = "The `sequence` of a line; the newest one if it is not given")),
    responses((status = 200, body = shape::journal::StateThen, description = "A long value is cut, with a mark"),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "It has not run, or an earlier version \
            began it and kept no changes of variables")))]
pub(super) async fn state(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let seen = record::get(&app, &record::id(&id)?).await?;
    let newest = seen.state().journal_sequence;
    if newest == 0 {
        return Err(Problem::conflict("unfit", format!("instance {id} has not run yet")));
    }
    let at = params.read_from_one("at")?.unwrap_or(newest);
    if at > newest {
        return Err(Problem::not_found(format!(
            "at is {at}: the journal of instance {id} has the lines 1 to {newest}"
        )));
    }
    let programs = Programs::of(&app, &seen).await;
    let values = Values::at(&app, &seen, at).await?;
    let (variables, containers) = values.shown(&seen, &programs, at);
    let line = app.cx.store.journal(&seen.instance.id, Page::new(at - 1, 1)).await?;
    let version_id = seen.state().version_at(at).unwrap_or(&seen.instance.version_id);
    Ok(Json(json!({
        "workflowInstanceId": seen.instance.id,
        "at": at,
        "timestamp": line.items.first().map(|entry| entry.timestamp),
        "definitionVersionId": version_id,
        "variables": variables,
        "variablesAt": values.changed_at(),
        "containers": containers,
    })))
}

// The numbers in the descriptions above.
const _: () = assert!(limits::HISTORY_LINES_MAX == 50_000, "see the description of the journal");
