//! The way of every change: accept it in the database, publish its command, wait for the outcome.
//!
//! Accepted means kept: what is accepted and cannot be published now is published by the sweep, so
//! the caller is told 202, never an error. A start whose caller waits has its row by its first burst
//! (`docs/decisions/007-who-waits-is-accepted-by-the-first-burst.md`).

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use chassis::Point;
use model::{CommandId, Instance};
use protocol::{Command, Message, Outcome, ReplyWhen};
use store::{Accepted, NewInstance, PendingCommand};
use tokio::time::Instant;

use crate::auth::{Caller, permission};
use crate::trace::Trace;
use crate::waiters::Wait;
use crate::{App, Problem};

/// Tries of a publish whose answer did not come.
const PUBLISH_TRIES: u32 = 3;
/// Longest time of a publish; the sweep publishes what takes longer.
const PUBLISH_TIME_MAX: Duration = Duration::from_secs(3);
/// A duplicate that is told within this time was there before we came.
const AT_ONCE: Duration = Duration::from_secs(1);

/// How long a start whose caller waits has no row but the one that its first burst will write.
const ROWLESS_MAX: Duration = Duration::from_secs(1);

/// How long the caller wants to wait, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// Until then at most.
    Until(ReplyWhen, Duration),
}

/// What is known at the end of the wait.
#[derive(Debug)]
pub(crate) enum Told {
    /// The outcome.
    Outcome(Box<Outcome>),
    /// It is accepted, and will be done.
    Accepted,
    /// It is accepted, and was not done within the time that the caller waits.
    Late,
    /// It was done before, under the same idempotency key.
    Before,
}

/// What a start came to.
#[derive(Debug)]
pub(crate) struct Started {
    /// The row: as accepted now, or as found under the same id.
    pub(crate) instance: Instance,
    /// What is known about it.
    pub(crate) told: Told,
}

/// Who asks for a change, and under which id: the same id for the same key.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    /// The command's id.
    pub(crate) id: CommandId,
    /// It comes from an `Idempotency-Key`, so it may have been asked for before.
    pub(crate) is_keyed: bool,
    /// Who asks.
    pub(crate) caller: Caller,
    /// The trace it belongs to.
    pub(crate) trace: Trace,
}

impl Asking {
    /// The command that asks for this.
    pub(crate) fn command(&self, app: &App, body: protocol::Body, patience: Patience) -> Command {
        let mut command = Command::new(self.id.clone(), body);
        command.traceparent = Some(self.trace.to_string());
        if let Patience::Until(when, _) = patience {
            command.reply_to = Some(app.waiters.subject(&self.id));
            command.reply_when = when;
        }
        command
    }

    /// Nobody else can ask for this instance, or be in its way: not even twice.
    fn is_alone_with(&self, new: &NewInstance) -> bool {
        let has_own_id = new.instance.id.as_str() == self.id.as_str();
        has_own_id && !self.is_keyed && new.activation_key.is_none()
    }

    /// The same asking, for one of several things.
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
    let key = value.to_str().ok().map(str::trim).filter(|key| !key.is_empty());
    match key {
        Some(key) if key.len() <= KEY_CHARS_MAX => Ok(Some(key)),
        _ => Err(Problem::bad_request(format!(
            "the Idempotency-Key is not valid: use 1 to {KEY_CHARS_MAX} visible ASCII characters"
        ))),
    }
}

/// Encodes a command.
pub(crate) fn encoded(command: &Command) -> Result<Message, Problem> {
    command.encode().map_err(|error| {
        let status = axum::http::StatusCode::PAYLOAD_TOO_LARGE;
        Problem::new(status, "too-large", error.to_string())
    })
}

/// Accepts a start, publishes it, and waits as long as the caller wants to.
///
/// An instance of that id that is there already is what a keyed start finds when it is repeated;
/// without a key it is a conflict.
pub(crate) async fn start(
    app: &Arc<App>,
    asking: &Asking,
    new: NewInstance,
    patience: Patience,
) -> Result<Started, Problem> {
    app.must_have_room()?;
    let mut wait = expectation(app, asking, patience);
    let message = new.command.clone();
    let instance = new.instance.clone();
    if let (Some(waiting), Patience::Until(when, time)) = (&mut wait, patience)
        && asking.is_alone_with(&new)
    {
        let receipt = publish(app, message).await;
        let moment = time.min(ROWLESS_MAX);
        if receipt == Publication::Now
            && let Some(outcome) = waiting.for_a_moment(moment).await
        {
            return Ok(Started { instance, told: Told::Outcome(Box::new(outcome)) });
        }
        app.cx.trail.at(Point::BeforeAccept).await;
        match app.cx.store.accept(new).await {
            Ok(_) => {}
            // The stream has it, and nobody can say that it was not done.
            Err(error) if receipt == Publication::Now => {
                tracing::warn!(%error, instance = %instance.id, "a start is kept by the stream alone");
            }
            Err(error) => return Err(error.into()),
        }
        let told = told(app, receipt, wait, Patience::Until(when, time - moment)).await;
        return Ok(Started { instance, told });
    }
    app.cx.trail.at(Point::BeforeAccept).await;
    match app.cx.store.accept(new).await? {
        Accepted::New => {
            let told = publish_and_wait(app, message, wait, patience).await;
            Ok(Started { instance, told })
        }
        Accepted::Exists(found) if found.definition_id != instance.definition_id => {
            Err(exists(&found).with("definitionId", found.definition_id.as_str()))
        }
        Accepted::Exists(found) if !asking.is_keyed => Err(exists(&found)),
        Accepted::Exists(found) if found.version > 0 => {
            Ok(Started { instance: *found, told: Told::Before })
        }
        Accepted::Exists(found) => {
            // Asked for before and not run yet: whoever asked first may have died before the
            // publish. Under the same message id nothing is done twice.
            let told = publish_and_wait(app, message, wait, patience).await;
            Ok(Started { instance: *found, told })
        }
        Accepted::NotAllowed(other) => {
            let detail = format!(
                "the activation strategy of {} allows no other instance beside {other}, which is \
                 not finished",
                instance.definition_id
            );
            Err(Problem::conflict("not-allowed", detail).with("workflowInstanceId", other.as_str()))
        }
    }
}

