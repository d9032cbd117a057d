//! The audit log: its entries, as they are kept, shown and sent.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bus::Bus;
use model::Timestamp;
use protocol::{AuditEvent, Message, header, subject};
use serde_json::Value;
use store::{AUDITED, Audit, AuditOutcome, Store};
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use crate::auth::caller::Caller;

/// Refused requests per second that one node writes down: callers decide how many there are.
const REFUSALS_PER_SECOND_MAX: u32 = 10;

/// Entries of frequent changes that wait to be written; while there are more, requests wait.
pub(crate) const WAITING_MAX: usize = 10_000;
/// Entries of one write.
const TOGETHER_MAX: usize = 500;
/// How long entries are collected for one write.
const COLLECT_TIME: Duration = Duration::from_millis(200);

/// Writes the entries of frequent changes, many together, until `stop`; then those that are left.
pub(crate) async fn write_together(
    store: Arc<dyn Store>,
    bus: Arc<dyn Bus>,
    waiting: Arc<tokio::sync::Mutex<Receiver<Audit>>>,
    stop: CancellationToken,
) {
    let mut waiting = waiting.lock().await;
    loop {
        let mut entries = Vec::new();
        if stop.is_cancelled() {
            waiting.close();
        }
        tokio::select! {
            count = waiting.recv_many(&mut entries, TOGETHER_MAX) => if count == 0 { return },
            () = stop.cancelled(), if !waiting.is_closed() => continue,
        }
        if entries.len() < TOGETHER_MAX {
            stop.run_until_cancelled(tokio::time::sleep(COLLECT_TIME)).await;
        }
        while entries.len() < TOGETHER_MAX
            && let Ok(entry) = waiting.try_recv()
        {
            entries.push(entry);
        }
        let messages: Vec<_> = entries.iter().map(event).collect();
        let count = entries.len();
        if let Err(error) = store.audit_all(entries).await {
            tracing::error!(%error, count, "entries of the audit log could not be written");
        }
        for message in messages {
            if let Err(error) = bus.send(message).await {
                tracing::warn!(%error, "an entry of the audit log was not sent");
            }
        }
    }
}

/// An entry about something that was done; `what` is one of [`AUDITED`].
pub(crate) fn entry(
    at: Timestamp,
    caller: &Caller,
    what: &str,
    target: &str,
    details: Value,
) -> Audit {
    debug_assert!(AUDITED.contains(&what), "add {what} to store::AUDITED");
    Audit {
        at,
        who: caller.who.clone(),
        what: what.to_owned(),
        target: target.to_owned(),
        details,
        address: caller.address.map(|address| address.to_canonical().to_string()),
        outcome: AuditOutcome::Done,
    }
}

/// The entry for readers.
pub(crate) fn shown(entry: &Audit) -> Value {
    let entry = entry.clone();
    let event = AuditEvent {
        at: entry.at,
        credential: Caller::credential(&entry.who, &entry.what).map(str::to_owned),
        who: entry.who,
        what: entry.what,
        target: entry.target,
        address: entry.address,
        outcome: entry.outcome.as_str().to_owned(),
        details: entry.details,
    };
    // It has no value that JSON does not have.
    serde_json::to_value(event).unwrap_or_default()
}

/// The entry for subscribers.
pub(crate) fn event(entry: &Audit) -> Message {
    let json = [(header::CONTENT_TYPE.to_owned(), "application/json".to_owned())];
    Message {
        subject: subject::audit(&entry.what),
        headers: json.into_iter().collect(),
        payload: shown(entry).to_string().into_bytes(),
    }
}

/// Decides which refused requests are written down.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<(i64, u32)>);

impl Refusals {
    /// True for the first ones of each second.
    pub(crate) fn takes(&self, now: Timestamp) -> bool {
        let second = now.as_millis().div_euclid(1_000);
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0 != second {
            *seen = (second, 0);
        }
        seen.1 = seen.1.saturating_add(1);
        seen.1 <= REFUSALS_PER_SECOND_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_of_refusals_some_are_written_down() {
        let refusals = Refusals::default();
        let taken = (0..1_000).filter(|_| refusals.takes(Timestamp::from_millis(5))).count();
        assert_eq!(taken, 10);
        assert!(refusals.takes(Timestamp::from_millis(1_005)));
    }
}
