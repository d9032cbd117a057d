//! The reason why a command goes no further, and the answer to its delivery. The only place where
//! errors become a verdict.
#![deny(clippy::wildcard_enum_match_arm)]

use std::time::Duration;

use model::{Backoff, limits};
use protocol::{Garbled, Refusal};

const RETRY_LONGEST: Duration = Duration::from_secs(30);
const RETRY: Backoff = Backoff::new(Duration::from_millis(100), RETRY_LONGEST);
const SOON: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));

/// The reason why a command goes no further now.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A dependency failed, or another node works on the instance: retry with growing pauses.
    Later(String),
    /// The database does not answer this node: as `Later`, and other nodes get the next commands.
    NoStore(String),
    /// The command came before something that it needs: retry soon.
    Soon(String),
    /// The command can never be applied, because of its content. Its sender is answered; a command
    /// without a sender that waits for the answer goes to the dead letters.
    Refused(Refusal, String),
    /// The command can never be applied.
    Dead(Refusal, String),
    /// The lease is lost: the node that has it now applies the command.
    Fenced,
    /// A bug in the engine: nothing was committed.
    Bug(String),
    /// A task that worked on the command panicked.
    Panicked(String),
}

/// The answer to a delivery.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Acknowledge it: the command is done.
    Ack,
    /// Deliver it again after this time.
    Retry(Duration),
    /// Answer its sender with the reason; without one, move it to the dead letters.
    Refuse(Refusal, String),
    /// Move it to the dead letters.
    Park(Refusal, String),
    /// Do not answer. The delivery comes again by itself, perhaps on another node; a late
    /// acknowledgement would delete a message that the other node still needs.
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

    /// A later try may succeed.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Later(_) | Self::NoStore(_) | Self::Soon(_))
    }

    /// The verdict for delivery number `attempt` of the command.
    pub(crate) fn verdict(&self, attempt: i64, spread: u64) -> Verdict {
        match self {
            Self::Later(_) | Self::NoStore(_) => Verdict::Retry(retry_pause(attempt, spread)),
            Self::Soon(_) => Verdict::Retry(pause(SOON, attempt, spread)),
            Self::Refused(refusal, reason) => Verdict::Refuse(*refusal, reason.clone()),
            Self::Dead(refusal, reason) => Verdict::Park(*refusal, reason.clone()),
            Self::Panicked(reason) if attempt >= limits::DELIVERIES_MAX => {
                let reason = format!("{reason}; this is try {attempt}, and the last");
                Verdict::Park(Refusal::Dead, reason)
            }
            Self::Panicked(_) => Verdict::Retry(retry_pause(attempt, spread)),
            Self::Fenced => Verdict::Drop,
            Self::Bug(reason) => Verdict::Park(Refusal::Dead, reason.clone()),
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Later(reason)
            | Self::NoStore(reason)
            | Self::Soon(reason)
            | Self::Refused(_, reason)
            | Self::Dead(_, reason)
            | Self::Panicked(reason) => f.write_str(reason),
            Self::Fenced => f.write_str("the lease is lost"),
            Self::Bug(reason) => write!(f, "bug: {reason}"),
        }
    }
}

impl From<store::Error> for Stop {
    fn from(error: store::Error) -> Self {
        let reason = error.to_string();
        match error {
            // An operator has to correct a schema that does not fit; the command can wait for that.
            store::Error::Unavailable(_) | store::Error::Denied(_) | store::Error::Absent(_) => {
                Self::NoStore(reason)
            }
            store::Error::Overloaded(_) | store::Error::Schema(_) | store::Error::TooNew(_) => {
                Self::Later(reason)
            }
            store::Error::Corrupt(_) => Self::Dead(Refusal::Dead, reason),
            store::Error::Refused(_) => Self::Refused(Refusal::Garbled, reason),
        }
    }
}

impl From<store::NoRoom> for Stop {
    fn from(none: store::NoRoom) -> Self {
        Self::Later(none.to_string())
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
            | bus::Error::Denied(_)
            | bus::Error::Corrupt(_)
            | bus::Error::Closed => Self::Later(reason),
            bus::Error::TooLarge(_) => Self::Dead(Refusal::Garbled, reason),
        }
    }
}

/// The pause before a delivery is tried again because a dependency failed.
pub(crate) fn retry_pause(attempt: i64, spread: u64) -> Duration {
    pause(RETRY, attempt, spread)
}

/// `spread` separates commands that failed together, so that they do not come back together.
fn pause(backoff: Backoff, attempt: i64, spread: u64) -> Duration {
    backoff.after(u32::try_from(attempt.max(1)).unwrap_or(u32::MAX), spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_bounded() {
        let pause = |attempt| retry_pause(attempt, 0);
        assert!(pause(1) >= Duration::from_millis(50));
        assert!(pause(2) > pause(1));
        assert!(pause(1_000_000) <= RETRY_LONGEST);
        assert!(pause(-1) > Duration::ZERO);
    }

    #[test]
    fn a_command_whose_task_panics_is_tried_again_and_parked_in_the_end() {
        let stop = Stop::Panicked("bug".to_owned());
        assert!(matches!(stop.verdict(1, 7), Verdict::Retry(_)));
        assert!(matches!(stop.verdict(limits::DELIVERIES_MAX, 7), Verdict::Park(..)));
    }

    #[test]
    fn passing_errors_never_lead_to_the_dead() {
        for stop in [
            Stop::from(store::Error::Unavailable("x".into())),
            Stop::from(store::Error::Denied("x".into())),
            Stop::from(store::Error::Overloaded("x".into())),
            Stop::from(bus::Error::Full("x".into())),
            Stop::from(bus::Error::Closed),
        ] {
            assert!(matches!(stop.verdict(1_000, 7), Verdict::Retry(_)), "{stop:?}");
        }
    }
}
