//! The tasks for which an instance waits, and how far their consumers are.

use std::collections::{BTreeMap, BTreeSet};

use bus::{Pool, Stream};
use model::Bookmark;
use protocol::{TaskRequest, subject};

use super::{TASKS_MAX, asked};
use crate::record::Seen;
use crate::why::facts::{PoolFact, TaskFact, Tasks};
use crate::{App, Problem};

/// Tasks of one type among which those of the instance are looked for.
const WAITING_READ: usize = 64;

/// The tasks at these bookmarks.
pub(super) async fn tasks(
    app: &App,
    seen: &Seen,
    waits: &[Bookmark],
    unknown: &mut Vec<String>,
) -> Result<Tasks, Problem> {
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
        return Ok(tasks);
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
    let pools = match asked("the consumers of tasks", app.cx.bus.task_pools()).await {
        Ok(pools) => pools,
        Err(reason) => {
            unknown.push(reason);
            return Ok(tasks);
        }
    };
    for pool in pools {
        let kind = (pool.task_type.clone(), pool.version);
        if kinds.contains(&kind) {
            tasks.pools.insert(kind, fact(app, &pool, unknown).await);
        }
    }
    Ok(tasks)
}

async fn fact(app: &App, pool: &Pool, unknown: &mut Vec<String>) -> PoolFact {
    let mut fact = PoolFact {
        waiting: pool.waiting,
        in_progress: pool.in_progress,
        oldest_waiting: pool.oldest_waiting,
        first_waiting: BTreeSet::new(),
    };
    if pool.waiting == 0 {
        return fact;
    }
    let own = subject::task(&pool.task_type, pool.version);
    let read = app.cx.bus.select(Stream::Tasks, &own, pool.delivered + 1, WAITING_READ);
    match asked("the tasks that wait", read).await {
        Ok(read) => {
            let ids = read.iter().filter_map(|(.., message)| message.id());
            fact.first_waiting = ids.map(str::to_owned).collect();
        }
        Err(reason) => unknown.push(reason),
    }
    fact
}
