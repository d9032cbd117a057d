//! settle: commands whose instance rests are acknowledged, and deliveries get their verdict.

use bus::Delivery;
use chassis::Point;
use protocol::{Message, Outcome, Refusal, header, subject};

use crate::cx::Cx;
use crate::metrics::{METRICS, kind};
use crate::reply;
use crate::stop::{Verdict, retry_pause};
use crate::tenure::Tenure;
use crate::work::id_of;

/// Acknowledges the commands of an instance that rests. While calls run or a turn has to go on,
/// they stay unacknowledged, so that they are delivered again after a crash.
pub(crate) fn settle(tenure: &mut Tenure) {
    if tenure.rests() {
        tenure.end_tails(|| Verdict::Ack);
    }
}

/// Answers the delivery. If the answer cannot be sent, the message is delivered again.
pub(crate) async fn answer(cx: &Cx, delivery: &Delivery, verdict: Verdict) {
    let result = match verdict {
        Verdict::Ack => ack(cx, delivery).await,
        Verdict::Retry(after) => {
            METRICS.retried();
            delivery.settle.retry(after).await
        }
        Verdict::Refuse(refusal, reason) => refuse(cx, delivery, refusal, &reason).await,
        Verdict::Park(refusal, reason) => park(cx, delivery, refusal, &reason).await,
        Verdict::Drop => Ok(()),
    };
    if let Err(error) = result {
        tracing::debug!(%error, ?delivery, "a delivery was not answered; it comes again");
    }
}

async fn ack(cx: &Cx, delivery: &Delivery) -> Result<(), bus::Error> {
    cx.at(Point::BeforeAck).await;
    delivery.settle.ack().await?;
    cx.at(Point::Acked).await;
    Ok(())
}

/// Answers the sender with the reason, and removes the row of the command. Without a sender that
/// waits for the answer, the command goes to the dead letters.
async fn refuse(
    cx: &Cx,
    delivery: &Delivery,
    refusal: Refusal,
    reason: &str,
) -> Result<(), bus::Error> {
    let Some(reply_to) = reply_to(&delivery.message) else {
        return park(cx, delivery, refusal, reason).await;
    };
    METRICS.refused(refusal);
    let id = id_of(&delivery.message);
    if let Some(held_back) = cx.refusals.pass("refused") {
        tracing::info!(
            subject = delivery.message.subject,
            command = id.as_ref().map(AsRef::<str>::as_ref),
            reason,
            held_back,
            "command refused; its sender has the reason"
        );
    }
    if let Some(id) = id
        && let Err(error) = cx.store.settle(&id, Vec::new(), Vec::new()).await
    {
        tracing::warn!(%error, "the row of a refused command is left, trying again");
        let again = retry_pause(delivery.attempt, delivery.sequence);
        return delivery.settle.retry(again).await;
    }
    reply::send(cx, reply_to, &Outcome::refused(refusal, reason)).await;
    ack(cx, delivery).await
}

/// The subject for the outcome, if only answers may be sent there.
fn reply_to(message: &Message) -> Option<&str> {
    message.header(header::REPLY_TO).and_then(|reply_to| subject::check_reply(reply_to).ok())
}

/// No command is dropped without a trace: the message goes to the dead letters with the reason, its
/// row is removed, and its sender gets the reason.
async fn park(
    cx: &Cx,
    delivery: &Delivery,
    refusal: Refusal,
    reason: &str,
) -> Result<(), bus::Error> {
    let Delivery { message, attempt, sequence, .. } = delivery;
    let again = retry_pause(*attempt, *sequence);
    cx.at(Point::BeforePark).await;
    match cx.bus.publish(dead(message, *sequence, *attempt, reason)).await {
        // A message of the largest size leaves no room for the reason; as much as fits is kept.
        Err(bus::Error::TooLarge(_)) => {
            let letter = dead(message, *sequence, *attempt, reason);
            let cut = Message { payload: Vec::new(), ..letter };
            cx.bus.publish(cut).await?;
        }
        Err(error) => {
            tracing::warn!(%error, "a dead command cannot be kept yet, trying again");
            return delivery.settle.retry(again).await;
        }
        Ok(_) => {}
    }
    METRICS.parked(refusal);
    let id = id_of(message);
    if let Some(held_back) = cx.refusals.pass(kind(refusal)) {
        let traceparent = message.header(header::TRACEPARENT);
        tracing::error!(
            subject = message.subject,
            command = id.as_ref().map(AsRef::<str>::as_ref),
            attempt,
            reason,
            held_back,
            trace = traceparent.and_then(chassis::trace_id),
            "command moved to the dead letters"
        );
    }
    cx.at(Point::Parked).await;
    if let Some(id) = id
        && let Err(error) = cx.store.settle(&id, Vec::new(), Vec::new()).await
    {
        tracing::warn!(%error, "the row of a dead command is left, trying again");
        return delivery.settle.retry(again).await;
    }
    if let Some(reply_to) = reply_to(message) {
        reply::send(cx, reply_to, &Outcome::refused(refusal, reason)).await;
    }
    ack(cx, delivery).await
}

/// The message as it was, with the reason. It gets a new id, so that a replay of the original is
/// not taken for a duplicate.
fn dead(message: &Message, sequence: u64, attempt: i64, reason: &str) -> Message {
    let mut dead = message.clone();
    dead.subject = subject::dead(&message.subject);
    let id = message.id().map_or_else(|| sequence.to_string(), str::to_owned);
    // Header values are one line.
    let reason: String = reason.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut set = |name: &str, value: String| dead.headers.insert(name.to_owned(), value);
    set(header::MESSAGE_ID, format!("{id}.dead.{sequence}"));
    if let Some(id) = id_of(message) {
        set(header::COMMAND_ID, id.to_string());
    }
    set(header::ORIGIN, message.subject.clone());
    set(header::REASON, reason);
    set(header::ATTEMPTS, attempt.to_string());
    dead
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_command_keeps_what_it_was_and_says_why() {
        let mut message = Message { subject: "staunch.cmd.start.x".into(), ..Message::default() };
        message.headers.insert(header::MESSAGE_ID.into(), "c1".into());
        message.payload = b"{".to_vec();
        let dead = dead(&message, 7, 20, "bad\r\nbody");
        assert_eq!(dead.subject, "staunch.dead.cmd.start.x");
        assert_eq!(dead.payload, b"{");
        assert_eq!(dead.header(header::REASON), Some("bad  body"));
        assert_eq!(dead.header(header::ORIGIN), Some("staunch.cmd.start.x"));
        assert_eq!(dead.header(header::ATTEMPTS), Some("20"));
        assert_eq!(id_of(&dead), Some("c1".into()));
        assert_ne!(dead.id(), Some("c1"));
    }
}
