//! The connections and the queue, as metrics.

use std::sync::{Arc, Weak};

use crate::database::Database;
use crate::pipeline::Queue;

/// Shows the connections and the queue at each scrape, while the store is open.
pub(crate) fn connections(database: &Arc<Database>, queue: &Arc<Queue>) {
    let (database, queue) = (Arc::downgrade(database), Arc::downgrade(queue));
    meter::at_scrape(move || show(&database, &queue).is_some());
}

fn show(database: &Weak<Database>, queue: &Weak<Queue>) -> Option<()> {
    let (database, queue) = (database.upgrade()?, queue.upgrade()?);
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    for figures in database.pools.figures() {
        let used = u64::from(figures.size).saturating_sub(count(figures.idle));
        meter::DATABASE_CONNECTIONS.set(&[figures.pool, "idle"], count(figures.idle));
        meter::DATABASE_CONNECTIONS.set(&[figures.pool, "used"], used);
        meter::DATABASE_CONNECTIONS_MAX.set(&[figures.pool], u64::from(figures.max));
    }
    meter::DATABASE_JOBS_QUEUED.set(&[], count(queue.len()));
    Some(())
}
