//! Secrets, as a turn sees them: read before the turn, and sealed before the turn keeps anything.

use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

use model::Map;
use model::sealed::{BEGIN, END, unmarked};
pub use model::sealed::{is_sealed, may_be_sealed};
use serde_json::Value;

/// What stands in the place of a value.
const MASK: &str = "***";
/// The shortest text that is masked.
const MASKED_BYTES_MIN: usize = 4;
/// The reason of a node that opens nothing.
const NO_KEY: &str = "this node has no master key of secrets: give it secrets-key-file";

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

    /// The reason why nothing that was sealed can be opened.
    fn locked(&self) -> Option<String> {
        None
    }
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
            None => Err(NO_KEY.to_owned()),
        }
    }

    /// The text in its sealed form.
    pub(crate) fn seal(&self, text: &str, owner: &str, random: [u8; 32]) -> Result<String, String> {
        let Some(vault) = &self.0 else { return Err(NO_KEY.to_owned()) };
        let mut nonce = [0; 12];
        nonce.copy_from_slice(&random[..12]);
        Ok(format!("{BEGIN}{}{END}", vault.seal(text, owner, nonce)?))
    }

    /// The reason why nothing that was sealed can be opened.
    #[must_use]
    pub fn locked(&self) -> Option<String> {
        self.0.as_ref().map_or_else(|| Some(NO_KEY.to_owned()), |vault| vault.locked())
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

/// The input without sealed texts: what comes from outside is never opened, even if it was copied
/// from the instance that gets it. Such a text stays, and is no sealed one any more.
#[must_use]
pub fn foreign(input: Map) -> Map {
    if !input.values().any(is_sealed) {
        return input;
    }
    input.into_iter().map(|(name, value)| (name, unmarked(value))).collect()
}

/// The value without these texts: `***` stands in their place. Texts of few characters stay: they
/// may be anything.
#[must_use]
pub fn without(value: Value, texts: &[String]) -> Value {
    let texts = texts.iter().filter(|hidden| hidden.len() >= MASKED_BYTES_MIN);
    let mut texts: Vec<_> = texts.map(String::as_str).collect();
    // The longest first: one may be a part of another.
    texts.sort_by_key(|hidden| Reverse(hidden.len()));
    masked(value, &texts)
}

fn masked(value: Value, texts: &[&str]) -> Value {
    match value {
        Value::String(text) => Value::String(masked_text(text, texts)),
        Value::Number(number) if texts.contains(&number.to_string().as_str()) => MASK.into(),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| masked(item, texts)).collect())
        }
        Value::Object(map) => {
            let members = map.into_iter();
            let members =
                members.map(|(name, value)| (masked_text(name, texts), masked(value, texts)));
            Value::Object(members.collect::<Map>())
        }
        plain => plain,
    }
}

fn masked_text(mut text: String, texts: &[&str]) -> String {
    for hidden in texts {
        if text.contains(hidden) {
            text = text.replace(hidden, MASK);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_comes_from_outside_is_never_opened() {
        let text = format!("{BEGIN}{}{END}", "Ab-_".repeat(10));
        let input = Map::from_iter([("a".to_owned(), json!([text])), ("b".to_owned(), json!(1))]);
        let taken = foreign(input);
        assert!(!taken.values().any(is_sealed), "{taken:?}");
        assert_eq!(taken["b"], 1);
        let plain: Map = [("a".to_owned(), json!("{sealed:short}"))].into_iter().collect();
        assert_eq!(foreign(plain.clone()), plain);
    }

    #[test]
    fn values_are_masked_wherever_they_are() {
        let texts =
            ["hunter2".to_owned(), "12345".to_owned(), "hunter2long".to_owned(), "abc".to_owned()];
        let value =
            json!({"hunter2": ["x hunter2 hunter2long", 12345, 123456, true, "abc"], "n": null});
        let expected = json!({"***": ["x *** ***", "***", 123456, true, "abc"], "n": null});
        assert_eq!(without(value, &texts), expected);
    }
}
