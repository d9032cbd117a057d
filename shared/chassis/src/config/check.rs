//! Refuses settings that are out of bounds, or would make an unsafe service, with advice.

use std::time::Duration;

use model::limits;

use super::error::{ConfigError, Origin};
use super::settings::Settings;
use super::value::Auth;

/// The smallest length of an API key, in characters.
const KEY_CHARS_MIN: usize = 32;
/// The smallest number of different characters of an API key, without separators.
const KEY_VARIETY_MIN: usize = 8;
/// Settings that are no flags, what they hold, and their variables.
const NO_FLAGS: [(&str, &str, &str); 2] = [
    ("admin-password", "a password", "STAUNCH_ADMIN_PASSWORD"),
    ("secrets-key", "a master key", "STAUNCH_SECRETS_KEY"),
];
/// A shorter lease would be lost by a short pause of its holder.
const LEASE_TTL_MIN: Duration = Duration::from_secs(1);
/// A longer lease would keep the work of a killed node from the others.
const LEASE_TTL_MAX: Duration = Duration::from_secs(60);

/// More connections of one node than a PostgreSQL server has for all.
const CONNECTIONS_MAX: u32 = 1_000;
/// More than any disk commits at the same time.
const COMMITTERS_MAX: usize = 32;
/// Waits for servers. A shorter one would not outlast a busy moment, a longer one would hide a failure.
const DATABASE_WAIT_MIN: Duration = Duration::from_millis(100);
const DATABASE_WAIT_MAX: Duration = Duration::from_secs(60);
const SERVER_TIME_MIN: Duration = Duration::from_secs(1);
const SERVER_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// The times are days, and a look costs little.
const RETAIN_EVERY_SECONDS_MAX: u64 = 24 * 60 * 60;
/// A longer delay would keep a release from its end.
const DRAIN_DELAY_MAX: Duration = Duration::from_secs(300);
/// A shorter wait would lose events to the clocks of two nodes.
const PAYLOAD_BYTES_MIN: u64 = 1024 * 1024;
/// The largest limit for payloads: one is read and written in order, a part at a time.
const PAYLOAD_BYTES_MOST: u64 = 4 * 1024 * 1024 * 1024;
/// The shortest time for which a payload without an instance is kept.
const PAYLOAD_KEPT_MIN: Duration = Duration::from_secs(60 * 60);
const EVENT_WAIT_MIN: Duration = Duration::from_secs(1);
/// Rows that wait for longer would fill the database.
const EVENT_WAIT_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// A longer life of a token would keep the access of a stolen one.
const TOKEN_TIME_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Refuses a value that could not be applied as it is given.
///
/// # Errors
/// [`ConfigError::Value`] names the limit and its reason.
pub(super) fn bounds(settings: &Settings) -> Result<(), ConfigError> {
    let max = limits::JSON_BODY_BYTES_MOST;
    if settings.max_body_bytes > max {
        let reason = format!("must be at most {max}: a body is read into memory");
        return Err(out_of_bounds(settings, "max-body-bytes", reason));
    }
    if settings.base_url.as_deref().is_some_and(is_pattern) {
        let reason =
            "must have the host that callers use, such as https://flows.example.com: a `*` \
                      stands for many hosts, and every link with it is dead"
                .to_owned();
        return Err(out_of_bounds(settings, "base-url", reason));
    }
    let max = limits::ACK_WAIT;
    if settings.ack_wait > max {
        let reason = format!(
            "must be at most {max:?}: the consumer `executor` delivers a command again after that"
        );
        return Err(out_of_bounds(settings, "ack-wait", reason));
    }
    if settings.executor_steps_max == 0 {
        let reason = "must be at least 1: no instance could run".to_owned();
        return Err(out_of_bounds(settings, "executor-steps-max", reason));
    }
    if !(PAYLOAD_BYTES_MIN..=PAYLOAD_BYTES_MOST).contains(&settings.payload_bytes) {
        let reason = format!("must be between {PAYLOAD_BYTES_MIN} and {PAYLOAD_BYTES_MOST}");
        return Err(out_of_bounds(settings, "payload-bytes", reason));
    }
    let above = limits::PAYLOAD_ABOVE_BYTES_MIN..=limits::PAYLOAD_ABOVE_BYTES;
    if !above.contains(&settings.payload_above) {
        let reason = format!("must be between {} and {}", above.start(), above.end());
        return Err(out_of_bounds(settings, "payload-above", reason));
    }
    if !(PAYLOAD_KEPT_MIN..=EVENT_WAIT_MAX).contains(&settings.payload_kept) {
        let reason = "must be between 1h and 720h".to_owned();
        return Err(out_of_bounds(settings, "payload-kept", reason));
    }
    if !(LEASE_TTL_MIN..=LEASE_TTL_MAX).contains(&settings.presence_ttl) {
        let reason = format!("must be between {LEASE_TTL_MIN:?} and {LEASE_TTL_MAX:?}");
        return Err(out_of_bounds(settings, "presence-ttl", reason));
    }
    if settings.lease_wait > LEASE_TTL_MAX {
        let reason = format!("must be at most {LEASE_TTL_MAX:?}");
        return Err(out_of_bounds(settings, "lease-wait", reason));
    }
    if !(1..=CONNECTIONS_MAX).contains(&settings.database_connections) {
        let reason = format!("must be between 1 and {CONNECTIONS_MAX}");
        return Err(out_of_bounds(settings, "database-connections", reason));
    }
    servers(settings)?;
    if settings.drain_delay.0 > DRAIN_DELAY_MAX {
        let reason = "must be at most 5m".to_owned();
        return Err(out_of_bounds(settings, "drain-delay", reason));
    }
    let retained = [
        ("retain-finished", settings.retain_finished),
        ("retain-cancelled", settings.retain_cancelled),
        ("retain-faulted", settings.retain_faulted),
        ("retain-audit", settings.retain_audit),
        ("retain-dead", settings.retain_dead),
    ];
    let min = limits::RETENTION_MIN;
    if let Some((name, _)) = retained.into_iter().find(|(_, time)| time.is_some_and(|t| t < min)) {
        let reason = "must be at least 1h; leave it out to keep all".to_owned();
        return Err(out_of_bounds(settings, name, reason));
    }
    if !(1..=RETAIN_EVERY_SECONDS_MAX).contains(&settings.retain_every_seconds) {
        let reason = format!("must be between 1 and {RETAIN_EVERY_SECONDS_MAX}");
        return Err(out_of_bounds(settings, "retain-every-seconds", reason));
    }
    if !(EVENT_WAIT_MIN..=EVENT_WAIT_MAX).contains(&settings.event_wait) {
        let reason = "must be between 1s and 720h".to_owned();
        return Err(out_of_bounds(settings, "event-wait", reason));
    }
    if !(LEASE_TTL_MIN..=LEASE_TTL_MAX).contains(&settings.lease_ttl) {
        let reason = format!("must be between {LEASE_TTL_MIN:?} and {LEASE_TTL_MAX:?}");
        return Err(out_of_bounds(settings, "lease-ttl", reason));
    }
    Ok(())
}

