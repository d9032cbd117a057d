//! A validation of the running cluster, from a page or by a request.

use std::collections::BTreeMap;
use std::sync::Arc;

use api_client::{Client, Failure, Kind};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::response::Response;
use bus::Member;
use futures::StreamExt as _;
use futures::stream;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use validation::{CheckResult, Report, Site, Told};

use crate::auth::caller::Caller;
use crate::auth::recheck::Recheck;
use crate::live::sse::{self, Event};
use crate::problem::ProblemBody;
use crate::validating::{self, Validating};
use crate::{App, Problem};

/// The events that wait for the stream: more than a validation has.
const EVENTS_MAX: usize = 1_000;

/// Checks the running cluster against its guarantees, and tells what it finds as server-sent events.
///
/// It is `staunch validate --nodes` with the addresses of all live nodes that have an HTTP API, for the
/// caller and with its permissions: to read nodes and instances, to write, publish, retract, execute and
/// delete definitions, and to resume and delete instances. It starts some hundreds of small workflows
/// through every node, for about a minute, and removes all of it at its end. It kills and restarts no
/// node. The events are `begun`, with the nodes; `part`, `doing` and `check` while it goes on; and at its
/// end `done`, with all checks. It ends when the reader leaves, and cleans up then, too. A cluster makes
/// one validation at a time.
#[utoipa::path(post, path = "/cluster/validation", tag = "cluster",
    responses((status = 200, body = String, content_type = "text/event-stream"),
        (status = 409, body = ProblemBody, description = "A node makes a validation already; the detail names it"),
        (status = 429, body = ProblemBody), (status = 503, body = ProblemBody)))]
pub(super) async fn validate(
    State(app): State<Arc<App>>,
    caller: Caller,
    recheck: Recheck,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let permit = Arc::clone(&app.validations).try_acquire_owned();
    let permit = permit.map_err(|_taken| validating::running(app.cx.presence.node()))?;
    let place = app.streams.place(&caller)?;
    let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let site = meet(&app, authorization).await?;
    let validating = Validating::begin(&app).await?;
    // From here on the task gives the claim back, also when this request is broken off.
    let (sender, receiver) = mpsc::channel(EVENTS_MAX);
    tell(&sender, "begun", named(&site));
    let running = run(Arc::clone(&app), caller, site, sender, (permit, validating));
    app.spawn("ingress validation", running);
    let events = stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|event| (Ok(event), receiver))
    });
    Ok(sse::response(&app, place, recheck, events.boxed()))
}

/// Asks all live nodes that have an HTTP API.
async fn meet(app: &App, authorization: Option<&str>) -> Result<Site, Problem> {
    let live = app.cx.presence.live();
    let clients = addresses(&live)?;
    let clients =
        clients.into_iter().map(|url| Client::with(url, authorization.map(str::to_owned)));
    let clients = clients.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let id = app.fresh_id();
    let run = format!("validate-{}", id.get(24..).unwrap_or(&id));
    Site::meet(clients, run, false).await.map_err(refused)
}

/// The address of each node that has one; no two may have the same.
fn addresses(live: &[Member]) -> Result<Vec<&str>, Problem> {
    let mut nodes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for member in live {
        if let Some(address) = &member.address {
            nodes.entry(address).or_default().push(&member.node);
        }
    }
    let shared = nodes.iter().find(|(_, names)| names.len() > 1);
    if let Some((address, names)) = shared {
        return Err(Problem::unavailable(format!(
            "{} have the same address, {address}: set --node-address on each node to an address that \
             is its own, so that each can be asked",
            names.join(" and "),
        )));
    }
    Ok(nodes.into_keys().collect())
}

fn refused(failure: Failure) -> Problem {
    let details = failure.details.join("; ");
    let detail = match details.is_empty() {
        true => failure.message,
        false => format!("{}: {details}", failure.message),
    };
    match failure.kind {
        Kind::Forbidden => Problem::forbidden(detail),
        _ => Problem::unavailable(detail),
    }
}

fn named(site: &Site) -> Value {
    let nodes = site.nodes().map(|(node, url)| json!({"node": node, "url": url}));
    json!({
        "run": site.run(),
        "nodes": nodes.collect::<Vec<_>>(),
        "executors": site.executors().collect::<Vec<_>>(),
    })
}

/// Makes the checks until they are done or the reader has left, and cleans up. At its end another
/// validation may begin, here and elsewhere.
async fn run(
    app: Arc<App>,
    caller: Caller,
    site: Site,
    sender: mpsc::Sender<Event>,
    (permit, validating): (OwnedSemaphorePermit, Validating),
) {
    app.audit(&caller, "cluster.validate", site.run(), Value::Null).await;
    let site = Arc::new(site);
    let told = sender.clone();
    let mut report = Report::new(move |what| match what {
        Told::Part(part) => tell(&told, "part", json!({ "part": part })),
        Told::Doing(text) => tell(&told, "doing", json!({ "text": text })),
        Told::Check(check) => tell(&told, "check", check.json()),
    });
    let is_left = tokio::select! {
        () = validation::check(&site, None, &mut report) => false,
        () = sender.closed() => true,
    };
    validation::clean_up(&site, &mut report).await;
    let [passed, failed] =
        [CheckResult::Passed, CheckResult::Failed].map(|result| report.count(result));
    tracing::info!(run = site.run(), passed, failed, is_left, "validation ended");
    tell(&sender, "done", report.json(&site));
    validating.end().await;
    drop(permit);
}

fn tell(sender: &mpsc::Sender<Event>, name: &str, data: Value) {
    let event = Event { id: None, name: name.to_owned(), data };
    if sender.try_send(event).is_err() {
        tracing::debug!(name, "nobody reads this validation any more");
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    fn live(node: &str, address: Option<&str>) -> Member {
        let address = address.map(str::to_owned);
        let started_at = Timestamp::from_millis(0);
        Member { node: node.to_owned(), roles: Vec::new(), started_at, address, version: None }
    }

    #[test]
    fn nodes_with_an_address_are_asked_if_each_has_its_own() {
        let apart = [live("a", Some("http://a")), live("t", None), live("b", Some("http://b"))];
        assert_eq!(addresses(&apart).unwrap(), ["http://a", "http://b"]);
        let one = [live("a", Some("https://public")), live("b", Some("https://public"))];
        let refused = addresses(&one).unwrap_err();
        let detail = refused.detail();
        assert!(
            detail.starts_with("a and b have the same address, https://public: set --node-address"),
            "{detail}"
        );
    }
}
