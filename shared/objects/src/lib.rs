//! Folders and S3-compatible buckets, opened by the text of a setting. It never reads or writes an
//! object itself.

use std::path::Path as Folder;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, RetryConfig};

/// Who asks tries again later, so that one request need not be patient.
const RETRIES_MAX: usize = 3;
const RETRY_TIME_MAX: Duration = Duration::from_secs(30);

/// The reason why a text does not name a place for objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

/// Opens a folder, which is made if it is missing, or `s3://bucket/prefix`. Region, endpoint and
/// credentials of a bucket come from the usual `AWS_…` variables. Whether a bucket answers is not
/// asked.
///
/// # Errors
/// When the text names neither, or the folder cannot be made.
pub fn open(text: &str) -> Result<Arc<dyn ObjectStore>, Unusable> {
    let Some((bucket, prefix)) = bucket(text)? else {
        let folder = Folder::new(text);
        std::fs::create_dir_all(folder).map_err(|error| wrong(&error))?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(|error| wrong(&error))?;
        // Rows follow once a file is written, so it has to outlive a loss of power.
        return Ok(Arc::new(store.with_fsync(true).with_automatic_cleanup(true)));
    };
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

/// Refuses a text that names neither a folder nor a bucket. Nothing is asked and nothing is made.
///
/// # Errors
/// What the text may be.
pub fn check(text: &str) -> Result<(), Unusable> {
    bucket(text).map(drop)
}

/// The bucket of a text and the prefix in it; none if the text names a folder.
fn bucket(text: &str) -> Result<Option<(&str, Path)>, Unusable> {
    let Some(bucket) = text.strip_prefix("s3://") else {
        return match text.contains("://") {
            true => Err(wrong(&"use a folder, or s3://bucket/prefix")),
            false => Ok(None),
        };
    };
    let (bucket, prefix) = bucket.split_once('/').unwrap_or((bucket, ""));
    if bucket.is_empty() {
        return Err(wrong(&"there is no bucket: use s3://bucket/prefix"));
    }
    let prefix = Path::parse(prefix.trim_matches('/')).map_err(|error| wrong(&error))?;
    Ok(Some((bucket, prefix)))
}

fn wrong(reason: &dyn std::fmt::Display) -> Unusable {
    Unusable(reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_and_what_is_no_place_is_refused() {
        let here = tempfile::tempdir().unwrap();
        let folder = here.path().join("a/b");
        open(folder.to_str().unwrap()).unwrap();
        assert!(folder.is_dir());
        for (text, reason) in [("gs://bucket", "use a folder"), ("s3:///x", "no bucket")] {
            let refused = open(text).unwrap_err().to_string();
            assert!(refused.contains(reason), "{text}: {refused}");
            assert_eq!(check(text).unwrap_err().to_string(), refused);
        }
        let other = here.path().join("other");
        assert!(check(other.to_str().unwrap()).is_ok() && check("s3://bucket/a").is_ok());
        assert!(!other.exists());
    }
}
