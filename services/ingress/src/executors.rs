//! Whether a node is live that carries out what is accepted, and takes commands now.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use bus::{Bucket, Bus, Member, Pauses, Presence};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::App;
use crate::backing::{Part, RESTART_TIME};
use crate::respond::Verbatim;

/// The role of the nodes that carry out commands.
const ROLE: &str = "executor";

/// The header that says why an accepted request is not carried out yet.
const DETAIL: HeaderName = HeaderName::from_static("x-staunch-detail");
const NONE_RUNS: &str = "no executor is running: the request is kept, and is carried out when a node \
                         with the role executor runs again";
const ALL_PAUSED: &str = "all executors are paused: the request is kept, and is carried out when the \
                          pause is ended";

/// Since when every live executor is paused; none while one takes commands, and while none is live.
/// Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paused(watch::Sender<Option<Instant>>);

impl Paused {
    /// Follows the pauses and the live nodes.
    pub(crate) async fn follow(self, bus: Arc<dyn Bus>, mut live: watch::Receiver<Vec<Member>>) {
        let pauses = loop {
            match Pauses::start(bus.kv(Bucket::Runtime)).await {
                Ok(pauses) => break pauses,
                Err(error) => tracing::debug!(%error, "the pauses are not known yet"),
            }
            tokio::time::sleep(RESTART_TIME).await;
        };
        let mut changed = pauses.changed();
        loop {
            changed.mark_unchanged();
            let are_paused = are_paused(&live.borrow_and_update(), &pauses);
            self.0.send_if_modified(|since| {
                let is_news = since.is_some() != are_paused;
                if is_news {
                    *since = are_paused.then(Instant::now);
                }
                is_news
            });
            let ended = tokio::select! {
                changed = changed.changed() => changed.is_err(),
                changed = live.changed() => changed.is_err(),
            };
            if ended {
                // This node has left: nobody knows the live nodes any more.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Completes when every live executor has been paused for as long as a restart usually takes: what
    /// they had in hand before the pause still ends.
    async fn for_long(&self) {
        let mut changed = self.0.subscribe();
        loop {
            let since = *changed.borrow_and_update();
            let grace = async {
                match since {
                    Some(since) => tokio::time::sleep_until(since + RESTART_TIME).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = grace => return,
                _ = changed.changed() => {}
            }
        }
    }
}

fn are_paused(live: &[Member], pauses: &Pauses) -> bool {
    let mut executors =
        live.iter().filter(|member| member.roles.iter().any(|role| role == ROLE)).peekable();
    executors.peek().is_some() && executors.all(|member| pauses.is_paused(&member.node))
}

/// Completes when no executor has been live, or all have been paused, for as long as a restart usually
/// takes. Reads only what this node knows, and only when that changes: many requests wait at the same
/// time.
pub(crate) async fn missing(presence: &Presence, paused: &Paused) {
    tokio::select! {
        () = gone(presence) => {}
        () = paused.for_long() => {}
    }
}

/// Completes when no executor has been live for as long as a restart usually takes.
async fn gone(presence: &Presence) {
    let mut live = presence.changed();
    loop {
        match presence.without_since(ROLE).map(|since| since.elapsed()) {
            Some(gone) if gone >= RESTART_TIME => return,
            Some(gone) => tokio::time::sleep(RESTART_TIME.saturating_sub(gone)).await,
            None => {
                if live.changed().await.is_err() {
                    // This node has left: nobody knows the live nodes any more.
                    std::future::pending::<()>().await;
                }
            }
        }
    }
}

/// Says in an answer with 202 what [`explain`] says.
pub(crate) fn mention(app: &App, response: &mut Response) {
    let is_ours = response.extensions().get::<Verbatim>().is_none();
    if is_ours && response.status() == StatusCode::ACCEPTED {
        explain(app, response);
    }
}

/// Says in an answer about something that is accepted that NATS or the database does not answer, that no
/// executor is live, or that all are paused, if so.
pub(crate) fn explain(app: &App, response: &mut Response) {
    let none_runs = || app.cx.presence.without_since(ROLE).map(|_| NONE_RUNS);
    let all_paused = || app.paused.0.borrow().map(|_| ALL_PAUSED);
    let detail = app.backing.away().map(Part::detail).or_else(none_runs).or_else(all_paused);
    if let Some(detail) = detail {
        response.headers_mut().insert(DETAIL, HeaderValue::from_static(detail));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::time::Duration;

    use bus::MemoryBus;
    use model::Timestamp;
    use tokio::time::timeout;

    use super::*;

    /// Requests that wait at the same time.
    const WAITING: usize = 100;

    async fn join(bus: &MemoryBus, node: &str, role: &str) -> Presence {
        let me = Member {
            node: node.to_owned(),
            roles: vec![role.to_owned()],
            started_at: Timestamp::from_millis(0),
            address: None,
            version: None,
        };
        let nodes = bus.kv(Bucket::Nodes);
        Presence::join(nodes, me, Duration::from_secs(30), testkit::nonces()).await.unwrap()
    }

    /// Waits as a request does, and counts how often it is woken to look.
    async fn counted(presence: &Presence, looks: &Cell<usize>) {
        let paused = Paused::default();
        let mut waiting = pin!(missing(presence, &paused));
        poll_fn(|cx| {
            looks.set(looks.get() + 1);
            waiting.as_mut().poll(cx)
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_wait_look_at_the_live_nodes_only_when_these_change() {
        let bus = MemoryBus::new(Arc::new(|| Timestamp::from_millis(0)));
        let gateway = join(&bus, "gateway", "ingress").await;
        let executor = join(&bus, "executor", "executor").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(gateway.without_since(ROLE), None);
        let looks = Cell::new(0);
        let requests = (0..WAITING).map(|_| counted(&gateway, &looks));
        let mut all = pin!(futures::future::join_all(requests));
        let for_long = Duration::from_secs(60);
        assert!(timeout(for_long, &mut all).await.is_err(), "an executor is live");
        executor.leave().await;
        let left = Instant::now();
        all.await;
        let took = left.elapsed();
        assert!((4..7).contains(&took.as_secs()), "{took:?}");
        // One look at the begin, one at the change, one at the end; a few more where the runtime
        // lets a task with many futures pause.
        assert!(looks.get() <= 6 * WAITING, "{} looks", looks.get());
    }
}
