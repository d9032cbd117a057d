//! The configuration of ingress, and the checks of its values at the start.

use std::net::SocketAddr;
use std::time::Duration;

use chassis::http::TlsFiles;
use chassis::{Auth, LiveKey, Networks, Rate, Settings, WebOrigins};
use engine::outside::NatsConfig;
use model::{Retries, limits};
use payloads::Places;

use crate::demo::Demo;
use crate::identity::config::IdentityConfig;
use crate::oidc::OidcConfig;

/// The reason why a configuration is refused.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Invalid {
    /// Every caller would be let in.
    #[error(
        "without authentication ingress listens on loopback only, not on {0}: use \
         --listen 127.0.0.1:5001, or --auth api-key"
    )]
    Open(SocketAddr),
    /// The key is too short: it could be guessed.
    #[error("the API key has {0} characters: use at least {min}", min = KEY_CHARS_MIN)]
    WeakKey(usize),
    /// The keys that sign tokens, or the first user's password, cannot be used.
    #[error("{0}")]
    Identity(String),
    /// The issuer of tokens cannot be used.
    #[error("{0}")]
    Oidc(String),
    /// The master keys of secrets cannot be used.
    #[error("{0}")]
    Secrets(String),
    /// A place of payloads cannot be opened.
    #[error("{0}")]
    Payloads(String),
    /// The text is not a URL.
    #[error("base-url {0:?} is not valid: use a URL such as https://workflows.example.com")]
    BaseUrl(String),
}

/// The smallest length of the API key in the configuration, in characters.
const KEY_CHARS_MIN: usize = 16;

/// The configuration of ingress.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address that it listens on.
    pub listen: SocketAddr,
    /// The largest number of open connections; fewer if the process may not open as many files.
    pub connections_max: usize,
    /// The beginning of URLs in answers; if none, the address that it listens on.
    pub base_url: Option<String>,
    /// The path below which it is served beside the root, such as `/staunch`.
    pub base_path: Option<String>,
    /// Links and workflow endpoints are refused without https.
    pub requires_https: bool,
    /// Pages of workflows are not sandboxed: they have a host of their own.
    pub trusts_workflow_pages: bool,
    /// The audit log has an entry for each start, too.
    pub audits_starts: bool,
    /// Networks of proxies that are believed about the addresses of their clients.
    pub trusted_proxies: Networks,
    /// Certificate and key; plain HTTP if none.
    pub tls: Option<TlsFiles>,
    /// Requests from one address.
    pub limit_address: Option<Rate>,
    /// Requests with one credential.
    pub limit_credential: Option<Rate>,
    /// Starts of one definition.
    pub limit_definition: Option<Rate>,
    /// How callers authenticate.
    pub auth: Auth,
    /// A key with all permissions, with which other keys can be created.
    pub api_key: Option<String>,
    /// That key where it follows a file; it takes the place of `api_key`.
    pub live_key: Option<LiveKey>,
    /// Users and their tokens.
    pub identity: IdentityConfig,
    /// The issuer whose tokens are accepted, where that scheme is on.
    pub oidc: Option<OidcConfig>,
    /// The master keys of secrets; none are kept without them.
    pub master: Option<vault::Master>,
    /// What workflows may use of NATS: what a publication warns about.
    pub nats: NatsConfig,
    /// Origins whose web pages may use the API; none when empty.
    pub cors_origins: WebOrigins,
    /// The largest body of a request, in bytes; definitions may be larger.
    pub body_bytes_max: usize,
    /// Bytes of a payload, and so of the body of a request to a workflow.
    pub payload_bytes_max: u64,
    /// Bytes above which contents rest in payloads.
    pub payload_above: usize,
    /// Where payloads rest.
    pub payload_places: Places,
    /// The longest wait for an instance to answer, unless its endpoint sets one.
    pub answer_time_max: Duration,
    /// The largest number of requests in progress; further ones are refused with 503.
    pub requests_max: usize,
    /// The largest size of their bodies together, in bytes; a body beyond that is refused with 503.
    pub bodies_bytes_max: usize,
    /// The largest number of commands that may wait for an executor; above it, starts and resumes
    /// are refused with 503.
    pub backlog_max: u64,
    /// Instances that one request removes at the same time; each removal holds a connection to the
    /// database for a while.
    pub removals_at_once: usize,
    /// Retries by name: the resilience strategies that activities may name.
    pub retries: Retries,
    /// Journals show no values of inputs and outputs, where a definition does not say it.
    pub leaves_out_values: bool,
    /// In test runs flowcharts run in token mode, where nothing else chooses the mode.
    pub token_mode: bool,
    /// In test runs an incident ends only its branch, where the definition names no strategy.
    pub continues_with_incidents: bool,
    /// The largest number of open streams of live updates; further ones are refused with 503.
    pub streams_max: usize,
    /// The largest number of those of one caller; further ones are refused with 429.
    pub streams_per_caller_max: usize,
    /// Time between two signs of life on a stream, with which its credentials are checked again.
    pub heartbeat: Duration,
    /// The executor that may be killed; only `staunch demo` has one.
    pub demo: Option<Demo>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 5001)),
            connections_max: limits::CONNECTIONS_MAX,
            base_url: None,
            base_path: None,
            requires_https: false,
            trusts_workflow_pages: false,
            audits_starts: false,
            trusted_proxies: Networks::default(),
            tls: None,
            limit_address: None,
            limit_credential: None,
            limit_definition: None,
            auth: Auth::NONE,
            api_key: None,
            live_key: None,
            identity: IdentityConfig::default(),
            oidc: None,
            master: None,
            nats: NatsConfig::default(),
            cors_origins: WebOrigins::default(),
            body_bytes_max: limits::COMMAND_BYTES_MAX,
            payload_bytes_max: limits::PAYLOAD_BYTES_MAX,
            payload_above: limits::PAYLOAD_ABOVE_BYTES,
            payload_places: Places::default(),
            answer_time_max: Duration::from_secs(30),
            requests_max: 4_096,
            bodies_bytes_max: limits::BODIES_BYTES_MAX,
            backlog_max: limits::BACKLOG_MAX,
            removals_at_once: 3,
            retries: Retries::new(),
            leaves_out_values: false,
            token_mode: false,
            continues_with_incidents: false,
            streams_max: limits::LIVE_STREAMS_MAX,
            streams_per_caller_max: limits::LIVE_STREAMS_PER_CALLER_MAX,
            heartbeat: limits::LIVE_HEARTBEAT,
            demo: None,
        }
    }
}

