//! Folders and S3-compatible buckets, opened by the text of a setting. It never reads or writes an
//! object itself.

use std::path::Path as Folder;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};

/// Who asks tries again later, so that one request need not be patient.
const RETRIES_MAX: usize = 3;
const RETRY_TIME_MAX: Duration = Duration::from_secs(30);
/// The values of a variable that mean yes, in small letters.
const TRUTHS: [&str; 5] = ["1", "true", "on", "yes", "y"];

/// The reason why a text does not name a place for objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It begins as the address of a place of another kind.
    #[error("`{0}:` is no kind of place that is known: use a folder, or s3://bucket/prefix")]
    Kind(String),
    /// It names a place that cannot be used.
    #[error("{0}")]
    Reason(String),
}

/// Opens a folder, which is made if it is missing, or `s3://bucket/prefix`. Region, endpoint and
/// credentials of a bucket come from the usual `AWS_…` variables. Whether a bucket answers is not
/// asked.
///
/// # Errors
/// When the text names neither, or the folder cannot be made.
pub fn open(text: &str) -> Result<Arc<dyn ObjectStore>, Unusable> {
    let Some((bucket, prefix)) = bucket(text)? else {
        let folder = Folder::new(text);
        check_folder(folder)?;
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
    check_endpoint(&builder)?;
    let store = builder.build();
    let store = store.map_err(|error| wrong(&error))?;
    Ok(Arc::new(PrefixStore::new(store, prefix)))
}

/// Refuses an endpoint without TLS that is not allowed: each request to it would fail.
fn check_endpoint(builder: &AmazonS3Builder) -> Result<(), Unusable> {
    let of = |key| builder.get_config_value(&key);
    let own = of(AmazonS3ConfigKey::S3Endpoint);
    let Some(endpoint) = own.or_else(|| of(AmazonS3ConfigKey::Endpoint)) else { return Ok(()) };
    let allowed = of(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp)).unwrap_or_default();
    let is_allowed = TRUTHS.contains(&allowed.to_ascii_lowercase().as_str());
    match endpoint.to_ascii_lowercase().starts_with("http://") && !is_allowed {
        true => Err(wrong(&format!(
            "the S3 endpoint {endpoint} is without TLS: set AWS_ALLOW_HTTP=true to allow that, or \
             name an https:// endpoint in AWS_ENDPOINT_URL"
        ))),
        false => Ok(()),
    }
}

/// Refuses a text that names neither a folder nor a bucket, and a folder where a file is. No server is
/// asked and nothing is made.
///
/// # Errors
/// What the text may be.
pub fn check(text: &str) -> Result<(), Unusable> {
    match bucket(text)? {
        Some(_) => Ok(()),
        None => check_folder(Folder::new(text)),
    }
}

/// Refuses a folder that cannot be made, because a file has its name or that of a folder above it.
fn check_folder(folder: &Folder) -> Result<(), Unusable> {
    let mut above = folder.ancestors();
    let there = above.find_map(|one| Some((one, std::fs::metadata(one).ok()?)));
    match there {
        Some((one, found)) if !found.is_dir() => {
            Err(wrong(&format!("{} is no folder: name another place", one.display())))
        }
        _ => Ok(()),
    }
}

/// The bucket of a text and the prefix in it; none if the text names a folder.
fn bucket(text: &str) -> Result<Option<(&str, Path)>, Unusable> {
    let Some(bucket) = text.strip_prefix("s3://") else {
        return match scheme(text) {
            Some(scheme) => Err(Unusable::Kind(scheme.to_owned())),
            None if text.contains("://") => Err(wrong(&"use a folder, or s3://bucket/prefix")),
            None => Ok(None),
        };
    };
    let (bucket, prefix) = bucket.split_once('/').unwrap_or((bucket, ""));
    if bucket.is_empty() {
        return Err(wrong(&"there is no bucket: use s3://bucket/prefix"));
    }
    let prefix = Path::parse(prefix.trim_matches('/')).map_err(|error| wrong(&error))?;
    Ok(Some((bucket, prefix)))
}

/// The scheme of a text that begins as a URL does (RFC 3986). One letter is a drive of Windows.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.len() > 1
        && scheme.chars().all(is_part);
    is_scheme.then_some(scheme)
}

fn wrong(reason: &dyn std::fmt::Display) -> Unusable {
    Unusable::Reason(reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_without_tls_is_refused_unless_it_is_allowed() {
        let plain = AmazonS3Builder::new().with_endpoint("http://10.0.0.9:9000");
        let refused = check_endpoint(&plain).unwrap_err().to_string();
        assert!(refused.contains("http://10.0.0.9:9000 is without TLS"), "{refused}");
        assert!(refused.contains("set AWS_ALLOW_HTTP=true"), "{refused}");
        let key = AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp);
        for (value, is_allowed) in [("true", true), ("TRUE", true), ("1", true), ("false", false)] {
            let set = plain.clone().with_config(key, value);
            assert_eq!(check_endpoint(&set).is_ok(), is_allowed, "{value}");
        }
        assert!(check_endpoint(&AmazonS3Builder::new()).is_ok());
        let encrypted = AmazonS3Builder::new().with_endpoint("https://10.0.0.9:9000");
        assert!(check_endpoint(&encrypted).is_ok());
    }

    #[test]
    fn a_folder_is_made_and_what_is_no_place_is_refused() {
        let here = tempfile::tempdir().unwrap();
        let folder = here.path().join("a/b");
        open(folder.to_str().unwrap()).unwrap();
        assert!(folder.is_dir());
        for (text, reason) in [
            ("gs://bucket", "`gs:` is no kind of place that is known: use a folder, or s3://"),
            ("files:/x", "`files:` is no kind of place"),
            ("file:x", "`file:` is no kind of place"),
            ("S3:bucket", "`S3:` is no kind of place"),
            ("s3:bucket", "`s3:` is no kind of place"),
            ("/a://b", "use a folder"),
            ("s3:///x", "no bucket"),
        ] {
            let refused = open(text).unwrap_err().to_string();
            assert!(refused.contains(reason), "{text}: {refused}");
            assert_eq!(check(text).unwrap_err().to_string(), refused);
        }
        let file = here.path().join("file");
        std::fs::write(&file, "").unwrap();
        for below in [file.clone(), file.join("a/b")] {
            let refused = open(below.to_str().unwrap()).unwrap_err();
            assert!(refused.to_string().contains("file is no folder"), "{refused}");
            assert_eq!(check(below.to_str().unwrap()), Err(refused));
        }
        let other = here.path().join("other");
        assert!(check(other.to_str().unwrap()).is_ok() && check("s3://bucket/a").is_ok());
        assert!(!other.exists());
        for folder in ["./files:x", "/a:b", "a b:c", "1a:b", r"C:\parts"] {
            assert_eq!(check(folder), Ok(()), "{folder}");
        }
    }
}
