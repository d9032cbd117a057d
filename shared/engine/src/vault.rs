//! Secrets, as a turn sees them: read before the turn, and sealed before the turn keeps anything.

use std::fmt;
use std::sync::Arc;

use model::Map;
use serde_json::Value;

/// The beginning of a sealed text.
const BEGIN: &str = "{sealed:";
const END: char = '}';
/// The shortest text that is masked.
const MASKED_BYTES_MIN: usize = 4;

/// The secrets of an installation, and the key that seals what is computed from them. The same
/// values give the same answers: a vault does no I/O.
pub trait Vault: Send + Sync {
    /// The value of a secret.
    ///
    /// # Errors
    /// The reason why it cannot be read, without any value.
    fn read(&self, name: &str) -> Result<String, String>;

    /// Every value, to be masked in what comes from outside.
    fn values(&self) -> Vec<String>;

    /// The text, encrypted for one owner: letters, digits, `-` and `_`. A nonce is used once.
    ///
    /// # Errors
    /// The reason why it cannot be sealed, without the text.
    fn seal(&self, text: &str, owner: &str, nonce: [u8; 12]) -> Result<String, String>;

    /// The text that was sealed for this owner; none if it was not.
    fn open(&self, sealed: &str, owner: &str) -> Option<String>;
}

/// A vault, if there is one.
#[derive(Clone, Default)]
pub struct Secrets(Option<Arc<dyn Vault>>);

impl Secrets {
    /// The secrets of this vault.
    #[must_use]
    pub fn of(vault: Arc<dyn Vault>) -> Self {
        Self(Some(vault))
    }

    /// The value of a secret.
    pub(crate) fn read(&self, name: &str) -> Result<String, String> {
        match &self.0 {
            Some(vault) => vault.read(name),
            None => Err("there are no secrets here: give the server secrets-key-file".to_owned()),
        }
    }

    /// The text in its sealed form.
    pub(crate) fn seal(&self, text: &str, owner: &str, random: [u8; 32]) -> Result<String, String> {
        let Some(vault) = &self.0 else { return Err("there is no key to seal with".to_owned()) };
        let mut nonce = [0; 12];
        nonce.copy_from_slice(&random[..12]);
        Ok(format!("{BEGIN}{}{END}", vault.seal(text, owner, nonce)?))
    }

    /// Every value, to be masked in what comes from outside.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        self.0.as_ref().map(|vault| vault.values()).unwrap_or_default()
    }

    /// The value with every text in it opened that was sealed for this owner; what was opened is
    /// added to `found`.
    #[must_use]
    pub fn opened(&self, value: Value, owner: &str, found: &mut Vec<String>) -> Value {
        if self.0.is_none() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.opened_text(text, owner, found)),
            Value::Array(items) => {
                let items = items.into_iter().map(|item| self.opened(item, owner, found));
                Value::Array(items.collect())
            }
            Value::Object(map) => {
                let members =
                    map.into_iter().map(|(name, value)| (name, self.opened(value, owner, found)));
                Value::Object(members.collect::<Map>())
            }
            plain => plain,
        }
    }

    fn opened_text(&self, text: String, owner: &str, found: &mut Vec<String>) -> String {
        let Some(vault) = self.0.as_ref().filter(|_| text.contains(BEGIN)) else { return text };
        let (mut open, mut rest) = (String::new(), text.as_str());
        while let Some((before, sealed)) = rest.split_once(BEGIN) {
            open.push_str(before);
            let end = sealed.split_once(END);
            match end.and_then(|(sealed, after)| Some((vault.open(sealed, owner)?, after))) {
                Some((value, after)) => {
                    open.push_str(&value);
                    found.push(value);
                    rest = after;
                }
                // Not ours, or sealed for another owner: it stays what it is.
                None => {
                    open.push_str(BEGIN);
                    rest = sealed;
                }
            }
        }
        open.push_str(rest);
        open
    }
}

/// Contains no value.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Secrets(…)" } else { "Secrets(none)" })
    }
}

/// The same vault.
impl PartialEq for Secrets {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (None, None) => true,
            _ => false,
        }
    }
}

/// The value contains a sealed text, or one that looks like it.
#[must_use]
pub fn is_sealed(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(BEGIN),
        Value::Array(items) => items.iter().any(is_sealed),
        Value::Object(map) => map.values().any(is_sealed),
        _ => false,
    }
}

/// The value without these texts: `***` stands in their place. Texts of few characters stay: they
/// may be anything.
#[must_use]
pub fn without(value: Value, texts: &[String]) -> Value {
    match value {
        Value::String(text) => {
            let mut kept = text;
            for hidden in texts.iter().filter(|hidden| hidden.len() >= MASKED_BYTES_MIN) {
                if kept.contains(hidden.as_str()) {
                    kept = kept.replace(hidden.as_str(), "***");
                }
            }
            Value::String(kept)
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| without(item, texts)).collect())
        }
        Value::Object(map) => {
            let name = |name: String| match without(Value::String(name), texts) {
                Value::String(name) => name,
                _ => String::new(),
            };
            let members = map.into_iter().map(|(key, value)| (name(key), without(value, texts)));
            Value::Object(members.collect::<Map>())
        }
        plain => plain,
    }
}
