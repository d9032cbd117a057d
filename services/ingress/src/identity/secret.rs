//! Secrets that are drawn: API keys and passwords.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A password of 192 bits from this seed.
#[must_use]
pub fn password(seed: &[u8; 32]) -> String {
    text(seed.get(..24).unwrap_or(seed))
}

/// The API key of the application with this client id, of 256 bits from this seed.
#[must_use]
pub fn api_key(client_id: &str, seed: &[u8; 32]) -> String {
    format!("sta_{client_id}_{}", text(seed))
}

/// The end of a fresh id, which is random; its beginning is the time.
#[must_use]
pub fn short_id(id: &str) -> String {
    id.get(id.len().saturating_sub(12)..).unwrap_or(id).to_owned()
}

/// Lowercase hex SHA-256, for secrets that were drawn.
#[must_use]
pub fn hash(secret: &str) -> String {
    store::key_hash(secret)
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_secrets_are_long_enough_and_differ() {
        let one: [u8; 32] = std::array::from_fn(|at| u8::try_from(at * 7).unwrap());
        let other = [2; 32];
        assert_eq!(password(&one).len(), 32);
        assert!(super::super::password::check(&password(&one)).is_ok());
        assert_ne!(password(&one), password(&other));
        assert!(api_key("c1", &one).starts_with("sta_c1_"));
        assert_eq!(short_id("0193f0a1b2c3d4e5f60718293a4b5c6d"), "18293a4b5c6d");
        assert_eq!(hash("hello").get(..8), Some("2cf24dba"));
    }
}
