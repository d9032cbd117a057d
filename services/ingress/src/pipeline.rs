//! request -> authenticate -> validate -> identify -> accept -> publish -> reply
//!
//! The router's layers authenticate the sender; a handler reads its request, and calls [`start`] or
//! [`command`] here. An accepted change is kept: if it cannot be published now, the sweep publishes
//! it, so the caller gets 202 and never an error.

pub(crate) mod accept;
pub(crate) mod identify;
pub(crate) mod publish;
pub(crate) mod reply;
pub(crate) mod validate;

use std::sync::Arc;

use chassis::Point;
use model::{Instance, InstanceId};
use protocol::Message;
use serde_json::json;
use store::{NewInstance, PendingCommand};

use crate::app::App;
use crate::large;
use crate::problem::Problem;
use accept::Kept;
use identify::Asking;
use publish::{PublishEnd, publish};
use reply::{Patience, Reply, Sent, Wait};
use validate::Beginning;

/// The result of a start.
#[derive(Debug)]
pub(crate) struct Started {
    /// The row: as accepted now, or as found under the same id.
    pub(crate) instance: Instance,
    /// The known part of its outcome.
    pub(crate) reply: Reply,
}

/// The whole path of a start.
pub(crate) async fn start(
    app: &Arc<App>,
    asking: &Asking,
    beginning: Beginning,
    patience: Patience,
) -> Result<Started, Problem> {
    let program = validate::start(app, &beginning).await?;
    let beginning = lightened(app, beginning).await?;
    let is_counted = beginning.is_counted;
    let new = identify::start(app, asking, beginning, &program, patience)?;
    app.must_have_room()?;
    if !is_counted {
        app.rates.of_definition(program.definition_id())?;
    }
    if !app.config.audits_starts {
        return accepted(app, asking, new, patience).await.map(|(started, _)| started);
    }
    let (id, details) =
        (new.instance.id.clone(), json!({"definitionId": new.instance.definition_id}));
    let note = app.note(&asking.caller, "instance.start", id.as_str(), details).together();
    let accepted = accepted(app, asking, new, patience).await;
    let reply = accepted.as_ref().ok().filter(|(_, is_new)| *is_new).map(|(it, _)| &it.reply);
    note.replied_if(reply).await;
    accepted.map(|(started, _)| started)
}

/// Accepts a start, publishes it, and waits for its outcome; false for a repeat of one that has run.
async fn accepted(
    app: &App,
    asking: &Asking,
    new: NewInstance,
    patience: Patience,
) -> Result<(Started, bool), Problem> {
    let wait = reply::expect(app, asking, patience);
    let message = new.command.clone();
    Ok(match wait {
        Some(wait) if accept::needs_no_row(asking, &new) => {
            (accept::by_first_burst(app, asking, new, wait, patience).await?, true)
        }
        wait => match accept::start(app, asking, new).await? {
            Kept::Done(instance) => (Started { instance: *instance, reply: Reply::Done }, false),
            Kept::Open(instance) => {
                let reply = send(app, asking, Some(&instance.id), message, wait, patience).await;
                (Started { instance: *instance, reply }, true)
            }
        },
    })
}

/// What begins the instance, in which objects stand for large values.
async fn lightened(app: &App, beginning: Beginning) -> Result<Beginning, Problem> {
    let input = large::lightened(app, beginning.input).await?;
    let mut restart = beginning.restart;
    if let Some(restart) = restart.as_deref_mut() {
        restart.variables = large::taken_over(app, std::mem::take(&mut restart.variables)).await?;
    }
    Ok(Beginning { input, restart, ..beginning })
}

/// The path of every other change, from its acceptance on.
pub(crate) async fn command(
    app: &Arc<App>,
    asking: &Asking,
    pending: PendingCommand,
    patience: Patience,
) -> Result<Reply, Problem> {
    app.must_have_room()?;
    let wait = reply::expect(app, asking, patience);
    let message = pending.command.clone();
    let instance_id = pending.instance_id.clone();
    let is_new = accept::command(app, pending).await?;
    let has_company = wait.as_ref().is_some_and(Wait::has_company);
    app.cx.trail.at(Point::Accepted).await;
    let publish_end = publish(app, message).await;
    if publish_end == PublishEnd::Before && is_new && asking.is_keyed && !has_company {
        // The stream already had the command, and the burst that applied it removed its row.
        app.cx.store.settle(&asking.id, Vec::new(), Vec::new()).await?;
        return Ok(Reply::Done);
    }
    let sent = Sent { id: &asking.id, instance_id: instance_id.as_ref(), publish_end };
    Ok(reply::wait(app, sent, wait, patience).await)
}

/// Publishes an accepted command, and waits for its outcome.
pub(crate) async fn send(
    app: &App,
    asking: &Asking,
    instance_id: Option<&InstanceId>,
    message: Message,
    wait: Option<Wait>,
    patience: Patience,
) -> Reply {
    app.cx.trail.at(Point::Accepted).await;
    let publish_end = publish(app, message).await;
    let sent = Sent { id: &asking.id, instance_id, publish_end };
    reply::wait(app, sent, wait, patience).await
}
