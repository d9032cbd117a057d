//! Whether a node is live that carries out what is accepted.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;

use crate::App;
use crate::respond::Verbatim;

/// The role of the nodes that carry out commands.
const ROLE: &str = "executor";
/// How long the restart of an executor usually takes at most. A caller who waits still gets its
/// answer from an executor that comes back within this time.
const RESTART_TIME: Duration = Duration::from_secs(5);
/// How often a request that waits looks at the live nodes.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The header that says why an accepted request is not carried out yet.
const DETAIL: HeaderName = HeaderName::from_static("x-staunch-detail");
const NONE_RUNS: &str = "no executor is running: the request is kept, and is carried out when a node \
                         with the role executor runs again";

/// Completes when no executor has been live for as long as a restart usually takes. Reads only the
/// list of live nodes that this node has.
pub(crate) async fn missing(app: &App) {
    loop {
        let gone = app.cx.presence.without_since(ROLE).map(|since| since.elapsed());
        let pause = match gone {
            Some(gone) if gone >= RESTART_TIME => return,
            Some(gone) => RESTART_TIME.saturating_sub(gone),
            None => LOOK_AGAIN,
        };
        tokio::time::sleep(pause).await;
    }
}

/// Says in an answer with 202 that no executor is live, if so.
pub(crate) fn mention(app: &App, response: &mut Response) {
    let is_ours = response.extensions().get::<Verbatim>().is_none();
    if is_ours
        && response.status() == StatusCode::ACCEPTED
        && app.cx.presence.without_since(ROLE).is_some()
    {
        response.headers_mut().insert(DETAIL, HeaderValue::from_static(NONE_RUNS));
    }
}
