//! What is kept, and for how long.

use std::time::Duration;

use archive::Archive;

/// Instances that one query finds, and the most that one transaction removes.
const BATCH: u64 = 100;
/// The time between two runs.
const EVERY: Duration = Duration::from_secs(600);

/// What is kept, and for how long. Without any setting all is kept.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Ended instances, where their definition does not say it.
    pub retention: model::Retention,
    /// Where instances are written before they are removed.
    pub archive: Option<Archive>,
    /// Entries of the audit log; for ever if `None`.
    pub audit: Option<Duration>,
    /// Dead letters; as long as their stream has them if `None`.
    pub dead: Option<Duration>,
    /// The time between two runs.
    pub every: Duration,
    /// Instances that one query finds.
    pub batch: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            retention: model::Retention::default(),
            archive: None,
            audit: None,
            dead: None,
            every: EVERY,
            batch: BATCH,
        }
    }
}

impl Rules {
    /// The rules of the settings; opens the archive that they name.
    ///
    /// # Errors
    /// When the archive cannot be opened.
    pub fn from_settings(settings: &chassis::Settings) -> Result<Self, archive::Error> {
        Ok(Self {
            retention: settings.retention(),
            archive: settings.archive_to.as_deref().map(Archive::open).transpose()?,
            audit: settings.retain_audit,
            dead: settings.retain_dead,
            every: settings.retain_every(),
            ..Self::default()
        })
    }
}
