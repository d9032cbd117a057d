//! `staunch dev`: everything in one process, with data that stays.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use chassis::{Life, Settings};
use clap::Args;

use crate::local::{self, Local};
use crate::roles::{self, Roles};
use crate::{Failure, say};

/// The port that NATS clients look at by themselves.
const NATS_PORT: u16 = 4222;

#[derive(Args, Debug)]
pub(crate) struct DevArgs {
    /// Where data is kept
    #[arg(long, default_value = ".staunch", value_name = "FOLDER")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Runs every role until Ctrl-C, on a broker and a database of its own where none are named.
///
/// # Errors
/// When anything does not start.
pub(crate) async fn run(data: &Path, mut settings: Settings, life: Life) -> Result<(), Failure> {
    let _lock = lock(data)?;
    local::on_a_free_port(&mut settings)?;
    let broker = if local::is_default(&settings, "nats-url") {
        let broker = Local::start(data, Some(NATS_PORT), &|text| say::story(text)).await?;
        settings.nats_url = broker.nats_url();
        say::story(&format!("nats-server {} listens on {}", broker.version(), settings.nats_url));
        Some(broker)
    } else {
        None
    };
    if local::is_default(&settings, "database-url") {
        settings.database_url = local::sqlite_in(data);
        say::story(&format!("SQLite keeps the state in {}", data.display()));
    }
    settings.role = roles::ALL.map(str::to_owned).to_vec();
    let hosted = Roles::start(&settings, &life).await?;
    say::story(&format!("every role is ready: {}", settings.public_url()));
    local::next_steps(&settings.public_url(), &settings.nats_url, None);
    hosted.ended().await;
    match broker {
        Some(mut broker) => broker.stop().await,
        None => Ok(()),
    }
}

/// Two of us on the same data would spoil it.
fn lock(data: &Path) -> Result<File, Failure> {
    let cannot = |error| Failure::failed(format!("cannot write {}: {error}", data.display()));
    std::fs::create_dir_all(data).map_err(cannot)?;
    let file = File::create(data.join("lock")).map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let what = data.display();
            Err(Failure::failed(format!("another `staunch dev` uses {what}; use --data for this")))
        }
        Err(TryLockError::Error(error)) => Err(cannot(error)),
    }
}
