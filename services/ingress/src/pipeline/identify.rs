//! Gives a change its id: the same id for the same `Idempotency-Key`, so that a repeat has no
//! second effect.

use std::sync::Arc;

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use engine::Program;
use model::{CommandId, Instance, InstanceId};
use protocol::{Body, Command, Message, Start};
use store::NewInstance;

use super::reply::Patience;
use super::validate::Beginning;
use crate::app::App;
use crate::auth::caller::Caller;
use crate::auth::permission;
use crate::problem::Problem;
use crate::trace::Trace;

/// The sender of a change, and the id of its command: the same id for the same key.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    /// The command's id.
    pub(crate) id: CommandId,
    /// The id comes from an `Idempotency-Key`, so the change may have been requested before.
    pub(crate) is_keyed: bool,
    /// The sender.
    pub(crate) caller: Caller,
    /// The trace that the change belongs to.
    pub(crate) trace: Trace,
}

impl Asking {
    /// The command with this id.
    pub(crate) fn command(&self, app: &App, body: Body, patience: Patience) -> Command {
        let mut command = Command::new(self.id.clone(), body);
        command.traceparent = Some(self.trace.to_string());
        if let Patience::Until(when, _) = patience {
            command.reply_to = Some(app.waiters.subject(&self.id));
            command.reply_when = when;
        }
        command
    }

    /// The identity of one of several parts of a change.
    pub(crate) fn about(&self, what: &str) -> Self {
        let id = CommandId::new(model::derived(&["part", self.id.as_str(), what]));
        Self { id, ..self.clone() }
    }
}

/// The idempotency key of a request.
pub(crate) const KEY_HEADER: &str = "idempotency-key";

/// The `Idempotency-Key`, if there is one.
pub(crate) fn key_in(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    const KEY_CHARS_MAX: usize = 255;
    let Some(value) = headers.get(KEY_HEADER) else { return Ok(None) };
    let is_visible = |key: &&str| key.bytes().all(|byte| byte.is_ascii_graphic());
    let key = value.to_str().ok().map(str::trim).filter(is_visible);
    match key {
        Some(key) if (1..=KEY_CHARS_MAX).contains(&key.len()) => Ok(Some(key)),
        _ => Err(Problem::bad_request(format!(
            "the Idempotency-Key is not valid: use 1 to {KEY_CHARS_MAX} visible ASCII characters, \
             without spaces"
        ))),
    }
}

/// Encodes a command.
pub(crate) fn encoded(command: &Command) -> Result<Message, Problem> {
    command.encode().map_err(|error| match command.body.check_depth() {
        Err(too_deep) => Problem::bad_request(too_deep.to_string()),
        Ok(()) => Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", error.to_string()),
    })
}

/// The row and the command of a start, under its id.
pub(crate) fn start(
    app: &App,
    asking: &Asking,
    beginning: Beginning,
    program: &Program,
    patience: Patience,
) -> Result<NewInstance, Problem> {
    let correlation_id = beginning.correlation_id.filter(|id| !id.is_empty());
    let own_id = || (!asking.is_keyed).then(|| InstanceId::new(asking.id.as_str()));
    let start = Start {
        definition_id: program.definition_id().clone(),
        instance_id: beginning.instance_id.or_else(own_id),
        version_id: Some(program.version_id().clone()),
        input: beginning.input,
        properties: beginning.properties,
        correlation_id: correlation_id.clone(),
        name: beginning.name.clone(),
        trigger_activity_id: beginning.trigger_activity_id,
        restart: beginning.restart,
        parent: None,
        pointer_revision: None,
        responds: beginning.responds,
    };
    let id = start.instance_id(&asking.id);
    let command = asking.command(app, Body::Start(start), patience);
    let now = app.now();
    let (definition_id, version_id) = (program.definition_id(), program.version_id());
    let instance = Instance {
        correlation_id: correlation_id.clone(),
        name: beginning.name,
        ..Instance::new(id, definition_id.clone(), version_id.clone(), program.version(), now)
    };
    let activation_key = program.activation_key(correlation_id.as_deref());
    Ok(NewInstance { instance, command: encoded(&command)?, activation_key })
}

impl FromRequestParts<Arc<App>> for Asking {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = infallible(Caller::from_request_parts(parts, app).await);
        let trace = infallible(Trace::from_request_parts(parts, app).await);
        let key = key_in(&parts.headers)?;
        let path = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |uri| &uri.0).path();
        let id = match key {
            Some(key) => key_id(&parts.method, path, key, &caller),
            None => CommandId::new(app.fresh_id()),
        };
        Ok(Self { id, is_keyed: key.is_some(), caller, trace })
    }
}

/// The id of a key: the same for the same caller and route, under either mount.
pub(crate) fn key_id(method: &Method, path: &str, key: &str, caller: &Caller) -> CommandId {
    let path = permission::unmounted(path);
    CommandId::new(model::derived(&["http", method.as_str(), path, key, &caller.who]))
}

fn infallible<T>(result: Result<T, std::convert::Infallible>) -> T {
    match result {
        Ok(value) => value,
        Err(never) => match never {},
    }
}
