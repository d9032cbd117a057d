//! Settings that would make an unsafe service are refused, with what to do instead.

use super::{Auth, ConfigError, Settings};

/// Characters of an API key.
const KEY_CHARS_MIN: usize = 32;
/// Different characters of an API key, without separators.
const KEY_VARIETY_MIN: usize = 8;

/// Refuses what is unsafe.
///
/// # Errors
/// [`ConfigError::Unsafe`] says what is wrong and what to do.
pub(super) fn check(settings: &Settings) -> Result<(), ConfigError> {
    if let Some(key) = &settings.api_key
        && let Some(fault) = key_fault(key.expose())
    {
        return refuse(format!(
            "the api-key {fault}, so it can be guessed; use one from `openssl rand -hex 32`"
        ));
    }
    if !settings.serves("ingress") {
        return Ok(());
    }
    let listen = settings.listen;
    match settings.auth {
        Auth::None if !listen.ip().is_loopback() => refuse(format!(
            "refusing to listen on {listen} without authentication: whoever can reach it could \
             run workflows; set `auth` to api-key and `api-key` to the output of `openssl rand \
             -hex 32`, or to jwt, or listen on 127.0.0.1:{}",
            listen.port()
        )),
        Auth::Jwt if settings.jwks_url.is_none() => refuse(
            "`auth` is jwt, but it is not known whose tokens to trust; set `jwks-url`, and \
             `jwt-issuer` and `jwt-audience` with it"
                .to_owned(),
        ),
        Auth::None | Auth::ApiKey | Auth::Jwt => Ok(()),
    }
}

fn refuse(reason: String) -> Result<(), ConfigError> {
    Err(ConfigError::Unsafe(reason))
}

fn key_fault(key: &str) -> Option<String> {
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
