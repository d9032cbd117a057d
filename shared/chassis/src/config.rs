//! The settings of every role: what they are, where their values come from, and which are refused.
//!
//! A value comes from the command line, else from a variable `STAUNCH_<NAME>`, else from a TOML
//! file, else from its default. Every setting is known under one name: `nats-url` is the flag
//! `--nats-url`, the variable `STAUNCH_NATS_URL` and the key `nats-url`. To add one: add it to
//! [`Args`], to [`Settings`] and, with a default that is safe, to `Settings::resolve`.

mod safety;
mod source;
#[cfg(test)]
mod tests;
mod value;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use source::Sources;
pub use source::{Origin, Setting};
pub use value::{Auth, LogFormat, Misfire, Secret};

/// The file that is read when none is named and it is there.
const DEFAULT_FILE: &str = "staunch.toml";

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration file {path} cannot be read: {reason}")]
    File {
        /// Which.
        path: String,
        /// Why.
        reason: String,
    },
    /// The file has a key that means nothing.
    #[error("{path}: there is no setting {key:?}{}", hint(nearest))]
    Unknown {
        /// Which file.
        path: String,
        /// The key.
        key: String,
        /// A setting with a similar name.
        nearest: Option<&'static str>,
    },
    /// A value is none of those the setting can have.
    #[error("{name} = {text:?} from {origin}: {reason}")]
    Value {
        /// The setting.
        name: &'static str,
        /// The value; masked where it is a secret.
        text: String,
        /// Where it comes from.
        origin: Origin,
        /// What it should be.
        reason: String,
    },
    /// The values would make an unsafe service.
    #[error("{0}")]
    Unsafe(String),
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

/// Every setting, under the name that flags and files know it by.
const NAMES: [&str; 27] = [
    "role",
    "listen",
    "base-url",
    "nats-url",
    "nats-creds",
    "database-url",
    "provision",
    "auth",
    "api-key",
    "jwks-url",
    "jwt-issuer",
    "jwt-audience",
    "cors-origins",
    "max-body-bytes",
    "max-backlog",
    "log",
    "log-format",
    "otlp-endpoint",
    "node",
    "executor-concurrency",
    "lease-ttl",
    "ack-wait",
    "drain-seconds",
    "script-time-ms",
    "allow-private-addresses",
    "misfire",
    "timer-scan-seconds",
];

// The flags of every role; to be flattened into a command's arguments. What is not given stays
// `None` and is looked up elsewhere.
#[expect(missing_docs, reason = "clap would show them as what the whole command is about")]
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Settings")]
pub struct Args {
    /// Configuration file; `staunch.toml` when it is there
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Roles of this process, such as `ingress,executor`; `all` for every one
    #[arg(long, global = true, value_name = "ROLES")]
    pub role: Option<String>,
    /// Address and port that HTTP is served on
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// How callers from outside reach this address; `http://<listen>` when not set
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// NATS servers, separated by commas
    #[arg(long, global = true, value_name = "URL")]
    pub nats_url: Option<String>,
    /// NATS credentials file
    #[arg(long, global = true, value_name = "FILE")]
    pub nats_creds: Option<String>,
    /// Database: `sqlite://…` or `postgres://…`
    #[arg(long, global = true, value_name = "URL")]
    pub database_url: Option<String>,
    /// Creates what is missing in JetStream and the database at the start
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub provision: Option<String>,
    /// How callers prove who they are: `none`, `api-key` or `jwt`
    #[arg(long, global = true, value_name = "KIND")]
    pub auth: Option<String>,
    /// An API key that may do everything, to begin with
    #[arg(long, global = true, value_name = "KEY")]
    pub api_key: Option<String>,
    /// Where the keys of the identity provider are published
    #[arg(long, global = true, value_name = "URL")]
    pub jwks_url: Option<String>,
    /// The `iss` that tokens must have
    #[arg(long, global = true, value_name = "ISSUER")]
    pub jwt_issuer: Option<String>,
    /// The `aud` that tokens must have
    #[arg(long, global = true, value_name = "AUDIENCE")]
    pub jwt_audience: Option<String>,
    /// Origins of web pages that may call the API
    #[arg(long, global = true, value_name = "ORIGINS")]
    pub cors_origins: Option<String>,
    /// Bytes of a request's body
    #[arg(long, global = true, value_name = "BYTES")]
    pub max_body_bytes: Option<String>,
    /// Waiting commands above which the HTTP API accepts no more
    #[arg(long, global = true, value_name = "COUNT")]
    pub max_backlog: Option<String>,
    /// What is logged, such as `info` or `warn,executor=debug`
    #[arg(long, global = true, value_name = "FILTER")]
    pub log: Option<String>,
    /// The form of the log: `text` or `json`
    #[arg(long, global = true, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Where traces are sent by OTLP over HTTP, such as `http://localhost:4318`
    #[arg(long, global = true, value_name = "URL")]
    pub otlp_endpoint: Option<String>,
    /// The name of this node; host name and chance when not set
    #[arg(long, global = true, value_name = "NAME")]
    pub node: Option<String>,
    /// Instances that one executor works on at the same time
    #[arg(long, global = true, value_name = "COUNT")]
    pub executor_concurrency: Option<String>,
    /// How long a lease stands without being renewed
    #[arg(long, global = true, value_name = "TIME")]
    pub lease_ttl: Option<String>,
    /// How long a delivered command may go without a sign of life
    #[arg(long, global = true, value_name = "TIME")]
    pub ack_wait: Option<String>,
    /// Seconds that a stopping process has to finish what is in hand
    #[arg(long, global = true, value_name = "SECONDS")]
    pub drain_seconds: Option<String>,
    /// Milliseconds that one script may run
    #[arg(long, global = true, value_name = "MILLISECONDS")]
    pub script_time_ms: Option<String>,
    /// Lets workflows call private and loopback addresses
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub allow_private_addresses: Option<String>,
    /// What happens to missed occurrences of schedules: `fire_once`, `fire_all(<max>)` or `skip`
    #[arg(long, global = true, value_name = "POLICY")]
    pub misfire: Option<String>,
    /// Seconds between two looks for timers that no one announced
    #[arg(long, global = true, value_name = "SECONDS")]
    pub timer_scan_seconds: Option<String>,
    /// The role when none is given anywhere; a command's own affair.
    #[arg(skip)]
    pub default_role: Option<String>,
}

