//! The settings of an executor, and the bounds that follow from them.

use std::sync::Arc;
use std::time::Duration;

use engine::Installation;
use model::limits;

/// How long a command waits here for a lease that another node holds. That node may hold the lease
/// during an outgoing call, and accepts commands meanwhile: a command that is sent back may be
/// delivered to it.
const LEASE_WAIT: Duration = Duration::from_secs(2);

/// The reason why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The master keys of secrets cannot be read.
    #[error(transparent)]
    Secrets(#[from] vault::Error),
    /// A place of payloads cannot be opened.
    #[error(transparent)]
    Payloads(#[from] payloads::Error),
    /// A kind of outgoing call could never be made.
    #[error(transparent)]
    Connectors(chassis::ConfigError),
}

/// Settings of an executor.
#[derive(Clone, Debug)]
pub struct Config {
    /// The number of bursts that run at the same time.
    pub concurrency: usize,
    /// The number of commands in progress at the same time: those that run, wait for a lease, or
    /// wait for a call.
    pub in_hand_max: usize,
    /// The bytes of the commands in progress; at least the bytes of one pull.
    pub in_hand_bytes_max: usize,
    /// The number of commands taken in one pull.
    pub batch: usize,
    /// How long a pull waits for the first command. A graceful stop waits for the end of a pull.
    pub pull_wait: Duration,
    /// The number of commands of one instance that queue here. Further ones are sent back for
    /// later.
    pub mailbox: usize,
    /// The time after which an unanswered delivery comes again. The consumer has the same.
    pub ack_wait: Duration,
    /// The times of leases.
    pub terms: bus::Terms,
    /// How long a graceful stop waits for outgoing calls. Another node makes a longer call again, with
    /// the same key.
    pub call_grace: Duration,
    /// How long a command may wait for an instance that does not exist yet.
    pub unknown_grace: Duration,
    /// Settings of outgoing calls.
    pub connectors: connectors::Config,
    /// Long turns, and turns of definitions with scripts, run on separate threads, off the event
    /// loop.
    pub offload_turns: bool,
    /// Activity executions of an instance without a wait, before it ends with an incident.
    pub steps_without_wait_max: u64,
    /// The number of starts per second that are applied for one definition, from chains in which
    /// each instance starts the next without waiting for it.
    pub chained_starts_per_second: u32,
    /// How long an event is kept while no instance waits for it.
    pub event_wait: Duration,
    /// Bytes of a payload.
    pub payload_bytes_max: u64,
    /// Bytes above which contents rest in payloads.
    pub payload_above: usize,
    /// Where payloads rest.
    pub payload_places: payloads::Places,
    /// The master keys of secrets; workflows read none without them.
    pub master: Option<vault::Master>,
    /// What the configuration says to workflows.
    pub installation: Arc<Installation>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            concurrency: 256,
            in_hand_max: 1_024,
            in_hand_bytes_max: limits::IN_HAND_BYTES_MAX,
            batch: 128,
            pull_wait: Duration::from_millis(500),
            mailbox: 64,
            ack_wait: Duration::from_secs(3),
            terms: bus::Terms { wait_max: LEASE_WAIT, ..bus::Terms::default() },
            call_grace: Duration::from_millis(500),
            unknown_grace: Duration::from_secs(2),
            connectors: connectors::Config::default(),
            offload_turns: true,
            steps_without_wait_max: limits::STEPS_WITHOUT_WAIT_MAX,
            chained_starts_per_second: limits::CHAINED_STARTS_PER_SECOND,
            event_wait: limits::EVENT_WAIT,
            payload_bytes_max: limits::PAYLOAD_BYTES_MAX,
            payload_above: limits::PAYLOAD_ABOVE_BYTES,
            payload_places: payloads::Places::default(),
            master: None,
            installation: Arc::default(),
        }
    }
}

impl From<&chassis::Settings> for Config {
    fn from(settings: &chassis::Settings) -> Self {
        let default = Self::default();
        let ttl = settings.lease_ttl;
        let guard = default.terms.guard.min(ttl / 5);
        Self {
            concurrency: settings.executor_concurrency,
            in_hand_max: settings.executor_concurrency.saturating_mul(4),
            ack_wait: settings.ack_wait,
            terms: bus::Terms { ttl, guard, wait_max: settings.lease_wait },
            connectors: connectors::Config {
                allow_private_addresses: settings.allow_private_addresses,
                hosts: settings.call_hosts.0.clone(),
                sql: settings.sql_connections.0.clone(),
                sql_by_url: settings.sql_urls,
                mail: connectors::MailConfig {
                    url: settings.smtp_url.as_ref().map(|server| server.0.clone()),
                    from: settings.smtp_from.as_ref().map(|sender| sender.0.clone()),
                    ca: settings.smtp_ca.clone(),
                },
                files: settings.files_folder.clone(),
                nats: engine::outside::NatsConfig {
                    subjects: settings.nats_subjects.0.clone(),
                    buckets: settings.nats_buckets.0.clone(),
                },
            },
            steps_without_wait_max: settings.executor_steps_max,
            event_wait: settings.event_wait,
            payload_bytes_max: settings.payload_bytes,
            payload_above: settings.payload_above,
            installation: Arc::new(Installation {
                base_url: settings.public_url(),
                token_mode: settings.flowchart_mode == chassis::FlowchartMode::Token,
                continues_with_incidents: settings.incident_strategy
                    == chassis::IncidentStrategy::ContinueWithIncidents,
                leaves_out_values: settings.log_persistence == chassis::LogPersistence::Exclude,
                retries: settings.retry_strategies.clone(),
                ..Installation::default()
            }),
            ..default
        }
    }
}

impl Config {
    /// The configuration in these settings, with the master keys of secrets and the places of payloads.
    ///
    /// # Errors
    /// When a place cannot be opened, or as [`Self::check_files`].
    pub fn from_settings(settings: &chassis::Settings) -> Result<Self, Unusable> {
        Self::check_files(settings)?;
        let master = master(settings)?;
        let payload_places = payloads::Places::open(&settings.payload_store)?;
        Ok(Self { master, payload_places, ..Self::from(settings) })
    }

    /// Refuses master keys, places of payloads and what outgoing calls need, where they cannot be used.
    /// Files are read; nothing is connected and nothing is made.
    ///
    /// # Errors
    /// When a file cannot be read, or a text names no place, no database or no mail server.
    pub fn check_files(settings: &chassis::Settings) -> Result<(), Unusable> {
        master(settings)?;
        payloads::Places::check(&settings.payload_store)?;
        Self::from(settings).connectors.check().map_err(|connectors::Unfit { setting, reason }| {
            Unusable::Connectors(settings.refusal(setting, reason))
        })
    }

    /// The pause between two progress messages for a delivery in progress.
    #[must_use]
    pub fn progress_every(&self) -> Duration {
        (self.ack_wait / 3).max(Duration::from_millis(1))
    }
}

/// The master keys of secrets in these settings.
fn master(settings: &chassis::Settings) -> Result<Option<vault::Master>, vault::Error> {
    let text = settings.secrets_key.as_ref().map(chassis::Secret::expose);
    vault::Master::load(settings.secrets_key_file.as_deref(), text)
}
