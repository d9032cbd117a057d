//! The algorithms that may sign tokens. All have a public key: a token whose algorithm has a shared
//! secret, or none, is refused before any key is looked for.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};

/// An algorithm of a signature (RFC 7518, RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA, PKCS#1 1.5, SHA-256.
    Rs256,
    /// RSA, PKCS#1 1.5, SHA-384.
    Rs384,
    /// RSA, PKCS#1 1.5, SHA-512.
    Rs512,
    /// RSA, PSS, SHA-256.
    Ps256,
    /// RSA, PSS, SHA-384.
    Ps384,
    /// RSA, PSS, SHA-512.
    Ps512,
    /// ECDSA over P-256, SHA-256.
    Es256,
    /// ECDSA over P-384, SHA-384.
    Es384,
    /// EdDSA over Curve25519.
    EdDsa,
}

use Algorithm::{EdDsa, Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};

/// The kind of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

/// A public key.
#[derive(Clone, Debug)]
pub(crate) struct PublicKey {
    pub(crate) kind: Kind,
    /// The modulus of an RSA key, else the point.
    pub(crate) bytes: Vec<u8>,
    /// The exponent of an RSA key, else empty.
    pub(crate) exponent: Vec<u8>,
}

enum Method {
    Rsa(&'static RsaParameters),
    Point(&'static dyn VerificationAlgorithm),
}

impl Algorithm {
    /// Each with its name.
    pub const ALL: [(&'static str, Self); 9] = [
        ("RS256", Rs256),
        ("RS384", Rs384),
        ("RS512", Rs512),
        ("PS256", Ps256),
        ("PS384", Ps384),
        ("PS512", Ps512),
        ("ES256", Es256),
        ("ES384", Es384),
        ("EdDSA", EdDsa),
    ];

    /// The algorithm with this name, exactly.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }

    /// Whether this is the signature of the message by the owner of the key.
    pub(crate) fn verifies(self, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        if self.kind() != key.kind {
            return false;
        }
        let verified = match self.method() {
            Method::Rsa(parameters) => {
                let (n, e) = (key.bytes.as_slice(), key.exponent.as_slice());
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            Method::Point(method) => {
                UnparsedPublicKey::new(method, &key.bytes).verify(message, signature)
            }
        };
        verified.is_ok()
    }

    /// The kind of its keys.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Rs256 | Rs384 | Rs512 | Ps256 | Ps384 | Ps512 => Kind::Rsa,
            Es256 => Kind::P256,
            Es384 => Kind::P384,
            EdDsa => Kind::Ed25519,
        }
    }

    fn method(self) -> Method {
        match self {
            Rs256 => Method::Rsa(&RSA_PKCS1_2048_8192_SHA256),
            Rs384 => Method::Rsa(&RSA_PKCS1_2048_8192_SHA384),
            Rs512 => Method::Rsa(&RSA_PKCS1_2048_8192_SHA512),
            Ps256 => Method::Rsa(&RSA_PSS_2048_8192_SHA256),
            Ps384 => Method::Rsa(&RSA_PSS_2048_8192_SHA384),
            Ps512 => Method::Rsa(&RSA_PSS_2048_8192_SHA512),
            Es256 => Method::Point(&ECDSA_P256_SHA256_FIXED),
            Es384 => Method::Point(&ECDSA_P384_SHA384_FIXED),
            EdDsa => Method::Point(&ED25519),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact_and_none_has_a_shared_secret() {
        for (name, algorithm) in Algorithm::ALL {
            assert_eq!(Algorithm::named(name), Some(algorithm));
        }
        for other in ["none", "None", "NONE", "", "HS256", "HS384", "HS512", "rs256", "ES256K"] {
            assert_eq!(Algorithm::named(other), None, "{other}");
        }
    }

    /// RFC 8037, appendix A.4.
    #[test]
    fn a_known_signature_is_verified_and_a_changed_one_is_not() {
        use base64::Engine as _;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let key = PublicKey {
            kind: Kind::Ed25519,
            bytes: bytes("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"),
            exponent: Vec::new(),
        };
        let message = b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
        let mut signature = bytes(
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
        );
        assert!(EdDsa.verifies(&key, message, &signature));
        assert!(!Es256.verifies(&key, message, &signature), "the key is of another kind");
        signature[0] ^= 1;
        assert!(!EdDsa.verifies(&key, message, &signature));
        assert!(!EdDsa.verifies(&key, message, b""));
    }
}
