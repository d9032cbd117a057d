//! The keys of an issuer, as its JSON Web Key Set (RFC 7517) has them. Keys that cannot verify are
//! left out: symmetric and private ones, those for encryption, unknown kinds, too small or too large
//! ones. A symmetric key in a public document is no secret.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;

use super::algorithm::{Algorithm, Kind, PublicKey};

/// The largest number of keys in a set.
const KEYS_MAX: usize = 100;
/// The smallest and the largest RSA modulus, in bytes.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=1_024;
/// The largest exponent of an RSA key, in bytes.
const EXPONENT_BYTES_MAX: usize = 4;

/// A key, and what it may be used for.
#[derive(Clone, Debug)]
struct Key {
    id: Option<String>,
    /// The only algorithm that it is for, if it is for one.
    algorithm: Option<Algorithm>,
    public: PublicKey,
}

impl Key {
    fn fits(&self, algorithm: Algorithm) -> bool {
        self.public.kind == algorithm.kind() && self.algorithm.is_none_or(|only| only == algorithm)
    }
}

/// The keys of an issuer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(Vec<Key>);

/// The key for a token.
#[derive(Debug)]
pub(crate) enum Lookup<'a> {
    Found(&'a PublicKey),
    /// The key with this id is for other algorithms.
    Unfit,
    /// There is no key with this id.
    Unknown,
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    /// The private part.
    d: Option<Value>,
}

impl Keys {
    /// The keys of this set that verify these algorithms.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn read(set: &[u8], allowed: &[Algorithm]) -> Result<Self, String> {
        let set: Set = serde_json::from_slice(set)
            .map_err(|error| format!("it is not a JSON Web Key Set: {error}"))?;
        let count = set.keys.len();
        if count > KEYS_MAX {
            return Err(format!("it has {count} keys, and at most {KEYS_MAX} are read"));
        }
        let keys: Vec<Key> = set.keys.into_iter().filter_map(|key| read(key, allowed)).collect();
        if keys.is_empty() {
            return Err(format!("none of its {count} keys verifies an allowed algorithm"));
        }
        Ok(Self(keys))
    }

    /// The key with this id. A token that names none is of the only key that fits.
    pub(crate) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Lookup<'_> {
        let mut fitting = self.0.iter().filter(|key| key.fits(algorithm));
        let Some(id) = id else {
            return match (fitting.next(), fitting.next()) {
                (Some(key), None) => Lookup::Found(&key.public),
                _ => Lookup::Unknown,
            };
        };
        match fitting.find(|key| key.id.as_deref() == Some(id)) {
            Some(key) => Lookup::Found(&key.public),
            None if self.0.iter().any(|key| key.id.as_deref() == Some(id)) => Lookup::Unfit,
            None => Lookup::Unknown,
        }
    }

    /// The number of keys.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

/// A key, if it verifies an allowed algorithm.
fn read(key: Value, allowed: &[Algorithm]) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(key).ok()?;
    let is_for_signatures = jwk.purpose.as_deref().is_none_or(|it| it == "sig")
        && jwk.key_ops.as_ref().is_none_or(|all| all.iter().any(|it| it == "verify"));
    if !is_for_signatures || jwk.d.is_some() {
        return None;
    }
    let algorithm = match &jwk.alg {
        Some(name) => Some(Algorithm::named(name)?),
        None => None,
    };
    let key = Key { algorithm, public: public(&jwk)?, id: jwk.kid };
    allowed.iter().any(|algorithm| key.fits(*algorithm)).then_some(key)
}

fn public(jwk: &Jwk) -> Option<PublicKey> {
    match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", _) => {
            let (n, e) = (number(jwk.n.as_deref())?, number(jwk.e.as_deref())?);
            let fits = MODULUS_BYTES.contains(&n.len()) && e.len() <= EXPONENT_BYTES_MAX;
            fits.then_some(PublicKey { kind: Kind::Rsa, bytes: n, exponent: e })
        }
        ("EC", Some("P-256")) => point(jwk, Kind::P256, 32),
        ("EC", Some("P-384")) => point(jwk, Kind::P384, 48),
        ("OKP", Some("Ed25519")) => {
            let bytes = bytes(jwk.x.as_deref()).filter(|bytes| bytes.len() == 32)?;
            Some(PublicKey { kind: Kind::Ed25519, bytes, exponent: Vec::new() })
        }
        _ => None,
    }
}

