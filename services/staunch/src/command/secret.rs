//! `staunch secret …`: secrets in the database, without a server.

use std::io::{IsTerminal as _, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chassis::{Chance as _, Clock as _, Settings, SystemChance, SystemClock};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use store::{Secret, Store};
use vault::{Error, Keeper, Master, VALUE_BYTES_MAX, is_encrypted_key, shown};

use super::role::note;
use crate::Failure;
use crate::failure::Kind;
use crate::output::{self, Format};

#[derive(Args, Debug)]
pub(crate) struct SecretArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Makes a secret or gives it another value; the value is read from a file, a prompt or standard
    /// input
    Set {
        /// Its name
        name: String,
        /// File with the value; - for standard input
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        /// Its purpose
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// Its group
        #[arg(long)]
        scope: Option<String>,
    },
    /// Lists secrets, without their values
    Ls,
    /// Removes a secret
    Rm {
        /// Its name
        #[arg(required_unless_present = "all")]
        name: Option<String>,
        /// Removes all secrets, and the key that opens what was made of them; no master key is needed
        #[arg(long, conflicts_with = "name")]
        all: bool,
    },
    /// Encrypts all keys by the first master key, so that the others can be taken away
    Rekey,
}

impl Verb {
    /// The command changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self, Self::Ls)
    }
}

/// Runs one of the `secret` commands.
///
/// # Errors
/// When the database does not answer, there is no master key, or no such secret.
pub(crate) async fn run(
    verb: Verb,
    store: Arc<dyn Store>,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    match verb {
        Verb::Set { name, file, description, scope } => {
            let keeper = keeper(&store, settings)?;
            let value = value(file.as_deref())?;
            let about = about(&name, description, scope);
            let (secret, is_new) = set(&keeper, about, &value).await?;
            let what = if is_new { "secret.create" } else { "secret.rotate" };
            note(&*store, what, &secret.name, json!({"version": secret.version})).await?;
            let sentence = format!("secret {} has version {}", secret.name, secret.version);
            output::done(format, &sentence, &document(&secret))
        }
        Verb::Ls => list(&store.secrets().await?, format),
        Verb::Rm { name: None, .. } => remove_all(&*store, format).await,
        Verb::Rm { name: Some(name), .. } => {
            let name = vault::normal(&name);
            let known = store.secret(&name).await?.filter(shown);
            if known.is_none() || !store.delete_secret(&name).await? {
                return Err(failure(Error::Unknown(name)));
            }
            note(&*store, "secret.delete", &name, Value::Null).await?;
            let done = json!({"name": name, "removed": true});
            output::done(format, &format!("secret {name} is removed"), &done)
        }
        Verb::Rekey => {
            let keys = keeper(&store, settings)?.rekey().await.map_err(failure)?;
            note(&*store, "secret.rekey", "all", json!({"keys": keys})).await?;
            let sentence = output::counted(keys as u64, "key is", "keys are");
            let sentence = format!("{sentence} encrypted by the first master key now");
            output::done(format, &sentence, &json!({"keys": keys}))
        }
    }
}

/// Removes all secrets, the key of the installation, and the signing keys that it encrypts.
async fn remove_all(store: &dyn Store, format: Format) -> Result<(), Failure> {
    let rows = store.secrets().await?;
    for key in store.signing_keys().await? {
        if is_encrypted_key(&key.secret) {
            store.delete_signing_key(&key.id).await?;
        }
    }
    for row in &rows {
        store.delete_secret(&row.name).await?;
    }
    let count = rows.iter().filter(|row| shown(row)).count();
    note(store, "secret.delete", "all", json!({"secrets": count})).await?;
    output::done(format, &gone(count), &json!({"removed": count}))
}

/// How many secrets are removed.
fn gone(count: usize) -> String {
    let removed = output::counted(count as u64, "secret is removed", "secrets are removed");
    format!("{removed}; what was made of secrets cannot be opened")
}

async fn set(keeper: &Keeper, about: Secret, value: &str) -> Result<(Secret, bool), Failure> {
    match keeper.create(about.clone(), value).await {
        Ok(made) => return Ok((made, true)),
        Err(Error::Taken(_)) => {}
        Err(error) => return Err(failure(error)),
    }
    let change = |secret: &mut Secret| {
        secret.description = about.description.or(secret.description.take());
        secret.scope = about.scope.or(secret.scope.take());
        secret.is_revoked = false;
        secret.expires_at = None;
        secret.updated_at = Some(about.created_at);
    };
    let changed = keeper.rotate(&about.name, value, change).await;
    changed.map(|secret| (secret, false)).map_err(failure)
}

