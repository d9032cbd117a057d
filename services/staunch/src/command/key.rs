//! `staunch key …`: creates, lists and removes API keys in the database, without a server.

use std::collections::BTreeSet;
use std::time::Duration;

use chassis::{Chance as _, Clock as _, SystemChance, SystemClock};
use clap::{Args, Subcommand};
use model::Timestamp;
use model::limits::{KEY_DAYS_MAX, KEY_NAME_BYTES_MAX, KEY_PERMISSIONS_MAX};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use store::{ApiKey, Store};

use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

#[derive(Args, Debug)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Creates a key and prints it; it is never shown again
    Create {
        /// The purpose of the key
        #[arg(value_parser = key_name)]
        name: String,
        /// Permissions, such as read:* or exec:workflow-definitions; * for all
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "*",
            value_name = "LIST",
            value_parser = permission
        )]
        permissions: Vec<String>,
        /// Days until it expires; without it, the key never expires
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=KEY_DAYS_MAX))]
        days: Option<u64>,
    },
    /// Lists keys, without their secrets
    Ls,
    /// Removes a key
    Rm {
        /// Its id
        id: String,
    },
}

impl Verb {
    /// The command changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self, Self::Ls)
    }
}

/// A name that describes the purpose of a key.
fn key_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() || name.len() > KEY_NAME_BYTES_MAX || name.contains(char::is_control) {
        return Err(format!("use 1 to {KEY_NAME_BYTES_MAX} bytes without control characters"));
    }
    Ok(name.to_owned())
}

/// A permission that some route requires, all permissions of one verb, or all.
pub(super) fn permission(text: &str) -> Result<String, String> {
    let text = text.trim();
    ingress::check_permission(text, &BTreeSet::new()).map(|()| text.to_owned())
}

/// Runs one of the `key` commands.
///
/// # Errors
/// When the database does not answer, or there is no such key.
pub(crate) async fn run(verb: Verb, store: &dyn Store, format: Format) -> Result<(), Failure> {
    match verb {
        Verb::Create { name, permissions, days } => {
            create(store, name, permissions, days, format).await
        }
        Verb::Ls => list(&store.keys().await?, format),
        Verb::Rm { id } => match store.delete_key(&id).await? {
            true => output::done(
                format,
                &format!("key {id} is removed"),
                &json!({"id": id, "removed": true}),
            ),
            false => {
                let why = format!("there is no key {id}; see `staunch key ls`");
                Err(Failure::new(Kind::NotFound, why))
            }
        },
    }
}

async fn create(
    store: &dyn Store,
    name: String,
    permissions: Vec<String>,
    days: Option<u64>,
    format: Format,
) -> Result<(), Failure> {
    if permissions.len() > KEY_PERMISSIONS_MAX {
        return Err(Failure::usage(format!("a key has at most {KEY_PERMISSIONS_MAX} permissions")));
    }
    let now = SystemClock.now();
    let (id, text) = drawn(&SystemChance.new_id(), SystemChance.seed());
    let expires_at = days.map(|days| now.after(Duration::from_secs(days.saturating_mul(86_400))));
    let (hash, user_id) = (hash(&text), None);
    let permissions = store::once(permissions);
    let key = ApiKey { id, name, hash, permissions, created_at: now, expires_at, user_id };
    let mut document = shown(&key);
    document["key"] = json!(text);
    store.save_key(key.clone()).await?;
    match format {
        Format::Json => output::json(&document),
        Format::Table => {
            say::message(&format!(
                "key {} is made; this is the only time that it is shown",
                key.id
            ));
            say::data(&text)
        }
    }
}

/// The id of a key, and its text: `stk_<id>_<256 bits>`.
fn drawn(id: &str, seed: [u8; 32]) -> (String, String) {
    // An id begins with its time; its end is random.
    let id = id.get(id.len().saturating_sub(12)..).unwrap_or(id).to_owned();
    let secret: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("stk_{id}_{secret}");
    (id, text)
}

/// Lowercase hex SHA-256: the part of a key that the database keeps.
fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn list(keys: &[ApiKey], format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&Value::Array(keys.iter().map(shown).collect()));
    }
    let rows: Vec<Vec<String>> = keys
        .iter()
        .map(|key| {
            let expires = key.expires_at.as_ref().map(Timestamp::to_string).unwrap_or_default();
            let (permissions, created) = (key.permissions.join(","), key.created_at.to_string());
            vec![key.id.clone(), key.name.clone(), permissions, created, expires]
        })
        .collect();
    output::table(&["ID", "NAME", "PERMISSIONS", "CREATED", "EXPIRES"], &rows)
}

fn shown(key: &ApiKey) -> Value {
    json!({
        "id": key.id, "name": key.name, "permissions": key.permissions,
        "createdAt": key.created_at, "expiresAt": key.expires_at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_is_one_that_a_route_asks_for() {
        for known in ["*", "read:*", "exec:workflow-definitions", " delete:api-keys "] {
            assert_eq!(permission(known).as_deref(), Ok(known.trim()));
        }
        let long = "x".repeat(70_000);
        for unknown in ["", "read", "read:", "fly:*", "read:everything", "READ:*", long.as_str()] {
            assert!(permission(unknown).unwrap_err().contains("read:workflow-instances"));
        }
    }

    #[test]
    fn a_name_is_short_text() {
        assert_eq!(key_name(" ci ").as_deref(), Ok("ci"));
        let long = "x".repeat(KEY_NAME_BYTES_MAX + 1);
        for name in ["", "  ", "a\u{1b}[31m", long.as_str()] {
            assert!(key_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_key_names_its_id_and_hides_behind_its_hash() {
        let (id, text) = drawn("0193f0a1b2c3d4e5f60718293a4b5c6d", [7; 32]);
        assert_eq!(id, "18293a4b5c6d".to_owned());
        assert!(text.starts_with("stk_18293a4b5c6d_0707"), "{text}");
        assert_eq!(hash("hello").get(..8), Some("2cf24dba"));
    }
}