impl Config {
    /// The configuration of ingress in these settings.
    ///
    /// # Errors
    /// [`Invalid`] names a value that works.
    pub fn from_settings(settings: &Settings) -> Result<Self, Invalid> {
        Self::resting(settings, Places::open)
    }

    /// Refuses settings, and files that they name, as [`Self::from_settings`] does. Nothing is asked and
    /// nothing is made.
    ///
    /// # Errors
    /// [`Invalid`] names a value that works.
    pub fn check_files(settings: &Settings) -> Result<(), Invalid> {
        let unopened = |texts: &[String]| Places::check(texts).map(|()| Places::default());
        Self::resting(settings, unopened).map(drop)
    }

    fn resting(
        settings: &Settings,
        places: impl FnOnce(&[String]) -> Result<Places, payloads::Error>,
    ) -> Result<Self, Invalid> {
        let config = Self {
            listen: settings.listen,
            connections_max: settings.max_connections,
            base_url: settings.base_url.clone(),
            base_path: settings.base_path(),
            requires_https: settings.require_https,
            trusts_workflow_pages: settings.trust_workflow_pages,
            audits_starts: settings.audit_starts,
            trusted_proxies: settings.trusted_proxies.clone(),
            tls: TlsFiles::from_settings(settings),
            limit_address: settings.limit_address,
            limit_credential: settings.limit_credential,
            limit_definition: settings.limit_definition,
            auth: settings.auth,
            identity: IdentityConfig::from_settings(settings).map_err(Invalid::Identity)?,
            oidc: OidcConfig::from_settings(settings).map_err(Invalid::Oidc)?,
            api_key: settings.api_key.as_ref().map(|key| key.expose().to_owned()),
            live_key: LiveKey::of(settings, "api-key", settings.api_key.as_ref()),
            master: master(settings)?,
            nats: NatsConfig {
                subjects: settings.nats_subjects.0.clone(),
                buckets: settings.nats_buckets.0.clone(),
            },
            cors_origins: settings.cors_origins.clone(),
            body_bytes_max: settings.max_body_bytes,
            payload_bytes_max: settings.payload_bytes,
            payload_above: settings.payload_above,
            payload_places: places(&settings.payload_store)
                .map_err(|error| Invalid::Payloads(error.to_string()))?,
            backlog_max: settings.max_backlog,
            removals_at_once: removals_at_once(settings),
            retries: settings.retry_strategies.clone(),
            leaves_out_values: settings.log_persistence == chassis::LogPersistence::Exclude,
            token_mode: settings.flowchart_mode == chassis::FlowchartMode::Token,
            continues_with_incidents: settings.incident_strategy
                == chassis::IncidentStrategy::ContinueWithIncidents,
            ..Self::default()
        };
        config.check()?;
        if !settings.auth.oidc {
            OidcConfig::check_ca(settings).map_err(Invalid::Oidc)?;
        }
        Ok(config)
    }

