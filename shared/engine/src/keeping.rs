//! What the journal keeps of the values of an activity (Elsa's log persistence), and in which form.
//!
//! Some values are never kept, whatever a definition says: inputs that are credentials, members of
//! objects that are named like credentials, and values of variables of the memory driver.

use std::collections::BTreeMap;

use model::{Map, limits};
use serde_json::{Value, json};

use crate::draft::weight;

/// The mark of a value that is cut: an object with this member.
const CUT: &str = "$cut";

/// Stands for a value that is never kept.
const MASKED: &str = "***";

/// Parts of names of credentials, without the characters between words.
const CREDENTIALS: [&str; 14] = [
    "authorization",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "cookie",
    "apikey",
    "accesskey",
    "privatekey",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "connectionstring",
    "credential",
];

/// Whether values are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As the activity says for all its values, or as the workflow says.
    #[default]
    Inherit,
    /// As the configuration says.
    Configuration,
    Include,
    Exclude,
}

/// What the journal keeps of one activity.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Keeping {
    /// Where nothing else is said; never [`Mode::Inherit`].
    by_default: Mode,
    /// By name, in small letters.
    inputs: BTreeMap<String, Mode>,
    outputs: BTreeMap<String, Mode>,
}

/// What a definition says about one activity, or about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub(crate) by_default: Mode,
    pub(crate) inputs: BTreeMap<String, Mode>,
    pub(crate) outputs: BTreeMap<String, Mode>,
}

impl Mode {
    /// The mode, or the outer one where it is inherited.
    pub(crate) fn or(self, outer: Self) -> Self {
        if self == Self::Inherit { outer } else { self }
    }
}

impl Keeping {
    /// What an activity says, within a workflow that says this.
    pub(crate) fn new(said: Said, workflow: Mode) -> Self {
        let by_default = said.by_default.or(workflow).or(Mode::Configuration);
        Self { by_default, inputs: said.inputs, outputs: said.outputs }
    }

    pub(crate) fn keeps_input(&self, name: &str, configured: bool) -> bool {
        !is_credential(name) && self.keeps(&self.inputs, name, configured)
    }

    pub(crate) fn keeps_output(&self, name: &str, configured: bool) -> bool {
        !is_credential(name) && self.keeps(&self.outputs, name, configured)
    }

    fn keeps(&self, named: &BTreeMap<String, Mode>, name: &str, configured: bool) -> bool {
        let own = if named.is_empty() { None } else { named.get(&name.to_ascii_lowercase()) };
        match own.copied().unwrap_or_default().or(self.by_default) {
            Mode::Include => true,
            Mode::Exclude => false,
            Mode::Configuration | Mode::Inherit => configured,
        }
    }
}

/// Whether a value of this name is a credential.
pub(crate) fn is_credential(name: &str) -> bool {
    let mut letters = [0_u8; 64];
    let mut length = 0;
    let plain = name.bytes().filter(|byte| !matches!(byte, b'-' | b'_' | b' ' | b'.'));
    for (letter, byte) in letters.iter_mut().zip(plain) {
        *letter = byte.to_ascii_lowercase();
        length += 1;
    }
    let letters = std::str::from_utf8(letters.get(..length).unwrap_or_default()).unwrap_or(name);
    letters == "token" || CREDENTIALS.iter().any(|credential| letters.contains(credential))
}

/// The form in which a value is kept: without credentials, and cut where it is long.
pub(crate) fn kept(value: &Value, bytes_max: usize) -> Value {
    let value = masked(value);
    match value {
        Value::String(text) if text.len() > bytes_max => Value::String(cut(text, bytes_max)),
        Value::Array(_) | Value::Object(_) if weight(&value) > bytes_max => {
            let text = value.to_string();
            let bytes = text.len();
            json!({ CUT: cut(text, bytes_max), "bytes": bytes })
        }
        value => value,
    }
}

/// A text, cut to so many bytes, with a mark.
pub(crate) fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        let mut end = bytes_max.saturating_sub('…'.len_utf8());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

/// A copy without the values of members that are credentials. The depth of values is limited where
/// they come in; what is deeper than that is left out.
fn masked(value: &Value) -> Value {
    fn copy(value: &Value, depth: usize) -> Value {
        match value {
            Value::Array(_) | Value::Object(_) if depth > limits::CARRIER_DEPTH_MAX => Value::Null,
            Value::Array(items) => items.iter().map(|item| copy(item, depth + 1)).collect(),
            Value::Object(members) => {
                let copied = members.iter().map(|(name, value)| {
                    let is_masked = !value.is_null() && is_credential(name);
                    let value = if is_masked { MASKED.into() } else { copy(value, depth + 1) };
                    (name.clone(), value)
                });
                Value::Object(copied.collect::<Map>())
            }
            other => other.clone(),
        }
    }
    copy(value, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_their_names() {
        for name in ["authorization", "Proxy-Authorization", "X-Api-Key", "db_password", "token"] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["text", "tokens", "author", "key", "", "schlüssel"] {
            assert!(!is_credential(name), "{name}");
        }
    }

    #[test]
    fn a_kept_value_has_no_credentials_and_is_cut_where_it_is_long() {
        let value =
            json!({"headers": {"Authorization": "Bearer x", "Accept": "*/*"}, "items": [1]});
        let expected = json!({"headers": {"Authorization": "***", "Accept": "*/*"}, "items": [1]});
        assert_eq!(kept(&value, 1_000), expected);
        assert_eq!(kept(&json!("ééééé"), 8), json!("éé…"));
        let long = kept(&json!(["abc", "def", {"password": "hidden"}]), 16);
        assert_eq!(long["bytes"], 33);
        assert_eq!(long[CUT], "[\"abc\",\"def\"…");
        assert_eq!(kept(&json!(7), 0), json!(7));
    }

    #[test]
    fn the_innermost_word_decides() {
        let said = Said {
            by_default: Mode::Exclude,
            inputs: BTreeMap::from([("text".to_owned(), Mode::Include)]),
            outputs: BTreeMap::from([("result".to_owned(), Mode::Configuration)]),
        };
        let keeping = Keeping::new(said, Mode::Include);
        assert!(keeping.keeps_input("Text", false));
        assert!(!keeping.keeps_input("other", true));
        assert!(keeping.keeps_output("result", true) && !keeping.keeps_output("result", false));
        let inherited = Keeping::new(Said::default(), Mode::Exclude);
        assert!(!inherited.keeps_input("text", true));
        let configured = Keeping::new(Said::default(), Mode::Inherit);
        assert!(configured.keeps_input("text", true) && !configured.keeps_input("text", false));
        let included = Keeping::new(Said::default(), Mode::Include);
        assert!(!included.keeps_input("authorization", true), "credentials are never kept");
    }
}
