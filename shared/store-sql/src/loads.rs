//! Instances that are requested at the same time are read by one statement.
//!
//! Readers take the loads that wait at this moment and never wait for more, so a single load is as
//! fast as it would be alone. A statement that fails as a whole is repeated for each load, so that
//! only the failing load gets an error.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::InstanceId;
use sea_orm::{FromQueryResult as _, QueryResult};
use store::{Error, LoadedWithin};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cell::{Cell, Row};
use crate::codec::count;
use crate::database::Database;
use crate::entity::instance::Model;
use crate::failure::Failure;
use crate::pools::READERS;
use crate::statements::SELECT_INSTANCES;

/// The number of instances that one statement reads: a state may have 8 MiB.
const TOGETHER_MAX: usize = 16;

type LoadResult = Result<Option<LoadedWithin>, Error>;

/// A request for an instance, and the channel for its answer.
struct Load {
    id: InstanceId,
    state_bytes_max: usize,
    answer: oneshot::Sender<LoadResult>,
}

type Waiting = Arc<Mutex<mpsc::Receiver<Load>>>;

/// Sends requests to the readers; they end when it is dropped.
pub(crate) struct Loads(mpsc::Sender<Load>);

impl Loads {
    /// Starts the readers.
    pub(crate) fn start(database: &Arc<Database>) -> Self {
        let (loads, waiting) = mpsc::channel(database.options.queue_max.max(1));
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..READERS {
            let (of, waiting) = (Arc::clone(database), Arc::clone(&waiting));
            let run = move || read_all(Arc::clone(&of), Arc::clone(&waiting));
            // The readers end with `Loads`, which drops their channel.
            drop(tasks::supervise("reader", CancellationToken::new(), run));
        }
        Self(loads)
    }

    /// Reads an instance together with others that are requested now.
    pub(crate) async fn load(
        &self,
        database: &Database,
        id: &InstanceId,
        state_bytes_max: usize,
    ) -> LoadResult {
        let (answer, answered) = oneshot::channel();
        let load = Load { id: id.clone(), state_bytes_max, answer };
        if self.0.send_timeout(load, database.options.queue_wait).await.is_err() {
            return Err(Error::Overloaded("too many instances wait to be read".to_owned()));
        }
        let ended = |error| Error::Unavailable(format!("the reader has stopped: {error}"));
        answered.await.map_err(ended)?
    }
}

async fn read_all(database: Arc<Database>, waiting: Waiting) {
    let mut together = Vec::with_capacity(TOGETHER_MAX);
    loop {
        // One reader waits for requests and holds the lock; the others wait for the lock.
        let taken = waiting.lock().await.recv_many(&mut together, TOGETHER_MAX).await;
        if taken == 0 {
            return;
        }
        // A caller may have gone while its request waited.
        together.retain(|load| !load.answer.is_closed());
        answer(&database, std::mem::take(&mut together)).await;
    }
}

async fn answer(database: &Database, loads: Vec<Load>) {
    match read(database, &loads).await {
        Ok(mut found) => {
            for (place, Load { answer, .. }) in loads.into_iter().enumerate() {
                let loaded = found.remove(&place).transpose();
                drop(answer.send(loaded.map_err(Failure::into_error)));
            }
        }
        Err(Failure::Final(_)) if loads.len() > 1 => {
            for load in loads {
                Box::pin(answer(database, vec![load])).await;
            }
        }
        Err(failure) => {
            let error = failure.into_error();
            loads.into_iter().for_each(|load| drop(load.answer.send(Err(error.clone()))));
        }
    }
}

/// The instances that are there, by the places of their requests.
async fn read(
    database: &Database,
    loads: &[Load],
) -> Result<BTreeMap<usize, Result<LoadedWithin, Failure>>, Failure> {
    let key = |(place, load): (usize, &Load)| -> Row {
        vec![
            Cell::number(count(place)),
            Cell::text(load.id.as_str()),
            Cell::number(count(load.state_bytes_max)),
        ]
    };
    let keys: Vec<Row> = loads.iter().enumerate().map(key).collect();
    let keys: Vec<&Row> = keys.iter().collect();
    let began = Instant::now();
    let rows = database
        .retried(|| async { database.read().await?.fetch(&SELECT_INSTANCES, &keys).await })
        .await?;
    meter::DATABASE_LOAD_DURATION.record(&[], began.elapsed());
    let mut found = BTreeMap::new();
    // Each row is dropped before the next is decoded: with its state it may have 8 MiB.
    for row in rows {
        let (place, state_bytes): (i64, i64) = (row.try_get_by(0)?, row.try_get_by(1)?);
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let state_bytes = usize::try_from(state_bytes).unwrap_or(usize::MAX);
        let Some(load) = loads.get(place) else { continue };
        found.insert(place, loaded(&row, state_bytes, load.state_bytes_max));
    }
    Ok(found)
}

fn loaded(
    row: &QueryResult,
    state_bytes: usize,
    state_bytes_max: usize,
) -> Result<LoadedWithin, Failure> {
    if state_bytes > state_bytes_max {
        return Ok(LoadedWithin::TooLarge { state_bytes });
    }
    let loaded = Model::from_query_result(row, "")?.loaded()?;
    Ok(LoadedWithin::Whole(Box::new(loaded)))
}
