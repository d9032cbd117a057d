//! `/workflows/*`: workflows that begin with, or wait at, an HttpEndpoint.
//!
//! Triggers come first, then bookmarks; the specific template comes before the general. A request
//! that matches several equally is ambiguous, as in Elsa. The answer is the one that
//! `WriteHttpResponse` wrote. It is sent after the commit, so that a client never sees a result
//! that is lost later.

mod arrival;
pub(crate) mod form;
mod limits;
mod range;
pub(crate) mod request;
pub(crate) mod table;
mod template;
mod upload;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use model::limits::COMMAND_BYTES_MAX;
use model::{InstanceId, Map, Stimulus, SubStatus, Trigger};
use protocol::{ReplyWhen, Resume};
use serde_json::json;
use store::{BookmarkFilter, PendingCommand, StoredBookmark};

use crate::auth::caller::Caller;
use crate::auth::permission::WORKFLOWS;
use crate::body::{Params, Prefer};
use crate::pipeline::identify::{self, Asking};
use crate::pipeline::reply::{Patience, Reply};
use crate::pipeline::validate::Beginning;
use crate::pipeline::{self, Started};
use crate::record;
use crate::{App, Problem, respond};
use arrival::Reading;
use limits::Limits;
use table::{Freshness, Table};
use template::{Template, segments};

/// The largest number of bookmarks that the refusal of an ambiguous request names.
const BOOKMARKS_MAX: u64 = 10;
/// The number of bookmarks whose methods are listed in the answer to a method for which none waits.
const METHODS_MAX: u64 = 100;

/// A request on its way to a workflow.
struct Visit {
    parts: Parts,
    /// Its full path.
    path: String,
    /// The segments of its path below [`WORKFLOWS`], decoded.
    segments: Vec<String>,
    /// Its method, in lower case.
    method: String,
    asking: Asking,
    prefer: Prefer,
    /// The only instance that it is for, if given.
    instance_id: Option<InstanceId>,
    /// The only correlation id that it is for, if given.
    correlation_id: Option<String>,
}

/// The receiver of a request.
enum Target {
    Trigger { trigger: Trigger, template: String, values: Map },
    Bookmark { bookmark: Box<StoredBookmark>, template: String, values: Map },
}

