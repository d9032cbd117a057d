//! What the claims of tokens stand for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::form::Form;
use super::value::Parse;

/// The largest number of values that are mapped.
const VALUES_MAX: usize = 1_000;
/// The largest number of permissions and roles of one value.
const MEANINGS_MAX: usize = 100;
/// Longest permission or role, in bytes.
const BYTES_MAX: usize = 200;

/// The permissions, and the roles of the database (`role:<id>`), by the value of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimRoles(pub BTreeMap<String, Vec<String>>);

/// The algorithms with which tokens may be signed, by their names (RFC 7518, RFC 8037).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenAlgorithms(pub Vec<String>);

impl TokenAlgorithms {
    /// Every algorithm that may be named.
    pub const ALL: [&str; 9] =
        ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];
}

impl Parse for ClaimRoles {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let found: BTreeMap<String, Value> = serde_json::from_str(text).map_err(|error| {
            format!("must be a JSON object such as {{\"admins\": [\"*\"]}}: {error}")
        })?;
        if found.len() > VALUES_MAX {
            return Err(format!("must have at most {VALUES_MAX} members"));
        }
        let read = |(value, meanings): (String, Value)| {
            meanings_of(&value, meanings).map(|all| (value, all))
        };
        found.into_iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    fn form() -> Form {
        Form::object("must be a JSON object such as {\"admins\": [\"*\"]}")
    }
}

impl Parse for TokenAlgorithms {
    fn parse(text: &str) -> Result<Self, String> {
        let names = Vec::<String>::parse(text)?;
        if names.is_empty() {
            return Err("is empty: no token could be accepted".to_owned());
        }
        match names.iter().find(|name| !Self::ALL.contains(&name.as_str())) {
            None => Ok(Self(names)),
            Some(name) => Err(format!(
                "{name:?} is none of {}; `none` signs nothing, and the secret of an HS algorithm \
                 would have to be public",
                Self::ALL.join(", ")
            )),
        }
    }

    fn form() -> Form {
        let must = format!("must be names of {}, with commas between them", Self::ALL.join(", "));
        Form::list(must, &Self::ALL.join("|"))
    }
}

fn meanings_of(value: &str, meanings: Value) -> Result<Vec<String>, String> {
    let wrong = || {
        format!(
            "{value:?} must stand for a permission such as \"read:*\", a role such as \
             \"role:editor\", or a list of at most {MEANINGS_MAX} of them"
        )
    };
    let items = match meanings {
        Value::String(text) => vec![Value::String(text)],
        Value::Array(items) if items.len() <= MEANINGS_MAX => items,
        _ => return Err(wrong()),
    };
    let text = |item: Value| match item {
        Value::String(text) if is_meaning(&text) => Ok(text),
        _ => Err(wrong()),
    };
    items.into_iter().map(text).collect()
}

fn is_meaning(text: &str) -> bool {
    let name = text.strip_prefix("role:").unwrap_or(text);
    !name.is_empty() && text.len() <= BYTES_MAX && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_have_public_keys() {
        let TokenAlgorithms(names) = TokenAlgorithms::parse("RS256, EdDSA,").unwrap();
        assert_eq!(names, ["RS256", "EdDSA"]);
        for (wrong, says) in [
            ("RS256,HS256", "\"HS256\" is none of RS256, "),
            ("none", "signs nothing"),
            (",", "no token could be accepted"),
        ] {
            let reason = TokenAlgorithms::parse(wrong).unwrap_err();
            assert!(reason.contains(says), "{wrong}: {reason}");
        }
    }

    #[test]
    fn a_value_stands_for_permissions_and_roles() {
        let ClaimRoles(roles) = ClaimRoles::parse(
            r#"{"admins": "*", "cn=staff, ou=x": ["read:*", "role:editor"], "nobody": []}"#,
        )
        .unwrap();
        assert_eq!(roles["admins"], ["*"]);
        assert_eq!(roles["cn=staff, ou=x"], ["read:*", "role:editor"]);
        assert!(roles["nobody"].is_empty());
        assert_eq!(ClaimRoles::parse("").unwrap(), ClaimRoles::default());
        for wrong in [
            "admins",
            "[]",
            r#"{"a": 1}"#,
            r#"{"a": ["*", null]}"#,
            r#"{"a": ""}"#,
            r#"{"a": "role:"}"#,
            r#"{"a": "read:* write:*"}"#,
        ] {
            assert!(ClaimRoles::parse(wrong).is_err(), "{wrong}");
        }
        let long = format!(r#"{{"a": "{}"}}"#, "x".repeat(201));
        assert!(ClaimRoles::parse(&long).unwrap_err().contains("\"a\" must stand for"));
    }
}
