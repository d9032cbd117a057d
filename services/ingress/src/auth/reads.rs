//! What is read for the credentials of requests: nearly every request asks, and many of them send the
//! same.

use store::OpenSession;

use super::caller::Caller;
use super::together::Together;

/// The reads that are under way.
#[derive(Default)]
pub(crate) struct Reads {
    /// By the hash of the key.
    pub(super) keys: Together<Result<Option<Caller>, store::Error>>,
    /// By the id of the session.
    pub(crate) sessions: Together<Result<Option<OpenSession>, store::Error>>,
}