/// Answers a request to a workflow.
pub(crate) async fn handle(State(app): State<Arc<App>>, request: Request) -> Response {
    match visit(&app, request).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn visit(app: &Arc<App>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let visit = Visit::read(app, parts).await?;
    match target(app, &visit).await? {
        Target::Trigger { trigger, template, values } => {
            start(app, visit, body, trigger, &template, values).await
        }
        Target::Bookmark { bookmark, template, values } => {
            resume(app, visit, body, *bookmark, &template, values).await
        }
    }
}

impl Visit {
    async fn read(app: &Arc<App>, mut parts: Parts) -> Result<Self, Problem> {
        let asking = Asking::from_request_parts(&mut parts, app).await?;
        let params = Params::from_request_parts(&mut parts, app).await?;
        let Ok(prefer) = Prefer::from_request_parts(&mut parts, app).await;
        let path = parts.uri.path().to_owned();
        let below = path.strip_prefix(WORKFLOWS).unwrap_or(&path);
        let segments = segments(below)
            .ok_or_else(|| Problem::bad_request("the path is not valid percent-encoded UTF-8"))?;
        let chosen = |header: &str, param: &str| {
            let header = parts.headers.get(header).and_then(|value| value.to_str().ok());
            header.or_else(|| params.one(param)).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let instance_id = chosen("x-workflow-instance-id", "workflowInstanceId");
        let instance_id = instance_id.as_deref().map(record::id).transpose()?;
        let correlation_id = chosen("x-correlation-id", "correlationId");
        let method = parts.method.as_str().to_lowercase();
        Ok(Self { parts, path, segments, method, asking, prefer, instance_id, correlation_id })
    }

    /// The sender.
    fn caller(&self) -> &Caller {
        &self.asking.caller
    }

    fn patience(&self, limits: &Limits, app: &App) -> Patience {
        if self.prefer.respond_async {
            return Patience::None;
        }
        let longest = limits.answer_time.unwrap_or(app.config.answer_time_max);
        Patience::Until(ReplyWhen::Settled, self.prefer.within(longest))
    }
}

/// Finds the receiver of the request.
async fn target(app: &App, visit: &Visit) -> Result<Target, Problem> {
    let table = app.routes.triggers(&app.cx).await?;
    let mut allowed = Vec::new();
    if let Some(target) = triggered(&table, visit, &mut allowed)? {
        return Ok(target);
    }
    if let Some(target) = waiting(app, visit).await? {
        return Ok(target);
    }
    // The workflow may have been published a moment ago, and this node may not have been notified.
    if let Some(table) = app.routes.triggers_again(&app.cx).await?
        && let Some(target) = triggered(&table, visit, &mut allowed)?
    {
        return Ok(target);
    }
    if allowed.is_empty() {
        allowed = waiting_methods(app, visit).await?;
    }
    if allowed.is_empty() {
        return Err(Problem::not_found(format!(
            "no workflow begins with or waits for {} {}",
            visit.parts.method, visit.path
        )));
    }
    allowed.sort();
    allowed.dedup();
    Err(Problem::method_not_allowed(visit.parts.method.as_str(), &allowed))
}

fn triggered(
    table: &Table,
    visit: &Visit,
    allowed: &mut Vec<String>,
) -> Result<Option<Target>, Problem> {
    let fits = table.find(&visit.segments);
    for group in fits.chunk_by(|left, right| left.rank == right.rank) {
        let found = group
            .iter()
            .flat_map(|fit| fit.triggers(&visit.method).iter().map(move |trigger| (trigger, fit)));
        match found.collect::<Vec<_>>().as_slice() {
            [] => allowed.extend(group.iter().flat_map(|fit| fit.methods())),
            [(trigger, fit)] => {
                return Ok(Some(Target::Trigger {
                    trigger: (*trigger).clone(),
                    template: fit.template.to_owned(),
                    values: fit.values.clone(),
                }));
            }
            several => {
                let ids = several.iter().map(|(trigger, _)| {
                    json!({"definitionId": trigger.definition_id, "activityId": trigger.activity_id})
                });
                return Err(ambiguous(ids.collect()));
            }
        }
    }
    Ok(None)
}

/// The bookmark that waits for this request at the most specific template.
async fn waiting(app: &App, visit: &Visit) -> Result<Option<Target>, Problem> {
    let candidates = candidates(app, visit, Freshness::Now).await?;
    let hash = |template: &str| Stimulus::http(template, &visit.method).hash();
    let hashes = candidates.iter().map(|(template, _)| hash(template)).collect();
    // One look-up for all templates, unless there are too many bookmarks for one.
    let known = bookmarks(app, visit, hashes, BOOKMARKS_MAX).await?;
    let is_all = (known.len() as u64) < BOOKMARKS_MAX;
    for (template, values) in candidates {
        let hash = hash(&template);
        let found = if is_all {
            known.iter().filter(|found| found.bookmark.hash == hash).cloned().collect()
        } else {
            bookmarks(app, visit, vec![hash], BOOKMARKS_MAX).await?
        };
        match found.as_slice() {
            [] => {}
            [one] => {
                let bookmark = Box::new(one.clone());
                return Ok(Some(Target::Bookmark { bookmark, template, values }));
            }
            several => {
                let ids = several.iter().map(|found| {
                    json!({"workflowInstanceId": found.instance_id, "bookmarkId": found.bookmark.id})
                });
                return Err(ambiguous(ids.collect()));
            }
        }
    }
    Ok(None)
}

/// The templates that bookmarks for this path may have: the path itself, then templates with
/// parameters.
async fn candidates(
    app: &App,
    visit: &Visit,
    freshness: Freshness,
) -> Result<Vec<(String, Map)>, Problem> {
    let literal = format!("/{}", visit.segments.join("/")).to_lowercase();
    let mut candidates = vec![(literal, Map::new())];
    let templates = app.routes.bookmarks(&app.cx, freshness).await?;
    for Template { text, .. } in templates.iter().filter(|template| !template.is_literal()) {
        if let Some(values) = Template::parse(text).matches(&visit.segments) {
            candidates.push((text.clone(), values));
        }
    }
    Ok(candidates)
}

/// The bookmarks with any of these hashes that the request may resume.
async fn bookmarks(
    app: &App,
    visit: &Visit,
    hashes: Vec<String>,
    limit: u64,
) -> Result<Vec<StoredBookmark>, Problem> {
    let filter = BookmarkFilter {
        hashes,
        instance_id: visit.instance_id.clone(),
        correlation_id: visit.correlation_id.clone(),
        ..BookmarkFilter::default()
    };
    Ok(app.cx.store.find(&filter, limit).await?)
}

/// Other methods that bookmarks for this path wait for: one look-up for all of them.
async fn waiting_methods(app: &App, visit: &Visit) -> Result<Vec<String>, Problem> {
    const METHODS: [Method; 5] =
        [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH];
    let candidates = candidates(app, visit, Freshness::Known).await?;
    let mut by_hash = BTreeMap::new();
    for method in METHODS {
        let lower = method.as_str().to_lowercase();
        for (template, _) in candidates.iter().filter(|_| lower != visit.method) {
            by_hash.insert(Stimulus::http(template, &lower).hash(), method.to_string());
        }
    }
    let found = bookmarks(app, visit, by_hash.keys().cloned().collect(), METHODS_MAX).await?;
    Ok(found.iter().filter_map(|found| by_hash.get(&found.bookmark.hash).cloned()).collect())
}

/// The refusal of a request that matches several workflows, in Elsa's words.
fn ambiguous(workflows: Vec<serde_json::Value>) -> Problem {
    let message = "The call is ambiguous and matches multiple workflows.";
    Problem::conflict("ambiguous", message)
        .with("errorMessage", message)
        .with("workflows", workflows)
}

async fn start(
    app: &Arc<App>,
    visit: Visit,
    body: Body,
    trigger: Trigger,
    template: &str,
    values: Map,
) -> Result<Response, Problem> {
    let limits = Limits::of(&trigger.payload);
    limits.admit(visit.caller())?;
    let patience = visit.patience(&limits, app);
    let input = input(app, &visit, &limits, body, template, values).await?;
    let beginning = Beginning {
        definition_id: trigger.definition_id,
        version_id: Some(trigger.version_id),
        instance_id: visit.instance_id.clone(),
        input: input.clone(),
        correlation_id: visit.correlation_id.clone(),
        trigger_activity_id: Some(trigger.activity_id),
        responds: true,
        ..Beginning::default()
    };
    // A request that names an existing instance resumes it.
    let hash = || Stimulus::http(template, &visit.method).hash();
    if let Some(id) = &visit.instance_id
        && !visit.asking.is_keyed
        && record::exists(app, id).await?
        && let Some(found) = bookmarks(app, &visit, vec![hash()], 1).await?.pop()
    {
        return resume_with(app, &visit, found, input, patience).await;
    }
    let Started { instance, reply } =
        pipeline::start(app, &visit.asking, beginning, patience).await?;
    answer(app, &visit, &instance.id, reply).await
}

async fn resume(
    app: &Arc<App>,
    visit: Visit,
    body: Body,
    bookmark: StoredBookmark,
    template: &str,
    values: Map,
) -> Result<Response, Problem> {
    let limits = Limits::of(&bookmark.bookmark.payload);
    limits.admit(visit.caller())?;
    let patience = visit.patience(&limits, app);
    let input = input(app, &visit, &limits, body, template, values).await?;
    resume_with(app, &visit, bookmark, input, patience).await
}

/// Reads the body, and everything else of the request that the workflow gets.
async fn input(
    app: &App,
    visit: &Visit,
    limits: &Limits,
    body: Body,
    template: &str,
    values: Map,
) -> Result<Map, Problem> {
    let reading = Reading {
        payloads: &app.payloads,
        body_max: usize::try_from(app.payloads.bytes_max()).unwrap_or(usize::MAX),
        text_max: app.config.body_bytes_max.min(COMMAND_BYTES_MAX),
    };
    let received = limits.body(&visit.parts.headers, body, reading).await?;
    request::input(&visit.parts, &visit.path, template, values, limits, received)
}

async fn resume_with(
    app: &Arc<App>,
    visit: &Visit,
    found: StoredBookmark,
    input: Map,
    patience: Patience,
) -> Result<Response, Problem> {
    let (instance_id, bookmark_id) = (found.instance_id, found.bookmark.id);
    let body = Resume {
        instance_id: instance_id.clone(),
        bookmark_id: Some(bookmark_id.clone()),
        input,
        responds: true,
        ..Resume::default()
    };
    let command = visit.asking.command(app, protocol::Body::Resume(body), patience);
    let pending = PendingCommand {
        id: command.id.clone(),
        instance_id: Some(instance_id.clone()),
        bookmark_id: Some(bookmark_id),
        hash: None,
        correlation_id: None,
        command: identify::encoded(&command)?,
        accepted_at: app.now(),
        expires_at: None,
        waiting: false,
    };
    let reply = pipeline::command(app, &visit.asking, pending, patience).await?;
    answer(app, visit, &instance_id, reply).await
}

/// The answer: the one that the workflow wrote, or the status of its instance.
async fn answer(
    app: &App,
    visit: &Visit,
    id: &InstanceId,
    reply: Reply,
) -> Result<Response, Problem> {
    let empty = || respond::of_instance(id, StatusCode::OK);
    match reply {
        Reply::Outcome(outcome) => {
            if let Some(problem) = respond::refusal(&outcome) {
                return Err(problem);
            }
            match (&outcome.response, outcome.sub_status) {
                (Some(said), _) => range::said(app, &visit.parts, id, said).await,
                _ if outcome.refusal.is_some() => Ok(respond::accepted(id, located(id))),
                (None, Some(SubStatus::Faulted)) => {
                    Ok(respond::of_instance(id, respond::faulted(id, &outcome.incidents)))
                }
                (None, _) => Ok(empty()),
            }
        }
        Reply::Done => {
            let Some(seen) = record::get_after(app, id).await? else {
                return Ok(respond::accepted(id, located(id)));
            };
            match (seen.answer_for(&visit.asking.id), seen.status()) {
                (Some(said), _) => range::said(app, &visit.parts, id, said).await,
                (None, SubStatus::Faulted) => {
                    let incidents = seen.state().incidents.iter().map(|i| i.message.clone());
                    let problem = respond::faulted(id, &incidents.collect::<Vec<_>>());
                    Ok(respond::of_instance(id, problem))
                }
                (None, SubStatus::Executing | SubStatus::Pending) => {
                    Ok(respond::accepted(id, located(id)))
                }
                (None, _) => Ok(empty()),
            }
        }
        Reply::Accepted => Ok(respond::accepted(id, located(id))),
        Reply::Late => {
            let problem = Problem::timeout(
                "the workflow has not answered in time; it goes on, and can be read by its \
                 instance id",
            );
            Ok(respond::of_instance(id, problem.with("workflowInstanceId", id.as_str())))
        }
    }
}

fn located(id: &InstanceId) -> serde_json::Value {
    json!({"workflowInstanceId": id})
}
