//! Parts as objects of a folder or of an S3-compatible store.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _};

use super::{Shelf, name};

pub(super) struct Files(Arc<dyn ObjectStore>);

impl Files {
    pub(super) fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self(store)
    }
}

#[async_trait]
impl Shelf for Files {
    async fn write(&self, id: &str, number: u32, bytes: Bytes) -> Result<(), String> {
        let put = self.0.put(&Path::from(name(id, number)), bytes.into()).await;
        put.map(drop).map_err(|error| error.to_string())
    }

    async fn read(&self, id: &str, number: u32) -> Result<Option<Bytes>, String> {
        let found = match self.0.get(&Path::from(name(id, number))).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        found.bytes().await.map(Some).map_err(|error| error.to_string())
    }

    async fn remove(&self, id: &str) -> Result<(), String> {
        let listed = self.0.list(Some(&Path::from(id))).map_ok(|part| Ok(part.location));
        let parts: Vec<_> = listed.try_collect().await.map_err(|error| error.to_string())?;
        let mut removed = self.0.delete_stream(stream::iter(parts).boxed());
        while let Some(removed) = removed.next().await {
            match removed {
                Ok(_) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }
}
