//! settle: what a delivery is answered. The only place where errors become a verdict.
#![deny(clippy::wildcard_enum_match_arm)]

use std::time::Duration;

use bus::Delivery;
use chassis::Point;
use protocol::{Garbled, Message, Outcome, Refusal, header, subject};

use crate::decide::id_of;
use crate::executor::Cx;
use crate::metrics::METRICS;
use crate::reply;

const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LONGEST: Duration = Duration::from_secs(30);
const SOON: Duration = Duration::from_millis(50);
const SOON_LONGEST: Duration = Duration::from_secs(2);

/// Why a command goes no further now.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The world failed, or someone else is at it: again later, with growing pauses.
    Later(String),
    /// It came before what it needs: again soon.
    Soon(String),
    /// It can never be applied.
    Dead(Refusal, String),
    /// The lease is lost: whoever has it now applies the command.
    Fenced,
    /// A bug: nothing was committed.
    Bug(String),
}

/// What a delivery is answered.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Done.
    Ack,
    /// Again after this.
    Retry(Duration),
    /// To the dead.
    Park(Refusal, String),
    /// Nothing: it comes again by itself, perhaps elsewhere. A late answer of ours would delete a
    /// message that someone else still needs.
    Drop,
}

impl Stop {
    pub(crate) fn later(reason: String) -> Self {
        Self::Later(reason)
    }

    pub(crate) fn soon(reason: String) -> Self {
        Self::Soon(reason)
    }

    pub(crate) fn dead(refusal: Refusal, reason: String) -> Self {
        Self::Dead(refusal, reason)
    }

    pub(crate) fn unreadable(reason: String) -> Self {
        Self::Dead(Refusal::Dead, reason)
    }

    pub(crate) fn garbled(error: Garbled) -> Self {
        Self::Dead(Refusal::Garbled, error.0)
    }

    /// It may go well another time.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Later(_) | Self::Soon(_))
    }

    /// The verdict for a command that was tried this often.
    pub(crate) fn verdict(&self, attempt: i64, spread: u64) -> Verdict {
        match self {
            Self::Later(_) => Verdict::Retry(pause(RETRY_FIRST, RETRY_LONGEST, attempt, spread)),
            Self::Soon(_) => Verdict::Retry(pause(SOON, SOON_LONGEST, attempt, spread)),
            Self::Dead(refusal, reason) => Verdict::Park(*refusal, reason.clone()),
            Self::Fenced => Verdict::Drop,
            Self::Bug(reason) => Verdict::Park(Refusal::Dead, reason.clone()),
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Later(reason) | Self::Soon(reason) | Self::Dead(_, reason) => f.write_str(reason),
            Self::Fenced => f.write_str("the lease is lost"),
            Self::Bug(reason) => write!(f, "bug: {reason}"),
        }
    }
}

impl From<store::Error> for Stop {
    fn from(error: store::Error) -> Self {
        let reason = error.to_string();
        match error {
            // A schema that does not fit is put right by an operator; the command can wait.
            store::Error::Unavailable(_)
            | store::Error::Overloaded(_)
            | store::Error::Schema(_) => Self::Later(reason),
            store::Error::Corrupt(_) => Self::Dead(Refusal::Dead, reason),
            store::Error::Refused(_) => Self::Dead(Refusal::Garbled, reason),
        }
    }
}

impl From<bus::Error> for Stop {
    fn from(error: bus::Error) -> Self {
        let reason = error.to_string();
        match error {
            bus::Error::Unavailable(_)
            | bus::Error::Unknown(_)
            | bus::Error::Full(_)
            | bus::Error::NotProvisioned(_)
            | bus::Error::Corrupt(_)
            | bus::Error::Closed => Self::Later(reason),
            bus::Error::TooLarge(_) => Self::Dead(Refusal::Garbled, reason),
        }
    }
}

/// Doubles with every attempt, up to the longest, and is spread so that what failed together does
/// not come back together.
fn pause(first: Duration, longest: Duration, attempt: i64, spread: u64) -> Duration {
    let doublings = u32::try_from(attempt.clamp(1, 20) - 1).unwrap_or_default();
    let full = first.saturating_mul(1 << doublings).min(longest);
    let share = u32::try_from(spread % 64).unwrap_or_default();
    full * 3 / 4 + full * share / 128
}

