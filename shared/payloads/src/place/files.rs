//! Parts as objects of a folder or of an S3-compatible store.

use std::path::Path as Folder;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _};

use super::{Shelf, name};

pub(super) struct Files {
    store: Arc<dyn ObjectStore>,
    /// The folder; none for a bucket.
    folder: Option<Arc<Folder>>,
}

impl Files {
    pub(super) fn new(store: Arc<dyn ObjectStore>, folder: Option<Arc<Folder>>) -> Self {
        Self { store, folder }
    }

    /// Refuses a folder that was made at the start and is not there now, such as one that is not
    /// mounted: nothing in it is missing for good, and a write would make another one.
    async fn must_be_there(&self) -> Result<(), String> {
        let Some(folder) = &self.folder else { return Ok(()) };
        match tokio::fs::metadata(folder).await {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(_) => Err("it is no folder".to_owned()),
            Err(error) => Err(format!("the folder cannot be opened: {error}")),
        }
    }
}

#[async_trait]
impl Shelf for Files {
    async fn write(&self, id: &str, number: u32, bytes: Bytes) -> Result<(), String> {
        self.must_be_there().await?;
        let put = self.store.put(&Path::from(name(id, number)), bytes.into()).await;
        put.map(drop).map_err(|error| error.to_string())
    }

    async fn read(&self, id: &str, number: u32) -> Result<Option<Bytes>, String> {
        let found = match self.store.get(&Path::from(name(id, number))).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return self.must_be_there().await.map(|()| None),
            Err(error) => return Err(error.to_string()),
        };
        found.bytes().await.map(Some).map_err(|error| error.to_string())
    }

    async fn remove(&self, id: &str) -> Result<(), String> {
        self.must_be_there().await?;
        let listed = self.store.list(Some(&Path::from(id))).map_ok(|part| Ok(part.location));
        let parts: Vec<_> = listed.try_collect().await.map_err(|error| error.to_string())?;
        let mut removed = self.store.delete_stream(stream::iter(parts).boxed());
        while let Some(removed) = removed.next().await {
            match removed {
                Ok(_) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }
}
