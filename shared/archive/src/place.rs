//! Where an archive is: a folder, or a bucket of an S3-compatible store.

use std::path::Path as Folder;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, RetryConfig};

use crate::Error;

/// Retention tries again at its next run, so that one request need not be patient.
const RETRIES_MAX: usize = 3;
const RETRY_TIME_MAX: Duration = Duration::from_secs(30);

/// Opens a folder, which is made if it is missing, or `s3://bucket/prefix`. Region, endpoint and
/// credentials of a bucket come from the usual `AWS_…` variables.
pub(crate) fn open(text: &str) -> Result<Arc<dyn ObjectStore>, Error> {
    let wrong = |reason: &dyn std::fmt::Display| Error::Place(text.to_owned(), reason.to_string());
    let Some(bucket) = text.strip_prefix("s3://") else {
        if text.contains("://") {
            return Err(wrong(&"use a folder, or s3://bucket/prefix"));
        }
        let folder = Folder::new(text);
        std::fs::create_dir_all(folder).map_err(|error| wrong(&error))?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(|error| wrong(&error))?;
        // Rows are removed once a file is written, so it has to outlive a loss of power.
        return Ok(Arc::new(store.with_fsync(true)));
    };
    let (bucket, prefix) = bucket.split_once('/').unwrap_or((bucket, ""));
    if bucket.is_empty() {
        return Err(wrong(&"there is no bucket: use s3://bucket/prefix"));
    }
    let prefix = Path::parse(prefix.trim_matches('/')).map_err(|error| wrong(&error))?;
    let retries = RetryConfig {
        max_retries: RETRIES_MAX,
        retry_timeout: RETRY_TIME_MAX,
        ..RetryConfig::default()
    };
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retries);
    let store = builder.build();
    let store = store.map_err(|error| wrong(&error))?;
    Ok(Arc::new(PrefixStore::new(store, prefix)))
}
