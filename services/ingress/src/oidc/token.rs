//! Reads tokens (RFC 7519, RFC 9068), and checks them. Of the header only the algorithm, the id of
//! the key and the type are read: a token cannot bring its key, or name the place of one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::algorithm::{Algorithm, PublicKey};
use super::config::OidcConfig;

/// The largest token, in bytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// The longest `sub`, in bytes, as OpenID Connect has it.
const SUBJECT_BYTES_MAX: usize = 255;

/// The flaw of a token that is refused. The text goes into a header: it has no quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Flaw {
    #[error("the token has more than the 16384 bytes that are read")]
    TooLarge,
    #[error("the token is not a signed JSON Web Token")]
    Malformed,
    #[error("the token is of another type: send an access token")]
    Kind,
    #[error("the token is signed by an algorithm that is not allowed here")]
    Algorithm,
    #[error("the token is signed by an unknown key: its issuer did not publish it when last asked")]
    Key,
    #[error("the token is signed by a key that is for another algorithm")]
    KeyUse,
    #[error("the signature of the token is wrong")]
    Signature,
    #[error("the token has expired")]
    Expired,
    #[error("the token has no exp, so it would never expire")]
    Endless,
    #[error("the token is not valid yet: the clocks of its issuer and this server differ")]
    Early,
    #[error("the token is from another issuer")]
    Issuer,
    #[error("the token is for another audience")]
    Audience,
    #[error("the token is of a client that is not accepted here")]
    Client,
    #[error("the token is bound to a key of its sender, which is not checked here")]
    Bound,
    #[error("the token has no sub that names its caller")]
    Subject,
    #[error("the token has too many permissions or roles")]
    Claims,
}

impl Flaw {
    /// A label for figures.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::Kind => "type",
            Self::Algorithm => "algorithm",
            Self::Key => "unknown_key",
            Self::KeyUse => "key_use",
            Self::Signature => "signature",
            Self::Expired => "expired",
            Self::Endless => "endless",
            Self::Early => "early",
            Self::Issuer => "issuer",
            Self::Audience => "audience",
            Self::Client => "client",
            Self::Bound => "bound",
            Self::Subject => "subject",
            Self::Claims => "claims",
        }
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    typ: Option<String>,
    #[serde(default)]
    crit: Option<Value>,
}

/// A token that is read. Nothing of it is true until its signature is verified.
#[derive(Debug)]
pub(crate) struct Sealed<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) key_id: Option<String>,
    pub(crate) claims: Map<String, Value>,
    signed: &'a str,
    signature: Vec<u8>,
}

/// Reads a token.
pub(crate) fn open<'a>(token: &'a str, allowed: &[Algorithm]) -> Result<Sealed<'a>, Flaw> {
    let (header, payload) = parts(token)?;
    let (signed, signature) = token.rsplit_once('.').ok_or(Flaw::Malformed)?;
    let header: Header = json(header)?;
    // An extension that must be understood is none that we understand.
    if header.crit.is_some() {
        return Err(Flaw::Malformed);
    }
    if !header.typ.as_deref().is_none_or(is_access_token) {
        return Err(Flaw::Kind);
    }
    let algorithm = Algorithm::named(&header.alg).filter(|known| allowed.contains(known));
    let algorithm = algorithm.ok_or(Flaw::Algorithm)?;
    let signature = URL_SAFE_NO_PAD.decode(signature).or(Err(Flaw::Malformed))?;
    Ok(Sealed { algorithm, key_id: header.kid, claims: json(payload)?, signed, signature })
}

/// The `iss` that a token claims: to choose who checks it, and for nothing else.
pub(crate) fn claimed_issuer(token: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Claimed {
        iss: String,
    }
    let (_, payload) = parts(token).ok()?;
    json::<Claimed>(payload).ok().map(|claimed| claimed.iss)
}

/// Header and payload of the three parts of a token.
fn parts(token: &str) -> Result<(&str, &str), Flaw> {
    if token.len() > TOKEN_BYTES_MAX {
        return Err(Flaw::TooLarge);
    }
    let mut parts = token.split('.');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(header), Some(payload), Some(_), None) => Ok((header, payload)),
        _ => Err(Flaw::Malformed),
    }
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, Flaw> {
    let bytes = URL_SAFE_NO_PAD.decode(text).or(Err(Flaw::Malformed))?;
    serde_json::from_slice(&bytes).or(Err(Flaw::Malformed))
}

/// `JWT` and `at+jwt`: logout tokens, proofs and others say what they are.
fn is_access_token(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    matches!(kind.strip_prefix("application/").unwrap_or(&kind), "jwt" | "at+jwt")
}

impl Sealed<'_> {
    /// Checks the claims: issuer, audience, client, times, subject.
    pub(crate) fn check(&self, config: &OidcConfig, now_seconds: i64) -> Result<(), Flaw> {
        if self.text("iss") != Some(config.issuer.as_str()) {
            return Err(Flaw::Issuer);
        }
        if !self.audiences()?.iter().any(|one| config.audiences.iter().any(|ours| ours == one)) {
            return Err(Flaw::Audience);
        }
        self.check_client(&config.clients)?;
        let leeway = i64::try_from(config.leeway.as_secs()).unwrap_or(0);
        let latest = now_seconds.saturating_add(leeway);
        let expires = self.time("exp")?.ok_or(Flaw::Endless)?;
        if expires.saturating_add(leeway) <= now_seconds {
            return Err(Flaw::Expired);
        }
        for name in ["nbf", "iat"] {
            if self.time(name)?.is_some_and(|from| from > latest) {
                return Err(Flaw::Early);
            }
        }
        if self.claims.contains_key("cnf") {
            return Err(Flaw::Bound);
        }
        self.subject().map(drop)
    }

    /// The id of the caller at its issuer.
    pub(crate) fn subject(&self) -> Result<&str, Flaw> {
        let fits = |sub: &&str| {
            !sub.is_empty() && sub.len() <= SUBJECT_BYTES_MAX && !sub.contains(char::is_control)
        };
        self.text("sub").filter(fits).ok_or(Flaw::Subject)
    }

    /// Whether the owner of this key has signed it.
    pub(crate) fn is_signed_by(&self, key: &PublicKey) -> bool {
        self.algorithm.verifies(key, self.signed.as_bytes(), &self.signature)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.claims.get(name).and_then(Value::as_str)
    }

    fn audiences(&self) -> Result<Vec<&str>, Flaw> {
        match self.claims.get("aud") {
            None => Ok(Vec::new()),
            Some(Value::String(one)) => Ok(vec![one]),
            Some(Value::Array(all)) => {
                all.iter().map(|one| one.as_str().ok_or(Flaw::Malformed)).collect()
            }
            Some(_) => Err(Flaw::Malformed),
        }
    }

    /// Checks the client that the token was issued to, where only some are accepted.
    fn check_client(&self, clients: &[String]) -> Result<(), Flaw> {
        if clients.is_empty() {
            return Ok(());
        }
        let name = if self.claims.contains_key("azp") { "azp" } else { "client_id" };
        let is_ours = |client: &str| clients.iter().any(|ours| ours == client);
        if self.text(name).is_some_and(is_ours) { Ok(()) } else { Err(Flaw::Client) }
    }

    /// A time in seconds since 1970, which may have a fraction.
    fn time(&self, name: &str) -> Result<Option<i64>, Flaw> {
        let Some(value) = self.claims.get(name) else { return Ok(None) };
        let seconds = value.as_i64().or_else(|| value.as_f64().map(|seconds| seconds as i64));
        seconds.map(Some).ok_or(Flaw::Malformed)
    }
}

#[cfg(test)]
mod tests;
