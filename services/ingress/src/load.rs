//! Limits the load: the requests in progress, the bytes of their bodies, their time. Refuses every
//! new request while the server stops.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Frame, SizeHint};
use model::limits;
use tokio::time::{Instant, Sleep};

use crate::auth::permission::{self, MOUNTS};
use crate::body::{NoRoom, TooSlow};
use crate::{App, Problem};

/// Time that a request may take in addition to its wait for an outcome.
const MARGIN: Duration = Duration::from_secs(30);
/// Bytes in memory of a body that goes to a payload as it arrives: what was read before that is known,
/// and the part that is written.
const STREAM_BYTES: usize = limits::PAYLOAD_ABOVE_BYTES + limits::PAYLOAD_CHUNK_BYTES;
/// The longest time of a request to a workflow, whose endpoint sets its own wait.
const WORKFLOW_TIME_MAX: Duration = Duration::from_secs(3_600);

/// Lets a request in, or refuses it with the time to try again.
pub(crate) async fn admit<F: Future<Output = Response>>(
    app: &Arc<App>,
    request: Request,
    run: impl FnOnce(Request) -> F,
) -> Response {
    let path = request.uri().path();
    if is_about_the_server(path) {
        return run(request).await;
    }
    if app.is_draining() {
        let mut response =
            Problem::overloaded("this server is stopping: try again at another").into_response();
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    let Ok(_permit) = Arc::clone(&app.room).try_acquire_owned() else {
        app.metrics.refused();
        return Problem::overloaded(format!(
            "{} requests are at work, which is the most: try again in a moment",
            app.config.requests_max
        ))
        .into_response();
    };
    let (streams, longest) = match path {
        _ if permission::is_workflow(path) => (true, WORKFLOW_TIME_MAX),
        _ if is_payload(path) => (true, arrival(app.config.payload_bytes_max) + MARGIN),
        _ => (false, app.config.answer_time_max + MARGIN),
    };
    let share = Arc::new(Share {
        app: Arc::clone(app),
        bytes: AtomicUsize::new(0),
        waits_for_body: AtomicBool::new(false),
    });
    let in_hand_max = if streams { app.config.body_bytes_max + STREAM_BYTES } else { usize::MAX };
    let request = request.map(|body| counted(body, Arc::clone(&share), in_hand_max));
    match tokio::time::timeout(longest, run(request)).await {
        Ok(response) => response,
        Err(_) if share.waits_for_body.load(Ordering::Relaxed) => Problem::timeout(format!(
            "the body did not arrive in the {} s that the request has: send it faster",
            longest.as_secs()
        ))
        .into_response(),
        Err(_) => Problem::timeout(format!(
            "the request took longer than {} s; what was accepted goes on",
            longest.as_secs()
        ))
        .into_response(),
    }
}

/// The part of the common limit of bodies that one request takes, until it is answered.
struct Share {
    app: Arc<App>,
    bytes: AtomicUsize,
    /// The next part of the body was asked for, and has not arrived.
    waits_for_body: AtomicBool,
}

impl Share {
    /// Takes more of the common limit; false if too little is left.
    fn grow(&self, bytes: usize) -> bool {
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Ok(taken) = self.app.bodies.try_acquire_many(permits) else {
            self.app.metrics.refused();
            return false;
        };
        taken.forget();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.app.bodies.add_permits(*self.bytes.get_mut());
    }
}

/// A body whose bytes count as they arrive, so that bytes that are declared but not sent take no
/// room. It fails if they do not arrive in time.
struct Counted {
    body: Body,
    share: Arc<Share>,
    /// Bytes of it in memory at once: those beyond have gone to a payload.
    in_hand_max: usize,
    /// The end of the time for the next part; set while the body waits for it.
    pause: Option<Pin<Box<Sleep>>>,
    /// The time of the first read.
    begun: Option<Instant>,
    /// Bytes that have arrived.
    received: u64,
}

impl Counted {
    fn new(body: Body, share: Arc<Share>, in_hand_max: usize) -> Self {
        Self { body, share, in_hand_max, pause: None, begun: None, received: 0 }
    }

    fn is_too_slow(&mut self, cx: &mut Context<'_>) -> bool {
        let now = Instant::now();
        let end = *self.begun.get_or_insert(now) + arrival(self.received);
        let until = end.min(now + limits::BODY_PAUSE_MAX);
        let pause = self.pause.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        pause.as_mut().poll(cx).is_ready()
    }
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let read = Pin::new(&mut self.body).poll_frame(cx);
        self.share.waits_for_body.store(read.is_pending(), Ordering::Relaxed);
        match read {
            Poll::Pending if self.is_too_slow(cx) => Poll::Ready(Some(Err(TooSlow.into()))),
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(frame))) => {
                self.pause = None;
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                self.received += bytes as u64;
                let in_hand = self.share.bytes.load(Ordering::Relaxed);
                let more = bytes.min(self.in_hand_max.saturating_sub(in_hand));
                let has_room = more == 0 || self.share.grow(more);
                Poll::Ready(Some(if has_room { Ok(frame) } else { Err(NoRoom.into()) }))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Wraps the body of a request so that it is counted; an empty one stays as it is.
fn counted(body: Body, share: Arc<Share>, in_hand_max: usize) -> Body {
    if body.is_end_stream() {
        return body;
    }
    Body::new(Counted::new(body, share, in_hand_max))
}

/// The time in which a body with this many bytes arrives.
fn arrival(bytes: u64) -> Duration {
    limits::BODY_TIME_MAX + Duration::from_secs(bytes / limits::BODY_BYTES_PER_SECOND_MIN)
}

/// True for the routes of payloads, below each mount.
fn is_payload(path: &str) -> bool {
    let below = MOUNTS.iter().find_map(|mount| path.strip_prefix(mount));
    below.is_some_and(|rest| rest == "/payloads" || rest.starts_with("/payloads/"))
}

/// True for health and metrics, which are answered under any load.
pub(crate) fn is_about_the_server(path: &str) -> bool {
    path.starts_with("/health/") || path == "/metrics"
}
