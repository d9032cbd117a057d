//! `staunch migrate`: brings the database's schema up to date.

use chassis::Settings;
use clap::Args;

use crate::{Failure, say};

#[derive(Args, Debug)]
pub(crate) struct MigrateArgs {
    /// Changes nothing; says what is missing, and fails when something is
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Applies the migrations that are missing, or only names them.
///
/// # Errors
/// When the database does not answer, or a migration fails; when one is missing and only a look
/// was asked for.
pub(crate) async fn run(check: bool, settings: &Settings) -> Result<(), Failure> {
    let url = &settings.database_url;
    if check {
        let missing = store_sql::pending_migrations(url).await?;
        missing.iter().try_for_each(|name| say::data(name))?;
        return match missing.len() {
            0 => {
                say::talk("the schema is up to date");
                Ok(())
            }
            count => Err(Failure::failed(format!("{count} migrations are missing"))),
        };
    }
    let applied = store_sql::migrate(url).await?;
    applied.iter().try_for_each(|name| say::data(name))?;
    say::talk(&format!("{} migrations applied; the schema is up to date", applied.len()));
    Ok(())
}
