//! Reads and writes secrets.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use model::Timestamp;
use store::{Rewrapped, Secret, Store};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::aead::Key;
use crate::opened::Entry;
use crate::{Error, Master, Opened, Watched};

/// The number of secrets of an installation: each node has them in memory.
pub const SECRETS_MAX: usize = 1_000;
/// Bytes of a value.
pub const VALUE_BYTES_MAX: usize = 64 * 1024;
/// Characters of a name.
pub const NAME_CHARS_MAX: usize = 200;
/// How long what was read is used: a change is seen everywhere after this time.
const FRESH: Duration = Duration::from_secs(1);
/// The shortest time between two reads for names that were not found.
const READ_PAUSE: Duration = Duration::from_millis(100);
/// The row with the key that seals. It is no name of a secret.
const SEALING: &str = ".sealing";

/// Reads and writes secrets with the master keys.
pub struct Keeper {
    store: Arc<dyn Store>,
    master: Master,
    /// What was read, and when that began.
    read: Mutex<Option<(Instant, Arc<Opened>)>>,
    /// Held by the one that reads for a name that was not found.
    reading: Mutex<()>,
}

impl Keeper {
    /// Over this database.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, master: Master) -> Self {
        Self { store, master, read: Mutex::new(None), reading: Mutex::new(()) }
    }

    /// The secrets, as they were at most a second ago.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn current(&self, now: Timestamp) -> Result<Arc<Opened>, Error> {
        let mut read = self.read.lock().await;
        if let Some((_, opened)) = read.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(Arc::clone(opened));
        }
        let began = Instant::now();
        let opened = Arc::new(self.open(now).await?);
        *read = Some((began, Arc::clone(&opened)));
        Ok(opened)
    }

    /// The secrets for one turn, as they were at most a second ago. Where the turn has read a name that
    /// was not there, [`Self::has_come`] says whether it is to be run again.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn for_turn(&self, now: Timestamp) -> Result<Arc<Watched>, Error> {
        let begun = Instant::now();
        Ok(Arc::new(Watched::new(self.current(now).await?, begun)))
    }

    /// Whether a secret that a turn has not found is there now: one that was made before the turn began
    /// always is. The database is read only for a name that was not found, and ten times a second at
    /// most, for all turns together; this waits for that.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn has_come(&self, turn: &Watched, now: Timestamp) -> Result<bool, Error> {
        let missed = turn.missed();
        if missed.is_empty() {
            return Ok(false);
        }
        let opened = self.since(turn.begun, now).await?;
        Ok(missed.iter().any(|name| opened.has(name)))
    }

    /// The secrets as they are now. The database is read ten times a second at most: this waits for that.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn fresh(&self, now: Timestamp) -> Result<Arc<Opened>, Error> {
        self.since(Instant::now(), now).await
    }

    /// The secrets as they were after this time.
    async fn since(&self, begun: Instant, now: Timestamp) -> Result<Arc<Opened>, Error> {
        let _reading = self.reading.lock().await;
        let last = self.read.lock().await.clone();
        if let Some((began, opened)) = last {
            if began > begun {
                return Ok(opened);
            }
            tokio::time::sleep_until(began + READ_PAUSE).await;
        }
        let began = Instant::now();
        let opened = Arc::new(self.open(now).await?);
        let mut read = self.read.lock().await;
        if read.as_ref().is_none_or(|(known, _)| *known <= began) {
            *read = Some((began, Arc::clone(&opened)));
        }
        Ok(opened)
    }

    async fn open(&self, now: Timestamp) -> Result<Opened, Error> {
        let mut entries = BTreeMap::new();
        let mut sealing = Ok(None);
        for row in self.store.secrets().await? {
            if row.name == SEALING {
                let key = self.master.unwrap(&row.wrapped_key, SEALING);
                sealing = key.map(Some).map_err(|error| error.to_string());
                continue;
            }
            let value = match row.is_revoked {
                true => Err(format!("the secret {:?} is revoked", row.name)),
                false => self.value(&row).map_err(|error| error.to_string()),
            };
            entries.insert(row.name, Entry { value, expires_at: row.expires_at });
        }
        Ok(Opened { entries, sealing, at: now })
    }

    fn value(&self, row: &Secret) -> Result<String, Error> {
        let key = self.master.unwrap(&row.wrapped_key, &row.name)?;
        let bytes = key.decrypt(&row.ciphertext, &context(row));
        let value = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        value.ok_or_else(|| Error::Locked(format!("the secret {:?} is damaged", row.name)))
    }

    /// Keeps a new secret; what is said about it is in `about`.
    ///
    /// # Errors
    /// When there is one with its name, or the name or the value is not possible.
    pub async fn create(&self, about: Secret, value: &str) -> Result<Secret, Error> {
        let name = normal(&about.name);
        check(&name, value)?;
        // One row is the key that seals.
        if self.store.secrets().await?.len() > SECRETS_MAX {
            return Err(Error::Invalid(format!("there are {SECRETS_MAX} secrets: remove some")));
        }
        self.make_sealing_key(about.created_at).await?;
        let secret = self.encrypted(Secret { name, version: 1, ..about }, value)?;
        match self.store.create_secret(&secret).await? {
            true => Ok(secret),
            false => Err(Error::Taken(secret.name)),
        }
    }

    /// Gives a secret another value, and what `change` says about it.
    ///
    /// # Errors
    /// When there is none, it has been changed meanwhile, or the value is not possible.
    pub async fn rotate(
        &self,
        name: &str,
        value: &str,
        change: impl FnOnce(&mut Secret),
    ) -> Result<Secret, Error> {
        let before = self.get(name).await?;
        check(&before.name, value)?;
        let mut after = Secret { version: before.version + 1, ..before.clone() };
        change(&mut after);
        let after = self.encrypted(after, value)?;
        self.replace(&before, after).await
    }

    /// Changes what is known about a secret, and not its value.
    ///
    /// # Errors
    /// When there is none, or it has been changed meanwhile.
    pub async fn describe(
        &self,
        name: &str,
        change: impl FnOnce(&mut Secret),
    ) -> Result<Secret, Error> {
        let before = self.get(name).await?;
        let key = self.master.unwrap(&before.wrapped_key, &before.name)?;
        let mut after = before.clone();
        change(&mut after);
        after.wrapped_key = self.master.wrap(&key, &before.name)?;
        self.replace(&before, after).await
    }

    async fn replace(&self, before: &Secret, after: Secret) -> Result<Secret, Error> {
        match self.store.replace_secret(before, &after).await? {
            true => Ok(after),
            false => Err(Error::Changed),
        }
    }

    /// The secret of this name, without its value.
    ///
    /// # Errors
    /// When there is none.
    pub async fn get(&self, name: &str) -> Result<Secret, Error> {
        let name = normal(name);
        let found = self.store.secret(&name).await?.filter(|one| one.name != SEALING);
        found.ok_or(Error::Unknown(name))
    }

    /// Decrypts the value of a secret, to find out whether that is possible.
    ///
    /// # Errors
    /// When it is not.
    pub async fn test(&self, name: &str) -> Result<(), Error> {
        self.value(&self.get(name).await?).map(drop)
    }

    /// Wraps all keys by the newest master key; returns how many had another.
    ///
    /// # Errors
    /// When a key cannot be unwrapped, or one is changed meanwhile; then nothing has changed.
    pub async fn rekey(&self) -> Result<usize, Error> {
        let mut changes = Vec::new();
        for row in self.store.secrets().await? {
            if self.master.is_newest(&row.wrapped_key, &row.name) {
                continue;
            }
            let key = self.master.unwrap(&row.wrapped_key, &row.name)?;
            let to = self.master.wrap(&key, &row.name)?;
            changes.push(Rewrapped { name: row.name, from: row.wrapped_key, to });
        }
        match self.store.rewrap_secrets(&changes).await? {
            true => Ok(changes.len()),
            false => Err(Error::Changed),
        }
    }

    fn encrypted(&self, secret: Secret, value: &str) -> Result<Secret, Error> {
        let key = Key::fresh()?;
        let ciphertext = key.encrypt(value.as_bytes(), &context(&secret))?;
        let wrapped_key = self.master.wrap(&key, &secret.name)?;
        Ok(Secret { ciphertext, wrapped_key, ..secret })
    }

    /// The key of the installation, made if there is none.
    pub(crate) async fn installation_key(&self, now: Timestamp) -> Result<Key, Error> {
        self.make_sealing_key(now).await?;
        self.known_installation_key().await
    }

    /// The key of the installation.
    pub(crate) async fn known_installation_key(&self) -> Result<Key, Error> {
        let row = self.store.secret(SEALING).await?;
        let row = row.ok_or_else(|| {
            Error::Locked("the key of the installation is gone from the database".to_owned())
        })?;
        self.master.unwrap(&row.wrapped_key, SEALING)
    }

    /// Makes the key that seals, if there is none.
    async fn make_sealing_key(&self, now: Timestamp) -> Result<(), Error> {
        if let Some(row) = self.store.secret(SEALING).await? {
            return self.master.unwrap(&row.wrapped_key, SEALING).map(drop);
        }
        let row = Secret {
            name: SEALING.to_owned(),
            id: SEALING.to_owned(),
            display_name: String::new(),
            description: None,
            type_name: "Key".to_owned(),
            scope: None,
            tags: Vec::new(),
            is_revoked: false,
            version: 1,
            created_at: now,
            updated_at: None,
            expires_at: None,
            wrapped_key: self.master.wrap(&Key::fresh()?, SEALING)?,
            ciphertext: String::new(),
        };
        // Of many at once, one makes it.
        self.store.create_secret(&row).await?;
        Ok(())
    }
}

/// Shows no secret.
impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keeper")
    }
}

/// The name as it is kept: in lower case.
#[must_use]
pub fn normal(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

/// It is a secret, and no key of the installation.
#[must_use]
pub fn shown(secret: &Secret) -> bool {
    secret.name != SEALING
}

fn context(secret: &Secret) -> String {
    format!("value {} of {}", secret.version, secret.name)
}

fn check(name: &str, value: &str) -> Result<(), Error> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if !(2..=NAME_CHARS_MAX).contains(&name.len()) || !begins_well || !name.chars().all(is_plain) {
        return Err(Error::Invalid(format!(
            "the name of a secret has 2 to {NAME_CHARS_MAX} letters, digits, dots, dashes, underscores \
             and colons, and begins with a letter"
        )));
    }
    match value.len() {
        0 => Err(Error::Invalid("the value of a secret is empty".to_owned())),
        bytes if bytes > VALUE_BYTES_MAX => Err(Error::Invalid(format!(
            "the value of a secret has {bytes} bytes; at most {VALUE_BYTES_MAX} are kept"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
