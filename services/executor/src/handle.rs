//! One delivery, from the stream to its answer. While it is in hand, it says that it is.

use bus::Delivery;
use chassis::Point;
use protocol::{Body, Command, Refusal};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::executor::Cx;
use crate::metrics::METRICS;
use crate::pipeline::settle::{Stop, Verdict, settle};
use crate::poison::{self, Mark};
use crate::{actor, route};

/// Takes one delivery to its end. Never fails: every outcome is a verdict.
pub(crate) async fn handle(cx: &Cx, delivery: Delivery) {
    cx.at(Point::Received).await;
    if delivery.attempt > 1 {
        METRICS.redelivered();
    }
    let mark = poison::mark(cx, &delivery).await;
    let verdict = match mark {
        Mark::Poison { crashes } => {
            let attempt = delivery.attempt;
            let reason = format!("{crashes} of {attempt} tries took their process down with them");
            Verdict::Park(Refusal::Dead, reason)
        }
        Mark::None | Mark::Standing { .. } => hold(cx, &delivery, apply(cx, &delivery)).await,
    };
    settle(cx, &delivery, verdict).await;
    poison::clear(cx, mark).await;
}

/// Reads the command and hands it to whoever applies it.
async fn apply(cx: &Cx, delivery: &Delivery) -> Verdict {
    let command = match Command::decode(&delivery.message, &fallback_id(delivery)) {
        Ok(command) => command,
        Err(garbled) => return verdict(delivery, &Stop::garbled(garbled)),
    };
    cx.at(Point::Decoded).await;
    let instance_id = match &command.body {
        Body::Event(_) | Body::Task(_) => None,
        Body::Start(_) | Body::Resume(_) | Body::Cancel(_) | Body::Perform(_) => {
            command.instance_id()
        }
    };
    match instance_id {
        Some(id) => actor::apply(cx, id, command, delivery).await,
        None => match route::apply(cx, &command).await {
            Ok(()) => Verdict::Ack,
            Err(stop) => verdict(delivery, &stop),
        },
    }
}

fn verdict(delivery: &Delivery, stop: &Stop) -> Verdict {
    if stop.is_passing() {
        tracing::debug!(%stop, ?delivery, "a command is sent back for later");
    }
    stop.verdict(delivery.attempt, delivery.sequence)
}

/// The same on every delivery, also when the stream was made anew and counts from 1 again.
fn fallback_id(delivery: &Delivery) -> String {
    let stored_at = delivery.stored_at.as_millis().to_string();
    model::derived(&["message", &delivery.sequence.to_string(), &stored_at])
}

/// Says now and then that the delivery is still being worked on. This stops with the work: when
/// the lease is lost the work ends without an answer, and the command comes again.
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
                    tracing::debug!(%error, ?delivery, "a sign of life was not sent");
                }
            }
        }
    }
}
