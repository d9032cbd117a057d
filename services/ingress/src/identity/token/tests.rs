use serde_json::json;

use super::*;

fn key(id: &str, byte: u8) -> Key {
    Key { id: id.to_owned(), secret: vec![byte; 32] }
}

fn claims() -> Claims {
    Claims {
        sub: "1".to_owned(),
        name: "zoe".to_owned(),
        role: one_or_many(vec!["Reader".to_owned()]),
        permissions: one_or_many(vec!["read:*".to_owned(), "*".to_owned()]),
        token_use: Use::Access,
        iss: "staunch".to_owned(),
        aud: "staunch".to_owned(),
        exp: 1_000,
        nbf: 100,
        iat: 100,
        jti: "t".to_owned(),
        sid: "s".to_owned(),
    }
}

fn read(token: &str, wanted: Use, now: i64) -> Result<Claims, Flaw> {
    let keys = [key("a", 1), key("b", 2)];
    let sealed = open(token)?;
    let key = keys.iter().find(|key| key.id == sealed.key_id).ok_or(Flaw::Key)?;
    sealed.claims(key, &IdentityConfig::default(), Some(wanted), now)
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// A token with this header and these members in the place of the usual ones, signed by key a.
fn forged(header: &Value, members: &Value) -> String {
    let mut payload = json!(claims());
    for (name, value) in members.as_object().unwrap() {
        payload[name] = value.clone();
    }
    let signed = format!("{}.{}", encoded(header), encoded(&payload));
    let signature = mac(&key("a", 1), &signed).unwrap().finalize().into_bytes();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[test]
fn a_token_is_what_was_signed() {
    let token = sign(&claims(), &key("b", 2)).unwrap();
    assert_eq!(read(&token, Use::Access, 100), Ok(claims()));
    assert_eq!(read(&token, Use::Access, 999), Ok(claims()));
    let payload: Value = part(token.split('.').nth(1).unwrap()).unwrap();
    assert_eq!(payload["role"], "Reader", "one is a text");
    assert_eq!(payload["permissions"], json!(["read:*", "*"]), "several are a list");
    assert_eq!(payload["token_use"], "access");
    let header: Value = part(token.split('.').next().unwrap()).unwrap();
    assert_eq!(header, json!({"alg": "HS256", "kid": "b", "typ": "JWT"}));
}

#[test]
fn a_token_of_another_kind_is_refused() {
    let header = json!({"alg": "HS256", "kid": "a"});
    let with = |name: &str, value: Value| forged(&header, &json!({ name: value }));
    let nothing = json!({});
    for (token, expected) in [
        (forged(&header, &nothing), Ok(())),
        (with("exp", json!(500)), Err(Flaw::Expired)),
        (with("exp", json!(1.5)), Err(Flaw::Malformed)),
        (with("exp", json!("999999")), Err(Flaw::Malformed)),
        (with("nbf", json!(531)), Err(Flaw::Early)),
        (with("nbf", json!(530)), Ok(())),
        (with("iss", json!("another")), Err(Flaw::Issuer)),
        (with("aud", json!("another")), Err(Flaw::Audience)),
        (with("aud", json!(["staunch"])), Err(Flaw::Malformed)),
        (with("token_use", json!("refresh")), Err(Flaw::NotAccess)),
        (with("token_use", json!("id")), Err(Flaw::Malformed)),
        (with("sid", Value::Null), Err(Flaw::Malformed)),
        (forged(&json!({"alg": "none", "kid": "a"}), &nothing), Err(Flaw::Algorithm)),
        (forged(&json!({"alg": "hs256", "kid": "a"}), &nothing), Err(Flaw::Algorithm)),
        (forged(&json!({"alg": "HS512", "kid": "a"}), &nothing), Err(Flaw::Algorithm)),
        (forged(&json!({"alg": "RS256", "kid": "a"}), &nothing), Err(Flaw::Algorithm)),
        (forged(&json!({"kid": "a"}), &nothing), Err(Flaw::Malformed)),
        (forged(&json!({"alg": "HS256"}), &nothing), Err(Flaw::Key)),
        (forged(&json!({"alg": "HS256", "kid": "c"}), &nothing), Err(Flaw::Key)),
        (forged(&json!({"alg": "HS256", "kid": "b"}), &nothing), Err(Flaw::Signature)),
        (forged(&json!({"alg": "HS256", "kid": "../a"}), &nothing), Err(Flaw::Key)),
        (
            forged(&json!({"alg": "HS256", "kid": "a", "crit": ["b64"], "b64": false}), &nothing),
            Err(Flaw::Malformed),
        ),
    ] {
        assert_eq!(read(&token, Use::Access, 500).map(drop), expected, "{token}");
    }
}

#[test]
fn a_changed_token_is_refused() {
    let token = sign(&claims(), &key("a", 1)).unwrap();
    let parts: Vec<&str> = token.split('.').collect();
    let other = encoded(&json!({"sub": "2"}));
    let none = encoded(&json!({"alg": "none", "kid": "a"}));
    for changed in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        format!("{}.{}", parts[0], parts[1]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{none}.{}.", parts[1]),
        format!("{}.{other}.{}", parts[0], parts[2]),
        format!("{token}."),
        format!("{token}.{}", parts[2]),
        format!("{token}="),
        format!(" {token}"),
        token.get(..token.len() - 1).unwrap().to_owned(),
        token.to_uppercase(),
    ] {
        assert!(read(&changed, Use::Access, 500).is_err(), "{changed}");
    }
}

#[test]
fn no_part_of_any_length_panics() {
    let token = sign(&claims(), &key("a", 1)).unwrap();
    for end in 0..token.len() {
        assert!(read(token.get(..end).unwrap(), Use::Access, 500).is_err());
    }
    for (at, _) in token.char_indices() {
        let mut changed = token.clone();
        let with = if token.get(at..=at) == Some("A") { "B" } else { "A" };
        changed.replace_range(at..=at, with);
        let read = read(&changed, Use::Access, 500);
        assert!(read.is_err(), "a change at {at} goes unseen");
    }
}