fn about(name: &str, description: Option<String>, scope: Option<String>) -> Secret {
    Secret {
        name: name.to_owned(),
        id: SystemChance.new_id(),
        display_name: name.to_owned(),
        description,
        type_name: "Text".to_owned(),
        scope,
        tags: Vec::new(),
        is_revoked: false,
        version: 1,
        created_at: SystemClock.now(),
        updated_at: None,
        expires_at: None,
        wrapped_key: String::new(),
        ciphertext: String::new(),
    }
}

/// The master keys of these settings.
///
/// # Errors
/// When they cannot be read.
fn master(settings: &Settings) -> Result<Option<Master>, Failure> {
    let text = settings.secrets_key.as_ref().map(chassis::Secret::expose);
    Master::load(settings.secrets_key_file.as_deref(), text).map_err(failure)
}

/// The keeper of the secrets in this database, if the settings have master keys.
///
/// # Errors
/// When they cannot be read.
pub(crate) fn keeper_if_any(
    store: &Arc<dyn Store>,
    settings: &Settings,
) -> Result<Option<Keeper>, Failure> {
    Ok(master(settings)?.map(|master| Keeper::new(Arc::clone(store), master)))
}

fn keeper(store: &Arc<dyn Store>, settings: &Settings) -> Result<Keeper, Failure> {
    keeper_if_any(store, settings)?.ok_or_else(|| {
        Failure::usage(
            "there is no master key: give --secrets-key-file or STAUNCH_SECRETS_KEY, such as \
             `openssl rand -base64 32` makes",
        )
    })
}

/// The value, which is no argument: other processes could read it.
fn value(file: Option<&Path>) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    let read = match file {
        Some(file) if file != Path::new("-") => {
            let opened = std::fs::File::open(file);
            opened.map_err(|error| error.to_string()).and_then(read)
        }
        None if stdin.is_terminal() => rpassword::prompt_password("Value: ")
            .map_err(|error| format!("nobody answers: {error}")),
        _ => read(stdin.lock()),
    };
    read.map_err(|why| Failure::usage(format!("the value cannot be read: {why}")))
}

/// The text of a reader without one line break at its end.
fn read(from: impl Read) -> Result<String, String> {
    let limit = u64::try_from(VALUE_BYTES_MAX + 3).unwrap_or(u64::MAX);
    let mut text = String::new();
    from.take(limit).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let value = text.strip_suffix('\n').unwrap_or(&text);
    Ok(value.strip_suffix('\r').unwrap_or(value).to_owned())
}

/// The failure of a command.
pub(crate) fn failure(error: Error) -> Failure {
    match error {
        Error::Store(error) => error.into(),
        Error::Invalid(why) => Failure::usage(why),
        Error::Unknown(_) => Failure::new(Kind::NotFound, error.to_string()),
        Error::Taken(_) | Error::Changed => Failure::new(Kind::Conflict, error.to_string()),
        Error::Locked(why) => Failure::failed(why),
    }
}

fn list(secrets: &[Secret], format: Format) -> Result<(), Failure> {
    let secrets = secrets.iter().filter(|secret| shown(secret));
    if format == Format::Json {
        return output::json(&Value::Array(secrets.map(document).collect()));
    }
    let row = |secret: &Secret| {
        let scope = secret.scope.clone().unwrap_or_default();
        let state = if secret.is_revoked { "revoked" } else { "active" };
        vec![secret.name.clone(), secret.version.to_string(), scope, state.to_owned()]
    };
    let rows: Vec<Vec<String>> = secrets.map(row).collect();
    output::table(&["NAME", "VERSION", "SCOPE", "STATE"], &rows)
}

fn document(secret: &Secret) -> Value {
    json!({
        "name": secret.name, "description": secret.description, "scope": secret.scope,
        "version": secret.version, "isRevoked": secret.is_revoked,
        "createdAt": secret.created_at, "updatedAt": secret.updated_at,
        "expiresAt": secret.expires_at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_removed_secret_is_not_said_to_be_several() {
        assert!(gone(1).starts_with("1 secret is removed; "));
        assert!(gone(0).starts_with("0 secrets are removed; "));
    }

    #[test]
    fn one_line_break_at_the_end_is_no_part_of_a_value() {
        for (text, value) in [("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a\nb", "a\nb")] {
            assert_eq!(read(text.as_bytes()).unwrap(), value);
        }
    }
}
