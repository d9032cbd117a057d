//! The executor's NATS API: requests under `staunch.api.…` have the bodies of commands and are
//! answered with the outcome, so that a NATS client needs nothing else.
//!
//! A request becomes a command whose outcome goes to the subject of the requester. The stream
//! stores the command first; the executor that applies it answers. Instances and payloads are read at
//! once.

mod payload;

use std::sync::Arc;

use bus::{Endpoint, Incoming, Subscription};
use engine::FlowMode;
use futures::StreamExt as _;
use protocol::{Body, Command, ContentType, Message, encode_body, header, subject};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::attach;
use crate::cx::Cx;
use crate::executor::Executor;
use crate::metrics::METRICS;
use crate::record::Record;
use crate::reply::OUTPUT_BYTES_MAX;

/// The name of the task of each request.
const TASK: &str = "executor: request";
const NAME: &str = "staunch-executor";
const DESCRIPTION: &str = "Applies commands to workflow instances";
/// The number of requests that are processed at the same time.
const REQUESTS_MAX: usize = 256;
/// The header of the Services API that marks an error.
const ERROR: &str = "Nats-Service-Error";
const ERROR_CODE: &str = "Nats-Service-Error-Code";

/// The reason why a request is refused, in the form of RFC 9457.
struct RequestProblem {
    status: u16,
    title: &'static str,
    detail: String,
}

/// Registers the endpoints.
///
/// # Errors
/// When the bus cannot be asked.
pub(crate) async fn serve(executor: &Executor) -> Result<Subscription, bus::Error> {
    let endpoint = |name: &str, rest: &str| Endpoint {
        name: name.to_owned(),
        subject: format!("{}.{name}.{rest}", subject::API),
    };
    let endpoints = vec![
        endpoint("start", "*"),
        endpoint("resume", "*"),
        endpoint("cancel", "*"),
        endpoint("alter", "*"),
        endpoint("event", ">"),
        endpoint("get", "*"),
        endpoint("payload", "*"),
    ];
    executor.cx().bus.serve(NAME, chassis::version(), DESCRIPTION, endpoints).await
}

/// Answers requests until `stop`.
pub(crate) async fn answer(
    executor: &Executor,
    mut requests: Subscription,
    stop: CancellationToken,
) {
    let requests_in_hand = TaskTracker::new();
    let room = Arc::new(Semaphore::new(REQUESTS_MAX));
    while let Some(Ok(place)) = stop.run_until_cancelled(Arc::clone(&room).acquire_owned()).await {
        let Some(Some(request)) = stop.run_until_cancelled(requests.next()).await else { break };
        let cx = Cx::clone(executor.cx());
        drop(tasks::spawn(
            TASK,
            requests_in_hand.track_future(async move {
                respond(&cx, request).await;
                drop(place);
            }),
        ));
    }
    requests_in_hand.close();
    requests_in_hand.wait().await;
}

/// Answers one request. The answer is a problem if the instance is not found, if the answer cannot
/// be sent, or after a panic.
async fn respond(cx: &Cx, request: Incoming) {
    let Incoming { message, reply } = request;
    let reply = match reply.as_deref().map(subject::check_reply).transpose() {
        Ok(reply) => reply.map(str::to_owned),
        Err(error) => {
            if let Some(held_back) = cx.refusals.pass("reply") {
                let subject = &message.subject;
                tracing::warn!(%error, subject, held_back, "a request is refused");
            }
            METRICS.refused(protocol::Refusal::Garbled);
            return;
        }
    };
    let got = tasks::caught(TASK, got(cx, message, reply.as_deref())).await;
    let got = got.unwrap_or_else(|panicked| Err(RequestProblem::internal(panicked.to_string())));
    let Some(reply_to) = reply else { return };
    let to_requester = |answer: Message| Message { subject: reply_to.clone(), ..answer };
    let answer = match got {
        // The executor that applies the command answers.
        Ok(None) => return,
        Ok(Some(answer)) => answer,
        Err(problem) => problem.message(),
    };
    let mut sent = cx.bus.send(to_requester(answer)).await;
    if let Err(bus::Error::TooLarge(reason)) = sent {
        let problem = RequestProblem::too_large(&reason).message();
        sent = cx.bus.send(to_requester(problem)).await;
    }
    if let Err(error) = sent {
        tracing::debug!(%error, "a request was not answered");
    }
}

/// The answer, without the subject that it goes to.
async fn got(
    cx: &Cx,
    message: Message,
    reply: Option<&str>,
) -> Result<Option<Message>, RequestProblem> {
    let rest = message.subject.strip_prefix(subject::API).and_then(|rest| rest.strip_prefix('.'));
    match rest.and_then(|rest| rest.split_once('.')) {
        Some(("get", id)) => view(cx, id).await.map(|view| Some(written(&view))),
        Some(("payload", name)) => payload::part(cx, name, &message).await.map(Some),
        Some(_) => accept(cx, message, reply).await.map(|()| None),
        None => Err(RequestProblem::bad(format!("{} is not a request", message.subject))),
    }
}

