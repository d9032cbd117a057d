//! The whole port, as adapters implement it.

use std::sync::Arc;

use crate::{Bucket, Kv, Outside, Queue, Tasks, Wire};

/// The source of nonces: each call gives a text that no call gave before, on any node.
pub type Nonces = Arc<dyn Fn() -> String + Send + Sync>;

/// The whole port.
pub trait Bus: Queue + Tasks + Wire + Send + Sync + 'static {
    /// The bucket's key-value store.
    fn kv(&self, bucket: Bucket) -> Arc<dyn Kv>;

    /// What workflows use, beside what is Staunch's own.
    fn outside(&self) -> Arc<dyn Outside>;
}
