//! Streams that have lost their leader: nobody answers for them until their servers have chosen another.

use std::time::Duration;

use async_nats::HeaderMap;
use bus::OutsideError;
use bytes::Bytes;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::NatsBus;
use crate::api::{Api, ApiError, DUPLICATE_IN_PROCESS};
use crate::options::ANSWER_MAX;

/// Servers begin an election 4 to 9 s after the last sign of a leader, and another one where none wins.
pub(crate) const ELECTION_MAX: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(250);

/// Whether some stream has this subject, with a leader or without one: the leader of JetStream itself
/// answers. A server that refuses to say so or has no JetStream counts as one that has none.
async fn is_taken(api: &Api, subject: &str) -> bool {
    match api.call("STREAM.NAMES", &json!({ "subject": subject })).await {
        Ok(answer) => answer["streams"].as_array().is_some_and(|names| !names.is_empty()),
        // JetStream has no leader either, or none that answers.
        Err(ApiError::Timeout) => true,
        Err(_) => false,
    }
}

/// Publishes to a stream until it is stored, again while the stream has no leader. `is_same` says that the
/// stream recognises a message which an earlier try has stored, so that a try without an answer may be
/// followed by another one.
///
/// # Errors
/// [`ApiError::NoResponders`] where no stream has the subject; [`ApiError::Other`] where the stream has no
/// leader at the end of `within`.
pub(crate) async fn stored(
    api: &Api,
    subject: &str,
    headers: &HeaderMap,
    payload: &Bytes,
    is_same: bool,
    within: Duration,
) -> Result<Value, ApiError> {
    let give_up = Instant::now() + within;
    loop {
        let left = give_up.saturating_duration_since(Instant::now());
        let answer_max = if is_same { left.min(ANSWER_MAX) } else { left };
        let sent = api.stored(subject.to_owned(), headers.clone(), payload.clone(), answer_max);
        let failure = match sent.await {
            Ok(answer) => return Ok(answer),
            Err(ApiError::NoResponders) if is_taken(api, subject).await => ApiError::Other(
                "its stream has no leader at this moment: too few of its servers answer".to_owned(),
            ),
            Err(failure @ ApiError::Timeout) if is_same => failure,
            Err(failure @ ApiError::Refused { code: DUPLICATE_IN_PROCESS, .. }) if is_same => {
                failure
            }
            Err(failure) => return Err(failure),
        };
        if Instant::now() + PAUSE >= give_up {
            return Err(failure);
        }
        sleep(PAUSE).await;
    }
}

impl NatsBus {
    /// Does this until it succeeds, again while nobody answers, for [`ELECTION_MAX`] at most.
    pub(crate) async fn outlasted<'w, T>(
        &self,
        work: impl Fn() -> BoxFuture<'w, Result<T, OutsideError>> + Send,
    ) -> Result<T, OutsideError> {
        let give_up = Instant::now() + ELECTION_MAX;
        loop {
            match work().await {
                Err(OutsideError::Unavailable(_) | OutsideError::Late(_))
                    if Instant::now() + PAUSE < give_up && self.open().is_ok() =>
                {
                    sleep(PAUSE).await;
                }
                ended => return ended,
            }
        }
    }
}