    /// Refuses a configuration that lets everybody in, or that cannot work.
    ///
    /// # Errors
    /// [`Invalid`] names a value that works.
    pub fn check(&self) -> Result<(), Invalid> {
        if self.auth == Auth::NONE && !self.listen.ip().is_loopback() {
            return Err(Invalid::Open(self.listen));
        }
        if self.auth.identity {
            self.identity.check().map_err(Invalid::Identity)?;
        }
        if self.auth.oidc {
            self.check_issuer().map_err(Invalid::Oidc)?;
        }
        match &self.api_key {
            Some(key) if key.chars().count() < KEY_CHARS_MIN => {
                return Err(Invalid::WeakKey(key.chars().count()));
            }
            _ => {}
        }
        check_base_url(self.base_url.as_deref())
    }

    /// Refuses settings with which ingress could not run, as far as their texts show it: no file is read.
    ///
    /// # Errors
    /// [`Invalid`] names a value that works.
    pub fn check_texts(settings: &Settings) -> Result<(), Invalid> {
        check_base_url(settings.base_url.as_deref())?;
        let issuer = OidcConfig::from_settings(settings).map_err(Invalid::Oidc)?;
        let Some(issuer) = issuer else { return Ok(()) };
        let own = settings.auth.identity.then_some(settings.token_issuer.as_str());
        check_issuers(own, &issuer.issuer).map_err(Invalid::Oidc)?;
        issuer.check_texts().map_err(Invalid::Oidc)
    }

    /// What is odd about `base-url` and `base-path` together: their paths differ.
    pub(crate) fn path_advice(&self) -> Option<String> {
        let (url, path) = (self.base_url.as_deref()?, self.base_path.as_deref()?);
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let own = rest.split_once('/').map(|(_, path)| path.trim_end_matches('/'));
        let own = own.unwrap_or_default();
        (own != path.trim_matches('/')).then(|| {
            format!(
                "links begin with base-url {url}, whose path is /{own}, and redirects with base-path \
                 {path}: both reach this node only if a proxy serves it below either; give both the \
                 same path, or leave base-path out"
            )
        })
    }

    fn check_issuer(&self) -> Result<(), String> {
        let issuer = self.oidc.as_ref().ok_or("auth has oidc, and no issuer is configured")?;
        let own = self.auth.identity.then_some(self.identity.issuer.as_str());
        check_issuers(own, &issuer.issuer)?;
        issuer.check()
    }

    /// The key with all permissions, as it is now.
    pub(crate) fn bootstrap_key(&self) -> Option<String> {
        match &self.live_key {
            Some(key) => Some(key.now().expose().to_owned()),
            None => self.api_key.clone(),
        }
    }

    /// The beginning of URLs, without a slash at the end.
    #[must_use]
    pub fn base_url(&self) -> String {
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => {
                let scheme = if self.tls.is_some() { "https" } else { "http" };
                let path = self.base_path.as_deref().unwrap_or_default();
                format!("{scheme}://{}{path}", chassis::reachable(self.listen))
            }
        }
    }
}

