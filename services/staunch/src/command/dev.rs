//! `staunch dev`: every role in one process, with data that is kept.

use std::fs::{DirBuilder, File, TryLockError};
use std::path::{Path, PathBuf};

use chassis::{BucketLists, Life, NameLists, Settings};
use clap::Args;

use crate::failure::Kind;
use crate::local::{self, Local};
use crate::output::{self, Format};
use crate::roles::{self, Roles};
use crate::{Failure, say};

/// The port that NATS clients use by default.
const NATS_PORT: u16 = 4222;

#[derive(Args, Debug)]
pub(crate) struct DevArgs {
    /// Folder of the data
    #[arg(long, default_value = ".staunch", value_name = "FOLDER")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Runs every role until Ctrl-C. Starts a broker and creates a database if none is given.
///
/// # Errors
/// When a part does not start.
pub(crate) async fn run(
    data: &Path,
    mut settings: Settings,
    life: Life,
    format: Format,
) -> Result<(), Failure> {
    let _lock = lock(data)?;
    local::on_a_free_port(&mut settings)?;
    // A URL that is given may hold a password.
    let mut shown = settings.shown("nats-url").to_owned();
    let unset: Vec<_> = ["nats-subjects", "nats-buckets"]
        .into_iter()
        .filter(|setting| settings.is_default(setting))
        .collect();
    let broker = if settings.is_default("nats-url") {
        let broker = Local::start(data, Some(NATS_PORT), &|text| say::progress(text)).await?;
        settings.nats_url = broker.nats_url();
        shown.clone_from(&settings.nats_url);
        say::progress(&format!(
            "nats-server {} listens on {}",
            broker.version(),
            settings.nats_url
        ));
        // On a server of its own, on loopback, workflows may use all that is not Staunch's.
        if unset.contains(&"nats-subjects") {
            settings.nats_subjects = NameLists::everything();
        }
        if unset.contains(&"nats-buckets") {
            settings.nats_buckets = BucketLists::everything();
        }
        Some(broker)
    } else {
        None
    };
    if settings.is_default("database-url") {
        settings.database_url = local::sqlite_in(data);
        say::progress(&format!("SQLite keeps the state in {}", data.display()));
        if settings.secrets_key_file.is_none() && settings.secrets_key.is_none() {
            settings.secrets_key_file = Some(local::master_key_in(data)?);
        }
    }
    let hosted = Roles::start(&settings, &life, None).await?;
    if roles::ALL.iter().all(|role| settings.serves(role)) {
        say::progress(&format!("every role is ready: {}", settings.public_url()));
        local::next_steps(&settings.public_url(), &shown, None);
    } else {
        say::progress(&format!("ready: {}", settings.role.join(", ")));
    }
    if format == Format::Json {
        output::json(&hosted.document(&settings))?;
    }
    hosted.ended().await;
    match broker {
        Some(mut broker) => broker.stop().await,
        None => Ok(()),
    }
}

/// Locks the data folder: two processes with the same data would damage it.
fn lock(data: &Path) -> Result<File, Failure> {
    let cannot = |error| Failure::failed(format!("cannot write {}: {error}", data.display()));
    let mut folder = DirBuilder::new();
    folder.recursive(true);
    // Its database has hashes of passwords, and what workflows know.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(data).map_err(cannot)?;
    let file = File::create(data.join("lock")).map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let what = data.display();
            let text =
                format!("another `staunch dev` uses {what}; name another folder with --data");
            Err(Failure::new(Kind::Conflict, text))
        }
        Err(TryLockError::Error(error)) => Err(cannot(error)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_new_data_folder_is_for_its_owner_alone() {
        let here = tempfile::tempdir().unwrap();
        let data = here.path().join("a/data");
        let _lock = lock(&data).unwrap();
        let mode = std::fs::metadata(&data).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
