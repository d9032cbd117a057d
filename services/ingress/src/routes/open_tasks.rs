//! The tasks that workflows have handed out and wait for. Who waits is in the bookmarks; the version and
//! the attempt are in the states of the instances, which are read up to a number and a time.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use engine::OpenTask;
use model::{BookmarkId, InstanceId, Timestamp};
use protocol::subject;
use serde_json::{Value, json};
use store::{LISTED, StoredBookmark};
use tokio::time::Instant;

use super::side_by_side::side_by_side;
use crate::body::Params;
use crate::paging::Part;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::states::{self, Purpose};
use crate::{App, Problem, bounds, record};

/// The name of the bookmarks that wait for the report of a worker.
const WAIT: &str = LISTED[0];
/// Tasks of one read of the index.
const PART: u64 = 1_000;
/// Tasks among which one answer looks for those of a type.
const LOOKED_MAX: usize = 10_000;
/// Instances whose states are read for their versions.
const READ_MAX: usize = 1_000;
/// The states that are read between two looks at the time.
const BATCH: usize = 100;
/// The longest time of reading.
const TIME_MAX: Duration = Duration::from_secs(5);
/// By so much the clocks of nodes differ at most, generously.
const AHEAD: Duration = Duration::from_secs(86_400);

/// What the state of an instance says of its task.
enum Known {
    /// The task, and whether it pauses before its current attempt.
    Open(Box<OpenTask>, bool),
    /// The instance waits for it no more.
    Over,
    /// The state cannot be read.
    Unreadable,
}

