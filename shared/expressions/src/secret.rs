//! The expression type `Secret`: the name of a secret, or an object with its `name`. Its value stays
//! sealed until a call is made with it.

use engine::{Flaw, Language, Scope};
use serde_json::Value;

use crate::flaw::flaw;

/// The language `Secret`.
pub struct Secret;

/// The name that an expression means.
fn name(source: &str) -> Result<String, Flaw> {
    let source = source.trim();
    let name = match serde_json::from_str::<Value>(source) {
        Ok(Value::Object(map)) => {
            let member = map.into_iter().find(|(key, _)| key.eq_ignore_ascii_case("name"));
            member.and_then(|(_, name)| name.as_str().map(str::to_owned)).unwrap_or_default()
        }
        _ => source.to_owned(),
    };
    match name.trim() {
        "" => Err(flaw("no secret is named: give its name, or {\"name\": …}")),
        name => Ok(name.to_owned()),
    }
}

impl Language for Secret {
    fn name(&self) -> &'static str {
        "Secret"
    }

    fn check(&self, source: &str) -> Result<(), Flaw> {
        name(source).map(drop)
    }

    fn keeps_sealed(&self) -> bool {
        true
    }

    fn evaluate(&self, source: &str, scope: &mut dyn Scope) -> Result<Value, Flaw> {
        scope.sealed_secret(&name(source)?).map(Value::String).map_err(flaw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_named_by_text_or_object() {
        for source in ["pay.key", " pay.key ", r#"{"name": "pay.key"}"#, r#"{"Name":"pay.key"}"#] {
            assert_eq!(name(source).unwrap(), "pay.key", "{source}");
        }
        for source in ["", "{}", r#"{"name": 1}"#] {
            assert!(Secret.check(source).is_err(), "{source}");
        }
    }
}
