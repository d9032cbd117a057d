//! The lease bucket in tests that watch the points: each write, also a renewal, reports a point
//! before and after.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bus::{Entry, Error, Kv, Put, Revision, Watch};
use bytes::Bytes;
use chassis::{Point, Trail};
use model::Timestamp;

/// The bucket, with points around its writes if a test watches them.
pub(crate) fn watched(kv: Arc<dyn Kv>, trail: &Trail) -> Arc<dyn Kv> {
    if trail.is_watched() { Arc::new(Watched { kv, trail: trail.clone() }) } else { kv }
}

struct Watched {
    kv: Arc<dyn Kv>,
    trail: Trail,
}

#[async_trait]
impl Kv for Watched {
    async fn put_if(
        &self,
        key: &str,
        value: Bytes,
        expected: Revision,
        ttl: Option<Duration>,
        nonce: &str,
    ) -> Result<Put, Error> {
        self.trail.at(Point::BeforeLease).await;
        let put = self.kv.put_if(key, value, expected, ttl, nonce).await;
        self.trail.at(Point::Leased).await;
        put
    }

    async fn purge_if(&self, key: &str, expected: Revision, nonce: &str) -> Result<Put, Error> {
        self.trail.at(Point::BeforeLease).await;
        let put = self.kv.purge_if(key, expected, nonce).await;
        self.trail.at(Point::Leased).await;
        put
    }

    async fn get(&self, key: &str) -> Result<Option<Entry>, Error> {
        self.kv.get(key).await
    }

    async fn removed_at(&self, key: &str) -> Result<Option<Timestamp>, Error> {
        self.kv.removed_at(key).await
    }

    async fn revision(&self) -> Result<Revision, Error> {
        self.kv.revision().await
    }

    async fn entries(&self) -> Result<Vec<(String, Entry)>, Error> {
        self.kv.entries().await
    }

    async fn watch(&self) -> Result<Watch, Error> {
        self.kv.watch().await
    }
}