fn check_base_url(url: Option<&str>) -> Result<(), Invalid> {
    match url {
        Some(url) if !url.starts_with("http://") && !url.starts_with("https://") => {
            Err(Invalid::BaseUrl(url.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Refuses an issuer of foreign tokens with the name of the issuer of logins, if there are any.
fn check_issuers(own: Option<&str>, foreign: &str) -> Result<(), String> {
    if own == Some(foreign) {
        return Err(format!(
            "token-issuer and oidc-issuer are both {foreign:?}: the issuer of a token decides who \
             checks it; choose another token-issuer"
        ));
    }
    Ok(())
}

/// Half of the connections of the smaller pool: others need some, too. PostgreSQL has four connections
/// that write beside those of the committers.
fn removals_at_once(settings: &Settings) -> usize {
    let that_read = usize::try_from(settings.database_connections).unwrap_or(usize::MAX);
    let that_write = settings.database_committers + 4;
    (that_read.min(that_write) / 2).max(1)
}

/// The master keys of secrets in these settings.
///
/// # Errors
/// [`Invalid`] says what is wrong with them.
fn master(settings: &Settings) -> Result<Option<vault::Master>, Invalid> {
    let text = settings.secrets_key.as_ref().map(chassis::Secret::expose);
    let loaded = vault::Master::load(settings.secrets_key_file.as_deref(), text);
    loaded.map_err(|error| Invalid::Secrets(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_to_anyone_is_refused() {
        let open = Config { listen: "0.0.0.0:5001".parse().unwrap(), ..Config::default() };
        assert!(open.check().unwrap_err().to_string().contains("--auth api-key"));
        let keyed = Config { auth: Auth::API_KEY, ..open };
        assert_eq!(keyed.check(), Ok(()));
        assert_eq!(Config::default().check(), Ok(()));
        let weak = Config { api_key: Some("short".to_owned()), ..Config::default() };
        assert_eq!(weak.check(), Err(Invalid::WeakKey(5)));
    }

    #[test]
    fn removals_leave_half_of_the_connections_to_others() {
        for (read, write, expected) in
            [("8", "2", 3), ("4", "2", 2), ("1", "1", 1), ("100", "32", 18), ("16", "32", 8)]
        {
            let variable = |name: &str| match name {
                "STAUNCH_DATABASE_CONNECTIONS" => Some(read.to_owned()),
                "STAUNCH_DATABASE_COMMITTERS" => Some(write.to_owned()),
                _ => None,
            };
            let settings = Settings::resolve(&chassis::Args::default(), &variable).unwrap();
            assert_eq!(removals_at_once(&settings), expected, "{read} {write}");
        }
    }

    #[test]
    fn paths_that_differ_are_named() {
        let advice = |url: &str, path: &str| {
            let url = Some(url.to_owned()).filter(|url| !url.is_empty());
            let path = Some(path.to_owned()).filter(|path| !path.is_empty());
            Config { base_url: url, base_path: path, ..Config::default() }.path_advice()
        };
        let named = advice("http://127.0.0.1:21759/b", "/a").unwrap();
        assert!(named.contains("whose path is /b") && named.contains("base-path /a"), "{named}");
        assert!(advice("https://flow.example", "/a").unwrap().contains("whose path is /, and"));
        for (url, path) in [
            ("https://flow.example/a", "/a"),
            ("https://flow.example/a/", "/a"),
            ("https://flow.example/a", ""),
            ("", "/a"),
            ("", ""),
        ] {
            assert_eq!(advice(url, path), None, "{url} {path}");
        }
    }

    #[test]
    fn urls_begin_with_what_is_configured() {
        assert_eq!(Config::default().base_url(), "http://127.0.0.1:5001");
        let everywhere = "0.0.0.0:5001".parse().unwrap();
        let open = Config { listen: everywhere, ..Config::default() };
        assert_eq!(open.base_url(), "http://localhost:5001", "nobody can call 0.0.0.0");
        let below = Config { base_path: Some("/staunch".to_owned()), ..Config::default() };
        assert_eq!(below.base_url(), "http://127.0.0.1:5001/staunch");
        let url = Some("https://flow.example/".to_owned());
        assert_eq!(
            Config { base_url: url, ..Config::default() }.base_url(),
            "https://flow.example"
        );
    }
}
