//! A small issuer on loopback, with real keys, that can misbehave.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
    RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaKeyPair,
    RsaPublicKeyComponents,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Used here and nowhere else.
const RSA: &str = include_str!("rsa.pem");

enum Pair {
    Rsa(Box<RsaKeyPair>),
    Ec(EcdsaKeyPair, &'static str),
    Ed(Ed25519KeyPair),
}

/// A key of the issuer.
pub(super) struct Key {
    id: String,
    pair: Pair,
}

impl Key {
    pub(super) fn rsa(id: &str) -> Self {
        let lines = RSA.lines().filter(|line| !line.starts_with('-'));
        let der = STANDARD.decode(lines.collect::<String>()).unwrap();
        let pair = Pair::Rsa(Box::new(RsaKeyPair::from_pkcs8(&der).unwrap()));
        Self { id: id.to_owned(), pair }
    }

    pub(super) fn es256(id: &str) -> Self {
        Self::ec(id, &ECDSA_P256_SHA256_FIXED_SIGNING, "P-256")
    }

    pub(super) fn es384(id: &str) -> Self {
        Self::ec(id, &ECDSA_P384_SHA384_FIXED_SIGNING, "P-384")
    }

    fn ec(id: &str, algorithm: &'static EcdsaSigningAlgorithm, curve: &'static str) -> Self {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, made.as_ref(), &random).unwrap();
        Self { id: id.to_owned(), pair: Pair::Ec(pair, curve) }
    }

    pub(super) fn ed25519(id: &str) -> Self {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Pair::Ed(Ed25519KeyPair::from_pkcs8(made.as_ref()).unwrap());
        Self { id: id.to_owned(), pair }
    }

    /// The public key as the issuer publishes it.
    pub(super) fn jwk(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match &self.pair {
            Pair::Rsa(pair) => {
                let RsaPublicKeyComponents { n, e } =
                    RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({"kty": "RSA", "kid": self.id, "use": "sig", "n": text(&n), "e": text(&e)})
            }
            Pair::Ec(pair, curve) => {
                let point = &pair.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                json!({"kty": "EC", "crv": curve, "kid": self.id, "x": text(x), "y": text(y)})
            }
            Pair::Ed(pair) => {
                let x = text(pair.public_key().as_ref());
                json!({"kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": x})
            }
        }
    }

    /// A token of this key.
    pub(super) fn sign(&self, algorithm: &str, claims: &Value) -> String {
        self.sign_with(&json!({"alg": algorithm, "kid": self.id, "typ": "at+jwt"}), claims)
    }

    /// A token with this header.
    pub(super) fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let signed = unsigned(header, claims);
        let signature = self.signature(header["alg"].as_str().unwrap(), signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn signature(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(pair) => {
                let padding: &'static dyn ring::signature::RsaEncoding = match algorithm {
                    "RS384" => &RSA_PKCS1_SHA384,
                    "RS512" => &RSA_PKCS1_SHA512,
                    "PS256" => &RSA_PSS_SHA256,
                    "PS384" => &RSA_PSS_SHA384,
                    "PS512" => &RSA_PSS_SHA512,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
            Pair::Ec(pair, _) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }
}

/// Header and payload of a token.
pub(super) fn unsigned(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

/// What the issuer does when it is asked.
#[derive(Clone, Debug)]
pub(super) enum Manner {
    Good,
    /// It accepts the connection, and never answers.
    Silent,
    Status(u16),
    /// It sends this instead of its keys.
    Keys(String),
    /// It sends this instead of its discovery document.
    Discovery(Value),
    Redirect(String),
}

struct Inner {
    url: String,
    keys: Mutex<Vec<Value>>,
    manner: Mutex<Manner>,
    fetches: AtomicUsize,
}

type Server = JoinHandle<Result<(), tasks::Panicked>>;

/// An issuer.
pub(super) struct Issuer {
    inner: Arc<Inner>,
    server: Server,
}

impl Issuer {
    pub(super) async fn start(keys: &[&Key]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let inner = Arc::new(Inner {
            url: format!("http://{}", listener.local_addr().unwrap()),
            keys: Mutex::default(),
            manner: Mutex::new(Manner::Good),
            fetches: AtomicUsize::new(0),
        });
        let issuer = Self { server: serve(listener, &inner), inner };
        issuer.publish(keys);
        issuer
    }

    pub(super) fn url(&self) -> &str {
        &self.inner.url
    }

    /// Replaces its keys.
    pub(super) fn publish(&self, keys: &[&Key]) {
        *self.inner.keys.lock().unwrap() = keys.iter().map(|key| key.jwk()).collect();
    }

    pub(super) fn behave(&self, manner: Manner) {
        *self.inner.manner.lock().unwrap() = manner;
    }

    /// How often its keys were asked for.
    pub(super) fn fetches(&self) -> usize {
        self.inner.fetches.load(Ordering::SeqCst)
    }

    /// Nothing listens on its port any more.
    pub(super) async fn stop(&mut self) {
        self.server.abort();
        drop((&mut self.server).await);
    }

    /// It listens on the same port again.
    pub(super) async fn start_again(&mut self) {
        let address = self.inner.url.strip_prefix("http://").unwrap();
        self.server = serve(TcpListener::bind(address).await.unwrap(), &self.inner);
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn serve(listener: TcpListener, inner: &Arc<Inner>) -> Server {
    let router = Router::new()
        .route("/.well-known/openid-configuration", get(discovery))
        .route("/keys", get(keys))
        .with_state(Arc::clone(inner));
    let serving = async { axum::serve(listener, router).await.unwrap() };
    tasks::spawn("issuer", serving)
}

async fn discovery(State(issuer): State<Arc<Inner>>) -> Response {
    let manner = issuer.manner.lock().unwrap().clone();
    let usual = json!({"issuer": issuer.url, "jwks_uri": format!("{}/keys", issuer.url)});
    match manner {
        Manner::Discovery(document) => closing(document.to_string()),
        Manner::Silent => std::future::pending().await,
        Manner::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Manner::Redirect(to) => (StatusCode::FOUND, [("location", to)]).into_response(),
        Manner::Good | Manner::Keys(_) => closing(usual.to_string()),
    }
}

async fn keys(State(issuer): State<Arc<Inner>>) -> Response {
    issuer.fetches.fetch_add(1, Ordering::SeqCst);
    let manner = issuer.manner.lock().unwrap().clone();
    let keys = issuer.keys.lock().unwrap().clone();
    closing(match manner {
        Manner::Keys(text) => text,
        _ => json!({ "keys": keys }).to_string(),
    })
}

/// An answer after which the connection is closed: a stopped issuer has none that is open.
fn closing(body: String) -> Response {
    ([("content-type", "application/json"), ("connection", "close")], body).into_response()
}