/// Turns a request into a command, and stores it.
async fn accept(cx: &Cx, request: Message, reply: Option<&str>) -> Result<(), RequestProblem> {
    let mut message = request;
    message.subject = message.subject.replacen(subject::API, subject::COMMANDS, 1);
    let mut command = Command::decode(&message, &cx.chance.new_id())
        .map_err(|garbled| RequestProblem::bad(garbled.to_string()))?;
    if command.reply_to.is_none() {
        command.reply_to = reply.map(str::to_owned);
    }
    attach::check(&message, &command.body).map_err(RequestProblem::bad)?;
    if let Body::Start(start) = &command.body {
        startable(cx, start).await?;
    }
    let mut stored =
        command.encode().map_err(|garbled| RequestProblem::bad(garbled.to_string()))?;
    // The executor that applies the command keeps the objects.
    if let Some(objects) = message.headers.remove(header::PAYLOAD) {
        stored.headers.insert(header::PAYLOAD.to_owned(), objects);
    }
    match cx.bus.publish(stored).await {
        Ok(receipt) if receipt.duplicate => Err(RequestProblem::repeated(&command)),
        Ok(_) => Ok(()),
        Err(bus::Error::TooLarge(reason)) => Err(RequestProblem::bad(reason)),
        Err(error) => Err(RequestProblem::unavailable(&error)),
    }
}

async fn startable(cx: &Cx, start: &protocol::Start) -> Result<(), RequestProblem> {
    if let Some(mode) = start.properties.get(FlowMode::PROPERTY) {
        FlowMode::named(mode).map_err(RequestProblem::bad)?;
    }
    let program = match &start.version_id {
        Some(version_id) => cx.catalog.program(version_id).await,
        None => cx.catalog.published(&start.definition_id, start.pointer_revision).await,
    };
    match program {
        Ok(Some(program)) if *program.definition_id() == start.definition_id => Ok(()),
        Ok(_) => Err(RequestProblem::absent(format!(
            "definition {} does not exist or is not published",
            start.definition_id
        ))),
        Err(error @ catalog::Error::Broken { .. }) => Err(RequestProblem::bad(error.to_string())),
        Err(error) => Err(RequestProblem::unavailable(&error)),
    }
}

/// An instance in readable form.
async fn view(cx: &Cx, id: &str) -> Result<Value, RequestProblem> {
    let id = protocol::instance_of(id).map_err(|error| RequestProblem::bad(error.to_string()))?;
    let loaded = cx.store.load(&id).await.map_err(|error| RequestProblem::unavailable(&error))?;
    let Some(loaded) = loaded else {
        return Err(RequestProblem::absent(format!("instance {id} does not exist")));
    };
    let row = loaded.instance;
    let record = Record::decode(&row.state).map_err(|error| RequestProblem {
        status: 500,
        title: "Unreadable",
        detail: format!("the state of instance {id} cannot be read: {error}"),
    })?;
    let state = match cx.catalog.program(&row.version_id).await {
        Ok(Some(program)) => record.state.view(&program),
        // Without the version, the workflow state cannot be shown; the rest can.
        Ok(None) | Err(catalog::Error::Broken { .. }) => Value::Null,
        Err(error) => return Err(RequestProblem::unavailable(&error)),
    };
    let incidents: Vec<_> = record.state.incidents.iter().map(|one| &one.message).collect();
    let bookmarks: Vec<_> = record.open().collect();
    let room = OUTPUT_BYTES_MAX.saturating_sub(model::large::weight(&state) as u64);
    let output = cx.payloads.whole(&record.state.output, room).await;
    Ok(json!({
        "id": row.id,
        "definitionId": row.definition_id,
        "definitionVersionId": row.version_id,
        "definitionVersion": row.definition_version,
        "version": row.version,
        "status": row.status.main(),
        "subStatus": row.status,
        "correlationId": row.correlation_id,
        "name": row.name,
        "parent": row.parent,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "finishedAt": row.finished_at,
        "output": output.as_ref().unwrap_or(&record.state.output),
        "incidents": incidents,
        "bookmarks": bookmarks,
        "workflowState": state,
    }))
}

impl RequestProblem {
    fn bad(detail: String) -> Self {
        Self { status: 400, title: "Bad request", detail }
    }

    fn absent(detail: String) -> Self {
        Self { status: 404, title: "Not found", detail }
    }

    /// The outcome of the command goes to whoever sent it first.
    fn repeated(command: &Command) -> Self {
        let ask = command.instance_id().map(|id| format!(": ask {}.get.{id}", subject::API));
        let detail = format!(
            "the command {} is stored already, and its outcome goes to its first sender{}",
            command.id,
            ask.unwrap_or_default()
        );
        Self { status: 409, title: "Repeated", detail }
    }

    fn unavailable(error: &dyn std::error::Error) -> Self {
        Self { status: 503, title: "Unavailable", detail: error.to_string() }
    }

    fn internal(detail: String) -> Self {
        Self { status: 500, title: "Internal error", detail }
    }

    fn too_large(reason: &str) -> Self {
        let detail = format!("the answer is too large for a message: {reason}; read it over HTTP");
        Self { status: 413, title: "Too large", detail }
    }

    fn message(self) -> Message {
        let Self { status, title, detail } = self;
        let body = json!({ "status": status, "title": title, "detail": detail });
        let mut message = written(&body);
        message.headers.insert(ERROR.to_owned(), title.to_owned());
        message.headers.insert(ERROR_CODE.to_owned(), status.to_string());
        message
    }
}

fn written(body: &Value) -> Message {
    // JSON values always have a form in JSON.
    let payload = encode_body(ContentType::Json, body).unwrap_or_default();
    let mut message = Message { payload, ..Message::default() };
    message.headers.insert(header::CONTENT_TYPE.to_owned(), "application/json".to_owned());
    message
}