/// The tasks that workflows have handed out and wait for, the oldest first: all, or those of a type and
/// a version of it. One answer looks at the 10000 oldest tasks, and for a version at the 1000 oldest of
/// the type, for at most five seconds: `isCutShort` says that there are more.
#[utoipa::path(get, path = "/tasks", tag = "runs",
    params(("type" = Option<String>, Query), ("version" = Option<u32>, Query, minimum = 1),
        ("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = shape::run::OpenTasks), (status = 400, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let page = Part::of_list(&params, &["type", "version"])?.page()?;
    params.single(&["type", "version"])?;
    let kind = params.one("type").filter(|kind| !kind.is_empty());
    bounds::optional("type", kind)?;
    let version = version(&params, kind)?;
    let until = Instant::now() + TIME_MAX;
    let (found, looked, mut is_cut) = look(&app, kind, until).await?;
    let Some(version) = version else {
        let shown = page.of(found.into_iter());
        let wanted = shown.items.len();
        let tasks = read(&app, shown.items, until).await?;
        is_cut |= tasks.len() < wanted;
        return Ok(Json(answer(&tasks, shown.total, looked, is_cut)));
    };
    let all = found.len();
    let mut tasks = read(&app, found.into_iter().take(READ_MAX).collect(), until).await?;
    is_cut |= tasks.len() < all;
    tasks.retain(|(_, known)| match known {
        Known::Open(open, _) => open.task_version == version,
        Known::Over => false,
        Known::Unreadable => true,
    });
    let shown = page.of(tasks.into_iter());
    Ok(Json(answer(&shown.items, shown.total, looked, is_cut)))
}

/// The version of the query, which is that of a type.
fn version(params: &Params, kind: Option<&str>) -> Result<Option<u32>, Problem> {
    let Some(text) = params.one("version").filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    if kind.is_none() {
        return Err(Problem::bad_request(
            "query parameter version is that of a type: name the type, too, as in type=Ship&version=2",
        ));
    }
    match subject::task_version(text) {
        Some(version) => Ok(Some(version)),
        None => {
            let shown: String = text.chars().take(50).collect();
            Err(Problem::bad_request(format!(
                "query parameter version is {shown:?}: it has to be a whole number from 1 on"
            )))
        }
    }
}

/// The bookmarks of tasks of this type, oldest first, how many were looked at, and whether there are
/// more.
async fn look(
    app: &App,
    kind: Option<&str>,
    until: Instant,
) -> Result<(Vec<StoredBookmark>, usize, bool), Problem> {
    let before: Timestamp = app.now().after(AHEAD);
    let (mut found, mut looked) = (Vec::new(), 0);
    let mut last: Option<StoredBookmark> = None;
    loop {
        let part = app.cx.store.listed(WAIT, before, last.as_ref(), PART).await?;
        looked += part.len();
        let is_last = (part.len() as u64) < PART;
        last = part.last().cloned().or(last);
        let name =
            |waits: &StoredBookmark| kind.is_none_or(|kind| text(waits, "TaskName") == Some(kind));
        found.extend(part.into_iter().filter(name));
        if is_last {
            return Ok((found, looked, false));
        }
        if looked >= LOOKED_MAX || Instant::now() >= until {
            return Ok((found, looked, true));
        }
    }
}

/// Reads the states of the instances that wait, until the time is over: there may be fewer than asked for.
async fn read(
    app: &App,
    waiting: Vec<StoredBookmark>,
    until: Instant,
) -> Result<Vec<(StoredBookmark, Known)>, Problem> {
    let mut read = Vec::with_capacity(waiting.len());
    for batch in waiting.chunks(BATCH) {
        // One batch is read in any case.
        if !read.is_empty() && Instant::now() >= until {
            break;
        }
        let ids: Vec<_> = batch
            .iter()
            .map(|waits| (waits.instance_id.clone(), waits.bookmark.id.clone()))
            .collect();
        let work = ids.into_iter().map(|(instance, bookmark)| known(app, instance, bookmark));
        for (waits, known) in batch.iter().zip(side_by_side(work).await) {
            read.push((waits.clone(), known?));
        }
    }
    Ok(read)
}

/// What the state of this instance says of the task at this bookmark.
async fn known(app: &App, id: InstanceId, bookmark: BookmarkId) -> Result<Known, Problem> {
    let Some((loaded, _room)) =
        states::load(app, &id, Purpose::Look, app.config.answer_time_max).await?
    else {
        return Ok(Known::Over);
    };
    Ok(match record::read(&loaded.instance.state) {
        Ok(record) => match record.state.open_task(&bookmark) {
            Some((_, open, is_paused)) => Known::Open(Box::new(open), is_paused),
            None => Known::Over,
        },
        Err(error) => {
            tracing::debug!(%error, instance = %id, "its task cannot be read");
            Known::Unreadable
        }
    })
}

fn text<'w>(waits: &'w StoredBookmark, member: &str) -> Option<&'w str> {
    waits.bookmark.payload.get(member).and_then(Value::as_str)
}

fn answer(
    shown: &[(StoredBookmark, Known)],
    total: u64,
    looked: usize,
    is_cut_short: bool,
) -> Value {
    let items: Vec<_> = shown.iter().filter_map(|(waits, known)| present(waits, known)).collect();
    json!({
        "items": items,
        "totalCount": total,
        "tasksRead": looked,
        "isCutShort": is_cut_short,
    })
}

/// A task; none if it is over.
fn present(waits: &StoredBookmark, known: &Known) -> Option<Value> {
    let (open, is_paused) = match known {
        Known::Open(open, is_paused) => (Some(open), Some(is_paused)),
        Known::Over => return None,
        Known::Unreadable => (None, None),
    };
    let StoredBookmark { instance_id, definition_id, correlation_id, bookmark, .. } = waits;
    Some(json!({
        "taskId": text(waits, "TaskId"),
        "taskType": text(waits, "TaskName"),
        "version": open.map(|open| open.task_version),
        "attempt": open.map(|open| open.attempt),
        "isPaused": is_paused,
        "since": bookmark.created_at,
        "handedOutAt": open.and_then(|open| open.handed_out_at),
        "deadline": open.and_then(|open| open.deadline),
        "workflowInstanceId": instance_id,
        "definitionId": definition_id,
        "correlationId": correlation_id,
        "activityId": bookmark.activity_id,
        "bookmarkId": bookmark.id,
    }))
}
