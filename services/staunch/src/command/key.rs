//! `staunch key …`: makes, lists and removes API keys, straight in the database.

use std::time::Duration;

use chassis::{Chance as _, Clock as _, SystemChance, SystemClock};
use clap::{Args, Subcommand};
use model::Timestamp;
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
    /// Makes a key and prints it, this once
    Create {
        /// What it is for
        name: String,
        /// What it may do, such as read:* or exec:workflow-definitions; everything when not given
        #[arg(long, value_delimiter = ',', default_value = "*", value_name = "LIST")]
        permissions: Vec<String>,
        /// Days until it is refused; never when not given
        #[arg(long, value_name = "DAYS")]
        days: Option<u64>,
    },
    /// Lists keys, without what is secret
    Ls,
    /// Removes a key
    Rm {
        /// Its id
        id: String,
    },
}

/// Does what is asked of keys.
///
/// # Errors
/// When the database does not answer, or there is no such key.
pub(crate) async fn run(verb: Verb, store: &dyn Store, format: Format) -> Result<(), Failure> {
    match verb {
        Verb::Create { name, permissions, days } => create(store, name, permissions, days).await,
        Verb::Ls => list(&store.keys().await?, format),
        Verb::Rm { id } => match store.delete_key(&id).await? {
            true => {
                say::talk(&format!("{id} is gone"));
                Ok(())
            }
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
) -> Result<(), Failure> {
    let now = SystemClock.now();
    let (id, text) = drawn(&SystemChance.new_id(), SystemChance.seed());
    let expires_at = days.map(|days| now.after(Duration::from_secs(days.saturating_mul(86_400))));
    let key = ApiKey { id, name, hash: hash(&text), permissions, created_at: now, expires_at };
    say::talk(&format!("key {} is made; it is shown only now", key.id));
    store.save_key(key).await?;
    say::data(&text)
}

/// A key's id, and its text: `stk_<id>_<256 bits>`.
fn drawn(id: &str, seed: [u8; 32]) -> (String, String) {
    // The end of the id is the part that chance has chosen.
    let id = id.get(id.len().saturating_sub(12)..).unwrap_or(id).to_owned();
    let secret: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("stk_{id}_{secret}");
    (id, text)
}

/// Lowercase hex SHA-256: what is kept of a key.
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
    fn a_key_names_its_id_and_hides_behind_its_hash() {
        let (id, text) = drawn("0193f0a1b2c3d4e5f60718293a4b5c6d", [7; 32]);
        assert_eq!(id, "18293a4b5c6d".to_owned());
        assert!(text.starts_with("stk_18293a4b5c6d_0707"), "{text}");
        assert_eq!(hash("hello").get(..8), Some("2cf24dba"));
    }
}
