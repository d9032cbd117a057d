//! One suite for every implementation of the port: the twin and NATS must agree.
//!
//! To check an implementation, call `exercise` of each module with a closure that makes an empty,
//! provisioned bus. It runs in real time and takes some seconds; it never sleeps for time, but
//! waits for what must happen.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use protocol::{Headers, Message, header};

use crate::{Change, Nonces, Revision, Watch};

pub mod kv;
pub mod layer;
pub mod outside;
pub mod queue;
pub mod tasks;
pub mod wire;

/// The longest wait for any condition.
const BOUND: Duration = Duration::from_secs(20);

/// Nonces that do not repeat within the process, which is enough for a bus that is new.
fn nonces() -> Nonces {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Arc::new(|| format!("conformance-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}

#[expect(clippy::panic, reason = "a suite ends with the first thing that is wrong")]
fn must<T, E: Debug>(what: &str, result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{what}: {error:?}"),
    }
}

#[expect(clippy::panic, reason = "a suite ends with the first thing that is wrong")]
async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(BOUND, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: not within {BOUND:?}"),
    }
}

fn message(subject: &str, id: Option<&str>, body: &str) -> Message {
    let mut headers = Headers::new();
    if let Some(id) = id {
        headers.insert(header::MESSAGE_ID.to_owned(), id.to_owned());
    }
    Message { subject: subject.to_owned(), headers, payload: body.as_bytes().to_vec() }
}

#[expect(clippy::panic, reason = "a suite ends with the first thing that is wrong")]
async fn change(watch: &mut Watch) -> Change {
    match within("a change", watch.next()).await {
        Some(change) => change,
        None => panic!("the watch has ended"),
    }
}

/// The next change of this key: whether it has a value, and the revision.
async fn change_of(watch: &mut Watch, wanted: &str) -> (bool, Revision) {
    loop {
        if let Change::Set { key, value, revision } = change(watch).await
            && key == wanted
        {
            return (value.is_some(), revision);
        }
    }
}

async fn synced(watch: &mut Watch) {
    while change(watch).await != Change::Synced {}
}
