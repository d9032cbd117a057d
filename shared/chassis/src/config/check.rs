//! Refuses settings that cannot be applied, or would make an unsafe service, with advice.

use std::net::SocketAddr;
use std::time::Duration;

use super::error::{ConfigError, Origin};
use super::rules::{Need, RULES};
use super::settings::{BASE_URL, Settings};
use super::value::{Auth, Parse as _};
use super::web_url;
use crate::log_filter::check_log_filter;

/// The smallest length of an API key, in characters.
const KEY_CHARS_MIN: usize = 32;
/// The smallest number of different characters of an API key, without separators.
const KEY_VARIETY_MIN: usize = 8;
/// Settings that are no flags, what they hold, and their variables.
const NO_FLAGS: [(&str, &str, &str); 2] = [
    ("admin-password", "a password", "STAUNCH_ADMIN_PASSWORD"),
    ("secrets-key", "a master key", "STAUNCH_SECRETS_KEY"),
];

/// Refuses a text that its setting takes as any other, and that cannot be applied.
///
/// # Errors
/// [`ConfigError::Value`] says what it must be.
pub(super) fn texts(settings: &Settings) -> Result<(), ConfigError> {
    if settings.base_url.as_deref().is_some_and(is_pattern) {
        let reason =
            "must have the host that callers use, such as https://flows.example.com: a `*` \
                      stands for many hosts, and every link with it is dead"
                .to_owned();
        return Err(refused(settings, "base-url", reason));
    }
    let flaw = settings.base_url.as_deref().and_then(|url| web_url::unlinked(url, BASE_URL));
    if let Some(reason) = flaw {
        return Err(refused(settings, "base-url", reason));
    }
    let keys = [("api-key", &settings.api_key), ("metrics-key", &settings.metrics_key)];
    for (name, key) in keys {
        if let Some(reason) = key.as_ref().and_then(|key| unsendable(key.expose())) {
            return Err(refused(settings, name, reason));
        }
    }
    check_log_filter(&settings.log).map_err(|reason| refused(settings, "log", reason))
}

/// Why no request can carry this key; none if one can.
pub(super) fn unsendable(key: &str) -> Option<String> {
    key.chars().any(char::is_control).then(|| {
        "it has a line break or another control character, which no key has: give it without"
            .to_owned()
    })
}

/// Whether the host of a URL stands for many, as that of an ingress of Kubernetes may.
fn is_pattern(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|place| place.contains('*'))
}

impl Settings {
    /// The refusal of the value of a setting, with the value and where that is from.
    #[must_use]
    pub fn refusal(&self, name: &'static str, reason: impl Into<String>) -> ConfigError {
        refused(self, name, reason.into())
    }
}

/// The refusal of a setting, with its value and where that is from.
pub(super) fn refused(settings: &Settings, name: &'static str, reason: String) -> ConfigError {
    let setting = settings.all().iter().find(|one| one.name == name);
    let (text, origin) = setting
        .map_or((String::new(), Origin::Default), |one| (one.value.clone(), one.origin.clone()));
    let line = setting.and_then(|one| one.line);
    ConfigError::Value { name, text, origin, line, reason }
}

/// Refuses unsafe settings. The API key of a caller is none of a server: the server judges it.
///
/// # Errors
/// [`ConfigError`] has the reason and advice.
pub(super) fn safety(settings: &Settings, is_caller: bool) -> Result<(), ConfigError> {
    let keys = [
        ("api-key", settings.api_key.as_ref().filter(|_| !is_caller)),
        ("metrics-key", settings.metrics_key.as_ref()),
    ];
    for (name, key) in keys {
        if let Some(fault) = key.and_then(|key| key_fault(key.expose())) {
            let reason =
                format!("it {fault}, so it can be guessed; use one from `openssl rand -hex 32`");
            return Err(refused(settings, name, reason));
        }
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

/// Refuses settings that do not fit each other, as [`RULES`] says it.
///
/// # Errors
/// [`ConfigError::Unsafe`] has the reason and advice.
pub(super) fn together(settings: &Settings) -> Result<(), ConfigError> {
    for [one, other] in RULES.together {
        let (given, missing) = match (settings.is_given(one), settings.is_given(other)) {
            (true, false) => (one, other),
            (false, true) => (other, one),
            _ => continue,
        };
        return refuse(format!(
            "{given} is set and {missing} is not: a certificate and its key belong together, so set \
             {missing}, too, or leave {given} out"
        ));
    }
    for [one, other] in RULES.apart {
        if settings.is_given(one) && settings.is_given(other) {
            return refuse(format!("{one} and {other} are both set: set one of them"));
        }
    }
    for Need { setting, other, why } in RULES.needs {
        if settings.is_given(setting) && !settings.is_given(other) {
            return refuse(format!("{setting} is set and {other} is not: {why}"));
        }
    }
    for [least, name] in RULES.ascending {
        let time = |name: &str| Duration::parse(settings.shown(name)).ok();
        if time(least) > time(name) {
            let reason = format!("must be at least {least}, which is {}", settings.shown(least));
            return Err(refused(settings, name, reason));
        }
    }
    Ok(())
}

/// Refuses two servers of this process at one address.
///
/// # Errors
/// [`ConfigError::Unsafe`] has the reason and advice.
pub(super) fn addresses(settings: &Settings) -> Result<(), ConfigError> {
    let (listen, admin) = (settings.listen, settings.admin_listen);
    match admin.filter(|admin| settings.serves("ingress") && clash(listen, *admin)) {
        None => Ok(()),
        Some(admin) => refuse(format!(
            "listen is {listen} and admin-listen is {admin}: both cannot have the port {}; choose \
             another port for admin-listen, such as {}",
            admin.port(),
            admin.port().checked_add(1).unwrap_or(5002)
        )),
    }
}

/// Whether two servers cannot have these addresses at the same time. The port 0 stands for any.
fn clash(one: SocketAddr, other: SocketAddr) -> bool {
    // An unspecified address of IPv6 has those of IPv4, too.
    let covers = |one: SocketAddr, other: SocketAddr| {
        one.ip().is_unspecified() && (one.is_ipv6() || other.is_ipv4())
    };
    let is_same = one.ip() == other.ip() || covers(one, other) || covers(other, one);
    is_same && one.port() == other.port() && one.port() != 0
}

/// Refuses links without https where the settings ask for it.
///
/// # Errors
/// [`ConfigError::Unsafe`] has the reason and advice.
pub(super) fn gate(settings: &Settings) -> Result<(), ConfigError> {
    let base = settings.base_url.as_deref().unwrap_or_default();
    if settings.require_https && settings.tls_cert.is_none() && !base.starts_with("https://") {
        return refuse(
            "require-https is set, and links would begin with http://: set tls-cert and tls-key, \
             or base-url to the https:// address of the proxy (and trusted-proxies to its network)"
                .to_owned(),
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
