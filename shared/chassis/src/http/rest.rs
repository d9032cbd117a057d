//! The body of a request, and the rest of it that its service has not read.
//!
//! A service may answer before it has read the body, as with 401 or 404. With HTTP/1.1 the next
//! request of the connection comes after that body. So a short rest is read here, and the
//! connection stays open; after any other one the answer ends the connection, and says so.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::time::timeout;

/// The longest rest of a body that is read, in bytes.
const REST_BYTES_MAX: usize = 64 * 1024;
/// Time in which the rest of a body arrives. Its answer waits for it.
const REST_TIME_MAX: Duration = Duration::from_millis(500);

/// The body of a request.
#[derive(Debug)]
pub struct RequestBody {
    /// None after its end.
    incoming: Option<Incoming>,
    rest: Rest,
}

impl RequestBody {
    pub(super) fn new(incoming: Incoming, rest: Rest) -> Self {
        Self { incoming: Some(incoming).filter(|body| !body.is_end_stream()), rest }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(incoming) = &mut self.incoming else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(incoming).poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) {
            self.incoming = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let Some(incoming) = self.incoming.take().filter(|body| !body.is_end_stream()) {
            self.rest.put(incoming);
        }
    }
}

/// The rest of a body, as soon as its service has dropped it.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest(Arc<Mutex<Option<Incoming>>>);

impl Rest {
    fn put(&self, incoming: Incoming) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(incoming);
    }

    /// Reads the rest; false if it is too long, or does not arrive in time. A client that waits for
    /// `100 Continue` would get it by this, so the rest is not read for it.
    pub(super) async fn read(&self, expects_continue: bool) -> bool {
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(rest) = rest else { return true };
        let announced = usize::try_from(rest.size_hint().lower()).unwrap_or(usize::MAX);
        if expects_continue || announced > REST_BYTES_MAX {
            return false;
        }
        timeout(REST_TIME_MAX, is_short(rest)).await.unwrap_or(false)
    }
}

/// Reads a body; false if it is too long, or ends early.
async fn is_short(mut body: Incoming) -> bool {
    let mut bytes = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        bytes = bytes.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        if bytes > REST_BYTES_MAX {
            return false;
        }
    }
    true
}
