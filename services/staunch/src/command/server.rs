//! `staunch server`: any set of roles in one process.

use chassis::{Life, Settings};

use crate::Failure;
use crate::output::{self, Format};
use crate::roles::Roles;

/// Runs the roles that the settings name until the process is asked to stop.
///
/// # Errors
/// When they cannot start, or one fails.
pub(crate) async fn run(settings: Settings, life: Life, format: Format) -> Result<(), Failure> {
    let roles = Roles::start(&settings, &life, None).await?;
    roles.announce(&settings);
    if format == Format::Json {
        output::json(&roles.document(&settings))?;
    }
    #[cfg(unix)]
    crate::systemd::beside(&life, roles.ended()).await;
    #[cfg(not(unix))]
    roles.ended().await;
    Ok(())
}
