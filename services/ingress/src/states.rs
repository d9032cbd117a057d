//! The large states that this ingress has in memory, and the answers that are made of them: each has room
//! for as long as it is there. A small state needs none and never waits.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use model::InstanceId;
use serde_json::Value;
use store::{Loaded, LoadedWithin, Room};

use crate::{App, Problem};

/// A state takes up to so many times its bytes: as bytes, as values, and as the answer. So the bytes of an
/// answer that is being sent count for one part in so many of those of a state.
const TIMES: usize = 4;

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
pub(crate) async fn load(
    app: &App,
    id: &InstanceId,
    patience: Duration,
) -> Result<Option<(Loaded, Room)>, Problem> {
    let mut room = Room::default();
    loop {
        match app.cx.store.load_within(id, room.bytes_max()).await? {
            None => return Ok(None),
            Some(LoadedWithin::Whole(loaded)) => return Ok(Some((*loaded, room))),
            Some(LoadedWithin::TooLarge { state_bytes }) => {
                let got = app.states.wait(&mut room, state_bytes, patience).await;
                got.map_err(|none| {
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
pub(crate) fn json(app: &App, room: Room, value: &Value) -> Response {
    let body = body(app, room, value.to_string());
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

/// The bytes that were made of a state, as a body. They have a part of its room until they are sent.
pub(crate) fn body(app: &App, mut room: Room, bytes: impl Into<Bytes>) -> Body {
    let bytes = bytes.into();
    app.states.resize(&mut room, bytes.len() / TIMES);
    Body::from(Bytes::from_owner(Sent { bytes, _room: room }))
}
