//! One delivery, from the stream to its answer. While it is in progress, the stream gets progress
//! messages.

use std::time::Duration;

use bus::Delivery;
use chassis::Point;
use model::{CommandId, limits};
use protocol::{Body, Command, Refusal};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::attach::attach;
use crate::cx::Cx;
use crate::metrics::METRICS;
use crate::pipeline::settle::answer;
use crate::poison::{self, Mark};
use crate::stop::{Stop, Verdict};
use crate::work::id_of;
use crate::{actor, route, unfit};

/// The name of the task of each delivery.
const TASK: &str = "executor: delivery";

/// Processes one delivery to its end. Never fails: every outcome is a verdict, and so is a panic.
pub(crate) async fn handle(cx: &Cx, delivery: Delivery) {
    if let Err(panicked) = tasks::caught(TASK, take(cx, &delivery)).await {
        let stop = Stop::Panicked(panicked.to_string());
        answer(cx, &delivery, verdict(cx, &delivery, &stop)).await;
    }
}

async fn take(cx: &Cx, delivery: &Delivery) {
    cx.at(Point::Received).await;
    if delivery.attempt > 1 {
        METRICS.redelivered();
    }
    let mark = poison::mark(cx, delivery).await;
    let verdict = match mark {
        Mark::Poison { crashes } => {
            let attempt = delivery.attempt;
            let reason = format!("{crashes} of {attempt} tries took their process down with them");
            Verdict::Park(Refusal::Dead, reason)
        }
        Mark::None | Mark::Written { .. } => hold(cx, delivery, apply(cx, delivery)).await,
    };
    answer(cx, delivery, verdict).await;
    poison::clear(cx, mark).await;
}

/// Reads the command, and hands it to the actor of its instance, or to `route`.
async fn apply(cx: &Cx, delivery: &Delivery) -> Verdict {
    let mut command = match Command::decode(&delivery.message, &fallback_id(delivery)) {
        Ok(command) => command,
        Err(garbled) => return ended(cx, delivery, Stop::garbled(garbled)).await,
    };
    cx.at(Point::Decoded).await;
    if let Some(after) = held(cx, &command) {
        return Verdict::Retry(after);
    }
    if let Err(stop) = attach(cx, delivery, &mut command).await {
        return ended(cx, delivery, stop).await;
    }
    let instance_id = match &command.body {
        Body::Event(_) | Body::Task(_) => None,
        Body::Start(_) | Body::Resume(_) | Body::Cancel(_) | Body::Alter(_) | Body::Perform(_) => {
            command.instance_id()
        }
    };
    match instance_id {
        Some(id) => actor::apply(cx, id, command, delivery).await,
        None => match route::apply(cx, &command).await {
            Ok(()) => Verdict::Ack,
            Err(stop) => ended(cx, delivery, stop).await,
        },
    }
}

/// The verdict for a message that goes no further. Where it can never be read as the result of a task, the
/// attempt fails first: after a crash in between, the message comes again.
async fn ended(cx: &Cx, delivery: &Delivery, stop: Stop) -> Verdict {
    if let Stop::Dead(Refusal::Garbled, reason) | Stop::Refused(Refusal::Garbled, reason) = &stop {
        let id = id_of(&delivery.message);
        let id = id.unwrap_or_else(|| CommandId::new(fallback_id(delivery)));
        match Box::pin(unfit::fail(cx, delivery, &id, reason)).await {
            Ok(()) => {}
            Err(later) if later.is_passing() => return verdict(cx, delivery, &later),
            Err(failed) => {
                tracing::error!(%failed, ?delivery, "an attempt with an unfit result goes on waiting");
            }
        }
    }
    verdict(cx, delivery, &stop)
}

/// The delay of a start from a long chain, if too many of them came just now.
fn held(cx: &Cx, command: &Command) -> Option<Duration> {
    let Body::Start(start) = &command.body else { return None };
    let chain = command.lineage.chain;
    if chain <= limits::CHAIN_FREE_MAX {
        return None;
    }
    let after = cx.chains.hold(&start.definition_id, cx.config.chained_starts_per_second);
    METRICS.chained(after.is_some());
    if after.is_some()
        && let Some(held_back) = cx.refusals.pass("chain")
    {
        let definition = &start.definition_id;
        tracing::warn!(
            %definition, chain, held_back,
            "instances start each other without end; they are held to a rate"
        );
    }
    after
}

fn verdict(cx: &Cx, delivery: &Delivery, stop: &Stop) -> Verdict {
    cx.note(stop);
    if stop.is_passing() {
        tracing::debug!(%stop, ?delivery, "a command is sent back for later");
    }
    stop.verdict(delivery.attempt, delivery.sequence)
}

/// The id of a command without one: the same on every delivery, and not used again when the stream is
/// created anew and counts from 1.
fn fallback_id(delivery: &Delivery) -> String {
    let stored_at = delivery.stored_at.as_millis().to_string();
    model::derived(&["message", &delivery.sequence.to_string(), &stored_at])
}

/// Sends progress messages for the delivery while the work runs. If the lease is lost, the work
/// ends without an answer, and the command is delivered again.
async fn hold(cx: &Cx, delivery: &Delivery, work: impl Future<Output = Verdict>) -> Verdict {
    let every = cx.config.progress_every();
    let mut ticks = interval_at(Instant::now() + every, every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            verdict = &mut work => return verdict,
            _ = ticks.tick() => {
                if let Err(error) = delivery.settle.progress().await {
                    tracing::debug!(%error, ?delivery, "a progress message was not sent");
                }
            }
        }
    }
}