/// Answers the delivery. What cannot be sent is made good by the next delivery.
pub(crate) async fn settle(cx: &Cx, delivery: &Delivery, verdict: Verdict) {
    let result = match verdict {
        Verdict::Ack => ack(cx, delivery).await,
        Verdict::Retry(after) => {
            METRICS.retried();
            delivery.settle.retry(after).await
        }
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

/// Nothing is dropped without a trace: the message goes to the dead with the reason, its row goes,
/// and its sender is told.
async fn park(
    cx: &Cx,
    delivery: &Delivery,
    refusal: Refusal,
    reason: &str,
) -> Result<(), bus::Error> {
    let Delivery { message, attempt, sequence, .. } = delivery;
    let again = pause(RETRY_FIRST, RETRY_LONGEST, *attempt, *sequence);
    cx.at(Point::BeforePark).await;
    match cx.bus.publish(dead(message, *sequence, reason)).await {
        // A message at the very limit has no room for the reason; what is kept is what fits.
        Err(bus::Error::TooLarge(_)) => {
            let cut = Message { payload: Vec::new(), ..dead(message, *sequence, reason) };
            cx.bus.publish(cut).await?;
        }
        Err(error) => {
            tracing::warn!(%error, "a dead command cannot be kept yet, trying again");
            return delivery.settle.retry(again).await;
        }
        Ok(_) => {}
    }
    METRICS.parked();
    let id = id_of(message);
    tracing::error!(
        subject = message.subject,
        command = id.as_ref().map(AsRef::<str>::as_ref),
        attempt,
        reason,
        "command parked among the dead"
    );
    cx.at(Point::Parked).await;
    if let Some(id) = id
        && let Err(error) = cx.store.settle(&id, Vec::new(), Vec::new()).await
    {
        tracing::warn!(%error, "the row of a dead command is left, trying again");
        return delivery.settle.retry(again).await;
    }
    if let Some(reply_to) = message.header(header::REPLY_TO) {
        reply::send(cx, reply_to, &Outcome::refused(refusal, reason)).await;
    }
    ack(cx, delivery).await
}

/// The message as it was, with the reason. Its id is of its own, so that a replay of the original
/// is not taken for a duplicate.
fn dead(message: &Message, sequence: u64, reason: &str) -> Message {
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
    dead
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_bounded() {
        let pause = |attempt| pause(RETRY_FIRST, RETRY_LONGEST, attempt, 0);
        assert!(pause(1) >= Duration::from_millis(50));
        assert!(pause(2) > pause(1));
        assert!(pause(1_000_000) <= RETRY_LONGEST);
        assert!(pause(-1) > Duration::ZERO);
    }

    #[test]
    fn passing_errors_never_lead_to_the_dead() {
        for stop in [
            Stop::from(store::Error::Unavailable("x".into())),
            Stop::from(store::Error::Overloaded("x".into())),
            Stop::from(bus::Error::Full("x".into())),
            Stop::from(bus::Error::Closed),
        ] {
            assert!(matches!(stop.verdict(1_000, 7), Verdict::Retry(_)), "{stop:?}");
        }
    }

    #[test]
    fn a_dead_command_keeps_what_it_was_and_says_why() {
        let mut message = Message { subject: "staunch.cmd.start.x".into(), ..Message::default() };
        message.headers.insert(header::MESSAGE_ID.into(), "c1".into());
        message.payload = b"{".to_vec();
        let dead = dead(&message, 7, "bad\r\nbody");
        assert_eq!(dead.subject, "staunch.dead.cmd.start.x");
        assert_eq!(dead.payload, b"{");
        assert_eq!(dead.header(header::REASON), Some("bad  body"));
        assert_eq!(dead.header(header::ORIGIN), Some("staunch.cmd.start.x"));
        assert_eq!(id_of(&dead), Some("c1".into()));
        assert_ne!(dead.id(), Some("c1"));
    }
}
