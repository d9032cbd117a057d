//! Requests with an idempotency key, in memory.

use async_trait::async_trait;
use model::{CommandId, Timestamp};

use super::{MemoryStore, Operation};
use crate::{Claim, Error, KeyedRequest, Requests, check};

/// A request and its answer.
pub(super) struct RequestRow {
    request: KeyedRequest,
    answer: Option<Vec<u8>>,
}

#[async_trait]
impl Requests for MemoryStore {
    async fn claim(&self, request: &KeyedRequest, now: Timestamp) -> Result<Claim, Error> {
        self.run(Operation::Claim, |tables| {
            check::keys([Some(request.id.as_str()), Some(&request.fingerprint)])?;
            let known = tables.requests.get(&request.id);
            match known.filter(|row| row.request.expires_at > now) {
                Some(row) if row.request.fingerprint == request.fingerprint => {
                    Ok(Claim::Repeated(row.answer.clone()))
                }
                Some(_) => Ok(Claim::Reused),
                None => {
                    let row = RequestRow { request: request.clone(), answer: None };
                    tables.requests.insert(request.id.clone(), row);
                    Ok(Claim::New)
                }
            }
        })
        .await
    }

    async fn keep_answer(&self, request: &KeyedRequest, answer: Vec<u8>) -> Result<(), Error> {
        self.run(Operation::KeepAnswer, |tables| {
            if let Some(row) = tables.requests.get_mut(&request.id)
                && row.request.fingerprint == request.fingerprint
            {
                row.answer = Some(answer);
            }
            Ok(())
        })
        .await
    }

    async fn release(&self, request: &KeyedRequest) -> Result<(), Error> {
        self.run(Operation::Release, |tables| {
            let is_open = tables.requests.get(&request.id).is_some_and(|row| {
                row.request.fingerprint == request.fingerprint && row.answer.is_none()
            });
            if is_open {
                tables.requests.remove(&request.id);
            }
            Ok(())
        })
        .await
    }

    async fn forget_requests(&self, now: Timestamp, limit: u64) -> Result<u64, Error> {
        self.run(Operation::ForgetRequests, |tables| {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let expired = tables.requests.values().filter(|row| row.request.expires_at <= now);
            let expired: Vec<CommandId> =
                expired.map(|row| row.request.id.clone()).take(limit).collect();
            expired.iter().for_each(|id| drop(tables.requests.remove(id)));
            Ok(u64::try_from(expired.len()).unwrap_or(u64::MAX))
        })
        .await
    }
}