/// Whether the host of a URL stands for many, as that of an ingress of Kubernetes may.
fn is_pattern(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|place| place.contains('*'))
}

/// Refuses waits for NATS and the database that could not work.
fn servers(settings: &Settings) -> Result<(), ConfigError> {
    if !(1..=COMMITTERS_MAX).contains(&settings.database_committers) {
        let reason = format!("must be between 1 and {COMMITTERS_MAX}");
        return Err(out_of_bounds(settings, "database-committers", reason));
    }
    if !(DATABASE_WAIT_MIN..=DATABASE_WAIT_MAX).contains(&settings.database_wait) {
        let reason = "must be between 100ms and 1m".to_owned();
        return Err(out_of_bounds(settings, "database-wait", reason));
    }
    let times = [
        ("database-statement-time", settings.database_statement_time),
        ("nats-wait", settings.nats_wait),
    ];
    for (name, time) in times {
        if !(SERVER_TIME_MIN..=SERVER_TIME_MAX).contains(&time) {
            let reason = "must be between 1s and 10m".to_owned();
            return Err(out_of_bounds(settings, name, reason));
        }
    }
    Ok(())
}

/// Refuses lifetimes of tokens that could not work.
///
/// # Errors
/// [`ConfigError::Value`] names the limit and its reason.
pub(super) fn tokens(settings: &Settings) -> Result<(), ConfigError> {
    if settings.access_token_time > TOKEN_TIME_MAX {
        let reason = "must be at most 720h".to_owned();
        return Err(out_of_bounds(settings, "access-token-time", reason));
    }
    if !(settings.access_token_time..=TOKEN_TIME_MAX).contains(&settings.refresh_token_time) {
        let reason =
            "must be between access-token-time and 720h: a session ends with it".to_owned();
        return Err(out_of_bounds(settings, "refresh-token-time", reason));
    }
    Ok(())
}

