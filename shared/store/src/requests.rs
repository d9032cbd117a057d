//! Requests with an idempotency key: what a key was used for, and how it was answered.

use async_trait::async_trait;
use model::{CommandId, Timestamp};

use crate::Error;

/// A request with an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedRequest {
    /// Stands for the key, the caller and the route.
    pub id: CommandId,
    /// Lowercase hex SHA-256 of what the request says.
    pub fingerprint: String,
    /// From then on the key may be used for something else.
    pub expires_at: Timestamp,
}

/// What a key was used for before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing: it belongs to this request from now on.
    New,
    /// The same request, with the answer where one is kept.
    Repeated(Option<Vec<u8>>),
    /// Another request.
    Reused,
}

/// Requests with an idempotency key.
#[async_trait]
pub trait Requests: Send + Sync {
    /// Claims the key for a request, where no other has it that has not expired at `now`.
    ///
    /// # Errors
    /// See [`Error`]; whether the key is claimed is not known then.
    async fn claim(&self, request: &KeyedRequest, now: Timestamp) -> Result<Claim, Error>;

    /// Keeps the answer to a request that has claimed its key; nothing happens where none has.
    ///
    /// # Errors
    /// See [`Error`].
    async fn keep_answer(&self, request: &KeyedRequest, answer: Vec<u8>) -> Result<(), Error>;

    /// Gives a key back that the request has claimed, where no answer is kept.
    ///
    /// # Errors
    /// See [`Error`].
    async fn release(&self, request: &KeyedRequest) -> Result<(), Error>;

    /// Removes requests that have expired at `now`, `limit` of them at most; says how many.
    ///
    /// # Errors
    /// See [`Error`].
    async fn forget_requests(&self, now: Timestamp, limit: u64) -> Result<u64, Error>;
}
