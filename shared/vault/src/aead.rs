//! AES-256-GCM with a nonce before each ciphertext.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::Error;

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;

/// Begins every key that is made of another one.
const SALT: &[u8] = b"staunch vault 1";

/// A key; it is never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) [u8; KEY_BYTES]);

impl Key {
    /// A new key.
    pub(crate) fn fresh() -> Result<Self, Error> {
        random().map(Self)
    }

    /// A key of these bytes, if they are as many as a key has.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The key of one use, made of this one: the number of texts that one key may encrypt is limited,
    /// and no use opens what another has encrypted.
    pub(crate) fn of_use(&self, what: &str) -> Result<Self, Error> {
        let source = Salt::new(HKDF_SHA256, SALT).extract(&self.0);
        let mut bytes = [0; KEY_BYTES];
        let info = [what.as_bytes()];
        let expanded = source.expand(&info, HKDF_SHA256);
        let filled = expanded.and_then(|expanded| expanded.fill(&mut bytes));
        filled.map(|()| Self(bytes)).map_err(|_unspecified| failed("make a key of another"))
    }

    fn cipher(&self) -> Result<LessSafeKey, Error> {
        let unbound = UnboundKey::new(&AES_256_GCM, &self.0);
        unbound.map(LessSafeKey::new).map_err(|_unspecified| failed("make a key of these bytes"))
    }

    /// The bytes, encrypted for this context: base64 of the nonce and the ciphertext.
    pub(crate) fn encrypt(&self, plain: &[u8], context: &str) -> Result<String, Error> {
        self.encrypt_with(plain, context, random()?)
    }

    /// As [`Key::encrypt`], with a nonce that is used once.
    pub(crate) fn encrypt_with(
        &self,
        plain: &[u8],
        context: &str,
        nonce: [u8; NONCE_LEN],
    ) -> Result<String, Error> {
        let mut bytes = plain.to_vec();
        let sealed = self.cipher()?.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(context.as_bytes()),
            &mut bytes,
        );
        sealed.map_err(|_unspecified| failed("encrypt it"))?;
        let mut whole = nonce.to_vec();
        whole.append(&mut bytes);
        Ok(URL_SAFE_NO_PAD.encode(whole))
    }

    /// The bytes that were encrypted by this key for this context; none if they were not.
    pub(crate) fn decrypt(&self, text: &str, context: &str) -> Option<Vec<u8>> {
        let mut bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let cipher = self.cipher().ok()?;
        let plain = cipher.open_in_place(nonce, Aad::from(context.as_bytes()), sealed).ok()?;
        Some(plain.to_vec())
    }
}

fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_unspecified| failed("get random bytes from the system"))?;
    Ok(bytes)
}

fn failed(what: &str) -> Error {
    Error::Locked(format!("the system cannot {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_has_its_own_key() {
        let key = Key([7; KEY_BYTES]);
        assert!(key.of_use("a").unwrap() == key.of_use("a").unwrap());
        assert!(key.of_use("a").unwrap() != key.of_use("b").unwrap());
        assert!(key.of_use("a").unwrap() != key);
    }

    #[test]
    fn only_the_same_key_and_context_decrypt() {
        let (key, other) = (Key::fresh().unwrap(), Key::fresh().unwrap());
        let text = key.encrypt(b"hunter2", "a").unwrap();
        assert_eq!(key.decrypt(&text, "a").unwrap(), b"hunter2");
        assert_eq!(other.decrypt(&text, "a"), None);
        assert_eq!(key.decrypt(&text, "b"), None);
        assert_ne!(key.encrypt(b"hunter2", "a").unwrap(), text, "each has a nonce of its own");
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(bytes).unwrap();
            assert_eq!(key.decrypt(&forged, "a"), None, "at {at}");
        }
        for short in ["", "AAAA", "!"] {
            assert_eq!(key.decrypt(short, "a"), None);
        }
    }
}