/// The refusal of a setting, with its value and where that is from.
pub(super) fn out_of_bounds(
    settings: &Settings,
    name: &'static str,
    reason: String,
) -> ConfigError {
    let setting = settings.all().iter().find(|one| one.name == name);
    let (text, origin) = setting
        .map_or((String::new(), Origin::Default), |one| (one.value.clone(), one.origin.clone()));
    ConfigError::Value { name, text, origin, reason }
}

/// Refuses unsafe settings.
///
/// # Errors
/// [`ConfigError::Unsafe`] has the reason and advice.
pub(super) fn safety(settings: &Settings) -> Result<(), ConfigError> {
    if let Some(key) = &settings.api_key
        && let Some(fault) = key_fault(key.expose())
    {
        return refuse(format!(
            "the api-key {fault}, so it can be guessed; use one from `openssl rand -hex 32`"
        ));
    }
    if let Some(key) = &settings.metrics_key
        && let Some(fault) = key_fault(key.expose())
    {
        return refuse(format!(
            "the metrics-key {fault}, so it can be guessed; use one from `openssl rand -hex 32`"
        ));
    }
    let is_flag =
        |name| settings.all().iter().any(|one| one.name == name && one.origin == Origin::Flag);
    for (name, what, variable) in NO_FLAGS {
        if is_flag(name) {
            return refuse(format!(
                "{what} on the command line is visible to every process of this machine; use \
                 --{name}-file or the variable {variable}"
            ));
        }
    }
    let listen = settings.listen;
    let is_open = settings.auth == Auth::NONE && !listen.ip().is_loopback();
    if settings.serves("ingress") && is_open {
        return refuse(format!(
            "refusing to listen on {listen} without authentication: whoever can reach it could \
             run workflows; set `auth` to api-key (or identity, oidc) and `api-key` to the output of `openssl rand \
             -hex 32`, or listen on 127.0.0.1:{}",
            listen.port()
        ));
    }
    Ok(())
}

/// Refuses settings of the gateway that do not fit each other.
///
/// # Errors
/// [`ConfigError::Unsafe`] has the reason and advice.
pub(super) fn gate(settings: &Settings) -> Result<(), ConfigError> {
    let (cert, key) = (settings.tls_cert.is_some(), settings.tls_key.is_some());
    if cert != key {
        let (given, missing) = if cert { ("tls-cert", "tls-key") } else { ("tls-key", "tls-cert") };
        return refuse(format!("{given} is set and {missing} is not: TLS needs both files"));
    }
    let base = settings.base_url.as_deref().unwrap_or_default();
    if settings.require_https && !cert && !base.starts_with("https://") {
        return refuse(
            "require-https is set, and links would begin with http://: set tls-cert and tls-key, \
             or base-url to the https:// address of the proxy (and trusted-proxies to its network)"
                .to_owned(),
        );
    }
    if settings.tls_client_ca.is_some() && !cert {
        return refuse(
            "tls-client-ca is set without tls-cert and tls-key: client certificates need TLS"
                .to_owned(),
        );
    }
    if settings.tls_client_ca.is_none() && !settings.is_default("tls-client-auth") {
        return refuse(
            "tls-client-auth is set without tls-client-ca: name the file with the authorities of \
             the client certificates"
                .to_owned(),
        );
    }
    if settings.nats_tls_cert.is_some() != settings.nats_tls_key.is_some() {
        return refuse(
            "nats-tls-cert and nats-tls-key belong together: set both, or neither".to_owned(),
        );
    }
    Ok(())
}

fn refuse(reason: String) -> Result<(), ConfigError> {
    Err(ConfigError::Unsafe(reason))
}

pub(crate) fn key_fault(key: &str) -> Option<String> {
    if key.chars().count() < KEY_CHARS_MIN {
        return Some(format!("has fewer than {KEY_CHARS_MIN} characters"));
    }
    let mut characters: Vec<char> = key.chars().filter(|c| c.is_alphanumeric()).collect();
    characters.sort_unstable();
    characters.dedup();
    let known = ["0123456789abcdef0123456789abcdef", "changeme", "password", "secret", "example"];
    if characters.len() < KEY_VARIETY_MIN {
        return Some("has hardly any different characters".to_owned());
    }
    let lower = key.to_lowercase();
    known.iter().any(|word| lower.starts_with(word)).then(|| "is well known".to_owned())
}
