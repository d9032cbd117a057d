//! What a caller may do, and its name, from the claims of its token.

use serde_json::{Map, Value};

use super::config::OidcConfig;
use super::token::Flaw;

/// The largest number of values of all claims of a token.
const VALUES_MAX: usize = 1_000;
/// The largest number of roles of the database that one token names.
const ROLES_MAX: usize = 100;
/// The longest name of a caller, in characters.
const NAME_CHARS_MAX: usize = 200;
/// Claims that are lists with spaces between the items (RFC 8693).
const SPACED: [&str; 2] = ["scope", "scp"];

/// The permissions of a caller.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rights {
    /// Permissions by name.
    pub(crate) permissions: Vec<String>,
    /// The ids of roles of the database.
    pub(crate) roles: Vec<String>,
}

/// The rights that these claims give.
pub(crate) fn of(claims: &Map<String, Value>, config: &OidcConfig) -> Result<Rights, Flaw> {
    let mut rights = Rights::default();
    let mut count = 0;
    for name in &config.permission_claims {
        rights.permissions.extend(values(claims, name, &mut count)?.map(str::to_owned));
    }
    for name in &config.role_claims {
        for value in values(claims, name, &mut count)? {
            match config.roles.get(value) {
                Some(meanings) => meanings.iter().for_each(|meaning| rights.add(meaning)),
                None if config.own_roles => rights.roles.push(value.to_owned()),
                None => {}
            }
        }
    }
    rights.roles.sort();
    rights.roles.dedup();
    if rights.roles.len() > ROLES_MAX { Err(Flaw::Claims) } else { Ok(rights) }
}

impl Rights {
    fn add(&mut self, meaning: &str) {
        match meaning.strip_prefix("role:") {
            Some(role) => self.roles.push(role.to_owned()),
            None => self.permissions.push(meaning.to_owned()),
        }
    }
}

/// The name of a caller for the audit log: its `sub`, which no other caller of the issuer has, and
/// the name that the configured claim gives it.
pub(crate) fn name(subject: &str, claims: &Map<String, Value>, config: &OidcConfig) -> String {
    let claim = config.name_claim.as_deref().and_then(|name| claim(claims, name));
    let given: String = claim.and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let given = given.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX);
    let given: String = given.collect();
    if given.is_empty() { format!("oidc:{subject}") } else { format!("oidc:{subject} ({given})") }
}

/// The texts of a claim: one, or those of a list.
fn values<'a>(
    claims: &'a Map<String, Value>,
    name: &str,
    count: &mut usize,
) -> Result<impl Iterator<Item = &'a str>, Flaw> {
    let texts: Vec<&str> = match claim(claims, name) {
        Some(Value::String(text)) if SPACED.contains(&name) => text.split_whitespace().collect(),
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    *count += texts.len();
    if *count > VALUES_MAX {
        return Err(Flaw::Claims);
    }
    Ok(texts.into_iter().filter(|text| !text.is_empty()))
}

/// The claim of this name; else the member of a claim at this path.
fn claim<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(found) = claims.get(name) {
        return Some(found);
    }
    let mut path = name.split('.');
    let first = claims.get(path.next()?)?;
    path.try_fold(first, |value, member| value.as_object()?.get(member))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config() -> OidcConfig {
        let roles = [
            ("admins", vec!["*"]),
            ("staff", vec!["read:*", "role:editor"]),
            ("editors", vec!["role:editor"]),
        ];
        let owned = |all: Vec<&str>| all.into_iter().map(str::to_owned).collect();
        OidcConfig {
            role_claims: vec!["roles".to_owned(), "realm_access.roles".to_owned()],
            roles: roles.into_iter().map(|(name, all)| (name.to_owned(), owned(all))).collect(),
            ..OidcConfig::default()
        }
    }

    fn check(config: &OidcConfig, claims: Value, permissions: &[&str], roles: &[&str]) {
        let rights = of(claims.as_object().unwrap(), config).unwrap();
        assert_eq!(rights.permissions, permissions, "{claims}");
        assert_eq!(rights.roles, roles, "{claims}");
    }

    #[test]
    fn claims_give_what_is_configured_and_nothing_else() {
        let config = config();
        check(&config, json!({}), &[], &[]);
        check(&config, json!({"permissions": ["read:x", 7, "", null]}), &["read:x"], &[]);
        check(&config, json!({"permissions": "read:x write:x"}), &["read:x write:x"], &[]);
        check(&config, json!({"scope": "read:*", "groups": ["admins"]}), &[], &[]);
        check(&config, json!({"roles": "admins"}), &["*"], &[]);
        check(&config, json!({"roles": ["staff", "editors", "x"]}), &["read:*"], &["editor"]);
        check(&config, json!({"realm_access": {"roles": ["admins"]}}), &["*"], &[]);
        check(&config, json!({"realm_access.roles": ["admins"]}), &["*"], &[]);
        check(&config, json!({"roles": ["*", "role:editor", "Admins", " admins"]}), &[], &[]);
        check(&config, json!({"roles": {"admins": true}}), &[], &[]);
        let own = OidcConfig { own_roles: true, ..config.clone() };
        check(&own, json!({"roles": ["admins", "clerk"]}), &["*"], &["clerk"]);
        let scope = OidcConfig { permission_claims: vec!["scope".to_owned()], ..config };
        check(&scope, json!({"scope": "read:a  read:b"}), &["read:a", "read:b"], &[]);
    }

    #[test]
    fn values_are_bounded() {
        let config = OidcConfig { own_roles: true, ..config() };
        let many = |count: usize| (0..count).map(|n| format!("r{n}")).collect::<Vec<_>>();
        let claims = |roles: usize, permissions: usize| {
            let claims = json!({"roles": many(roles), "permissions": many(permissions)});
            of(claims.as_object().unwrap(), &config).map(drop)
        };
        assert_eq!(claims(100, 900), Ok(()));
        assert_eq!(claims(101, 0), Err(Flaw::Claims));
        assert_eq!(claims(1, 1_000), Err(Flaw::Claims));
    }

    #[test]
    fn a_name_stands_beside_the_subject() {
        let config = OidcConfig { name_claim: Some("email".to_owned()), ..config() };
        let named = |claims: Value| name("42", claims.as_object().unwrap(), &config);
        assert_eq!(named(json!({"email": "a@b.example"})), "oidc:42 (a@b.example)");
        assert_eq!(named(json!({"email": "a\n\u{1b}b"})), "oidc:42 (ab)");
        assert_eq!(named(json!({"email": ["a"], "name": "b"})), "oidc:42");
        assert_eq!(named(json!({"email": "a".repeat(300)})).len(), "oidc:42 ()".len() + 200);
        let none = OidcConfig::default();
        assert_eq!(name("42", json!({"name": "x"}).as_object().unwrap(), &none), "oidc:42");
    }
}
