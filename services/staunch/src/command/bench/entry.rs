//! How a load over HTTP is let in: its credential, and TLS.
//!
//! Keys, passwords and the certificate are made for one run and end with it.

use std::path::PathBuf;

use anyhow::Context as _;
use chassis::{Chance as _, SystemChance};
use clap::ValueEnum;
use cluster::NodePlan;
use load::{Access, Connection};
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::args::ClusterArgs;

/// The user of a load with a token.
const USER: &str = "bench";
/// The host of every node that bench starts.
const HOST: &str = "127.0.0.1";

/// The credential of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Credential {
    /// The nodes ask for none
    None,
    /// An API key that is kept in the database
    ApiKey,
    /// The token of a user who has logged in
    Token,
}

/// How the nodes that bench starts let its load in.
pub(super) struct Entry {
    credential: Credential,
    /// The key or password with which the credential is asked for.
    secret: String,
    certificate: Option<Certificate>,
}

struct Certificate {
    pem: String,
    cert: PathBuf,
    key: PathBuf,
    _folder: TempDir,
}

impl Entry {
    /// Makes what the arguments ask for.
    ///
    /// # Errors
    /// When the certificate cannot be written.
    pub(super) fn new(args: &ClusterArgs) -> anyhow::Result<Self> {
        let certificate = if args.tls { Some(Certificate::make()?) } else { None };
        Ok(Self { credential: args.credential, secret: SystemChance.new_id(), certificate })
    }

    /// Sets up a node.
    pub(super) fn prepare(&self, node: &mut NodePlan) {
        let variables: &[(&str, &str)] = match self.credential {
            Credential::None => &[],
            Credential::ApiKey => &[("STAUNCH_API_KEY", &self.secret)],
            Credential::Token => {
                &[("STAUNCH_ADMIN_NAME", USER), ("STAUNCH_ADMIN_PASSWORD", &self.secret)]
            }
        };
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        node.environment.extend(variables.iter().map(owned));
        let auth = match self.credential {
            Credential::None => "none",
            Credential::ApiKey => "api-key",
            Credential::Token => "identity",
        };
        auth.clone_into(&mut node.auth);
        node.tls = self.certificate.as_ref().map(|made| (made.cert.clone(), made.key.clone()));
    }

    /// Gets the credential from a node.
    ///
    /// # Errors
    /// When it does not give one.
    pub(super) async fn access(&self, url: &str) -> anyhow::Result<Access> {
        let access = match &self.certificate {
            Some(made) => Access::default().with_authority(&made.pem)?,
            None => Access::default(),
        };
        let call = async |access: &Access, path: &str, body: &Value| {
            Connection::to(url, access)?.call("POST", path, body).await
        };
        match self.credential {
            Credential::None => Ok(access),
            Credential::ApiKey => {
                let first = access.clone().with_key(&self.secret);
                let wanted = json!({"name": USER, "permissions": ["*"]});
                let made = call(&first, "/elsa/api/api-keys", &wanted).await?;
                Ok(access.with_key(made["key"].as_str().context("the answer has no key")?))
            }
            Credential::Token => {
                let who = json!({"username": USER, "password": self.secret});
                let made = call(&access, "/elsa/api/identity/login", &who).await?;
                let token = made["accessToken"].as_str();
                Ok(access.with_token(token.context("the login gave no token")?))
            }
        }
    }

    /// The facts that a reader needs to compare the figures.
    pub(super) fn about(&self) -> Vec<String> {
        let credential = match self.credential {
            Credential::None => None,
            Credential::ApiKey => Some("every request shows an API key of the database"),
            Credential::Token => Some("every request shows the token of a user"),
        };
        let tls = self.certificate.as_ref().map(|_| "HTTP/1.1 over TLS 1.3, connections kept");
        credential.into_iter().chain(tls).map(str::to_owned).collect()
    }
}

impl Certificate {
    fn make() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("staunch-bench-").tempdir()?;
        let pair = KeyPair::generate()?;
        let pem = CertificateParams::new(vec![HOST.to_owned()])?.self_signed(&pair)?.pem();
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&cert, &pem)?;
        std::fs::write(&key, pair.serialize_pem())?;
        Ok(Self { pem, cert, key, _folder: folder })
    }
}
