//! What the journal keeps of the values of an activity (Elsa's log persistence), and in which form.
//!
//! Some values are never kept, whatever a definition says: inputs and variables that are credentials,
//! members of objects that are named like credentials, and values of variables of the memory driver.

use std::collections::BTreeMap;

use model::large::weight;
use model::{Map, limits};
use serde_json::{Value, json};

/// The mark of a value that is cut: an object with this member.
const CUT: &str = "$cut";

/// Stands for a value that is never kept.
pub(crate) const MASKED: &str = "***";

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
#[must_use]
pub fn is_credential(name: &str) -> bool {
    let plain = |byte: &u8| !matches!(byte, b'-' | b'_' | b' ' | b'.');
    let small = name.bytes().filter(plain).map(|byte| byte.to_ascii_lowercase());
    // Names are short nearly always, and every value that is kept asks: no allocation for them.
    let mut short = [0_u8; 64];
    let long: Vec<u8>;
    let letters = if name.len() <= short.len() {
        let mut length = 0;
        for (letter, byte) in short.iter_mut().zip(small) {
            *letter = byte;
            length += 1;
        }
        short.get(..length).unwrap_or_default()
    } else {
        long = small.collect();
        &long
    };
    let letters = std::str::from_utf8(letters).unwrap_or(name);
    letters == "token" || CREDENTIALS.iter().any(|credential| letters.contains(credential))
}

/// What stands for a value that is never kept: it is there, or it is not.
pub(crate) fn masked(value: &Value) -> Value {
    if value.is_null() { Value::Null } else { MASKED.into() }
}

/// The form in which a value is kept: without credentials, and cut where it is long. Of a long value no
/// more is read than is kept, but for its size.
pub(crate) fn kept(value: &Value, bytes_max: usize) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text, bytes_max)),
        Value::Array(_) | Value::Object(_) => {
            let bytes = weight(value);
            if bytes <= bytes_max {
                let mut unlimited = usize::MAX;
                return copied(value, &mut unlimited, 0);
            }
            let mut left = bytes_max;
            let begin = copied(value, &mut left, 0).to_string();
            let mut begin = cut(&begin, bytes_max);
            if !begin.ends_with('…') {
                begin.push('…');
            }
            json!({ CUT: begin, "bytes": bytes })
        }
        other => other.clone(),
    }
}

/// A value that the journal has, in full: itself if nothing of it was left out, or the one that the
/// variable has now if that is the same. `None` if a part of it is lost.
#[must_use]
pub fn in_full(kept_value: &Value, now: Option<&Value>) -> Option<Value> {
    if !is_marked(kept_value) {
        return Some(kept_value.clone());
    }
    let now = now.filter(|now| kept(now, limits::JOURNAL_VARIABLE_BYTES_MAX) == *kept_value);
    now.cloned()
}

/// Whether a value has the marks of one that is cut or masked.
fn is_marked(value: &Value) -> bool {
    match value {
        Value::String(text) => text == MASKED || text.ends_with('…'),
        Value::Array(items) => items.iter().any(is_marked),
        Value::Object(members) => members.contains_key(CUT) || members.values().any(is_marked),
        _ => false,
    }
}

/// A text, cut to so many bytes, with a mark.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let mut end = bytes_max.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut begin = text.get(..end).unwrap_or_default().to_owned();
    begin.push('…');
    begin
}

/// A copy without the values of members that are credentials, of at most about so many bytes as JSON. The
/// depth of values is limited where they come in; what is deeper than that is left out.
fn copied(value: &Value, left: &mut usize, depth: usize) -> Value {
    *left = left.saturating_sub(2);
    match value {
        Value::Array(_) | Value::Object(_) if depth > limits::CARRIER_DEPTH_MAX => Value::Null,
        Value::Array(items) => {
            let mut list = Vec::new();
            for item in items {
                if *left == 0 {
                    break;
                }
                list.push(copied(item, left, depth + 1));
            }
            Value::Array(list)
        }
        Value::Object(members) => {
            let mut object = Map::new();
            for (name, value) in members {
                if *left == 0 {
                    break;
                }
                *left = left.saturating_sub(name.len());
                let is_masked = !value.is_null() && is_credential(name);
                let value = if is_masked { MASKED.into() } else { copied(value, left, depth + 1) };
                object.insert(name.clone(), value);
            }
            Value::Object(object)
        }
        Value::String(text) => {
            let begin = cut(text, (*left).max('…'.len_utf8()));
            *left = left.saturating_sub(text.len());
            Value::String(begin)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_their_names() {
        for name in ["authorization", "Proxy-Authorization", "X-Api-Key", "db_password", "token"] {
            assert!(is_credential(name), "{name}");
        }
        assert!(is_credential(&format!("{}Password", "x".repeat(100))));
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
        assert_eq!(long["bytes"], 60);
        assert_eq!(long[CUT], "[\"abc\",\"def\",…");
        let many = kept(&Value::Array(vec![json!(1); 1_000]), 100);
        assert!(many[CUT].as_str().unwrap().starts_with("[1,1,1,"), "{many}");
        assert!(many[CUT].as_str().unwrap().len() <= 103, "{many}");
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