fn exists(found: &Instance) -> Problem {
    let detail = format!(
        "there is an instance {} already, of {}: use another id, or repeat a start with the same \
         Idempotency-Key",
        found.id, found.definition_id
    );
    Problem::conflict("exists", detail).with("workflowInstanceId", found.id.as_str())
}

/// Accepts a command, publishes it, and waits as long as the caller wants to.
pub(crate) async fn command(
    app: &Arc<App>,
    asking: &Asking,
    pending: PendingCommand,
    patience: Patience,
) -> Result<Told, Problem> {
    app.must_have_room()?;
    let wait = expectation(app, asking, patience);
    let message = pending.command.clone();
    app.cx.trail.at(Point::BeforeAccept).await;
    let is_new = app.cx.store.accept_command(pending).await?;
    let has_company = wait.as_ref().is_some_and(Wait::has_company);
    app.cx.trail.at(Point::Accepted).await;
    let receipt = publish(app, message).await;
    if receipt == Publication::Before && is_new && asking.is_keyed && !has_company {
        // The stream has seen it, and whoever applied it took its row away: it is done.
        app.cx.store.settle(&asking.id, Vec::new(), Vec::new()).await?;
        return Ok(Told::Before);
    }
    Ok(told(app, receipt, wait, patience).await)
}

/// Publishes a command that is accepted by other means, and waits.
pub(crate) async fn publish_and_wait(
    app: &App,
    message: Message,
    wait: Option<Wait>,
    patience: Patience,
) -> Told {
    app.cx.trail.at(Point::Accepted).await;
    let receipt = publish(app, message).await;
    told(app, receipt, wait, patience).await
}

/// The wait for a command's outcome, begun before anyone can send one.
pub(crate) fn expectation(app: &App, asking: &Asking, patience: Patience) -> Option<Wait> {
    match patience {
        Patience::None => None,
        Patience::Until(..) => Some(app.waiters.expect(&asking.id)),
    }
}

async fn told(app: &App, receipt: Publication, wait: Option<Wait>, patience: Patience) -> Told {
    let (Some(wait), Patience::Until(_, time)) = (wait, patience) else { return Told::Accepted };
    // Nobody will tell us soon: the sweep has to publish it, or it was asked for elsewhere.
    let is_under_way = receipt == Publication::Now || wait.has_company();
    if !is_under_way {
        return Told::Accepted;
    }
    tokio::select! {
        outcome = wait.within(time) => match outcome {
            Some(outcome) => Told::Outcome(Box::new(outcome)),
            None => Told::Late,
        },
        () = app.drained() => Told::Accepted,
    }
}

/// What became of a publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Publication {
    /// The stream has it, perhaps by an earlier try of ours.
    Now,
    /// The stream had it before.
    Before,
    /// It could not be published: the sweep will.
    Later,
}

async fn publish(app: &App, message: Message) -> Publication {
    let subject = message.subject.clone();
    match tokio::time::timeout(PUBLISH_TIME_MAX, published(app, message)).await {
        Ok(Ok(publication)) => {
            app.cx.trail.at(Point::Sent).await;
            return publication;
        }
        Ok(Err(error)) => {
            if matches!(error, bus::Error::Full(_)) {
                app.backlog.is_full();
            }
            tracing::warn!(%error, subject, "accepted, but not published: the sweep will");
        }
        Err(_) => tracing::warn!(subject, "accepted, but not published in time: the sweep will"),
    }
    app.metrics.unpublished();
    Publication::Later
}

async fn published(app: &App, message: Message) -> Result<Publication, bus::Error> {
    let began = Instant::now();
    let mut tries = 1;
    loop {
        match app.cx.bus.publish(message.clone()).await {
            // One that is told late may be our own, repeated because its first answer was lost.
            Ok(receipt) if receipt.duplicate && tries == 1 && began.elapsed() < AT_ONCE => {
                return Ok(Publication::Before);
            }
            Ok(_) => return Ok(Publication::Now),
            Err(bus::Error::Unknown(_)) if tries < PUBLISH_TRIES => tries += 1,
            Err(error) => return Err(error),
        }
    }
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

/// The id that stands for a key: the same for the same caller and route, under either mount.
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
