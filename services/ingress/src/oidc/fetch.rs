//! Fetches the documents of an issuer: bounded in time and size, without redirects and proxies.

use std::error::Error as _;
use std::path::Path;
use std::time::Duration;

use reqwest::{Certificate, Client, StatusCode, Url, redirect};
use serde::Deserialize;

use super::config::OidcConfig;
use super::keys::Keys;

/// The largest discovery document, in bytes.
const DISCOVERY_BYTES_MAX: usize = 64 * 1024;
/// The largest key set, in bytes.
const KEYS_BYTES_MAX: usize = 256 * 1024;
const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

/// A client that trusts the authorities of the system, and those in the file.
///
/// # Errors
/// The reason why there is none, such as a file that cannot be read.
pub(super) fn client(ca: Option<&Path>) -> Result<Client, String> {
    // The first provider that is installed in a process stays; ours are all the same.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = roots::trusted_by(Client::builder())
        .redirect(redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_TIME_MAX)
        .user_agent(concat!("staunch/", env!("CARGO_PKG_VERSION")));
    if let Some(file) = ca {
        let named = |error: &dyn std::fmt::Display| {
            format!("oidc-ca {} cannot be used: {error}", file.display())
        };
        let pem = std::fs::read(file).map_err(|error| named(&error))?;
        let authorities = Certificate::from_pem_bundle(&pem).map_err(|error| named(&error))?;
        if authorities.is_empty() {
            return Err(named(&"it has no certificate in PEM form"));
        }
        builder = builder.tls_certs_merge(authorities);
    }
    builder.build().map_err(|error| format!("there is no HTTP client: {}", explain(&error)))
}

/// The keys of the issuer as they are now.
///
/// # Errors
/// The reason why they cannot be had; never a part of a document.
pub(super) async fn keys(client: &Client, config: &OidcConfig) -> Result<Keys, String> {
    let time_max = config.fetch_time_max;
    let fetched = tokio::time::timeout(time_max, fetch(client, config)).await;
    fetched.unwrap_or_else(|_| Err(format!("it did not answer within {time_max:?}")))
}

async fn fetch(client: &Client, config: &OidcConfig) -> Result<Keys, String> {
    let url = match &config.jwks_url {
        Some(url) => config.check_url("oidc-jwks-url", url)?,
        None => discover(client, config).await?,
    };
    let set = get(client, &url, KEYS_BYTES_MAX).await?;
    Keys::read(&set, &config.algorithms).map_err(|reason| format!("the answer of {url}: {reason}"))
}

/// The URL of the keys, as the discovery document has it.
async fn discover(client: &Client, config: &OidcConfig) -> Result<Url, String> {
    let url = config.check_url("oidc-issuer", &config.discovery_url())?;
    let document = get(client, &url, DISCOVERY_BYTES_MAX).await?;
    let found: Discovery = serde_json::from_slice(&document)
        .map_err(|error| format!("the answer of {url} is not a discovery document: {error}"))?;
    if found.issuer != config.issuer {
        let named: String = found.issuer.chars().take(200).collect();
        return Err(format!(
            "the issuer calls itself {named:?}: if that is right, set oidc-issuer to it"
        ));
    }
    config.check_url("the jwks_uri of the issuer", &found.jwks_uri)
}

/// The body of the answer, of at most as many bytes.
async fn get(client: &Client, url: &Url, bytes_max: usize) -> Result<Vec<u8>, String> {
    let sent = client.get(url.clone()).header("accept", "application/json").send().await;
    let mut response = sent.map_err(|error| explain(&error))?;
    if response.status() != StatusCode::OK {
        return Err(format!("{url} answers {}: 200 is expected", response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| explain(&error))? {
        if body.len() + chunk.len() > bytes_max {
            return Err(format!("the answer of {url} has more than {bytes_max} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The error with its reasons.
fn explain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(reason) = source {
        text = format!("{text}: {reason}");
        source = reason.source();
    }
    text
}