/// The settings in force.
#[derive(Clone)]
pub struct Settings {
    /// Roles of this process, such as `ingress,executor`; `all` for every one.
    pub role: Vec<String>,
    /// Address and port that HTTP is served on.
    pub listen: SocketAddr,
    /// How callers from outside reach this address; `http://<listen>` when not set.
    pub base_url: Option<String>,
    /// NATS servers, separated by commas.
    pub nats_url: String,
    /// NATS credentials file.
    pub nats_creds: Option<PathBuf>,
    /// Database: `sqlite://…` or `postgres://…`.
    pub database_url: String,
    /// Creates what is missing in JetStream and the database at the start.
    pub provision: bool,
    /// How callers prove who they are: `none`, `api-key` or `jwt`.
    pub auth: Auth,
    /// An API key that may do everything, to begin with.
    pub api_key: Option<Secret>,
    /// Where the keys of the identity provider are published.
    pub jwks_url: Option<String>,
    /// The `iss` that tokens must have.
    pub jwt_issuer: Option<String>,
    /// The `aud` that tokens must have.
    pub jwt_audience: Option<String>,
    /// Origins of web pages that may call the API.
    pub cors_origins: Vec<String>,
    /// Bytes of a request's body.
    pub max_body_bytes: usize,
    /// Waiting commands above which the HTTP API accepts no more.
    pub max_backlog: u64,
    /// What is logged, such as `info` or `warn,executor=debug`.
    pub log: String,
    /// The form of the log: `text` or `json`.
    pub log_format: LogFormat,
    /// Where traces are sent by OTLP over HTTP, such as `http://localhost:4318`.
    pub otlp_endpoint: Option<String>,
    /// The name of this node; host name and chance when not set.
    pub node: String,
    /// Instances that one executor works on at the same time.
    pub executor_concurrency: usize,
    /// How long a lease stands without being renewed.
    pub lease_ttl: Duration,
    /// How long a delivered command may go without a sign of life.
    pub ack_wait: Duration,
    /// Seconds that a stopping process has to finish what is in hand.
    pub drain_seconds: u64,
    /// Milliseconds that one script may run.
    pub script_time_ms: u64,
    /// Lets workflows call private and loopback addresses.
    pub allow_private_addresses: bool,
    /// What happens to missed occurrences of schedules: `fire_once`, `fire_all(<max>)` or `skip`.
    pub misfire: Misfire,
    /// Seconds between two looks for timers that no one announced.
    pub timer_scan_seconds: u64,
    all: Vec<Setting>,
}

impl Settings {
    /// Reads the settings of this process, with its environment.
    ///
    /// # Errors
    /// [`ConfigError`] when a value means nothing, or is not safe.
    #[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
    pub fn load(args: &Args) -> Result<Self, ConfigError> {
        Self::resolve(args, &|name| std::env::var(name).ok())
    }

