//! How the timer service works. The defaults suit most installations.

use std::time::Duration;

/// Settings of the timer service.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is due within this time is kept in memory.
    pub window: Duration,
    /// The database is asked for what comes next this often.
    pub scan_every: Duration,
    /// Rows that one scan asks for, beyond those that are known already.
    pub scan_rows: u64,
    /// Timers kept in memory at most; the rest stays in the database.
    pub window_max: usize,
    /// Firings under way at the same time.
    pub in_flight_max: usize,
    /// The database's clock is read again when something is due and the last reading is older.
    pub clock_every: Duration,
    /// How long a claim stands without being marked done.
    pub claim_ttl: Duration,
    /// How long a fired timer is remembered.
    pub done_ttl: Duration,
    /// A fired timer whose bookmark is still open after this time is fired again.
    pub refire_after: Duration,
    /// An occurrence of a schedule that is older than this is missed.
    pub misfire_after: Duration,
    /// The sweep runs this often.
    pub sweep_every: Duration,
    /// Items of each kind that one sweep mends, beyond those it has mended lately.
    pub sweep_rows: u64,
    /// Outbox rows older than this are published by the sweep.
    pub outbox_after: Duration,
    /// Accepted commands older than this are published again by the sweep.
    pub inbox_after: Duration,
    /// Instances that have been at it for longer than this are told to go on.
    pub unfinished_after: Duration,
    /// The longest wait for what is in hand when the service stops.
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
            drain: Duration::from_secs(5),
        }
    }
}

impl Config {
    /// The settings of the process, where it has any for timers.
    #[must_use]
    pub fn from_settings(settings: &chassis::Settings) -> Self {
        Self { scan_every: settings.timer_scan(), drain: settings.drain(), ..Self::default() }
    }
}
