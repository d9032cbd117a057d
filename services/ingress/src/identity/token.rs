//! Tokens: JSON Web Tokens (RFC 7519), signed by HMAC with SHA-256 and by nothing else. The header
//! of a token chooses a key of ours by its id, and never the algorithm.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;

use super::config::IdentityConfig;
use super::key_file::Key;

/// The only algorithm.
const ALGORITHM: &str = "HS256";
/// By how much the clock of the node that made a token may be ahead, in seconds.
const CLOCK_SKEW_SECONDS: i64 = 30;

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Use {
    /// To be sent with requests.
    Access,
    /// To get the next tokens.
    Refresh,
}

/// The members of a token. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// The id of the user.
    pub(crate) sub: String,
    /// The name of the user.
    #[serde(default)]
    pub(crate) name: String,
    /// The names of its roles: a list if there are several, a text if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<Value>,
    /// Its permissions, likewise. For clients: the server looks them up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) permissions: Option<Value>,
    /// What it is for.
    pub(crate) token_use: Use,
    /// Who has made it.
    pub(crate) iss: String,
    /// Whom it is for.
    pub(crate) aud: String,
    /// The time from which it is refused.
    pub(crate) exp: i64,
    /// The time until which it is refused.
    pub(crate) nbf: i64,
    /// The time when it was made.
    pub(crate) iat: i64,
    /// Its own id.
    pub(crate) jti: String,
    /// The id of its session.
    pub(crate) sid: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    typ: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    crit: Option<Value>,
}

/// The flaw of a token that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Flaw {
    #[error("the token is not a JSON Web Token")]
    Malformed,
    #[error("the token is not signed by HS256, which is the only algorithm here")]
    Algorithm,
    #[error("the token is signed by a key that is not known here")]
    Key,
    #[error("the signature of the token is wrong")]
    Signature,
    #[error("the token has expired: refresh it, or log in again")]
    Expired,
    #[error("the token is not valid yet: the clocks of its node and this one differ")]
    Early,
    #[error("the token is from another issuer")]
    Issuer,
    #[error("the token is for another audience")]
    Audience,
    #[error("the token is for refreshing only: send the access token")]
    NotAccess,
    #[error("the token is an access token: send the refresh token")]
    NotRefresh,
    #[error("the session of the token is over: log in again")]
    Over,
}

/// The `typ` of tokens of sessions.
const SESSION: &str = "JWT";

/// A token whose header is read and nothing else.
pub(crate) struct Sealed<'a> {
    kind: Option<String>,
    /// The id of the key that it claims to be signed by.
    pub(crate) key_id: String,
    signed: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

/// Signs the claims of a session.
pub(crate) fn sign(claims: &Claims, key: &Key) -> Result<String, Flaw> {
    sign_as(SESSION, claims, key)
}

/// Signs what a token of this kind says.
pub(crate) fn sign_as(kind: &str, claims: &impl Serialize, key: &Key) -> Result<String, Flaw> {
    let header = Header {
        alg: ALGORITHM.to_owned(),
        kid: Some(key.id.clone()),
        typ: Some(kind.to_owned()),
        crit: None,
    };
    let text = |bytes: Vec<u8>| URL_SAFE_NO_PAD.encode(bytes);
    let header = serde_json::to_vec(&header).map(text).or(Err(Flaw::Malformed))?;
    let payload = serde_json::to_vec(claims).map(text).or(Err(Flaw::Malformed))?;
    let signed = format!("{header}.{payload}");
    let signature = mac(key, &signed)?.finalize().into_bytes();
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// Reads the header of a token.
pub(crate) fn open(token: &str) -> Result<Sealed<'_>, Flaw> {
    let (signed, signature) = token.rsplit_once('.').ok_or(Flaw::Malformed)?;
    let (header, payload) = signed.split_once('.').ok_or(Flaw::Malformed)?;
    if payload.contains('.') {
        return Err(Flaw::Malformed);
    }
    let header: Header = part(header)?;
    // An extension that must be understood is none that we understand.
    if header.crit.is_some() {
        return Err(Flaw::Malformed);
    }
    if header.alg != ALGORITHM {
        return Err(Flaw::Algorithm);
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).or(Err(Flaw::Malformed))?;
    let key_id = header.kid.ok_or(Flaw::Key)?;
    Ok(Sealed { kind: header.typ, key_id, signed, payload, signature })
}

impl Sealed<'_> {
    /// What it says, if the signature is that of the key, and the token is of this kind.
    pub(crate) fn read<T: DeserializeOwned>(&self, kind: &str, key: &Key) -> Result<T, Flaw> {
        mac(key, self.signed)?.verify_slice(&self.signature).or(Err(Flaw::Signature))?;
        if self.kind.as_deref() != Some(kind) {
            return Err(Flaw::Malformed);
        }
        part(self.payload)
    }

    /// The claims, if the signature is that of the key, and the token is one of ours for this use
    /// at this time.
    pub(crate) fn claims(
        &self,
        key: &Key,
        config: &IdentityConfig,
        wanted: Option<Use>,
        now_seconds: i64,
    ) -> Result<Claims, Flaw> {
        mac(key, self.signed)?.verify_slice(&self.signature).or(Err(Flaw::Signature))?;
        let claims: Claims = part(self.payload)?;
        if claims.iss != config.issuer {
            return Err(Flaw::Issuer);
        }
        if claims.aud != config.audience {
            return Err(Flaw::Audience);
        }
        match (wanted, claims.token_use) {
            (Some(Use::Access), Use::Refresh) => return Err(Flaw::NotAccess),
            (Some(Use::Refresh), Use::Access) => return Err(Flaw::NotRefresh),
            _ => {}
        }
        if claims.exp <= now_seconds {
            return Err(Flaw::Expired);
        }
        if claims.nbf > now_seconds.saturating_add(CLOCK_SKEW_SECONDS) {
            return Err(Flaw::Early);
        }
        Ok(claims)
    }
}

/// A list of several, a text of one, nothing of none.
pub(crate) fn one_or_many(mut texts: Vec<String>) -> Option<Value> {
    match texts.len() {
        0 => None,
        1 => texts.pop().map(Value::String),
        _ => Some(texts.into_iter().map(Value::String).collect()),
    }
}

fn mac(key: &Key, text: &str) -> Result<Hmac<Sha256>, Flaw> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.secret).or(Err(Flaw::Key))?;
    mac.update(text.as_bytes());
    Ok(mac)
}

fn part<T: DeserializeOwned>(text: &str) -> Result<T, Flaw> {
    let bytes = URL_SAFE_NO_PAD.decode(text).or(Err(Flaw::Malformed))?;
    serde_json::from_slice(&bytes).or(Err(Flaw::Malformed))
}

#[cfg(test)]
mod tests;