    /// Reads the settings, with this environment.
    ///
    /// # Errors
    /// [`ConfigError`] when a value means nothing, or is not safe.
    pub fn resolve(
        args: &Args,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut from = Sources::open(args.config.as_deref(), &NAMES, variable)?;
        let role = args.default_role.as_deref().unwrap_or("all");
        let node = default_node(variable);
        let settings = Self {
            role: from.take("role", args.role.as_deref(), role)?,
            listen: from.take("listen", args.listen.as_deref(), "127.0.0.1:5001")?,
            base_url: from.take("base-url", args.base_url.as_deref(), "")?,
            nats_url: from.take("nats-url", args.nats_url.as_deref(), "nats://127.0.0.1:4222")?,
            nats_creds: from.take("nats-creds", args.nats_creds.as_deref(), "")?,
            database_url: from.take(
                "database-url",
                args.database_url.as_deref(),
                "sqlite://./.staunch/staunch.db?mode=rwc",
            )?,
            provision: from.take("provision", args.provision.as_deref(), "false")?,
            auth: from.take("auth", args.auth.as_deref(), "none")?,
            api_key: from.secret("api-key", args.api_key.as_deref(), "")?,
            jwks_url: from.take("jwks-url", args.jwks_url.as_deref(), "")?,
            jwt_issuer: from.take("jwt-issuer", args.jwt_issuer.as_deref(), "")?,
            jwt_audience: from.take("jwt-audience", args.jwt_audience.as_deref(), "")?,
            cors_origins: from.take("cors-origins", args.cors_origins.as_deref(), "")?,
            max_body_bytes: from.take(
                "max-body-bytes",
                args.max_body_bytes.as_deref(),
                "16777216",
            )?,
            max_backlog: from.take("max-backlog", args.max_backlog.as_deref(), "50000")?,
            log: from.take("log", args.log.as_deref(), "info")?,
            log_format: from.take("log-format", args.log_format.as_deref(), "text")?,
            otlp_endpoint: from.take("otlp-endpoint", args.otlp_endpoint.as_deref(), "")?,
            node: from.take("node", args.node.as_deref(), &node)?,
            executor_concurrency: from.take(
                "executor-concurrency",
                args.executor_concurrency.as_deref(),
                "256",
            )?,
            lease_ttl: from.take("lease-ttl", args.lease_ttl.as_deref(), "4s")?,
            ack_wait: from.take("ack-wait", args.ack_wait.as_deref(), "3s")?,
            drain_seconds: from.take("drain-seconds", args.drain_seconds.as_deref(), "30")?,
            script_time_ms: from.take("script-time-ms", args.script_time_ms.as_deref(), "1000")?,
            allow_private_addresses: from.take(
                "allow-private-addresses",
                args.allow_private_addresses.as_deref(),
                "false",
            )?,
            misfire: from.take("misfire", args.misfire.as_deref(), "fire_once")?,
            timer_scan_seconds: from.take(
                "timer-scan-seconds",
                args.timer_scan_seconds.as_deref(),
                "5",
            )?,
            all: from.into_settings(),
        };
        safety::check(&settings)?;
        Ok(settings)
    }

    /// Every setting in force with its origin; secrets and passwords are masked.
    #[must_use]
    pub fn all(&self) -> &[Setting] {
        &self.all
    }

    /// True when this process has the role.
    #[must_use]
    pub fn serves(&self, role: &str) -> bool {
        self.role.iter().any(|known| known == role || known == "all")
    }

    /// How callers from outside reach this process, without a slash at the end.
    #[must_use]
    pub fn public_url(&self) -> String {
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://{}", self.listen),
        }
    }

    /// How long draining may take.
    #[must_use]
    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds)
    }

    /// How long one script may run.
    #[must_use]
    pub fn script_time(&self) -> Duration {
        Duration::from_millis(self.script_time_ms)
    }

    /// How often timers are looked for.
    #[must_use]
    pub fn timer_scan(&self) -> Duration {
        Duration::from_secs(self.timer_scan_seconds)
    }
}

/// Shows what [`Settings::all`] shows: no secrets.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.all.iter().map(|one| (one.name, &one.value))).finish()
    }
}

/// The host's name and a little chance, so that two processes on one host differ.
fn default_node(variable: &dyn Fn(&str) -> Option<String>) -> String {
    let host = variable("HOSTNAME")
        .or_else(|| std::fs::read_to_string("/etc/hostname").ok())
        .unwrap_or_default();
    let host: String = host
        .trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' })
        .take(40)
        .collect();
    let host = if host.is_empty() { "node" } else { &host };
    format!("{host}-{:06x}", rand::random::<u32>() & 0x00ff_ffff)
}
