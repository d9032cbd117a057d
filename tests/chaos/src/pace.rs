//! How fast one door is: starts whose callers wait for the end, a few at a time.

use futures::{StreamExt as _, stream};
use tokio::time::Instant;

use crate::api::Api;
use crate::scale::pick;
use crate::workflow::Names;

/// Callers that each wait for their answer.
const CALLERS: usize = 8;

/// Starts per second of a workflow that finishes at once, with this many callers at a time. Every
/// start has to succeed.
pub(crate) async fn pace(door: &Api, tag: &str) -> f64 {
    pace_of(door, tag, pick(150, 1_000)).await
}

/// The same, for this number of starts.
pub(crate) async fn pace_of(door: &Api, tag: &str, count: usize) -> f64 {
    let id = format!("pace-{tag}");
    door.publish(&Names::quick(&id)).await;
    let began = Instant::now();
    let starts = stream::iter(0..count).map(|number| {
        let (door, id) = (door.clone(), id.clone());
        async move { door.start(&id, &format!("{id}-{number}"), number).await.unwrap().ok() }
    });
    starts.buffer_unordered(CALLERS).collect::<Vec<_>>().await;
    count as f64 / began.elapsed().as_secs_f64()
}
