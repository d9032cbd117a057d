//! The settings of the timer service. The defaults suit most installations.

use std::time::Duration;

use model::limits;

use crate::{Error, Rules};

/// Settings of the timer service.
#[derive(Clone, Debug)]
pub struct Config {
    /// Timers that are due within this time are kept in memory.
    pub window: Duration,
    /// The interval between queries of the database for the next timers.
    pub scan_every: Duration,
    /// The number of rows that one scan reads, beyond those that are known already.
    pub scan_rows: u64,
    /// The largest number of timers kept in memory; the others stay in the database.
    pub window_max: usize,
    /// The largest number of firings in progress at the same time.
    pub in_flight_max: usize,
    /// The database's clock is read again if a timer is due and the last reading is older.
    pub clock_every: Duration,
    /// How long a claim is valid without being marked done.
    pub claim_ttl: Duration,
    /// How long a fired timer is remembered.
    pub done_ttl: Duration,
    /// A fired timer whose bookmark is still open after this time is fired again.
    pub refire_after: Duration,
    /// An occurrence of a schedule that is older than this counts as missed.
    pub misfire_after: Duration,
    /// The interval between sweeps.
    pub sweep_every: Duration,
    /// The number of items of each kind that one sweep handles, beyond those that it has handled
    /// lately.
    pub sweep_rows: u64,
    /// Outbox rows older than this are published by the sweep.
    pub outbox_after: Duration,
    /// Accepted commands older than this are published again by the sweep.
    pub inbox_after: Duration,
    /// Instances that have been executing for longer than this get a command to go on.
    pub unfinished_after: Duration,
    /// How long a payload is kept that no instance uses.
    pub payload_kept: Duration,
    /// Where payloads rest.
    pub payload_places: payloads::Places,
    /// A stream of tasks is looked at for lost ones when it is older than this: longer than executors
    /// take to make the consumers of a new stream.
    pub lost_after: Duration,
    /// What is kept, and for how long.
    pub rules: Rules,
    /// The longest wait for work in progress when the service stops.
    pub drain: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(60),
            scan_every: Duration::from_secs(5),
            scan_rows: 5_000,
            window_max: 100_000,
            in_flight_max: 256,
            clock_every: Duration::from_secs(1),
            claim_ttl: Duration::from_secs(30),
            done_ttl: Duration::from_secs(600),
            refire_after: Duration::from_secs(30),
            misfire_after: Duration::from_secs(30),
            sweep_every: Duration::from_secs(5),
            sweep_rows: 500,
            outbox_after: Duration::from_secs(5),
            inbox_after: Duration::from_secs(10),
            unfinished_after: Duration::from_secs(20),
            payload_kept: limits::PAYLOAD_KEPT,
            payload_places: payloads::Places::default(),
            lost_after: Duration::from_secs(20),
            rules: Rules::default(),
            drain: Duration::from_secs(5),
        }
    }
}

impl Config {
    /// The settings of the process, as far as it has any for timers.
    ///
    /// # Errors
    /// When the archive that they name, or a place of payloads, cannot be opened.
    pub fn from_settings(settings: &chassis::Settings) -> Result<Self, Error> {
        let rules = Rules::from_settings(settings)?;
        let (scan_every, drain) = (settings.timer_scan(), settings.drain());
        let payload_kept = settings.payload_kept;
        let payload_places = payloads::Places::open(&settings.payload_store)?;
        Ok(Self { scan_every, drain, payload_kept, payload_places, rules, ..Self::default() })
    }
}