/// The uncompressed point of two coordinates of this length.
fn point(jwk: &Jwk, kind: Kind, length: usize) -> Option<PublicKey> {
    let coordinate = |text: Option<&str>| bytes(text).filter(|bytes| bytes.len() == length);
    let (x, y) = (coordinate(jwk.x.as_deref())?, coordinate(jwk.y.as_deref())?);
    Some(PublicKey {
        kind,
        bytes: [[4].as_slice(), x.as_slice(), y.as_slice()].concat(),
        exponent: Vec::new(),
    })
}

/// A number, without zeros before it.
fn number(text: Option<&str>) -> Option<Vec<u8>> {
    let bytes = bytes(text)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).filter(|rest| !rest.is_empty()).map(<[u8]>::to_vec)
}

fn bytes(text: Option<&str>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn coordinate(length: usize) -> String {
        URL_SAFE_NO_PAD.encode(vec![7; length])
    }

    fn ec(id: &str) -> Value {
        json!({"kty": "EC", "crv": "P-256", "kid": id, "x": coordinate(32), "y": coordinate(32)})
    }

    fn with(mut key: Value, name: &str, value: Value) -> Value {
        key[name] = value;
        key
    }

    fn keys(keys: &[Value]) -> Result<Keys, String> {
        let all = Algorithm::ALL.map(|(_, algorithm)| algorithm);
        Keys::read(json!({ "keys": keys }).to_string().as_bytes(), &all)
    }

    #[test]
    fn a_key_that_cannot_verify_is_left_out() {
        let rsa = |bytes: usize| json!({"kty": "RSA", "n": coordinate(bytes), "e": "AQAB"});
        for good in [
            ec("a"),
            with(ec("a"), "use", json!("sig")),
            with(ec("a"), "key_ops", json!(["sign", "verify"])),
            with(ec("a"), "alg", json!("ES256")),
            rsa(256),
            with(rsa(256), "n", json!(URL_SAFE_NO_PAD.encode([vec![0], vec![7; 256]].concat()))),
            json!({"kty": "OKP", "crv": "Ed25519", "x": coordinate(32)}),
        ] {
            assert_eq!(keys(std::slice::from_ref(&good)).unwrap().count(), 1, "{good}");
        }
        for bad in [
            json!({"kty": "oct", "kid": "a", "k": coordinate(32)}),
            json!({"kty": "oct", "kid": "a", "k": coordinate(32), "alg": "HS256"}),
            with(ec("a"), "use", json!("enc")),
            with(ec("a"), "key_ops", json!(["deriveKey"])),
            with(ec("a"), "alg", json!("HS256")),
            with(ec("a"), "alg", json!("none")),
            with(ec("a"), "alg", json!("RS256")),
            with(ec("a"), "d", json!(coordinate(32))),
            with(ec("a"), "crv", json!("P-521")),
            with(ec("a"), "crv", json!("secp256k1")),
            with(ec("a"), "x", json!(coordinate(31))),
            with(ec("a"), "y", json!("***")),
            with(ec("a"), "kid", json!(["a"])),
            rsa(128),
            rsa(1_025),
            with(rsa(256), "e", json!("AAAA")),
            with(rsa(256), "e", json!(coordinate(5))),
            json!("text"),
            Value::Null,
        ] {
            assert!(keys(std::slice::from_ref(&bad)).is_err(), "{bad}");
            assert_eq!(keys(&[bad, ec("good")]).unwrap().count(), 1);
        }
        assert!(keys(&vec![ec("a"); 101]).unwrap_err().contains("at most 100"));
        for text in ["", "{}", "[]", r#"{"keys": {}}"#, "<html>"] {
            assert!(Keys::read(text.as_bytes(), &[Algorithm::Es256]).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_is_found_by_its_id_alone() {
        let found = keys(&[ec("a"), ec("b")]).unwrap();
        assert!(matches!(found.find(Some("b"), Algorithm::Es256), Lookup::Found(_)));
        assert!(matches!(found.find(Some("b"), Algorithm::Rs256), Lookup::Unfit));
        for id in ["c", "", "A", "../a", "a\0"] {
            assert!(matches!(found.find(Some(id), Algorithm::Es256), Lookup::Unknown), "{id}");
        }
        assert!(matches!(found.find(None, Algorithm::Es256), Lookup::Unknown), "two would fit");
        let one = keys(&[ec("a")]).unwrap();
        assert!(matches!(one.find(None, Algorithm::Es256), Lookup::Found(_)));
        assert!(matches!(one.find(None, Algorithm::EdDsa), Lookup::Unknown));
    }
}
