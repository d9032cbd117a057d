//! Live updates as server-sent events.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use model::{DefinitionId, InstanceId, Timestamp};

use crate::auth::caller::Caller;
use crate::auth::recheck::Recheck;
use crate::body::Params;
use crate::live::cluster::{self, Begin, Filter, KINDS};
use crate::live::{sse, tail};
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, record};

/// The header of a client that connects again: the id of the last event that it has.
const LAST_EVENT_ID: &str = "last-event-id";
/// The parameters of the stream of all instances. One that is mistyped would give the events of all.
const OF_EVENTS: [&str; 6] =
    ["definitionId", "instanceId", "correlationId", "type", "after", "until"];

/// The lifecycle events of all instances, as server-sent events: `started`, `suspended`, `finished`,
/// `faulted` and `cancelled`.
///
/// The stream begins now, at the oldest event that is kept (`after=start`), at a time, or after an event
/// (`Last-Event-ID`, or `after`), at any node. With `until=now` it ends after the events that are there.
/// A `gap` says that events are missing, a `cut` that the reader was too slow, an `end` that the server
/// stops, that the credentials do not count any more, or that all the past was sent (`isComplete`).
#[utoipa::path(get, path = "/events", tag = "live",
    params(("definitionId" = Option<Vec<String>>, Query, description = "Only of these definitions"),
        ("instanceId" = Option<Vec<String>>, Query, description = "Only of these instances"),
        ("correlationId" = Option<Vec<String>>, Query, description = "Only of instances with these"),
        ("type" = Option<Vec<String>>, Query, description = "Only events of these names"),
        ("after" = Option<String>, Query, description = "An id, `start`, `now`, or a time such as 2026-01-31T08:00:00Z"),
        ("until" = Option<String>, Query, description = "`now`: the stream ends after the events that are there"),
        ("Last-Event-ID" = Option<String>, Header, description = "As `after`, and counts before it")),
    responses((status = 200, body = String, content_type = "text/event-stream"),
        (status = 400, body = ProblemBody), (status = 429, body = ProblemBody),
        (status = 503, body = ProblemBody)))]
pub(super) async fn events(
    State(app): State<Arc<App>>,
    caller: Caller,
    recheck: Recheck,
    params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    params.only(&OF_EVENTS)?;
    // An id may have a comma in it: such a value means the id, and the ids between the commas.
    let named = |name: &'static str| {
        let mut all = params.many(name);
        bounds::list(name, &all)?;
        let whole = params.whole(name).into_iter().filter(|value| value.contains(','));
        let whole = whole.filter(|value| bounds::name(name, value).is_ok());
        all.extend(whole.map(str::to_owned));
        Ok::<_, Problem>(all.into_iter())
    };
    let kinds = params.many("type").into_iter().map(|kind| known(&kind));
    let filter = Filter {
        definition_ids: named("definitionId")?.map(DefinitionId::new).collect(),
        instance_ids: named("instanceId")?.map(InstanceId::new).collect(),
        correlation_ids: named("correlationId")?.collect(),
        kinds: kinds.collect::<Result<_, _>>()?,
    };
    let only_past = match params.one("until") {
        None | Some("") => false,
        Some(now) if now.eq_ignore_ascii_case("now") => true,
        Some(_) => return Err(Problem::bad_request("until is now, or left out")),
    };
    let after = params.one("after").filter(|_| !headers.contains_key(LAST_EVENT_ID));
    let time = match after.map(Timestamp::parse) {
        Some(Err(error)) if error.is_out_of_range() => {
            return Err(Problem::bad_request(format!("after: {error}")));
        }
        parsed => parsed.and_then(Result::ok),
    };
    let begin = match time {
        Some(at) => cluster::since(&app, at).await?,
        None => begin(&headers, &params, EVENT)?.unwrap_or(match only_past {
            true => Begin::Start,
            false => Begin::Now,
        }),
    };
    let place = app.streams.place(&caller)?;
    let events = cluster::follow(&app, filter, begin, only_past).await?;
    Ok(sse::response(&app, place, recheck, events))
}

/// The journal of one instance, as server-sent events: the lines that are there, then those of each
/// burst. The name of an event is that of the line, its id the line's number.
///
/// The stream begins with the first line, with what comes next (`after=now`), or after a line
/// (`Last-Event-ID`, or `after`), at any node. It ends when the instance is deleted.
#[utoipa::path(get, path = "/workflow-instances/{id}/events", tag = "live",
    params(("id" = String, Path),
        ("after" = Option<String>, Query, description = "A number, `start` or `now`"),
        ("Last-Event-ID" = Option<String>, Header, description = "As `after`, and counts before it")),
    responses((status = 200, body = String, content_type = "text/event-stream"),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 429, body = ProblemBody), (status = 503, body = ProblemBody)))]
pub(super) async fn of_instance(
    State(app): State<Arc<App>>,
    caller: Caller,
    recheck: Recheck,
    Path(id): Path<String>,
    params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    params.only(&["after"])?;
    let begin = begin(&headers, &params, LINE)?.unwrap_or(Begin::Start);
    let place = app.streams.place(&caller)?;
    let id = record::id(&id)?;
    record::must_exist(&app, &id).await?;
    let events = tail::follow(&app, &id, begin).await?;
    Ok(sse::response(&app, place, recheck, events))
}

/// What a stream has, and how its beginning is named.
type Named = (&'static str, &'static str);

const EVENT: Named =
    ("event", "the id of an event of this stream, a time such as 2026-01-31T08:00:00Z");
const LINE: Named = ("line", "the number of a line of this journal");

/// Where a client wants to begin; none if it does not say.
fn begin(
    headers: &HeaderMap,
    params: &Params,
    (one, named): Named,
) -> Result<Option<Begin>, Problem> {
    let header = headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
    let Some(text) = header.filter(|text| !text.is_empty()).or_else(|| params.one("after")) else {
        return Ok(None);
    };
    match (text, text.parse()) {
        ("start", _) => Ok(Some(Begin::Start)),
        ("now", _) => Ok(Some(Begin::Now)),
        // A number that no event can have would not leave room for the next.
        (_, Ok(number)) if number < u64::from(u32::MAX) << 16 => Ok(Some(Begin::After(number))),
        _ => {
            let shown: String = text.chars().take(50).collect();
            Err(Problem::bad_request(format!(
                "there is no {one} {shown:?}: use {named}, start or now"
            )))
        }
    }
}

/// The name of a lifecycle event, in any case.
fn known(kind: &str) -> Result<String, Problem> {
    let found = KINDS.into_iter().find(|known| known.eq_ignore_ascii_case(kind));
    found.map(str::to_owned).ok_or_else(|| {
        let shown: String = kind.chars().take(50).collect();
        Problem::bad_request(format!("type {shown:?} is not valid: use {}", KINDS.join(", ")))
    })
}
