//! Requests with an idempotency key: the use of each key, and the answer that it got.

use async_trait::async_trait;
use model::{CommandId, Timestamp};

use crate::Error;

/// A request with an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedRequest {
    /// Derived from the key, the caller and the route.
    pub id: CommandId,
    /// Lowercase hex SHA-256 of the contents of the request.
    pub fingerprint: String,
    /// The time from which the key may be used for another request.
    pub expires_at: Timestamp,
}

/// The earlier use of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// None: it belongs to this request from now on.
    New,
    /// The same request, with its answer if one is kept.
    Repeated(Option<Vec<u8>>),
    /// Another request.
    Reused,
}

/// Requests with an idempotency key.
#[async_trait]
pub trait Requests: Send + Sync {
    /// Claims the key for a request, unless another request has claimed it and has not expired at
    /// `now`.
    ///
    /// # Errors
    /// See [`Error`]; whether the key is claimed is not known then.
    async fn claim(&self, request: &KeyedRequest, now: Timestamp) -> Result<Claim, Error>;

    /// Keeps the answer to a request that has claimed its key; does nothing if the request has not
    /// claimed it.
    ///
    /// # Errors
    /// See [`Error`].
    async fn keep_answer(&self, request: &KeyedRequest, answer: Vec<u8>) -> Result<(), Error>;

    /// Releases a key that the request has claimed, unless its answer is kept.
    ///
    /// # Errors
    /// See [`Error`].
    async fn release(&self, request: &KeyedRequest) -> Result<(), Error>;

    /// Removes at most `limit` requests that have expired at `now`, and returns their number.
    ///
    /// # Errors
    /// See [`Error`].
    async fn forget_requests(&self, now: Timestamp, limit: u64) -> Result<u64, Error>;
}
