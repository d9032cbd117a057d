use serde_json::json;

use super::*;

const NOW: i64 = 1_000_000;

fn config() -> OidcConfig {
    OidcConfig {
        issuer: "https://id.example.com".to_owned(),
        audiences: vec!["staunch".to_owned(), "other".to_owned()],
        ..OidcConfig::default()
    }
}

fn claims() -> Value {
    json!({"iss": "https://id.example.com", "aud": "staunch", "sub": "42", "exp": NOW + 60,
        "iat": NOW, "azp": "cli"})
}

/// A token with this header and payload, as texts.
fn token(header: &str, payload: &str) -> String {
    format!("{}.{}.AAAA", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload))
}

fn open(token: &str) -> Result<Sealed<'_>, Flaw> {
    super::open(token, &config().algorithms)
}

fn check_with(config: &OidcConfig, changes: Value) -> Result<(), Flaw> {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    let token = token(r#"{"alg":"ES256"}"#, &claims.to_string());
    open(&token).unwrap().check(config, NOW)
}

#[test]
fn a_header_chooses_an_allowed_algorithm_and_nothing_else() {
    let payload = claims().to_string();
    let check = |header: &str, expected: Result<(), Flaw>| {
        assert_eq!(open(&token(header, &payload)).map(drop), expected, "{header}");
    };
    check(r#"{"alg":"RS256","kid":"a","typ":"JWT"}"#, Ok(()));
    check(r#"{"alg":"ES256","typ":"at+jwt"}"#, Ok(()));
    check(r#"{"alg":"EdDSA","typ":"application/at+JWT"}"#, Ok(()));
    check(r#"{"alg":"RS256","jku":"https://evil.example","jwk":{},"x5u":"x","x5c":["x"]}"#, Ok(()));
    for alg in ["none", "None", "nOnE", "", "HS256", "HS384", "HS512", "rs256", "RS256 ", "A256KW"]
    {
        check(&json!({"alg": alg}).to_string(), Err(Flaw::Algorithm));
    }
    for kind in ["logout+jwt", "dpop+jwt", "secevent+jwt", "id+jwt", "JWE", ""] {
        check(&json!({"alg": "RS256", "typ": kind}).to_string(), Err(Flaw::Kind));
    }
    for header in [
        "",
        "{}",
        "null",
        "[]",
        r#""RS256""#,
        r#"{"alg":null}"#,
        r#"{"alg":["RS256"]}"#,
        r#"{"alg":"RS256","kid":7}"#,
        r#"{"alg":"RS256","kid":{"$ne":1}}"#,
        r#"{"alg":"RS256","crit":["exp"]}"#,
        r#"{"alg":"RS256","crit":[],"b64":false}"#,
        r#"{"alg":"none","alg":"RS256"}"#,
        r#"{"alg":"RS256"} {}"#,
    ] {
        check(header, Err(Flaw::Malformed));
    }
    let narrow = super::open(&token(r#"{"alg":"RS256"}"#, &payload), &[Algorithm::Es256]).map(drop);
    assert_eq!(narrow, Err(Flaw::Algorithm), "it is not in the list");
}

#[test]
fn what_is_no_token_is_refused() {
    let good = token(r#"{"alg":"ES256"}"#, &claims().to_string());
    open(&good).unwrap();
    let (signed, _) = good.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let latin = URL_SAFE_NO_PAD.encode(b"{\"iss\":\"\xff\"}");
    for wrong in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        "a.b.c".to_owned(),
        signed.to_owned(),
        format!("{good}.AAAA"),
        format!("{good}.AAAA.AAAA"),
        format!(" {good}"),
        format!("{good} "),
        format!("{good}="),
        format!("{good}\0"),
        format!("{header}.{payload}.+/+/"),
        format!("{header}.{payload}.A"),
        format!("{header}=.{payload}.AAAA"),
        format!("{header}.{payload}\n.AAAA"),
        format!("{header}..AAAA"),
        format!(".{payload}.AAAA"),
        format!("{header}.{latin}.AAAA"),
        format!("{header}.{}.AAAA", URL_SAFE_NO_PAD.encode(deep)),
        token(r#"{"alg":"ES256"}"#, "[]"),
        token(r#"{"alg":"ES256"}"#, "null"),
        token(r#"{"alg":"ES256"}"#, "{\"iss\":"),
        "ä.ö.ü".to_owned(),
    ] {
        assert_eq!(open(&wrong).map(drop), Err(Flaw::Malformed), "{wrong:?}");
    }
    let mut long = claims();
    long["x"] = json!("x".repeat(13_000));
    assert_eq!(
        open(&token(r#"{"alg":"ES256"}"#, &long.to_string())).map(drop),
        Err(Flaw::TooLarge)
    );
    assert_eq!(claimed_issuer(&token(r#"{"alg":"ES256"}"#, &long.to_string())), None);
}

#[test]
fn a_changed_byte_makes_no_token_of_another_issuer() {
    let good = token(r#"{"alg":"ES256","kid":"a"}"#, &claims().to_string());
    for at in 0..good.len() {
        for byte in [b'.', b'A', b'_', b'"', 0, 0x7f, b' ', b'/'] {
            let mut bytes = good.clone().into_bytes();
            bytes[at] = byte;
            let text = String::from_utf8(bytes).unwrap();
            let is_good = open(&text).is_ok_and(|sealed| sealed.check(&config(), NOW).is_ok());
            if is_good {
                assert_eq!(claimed_issuer(&text).as_deref(), Some("https://id.example.com"));
            }
        }
        if at <= good.rfind('.').unwrap() {
            open(&good[..at]).unwrap_err();
        }
    }
}

#[test]
fn claims_are_checked() {
    let config = config();
    let check = |changes: Value, expected: Result<(), Flaw>| {
        assert_eq!(check_with(&config, changes.clone()), expected, "{changes}");
    };
    check(json!({}), Ok(()));
    for issuer in [
        json!(null),
        json!("https://id.example.com/"),
        json!("HTTPS://id.example.com"),
        json!("https://evil.example"),
        json!(["https://id.example.com"]),
    ] {
        check(json!({ "iss": issuer }), Err(Flaw::Issuer));
    }
    check(json!({"aud": ["x", "other"]}), Ok(()));
    for audience in [json!(null), json!("x"), json!(""), json!([]), json!(["x"]), json!("Staunch")]
    {
        check(json!({ "aud": audience }), Err(Flaw::Audience));
    }
    for audience in [json!(7), json!({"staunch": 1}), json!(["staunch", 7])] {
        check(json!({ "aud": audience }), Err(Flaw::Malformed));
    }
    // The leeway is 30 s.
    check(json!({"exp": NOW - 29}), Ok(()));
    check(json!({"exp": NOW - 30}), Err(Flaw::Expired));
    check(json!({"exp": 0}), Err(Flaw::Expired));
    check(json!({"exp": -1}), Err(Flaw::Expired));
    check(json!({"exp": i64::MIN}), Err(Flaw::Expired));
    check(json!({"exp": i64::MAX}), Ok(()));
    check(json!({"exp": 1e300}), Ok(()));
    check(json!({"exp": 1_000_060.5}), Ok(()));
    check(json!({"exp": null}), Err(Flaw::Endless));
    check(json!({"exp": "1000060"}), Err(Flaw::Malformed));
    check(json!({"exp": [NOW + 60]}), Err(Flaw::Malformed));
    for name in ["nbf", "iat"] {
        check(json!({ name: NOW + 30 }), Ok(()));
        check(json!({ name: NOW + 31 }), Err(Flaw::Early));
        check(json!({ name: 1e300 }), Err(Flaw::Early));
        check(json!({ name: "now" }), Err(Flaw::Malformed));
        check(json!({ name: null }), Ok(()));
    }
    check(json!({"cnf": {"jkt": "x"}}), Err(Flaw::Bound));
    check(json!({"sub": "a".repeat(255)}), Ok(()));
    for subject in [json!(null), json!(""), json!("a".repeat(256)), json!("a\nb"), json!(7)] {
        check(json!({ "sub": subject }), Err(Flaw::Subject));
    }
}

#[test]
fn the_client_is_checked_where_only_some_are_accepted() {
    let config = OidcConfig { clients: vec!["cli".to_owned(), "web".to_owned()], ..config() };
    let check = |changes: Value, expected: Result<(), Flaw>| {
        assert_eq!(check_with(&config, changes.clone()), expected, "{changes}");
    };
    check(json!({}), Ok(()));
    check(json!({"azp": "evil"}), Err(Flaw::Client));
    check(json!({"azp": "evil", "client_id": "cli"}), Err(Flaw::Client));
    check(json!({"azp": null, "client_id": "web"}), Ok(()));
    check(json!({"azp": null}), Err(Flaw::Client));
    check(json!({"azp": ["cli"]}), Err(Flaw::Client));
}
