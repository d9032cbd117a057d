//! Accepts a change: an accepted change is in the database, and will be carried out.
//!
//! The row of a start whose caller waits is written by its first burst
//! (`docs/decisions/007-who-waits-is-accepted-by-the-first-burst.md`).

use std::time::Duration;

use chassis::Point;
use model::Instance;
use store::{Accepted, NewInstance, PendingCommand};

use super::Started;
use super::identify::Asking;
use super::publish::{PublishEnd, publish};
use super::reply::{self, Patience, Reply, Sent, Wait};
use crate::app::App;
use crate::backing::Part;
use crate::problem::Problem;

/// How long a start whose caller waits may be without a row.
const ROWLESS_MAX: Duration = Duration::from_secs(1);
/// How long its row may take then: a database that takes longer is not well, as readiness says, and
/// carries nothing out now.
const ROW_MAX: Duration = Duration::from_secs(2);

/// A start that is kept.
pub(crate) enum Kept {
    /// It has not run yet: its command has to be published.
    Open(Box<Instance>),
    /// It has run: it was requested before, under the same key.
    Done(Box<Instance>),
}

/// Accepts a start. With a key, an existing instance of the same id means that the start is a
/// repeat; without a key it is a conflict.
pub(crate) async fn start(app: &App, asking: &Asking, new: NewInstance) -> Result<Kept, Problem> {
    let instance = Box::new(new.instance.clone());
    app.cx.trail.at(Point::BeforeAccept).await;
    match app.cx.store.accept(new).await? {
        Accepted::New => Ok(Kept::Open(instance)),
        Accepted::Exists(found) if found.definition_id != instance.definition_id => {
            Err(exists(&found).with("definitionId", found.definition_id.as_str()))
        }
        Accepted::Exists(found) if !asking.is_keyed => Err(exists(&found)),
        Accepted::Exists(found) if found.version > 0 => Ok(Kept::Done(found)),
        // The first request may have ended before it published. A repeat under the same message id
        // has no second effect.
        Accepted::Exists(found) => Ok(Kept::Open(found)),
        Accepted::Gone => {
            app.cx.catalog.forget(&instance.version_id);
            Err(Problem::not_found(format!(
                "version {} of workflow definition {:?} was deleted",
                instance.definition_version,
                instance.definition_id.as_str()
            )))
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

/// Accepts any other command; false if its row exists already.
pub(crate) async fn command(app: &App, pending: PendingCommand) -> Result<bool, Problem> {
    app.cx.trail.at(Point::BeforeAccept).await;
    Ok(app.cx.store.accept_command(pending).await?)
}

/// True if no other request can start this instance or prevent it: not even a repeated one.
pub(crate) fn needs_no_row(asking: &Asking, new: &NewInstance) -> bool {
    let has_own_id = new.instance.id.as_str() == asking.id.as_str();
    has_own_id && !asking.is_keyed && new.activation_key.is_none()
}

/// Publishes a start that has no row yet; its first burst writes the row. If no outcome comes soon,
/// the row is written after all.
pub(crate) async fn by_first_burst(
    app: &App,
    asking: &Asking,
    new: NewInstance,
    mut wait: Wait,
    patience: Patience,
) -> Result<Started, Problem> {
    let instance = new.instance.clone();
    let time = patience.time();
    let moment = time.min(ROWLESS_MAX);
    let publish_end = publish(app, new.command.clone()).await;
    if publish_end == PublishEnd::Now
        && let Some(outcome) = wait.for_a_moment(moment).await
    {
        return Ok(Started { instance, reply: reply::of_outcome(outcome) });
    }
    app.cx.trail.at(Point::BeforeAccept).await;
    let accepting = app.cx.store.accept(new);
    if publish_end == PublishEnd::Now {
        // The stream has it, and it may be done already.
        let id = &instance.id;
        match tokio::time::timeout(ROW_MAX, accepting).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) if error.is_away() => {
                tracing::warn!(%error, instance = %id, "a start is kept by the stream alone");
                app.backing.note(Part::Database, false);
                return Ok(Started { instance, reply: Reply::Accepted });
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, instance = %id, "a start is kept by the stream alone");
            }
            Err(_) => {
                tracing::warn!(instance = %id, "the database is slow: a start is kept by the stream alone");
                app.backing.note(Part::Database, false);
                return Ok(Started { instance, reply: Reply::Accepted });
            }
        }
    } else {
        accepting.await?;
    }
    let sent = Sent { id: &asking.id, instance_id: Some(&instance.id), publish_end };
    let reply = reply::wait(app, sent, Some(wait), patience.less(moment)).await;
    Ok(Started { instance, reply })
}

fn exists(found: &Instance) -> Problem {
    let detail = format!(
        "there is an instance {} already, of {}: use another id, or repeat a start with the same \
         Idempotency-Key",
        found.id, found.definition_id
    );
    Problem::conflict("exists", detail).with("workflowInstanceId", found.id.as_str())
}
