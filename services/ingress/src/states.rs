//! The large states that this ingress has in memory, and the answers that are made of them: each has room
//! for as long as it is there. A small state needs none and never waits.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use model::InstanceId;
use serde_json::Value;
use store::{Loaded, LoadedWithin, Room};
use tokio::time::Instant;

use crate::{App, Problem};

/// A state takes up to so many times its bytes: as bytes, as values, and as the answer. So the bytes of an
/// answer count for one part in so many of those of a state.
const TIMES: usize = 4;
/// The bytes of an answer that is being sent count for one part in so many where answers have room: three
/// slow readers of the largest one keep no other waiting.
const SENT_TIMES: usize = 12;

/// What a state is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A decision: the state is put down before anything is waited for.
    Look,
    /// An answer that is made of it, which may be sent to a slow reader.
    Answer,
}

/// The room of a state that was read, and of the answer that is made of it.
#[derive(Debug, Default)]
pub(crate) struct Held {
    state: Room,
    answer: Room,
}

/// The bytes of an answer, in their room.
struct Sent {
    bytes: Bytes,
    _room: Room,
}

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Loads an instance, and waits for room if its state is large, for at most this time. The room is for as
/// long as the state is in memory. The caller has no other room, and gives this back before it waits for an
/// outcome.
///
/// Room for an answer is had before room for a state, which nobody has while they wait for a slow reader. So
/// slow readers keep other answers waiting, and no command.
pub(crate) async fn load(
    app: &App,
    id: &InstanceId,
    purpose: Purpose,
    patience: Duration,
) -> Result<Option<(Loaded, Held)>, Problem> {
    let until = Instant::now() + patience;
    let left = || until.saturating_duration_since(Instant::now());
    let mut held = Held::default();
    loop {
        match app.cx.store.load_within(id, held.state.bytes_max()).await? {
            None => return Ok(None),
            Some(LoadedWithin::Whole(loaded)) => return Ok(Some((*loaded, held))),
            Some(LoadedWithin::TooLarge { state_bytes }) => {
                let got = async {
                    held.state = Room::default();
                    if purpose == Purpose::Answer {
                        let bytes = state_bytes.saturating_mul(TIMES) / SENT_TIMES;
                        app.answers.wait(&mut held.answer, bytes, left()).await?;
                    }
                    app.states.wait(&mut held.state, state_bytes, left()).await
                };
                got.await.map_err(|none| {
                    // Who does not wait looks again.
                    if !patience.is_zero() {
                        app.metrics.refused();
                    }
                    Problem::overloaded(format!("instance {id}: {none}: try again in a moment"))
                })?;
            }
        }
    }
}

/// The JSON that was made of a state, as an answer.
pub(crate) fn json(app: &App, held: Held, value: &Value) -> Response {
    let body = body(app, held, value.to_string());
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

/// The bytes that were made of a state, as a body. They have room until they are sent: that of answers, or
/// a part of that of their state where there is none.
pub(crate) fn body(app: &App, held: Held, bytes: impl Into<Bytes>) -> Body {
    let bytes = bytes.into();
    let Held { mut state, answer: mut room } = held;
    if !app.answers.resize(&mut room, bytes.len() / SENT_TIMES) && !room.is_counted() {
        app.states.resize(&mut state, bytes.len() / TIMES);
        room = state;
    }
    Body::from(Bytes::from_owner(Sent { bytes, _room: room }))
}
