//! The file with the URL of the database: its password may be replaced while the process runs.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use tokio::io::AsyncReadExt as _;

use crate::options::Options;
use crate::pools::Pools;

/// The size limit of the file in bytes; the rest of a longer one is not read.
const BYTES_MAX: u64 = 64 << 10;

/// What the file said when it was last looked at.
pub(crate) struct UrlFile {
    path: Option<PathBuf>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    url: String,
    /// What is wrong with the file, which is logged once.
    fault: Option<String>,
}

impl UrlFile {
    pub(crate) fn new(url: &str, options: &Options) -> Self {
        let seen = Seen { url: url.to_owned(), fault: None };
        Self { path: options.url_file.clone(), seen: Mutex::new(seen) }
    }

    /// Makes later connections log in as the file says now. A file that cannot be used changes nothing.
    pub(crate) async fn follow(&self, pools: &Pools, options: &Options) {
        let Some(path) = &self.path else { return };
        let read = async {
            let mut text = String::new();
            tokio::fs::File::open(path).await?.take(BYTES_MAX).read_to_string(&mut text).await?;
            Ok::<_, std::io::Error>(text)
        };
        let read = read.await.map_err(|error| error.to_string());
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let used = read.and_then(|text| {
            let url = text.trim();
            if url == seen.url {
                return Ok(());
            }
            pools.log_in_as(url, options).map_err(|error| error.to_string())?;
            tracing::info!("the file with database-url has changed: new connections use it");
            url.clone_into(&mut seen.url);
            Ok(())
        });
        if let Err(fault) = &used
            && seen.fault.as_ref() != Some(fault)
        {
            tracing::error!("the file with database-url cannot be used, the login stays: {fault}");
        }
        seen.fault = used.err();
    }
}
