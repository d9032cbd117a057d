//! The tasks for which an instance waits, and how far their consumers are.

use std::collections::{BTreeMap, BTreeSet};

use bus::{Pool, Stream};
use futures::future::join_all;
use model::{Bookmark, Timestamp};
use protocol::{TaskRequest, subject};
use tokio::time::Instant;

use super::{TASKS_MAX, asked};
use crate::record::Seen;
use crate::why::facts::{PoolFact, TaskFact, Tasks};
use crate::{App, Problem};

/// Tasks of one type among which those of the instance are looked for.
const WAITING_READ: usize = 64;

/// The tasks at these bookmarks, and what is not known of them.
pub(super) async fn tasks(
    app: &App,
    seen: &Seen,
    waits: &[Bookmark],
    until: Instant,
) -> Result<(Tasks, Vec<String>), Problem> {
    let open = waits.iter().filter_map(|wait| {
        let (bookmark, task, _) = seen.state().open_task(&wait.id)?;
        let fact = TaskFact {
            message_id: TaskRequest::message_id(&task.task_id, task.attempt),
            kind: (task.task_name, task.task_version),
            attempt: task.attempt,
            handed_out_at: task.handed_out_at.unwrap_or(bookmark.created_at),
            is_published: false,
        };
        Some((bookmark.id.clone(), fact))
    });
    let mut tasks = Tasks { open: open.collect(), pools: BTreeMap::new() };
    if tasks.open.is_empty() {
        return Ok((tasks, Vec::new()));
    }
    // Before the consumers are asked: what has left the outbox by now is among what they count.
    let looked: Vec<_> =
        tasks.open.values().take(TASKS_MAX).map(|task| task.message_id.clone()).collect();
    let rows = app.cx.store.outbox_rows(&looked).await?;
    let kept: BTreeSet<_> = rows.into_iter().map(|row| row.id).collect();
    for task in tasks.open.values_mut().take(TASKS_MAX) {
        task.is_published = !kept.contains(&task.message_id);
    }
    let kinds: BTreeSet<_> =
        tasks.open.values().take(TASKS_MAX).map(|task| task.kind.clone()).collect();
    let pools = match asked("the consumers of tasks", until, app.cx.bus.task_pools()).await {
        Ok(pools) => pools,
        Err(reason) => return Ok((tasks, vec![reason])),
    };
    let wanted =
        pools.iter().filter(|pool| kinds.contains(&(pool.task_type.clone(), pool.version)));
    let looks = wanted.map(async |pool| (pool, fact(app, pool, until).await));
    let mut unknown = Vec::new();
    for (pool, (fact, unread)) in join_all(looks).await {
        tasks.pools.insert((pool.task_type.clone(), pool.version), fact);
        unknown.extend(unread);
    }
    Ok((tasks, unknown))
}

async fn fact(app: &App, pool: &Pool, until: Instant) -> (PoolFact, Option<String>) {
    let mut fact = PoolFact {
        waiting: pool.waiting,
        in_progress: pool.in_progress,
        oldest_waiting: pool.oldest_waiting,
        first_waiting: BTreeSet::new(),
        made_at: pool.made_at,
        ack_wait: pool.ack_wait,
    };
    if pool.waiting == 0 {
        return (fact, None);
    }
    let own = subject::task(&pool.task_type, pool.version);
    let read = app.cx.bus.select(Stream::Tasks, &own, pool.delivered + 1, WAITING_READ);
    match asked("the tasks that wait", until, read).await {
        Ok(read) => {
            let is_new = |at: Timestamp| pool.made_at.is_some_and(|made_at| made_at <= at);
            let new = read.iter().filter(|(_, stored_at, _)| is_new(*stored_at));
            let ids = new.filter_map(|(.., message)| message.id());
            fact.first_waiting = ids.map(str::to_owned).collect();
            (fact, None)
        }
        Err(reason) => (fact, Some(reason)),
    }
}
