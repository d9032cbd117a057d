//! `staunch signing-key …`: the keys in the database that sign the tokens of logins.

use std::sync::Arc;

use chassis::{Chance as _, Clock as _, Settings, SystemChance, SystemClock};
use clap::{Args, Subcommand};
use ingress::secret;
use model::Timestamp;
use serde_json::{Value, json};
use store::{SigningKey, Store};

use super::role::note;
use super::secret::{failure, keeper_if_any};
use crate::Failure;
use crate::failure::Kind;
use crate::output::{self, Format};

#[derive(Args, Debug)]
pub(crate) struct SigningKeyArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Makes a new key, which signs from now on; tokens of the others stay valid
    Rotate,
    /// Lists keys, without their secrets
    Ls,
    /// Removes a key: every token that it has signed is refused within 10 s
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

/// Runs one of the `signing-key` commands.
///
/// # Errors
/// When the database does not answer, the master key is wrong, or there is no such key.
pub(crate) async fn run(
    verb: Verb,
    shared: Arc<dyn Store>,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    let store = &*shared;
    match verb {
        Verb::Rotate => {
            let now = SystemClock.now();
            let id = secret::short_id(&SystemChance.new_id());
            let drawn = SystemChance.seed();
            let secret = match keeper_if_any(&shared, settings)? {
                Some(keeper) => keeper.encrypt_key(&id, &drawn, now).await.map_err(failure)?,
                // A key in clear must not come in by forgetting the master key.
                None => {
                    vault::check_start(store, None).await.map_err(failure)?;
                    drawn.to_vec()
                }
            };
            let key = SigningKey { id, secret, created_at: now, retired_at: None };
            store.add_signing_key(&key).await?;
            store.retire_signing_keys(&key.id, now).await?;
            note(store, "signing-key.rotate", &key.id, Value::Null).await?;
            output::done(format, &format!("key {} signs within 10 s", key.id), &shown(&key))
        }
        Verb::Ls => list(&store.signing_keys().await?, format),
        Verb::Rm { id } => {
            if !store.delete_signing_key(&id).await? {
                let why = format!("there is no key {id}; see `staunch signing-key ls`");
                return Err(Failure::new(Kind::NotFound, why));
            }
            note(store, "signing-key.delete", &id, Value::Null).await?;
            let document = json!({"id": id, "removed": true});
            output::done(format, &format!("key {id} is removed"), &document)
        }
    }
}

fn list(keys: &[SigningKey], format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&Value::Array(keys.iter().map(shown).collect()));
    }
    let row = |key: &SigningKey| {
        let retired = key.retired_at.as_ref().map(Timestamp::to_string).unwrap_or_default();
        vec![key.id.clone(), key.created_at.to_string(), retired]
    };
    let rows: Vec<Vec<String>> = keys.iter().map(row).collect();
    output::table(&["ID", "CREATED", "RETIRED"], &rows)
}

fn shown(key: &SigningKey) -> Value {
    json!({"id": key.id, "createdAt": key.created_at, "retiredAt": key.retired_at})
}
