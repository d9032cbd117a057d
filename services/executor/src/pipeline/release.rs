//! release: gives the lease back when no more work for the instance waits here.

use crate::cx::Cx;
use crate::hold::Hold;

/// Releases the lease, if the tenure has ended and had one, after work of this trace.
pub(crate) async fn release(cx: &Cx, hold: Option<Hold>, traceparent: Option<&str>) {
    if let Some(hold) = hold {
        hold.release(cx, traceparent).await;
    }
}
