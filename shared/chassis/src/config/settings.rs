//! The settings of every role. To add one: add it to this table, with a default that is safe.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use model::{After, Retention, Retries, ScriptLibrary, limits};

use super::amount::Delay;
use super::declare::{name_of, settings};
use super::error::{ConfigError, Origin};
use super::form::{self, Bounds, Described};
use super::gate::{BucketLists, HostLists, NameLists, Networks, Rate};
use super::oidc::{ClaimRoles, TokenAlgorithms};
use super::source::{Setting, Sources};
use super::unknown::UnknownVariable;
use super::value::{
    Auth, BasePath, Entries, IdentityProvider, MailServer, MisfireOfAll, NamedUrls, NodeAddress,
    Parse, Secret, Sender,
};
use super::web_origins::WebOrigins;
use super::web_url::{self, WebAddress};
use super::word::{ClientAuth, FlowchartMode, IncidentStrategy, LogFormat, LogPersistence};

/// What `base-url` must be.
pub(super) const BASE_URL: &str = "must be a URL such as https://flows.example.com: http or https in \
    lower case, the host that callers use (letters, digits and hyphens, at most 63 between its dots), and \
    perhaps a port (without zeros before it) and a path (without . and .. between its slashes), without a \
    login, a query and a fragment; other letters than a to z are written as xn--… in the host, and as %… \
    in the path";

settings! {
    /// Roles of this process, such as `ingress,executor`; `all` for every one
    role: Vec<String> = "all", "ROLES";
    /// Address and port of the HTTP server
    listen: SocketAddr = "127.0.0.1:5001", "ADDRESS";
    /// Address and port at which every role answers health and metrics; off if not set
    admin_listen: Option<SocketAddr> = "", "ADDRESS";
    /// HTTP connections that are open at the same time; fewer if the process may not open as many
    /// files
    max_connections: usize = limits::CONNECTIONS_MAX, "COUNT";
    /// URL of this address for callers from outside; `http(s)://<listen>` if not set
    base_url: Option<String> = "", "URL" like web_url::link(BASE_URL);
    /// Path below which a proxy serves this address, such as `/staunch`: requests may have it or not,
    /// links and redirects have it; that of `base-url` if not set
    base_path: Option<BasePath> = "", "PATH";
    /// Refuses links and workflow endpoints without https, at this port or at a trusted proxy
    require_https: bool = "false", "BOOL", num_args = 0..=1, default_missing_value = "true";
    /// Pages that workflows answer with run as pages of this address, and not in a sandbox: whoever may
    /// write a workflow can then act as anybody who uses Studio at the same address. Only where
    /// browsers reach workflows at a host of their own
    trust_workflow_pages: bool = "false", "BOOL", num_args = 0..=1, default_missing_value = "true";
    /// Writes each start over the API into the audit log, too: who, which definition, from where
    audit_starts: bool = "false", "BOOL", num_args = 0..=1, default_missing_value = "true";
    /// Networks of proxies whose X-Forwarded-… and Forwarded headers are believed, such as
    /// `10.0.0.0/8,::1`; none if not set
    trusted_proxies: Networks = "", "NETWORKS";
    /// File with the certificate of the HTTP server and those between it and its authority (PEM);
    /// plain HTTP if not set
    tls_cert: Option<PathBuf> = "", "FILE";
    /// File with the private key of that certificate (PEM)
    tls_key: Option<PathBuf> = "", "FILE";
    /// File with the authorities whose client certificates are accepted (PEM); none are asked for
    /// if not set
    tls_client_ca: Option<PathBuf> = "", "FILE";
    /// Whether a client must have such a certificate: `required` or `optional`
    tls_client_auth: ClientAuth = "required", "MODE";
    /// Requests from one address, such as `600/1m`; no limit if not set
    limit_address: Option<Rate> = "", "COUNT/TIME";
    /// Requests with one credential, such as `100/1s`; no limit if not set
    limit_credential: Option<Rate> = "", "COUNT/TIME";
    /// Starts of one definition over HTTP, such as `50/1s`; no limit if not set
    limit_definition: Option<Rate> = "", "COUNT/TIME";
    /// NATS servers, separated by commas: `nats://host:4222`, `tls://user:password@host`,
    /// `nats://token@host`
    nats_url: String = "nats://127.0.0.1:4222", "URL";
    /// NATS credentials file
    nats_creds: Option<PathBuf> = "", "FILE";
    /// File with the seed of the NKey of this process
    nats_nkey: Option<PathBuf> = "", "FILE";
    /// PEM file with authorities of the NATS servers' certificates, beside those of the system; a
    /// server without TLS is refused if set
    nats_ca: Option<PathBuf> = "", "FILE";
    /// PEM file with the certificate that this process shows to NATS
    nats_tls_cert: Option<PathBuf> = "", "FILE";
    /// PEM file with the private key of that certificate
    nats_tls_key: Option<PathBuf> = "", "FILE";
    /// How long a starting process waits for the first answer of NATS, 1s to 10m
    nats_wait: Duration = "10s", "TIME" from "1s" to "10m";
    /// Database: `sqlite://…` or `postgres://…`
    database_url: String = "sqlite://./.staunch/staunch.db?mode=rwc", "URL";
    /// Connections to the database that read; on PostgreSQL four and `database-committers` more write
    database_connections: u32 = "8", "COUNT" from "1" to "1000";
    /// Transactions that commit bursts to PostgreSQL at the same time, each on its own connection, 1 to 32
    database_committers: usize = "2", "COUNT" from "1" to "32";
    /// How long a query waits for a connection to PostgreSQL, 100ms to 1m
    database_wait: Duration = "2s", "TIME" from "100ms" to "1m";
    /// How long one statement may take, 1s to 10m; a transaction has three times as long
    database_statement_time: Duration = "10s", "TIME" from "1s" to "10m";
    /// The database is reached through a pooler that lends a connection for one transaction, such as
    /// PgBouncer in transaction mode
    database_pooler: bool = "false", "BOOL", num_args = 0..=1, default_missing_value = "true";
    /// Creates missing streams, buckets and database tables at the start
    provision: bool = "false", "BOOL", num_args = 0..=1, default_missing_value = "true";
    /// How callers authenticate: `none`, or schemes side by side, separated by commas: `api-key`,
    /// `identity` (users in the database), `oidc` (tokens of an OpenID Connect issuer)
    auth: Auth = "none", "SCHEMES";
    /// An API key with all permissions, with which others can be created
    api_key: Option<Secret> = "", "KEY";
    /// How long the token of a login is valid
    access_token_time: Duration = "1h", "TIME" to "720h";
    /// How long a session lasts without a refresh of its token
    refresh_token_time: Duration = "2h", "TIME" to "720h";
    /// The `iss` and `aud` of the tokens of logins
    token_issuer: String = "staunch", "NAME";
    /// File with the keys that sign tokens, one a line, of 32 or more characters: the first signs,
    /// all verify; keys in the database if not set
    signing_key_file: Option<PathBuf> = "", "FILE";
    /// File with the master keys of secrets, one a line, of 32 bytes in base64 or hexadecimal: the first
    /// encrypts, all decrypt
    secrets_key_file: Option<PathBuf> = "", "FILE";
    /// The master keys, with commas between them; not as a flag, which other processes could read
    secrets_key: Option<Secret> = "", "KEYS", hide = true;
    /// A key that reads the metrics at `admin-listen`, and nothing else
    metrics_key: Option<Secret> = "", "KEY";
    /// Name of the first user, who is made with all permissions while there is none
    admin_name: Option<String> = "", "NAME";
    /// The first user's password; not as a flag, which other processes could read
    admin_password: Option<Secret> = "", "PASSWORD", hide = true;
    /// File with the first user's password
    admin_password_file: Option<PathBuf> = "", "FILE";
    /// URL of the OpenID Connect issuer whose access tokens are accepted, exactly as in their `iss`
    oidc_issuer: Option<String> = "", "URL" like form::issuer();
    /// The `aud` that these tokens must have, or several, one of which they must have
    oidc_audience: Vec<String> = "", "NAMES";
    /// URL of the issuer's keys; from its discovery document if not set
    oidc_jwks_url: Option<String> = "", "URL" like form::issuer();
    /// PEM file with authorities of the issuer's certificate, beside those of the system
    oidc_ca: Option<PathBuf> = "", "FILE";
    /// Algorithms with which tokens may be signed
    oidc_algorithms: TokenAlgorithms = "RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,EdDSA", "NAMES";
    /// Clients (`azp`, or else `client_id`) whose tokens are accepted; all if not set
    oidc_clients: Vec<String> = "", "IDS";
    /// Claims whose values are permissions; `a.b` is the member `b` of the claim `a`
    oidc_permission_claims: Vec<String> = "permissions", "NAMES";
    /// Claims whose values `oidc-roles` maps
    oidc_role_claims: Vec<String> = "roles", "NAMES";
    /// What the values of the role claims stand for, permissions or roles of the database: a JSON
    /// object such as `{"admins": "*", "staff": ["read:*", "role:editor"]}`
    oidc_roles: ClaimRoles = "", "JSON";
    /// Lets a value of the role claims that is not mapped name a role of the database, by its id
    oidc_own_roles: bool = "false", "BOOL", num_args = 0..=1, default_missing_value = "true";
    /// Claim with a name of the caller, which the audit log shows beside its `sub`
    oidc_name_claim: Option<String> = "", "NAME";
    /// By how much the issuer's clock may differ from this one, at most 5m
    oidc_leeway: Duration = "30s", "TIME" to "5m";
    /// How long the issuer's keys are used while it does not answer, 1m to 720h
    oidc_keys_time: Duration = "24h", "TIME" from "1m" to "720h";
    /// Lets the issuer be `http://` on loopback, for development
    oidc_http: bool = "false", "BOOL", num_args = 0..=1, default_missing_value = "true";
    /// Not a setting: see `oidc_jwks_url`
    jwks_url: Option<IdentityProvider> = "", "URL", hide = true;
    /// Not a setting: see `oidc_issuer`
    jwt_issuer: Option<IdentityProvider> = "", "ISSUER", hide = true;
    /// Not a setting: see `oidc_audience`
    jwt_audience: Option<IdentityProvider> = "", "AUDIENCE", hide = true;
    /// Origins of web pages that may call the API
    cors_origins: WebOrigins = "", "ORIGINS";
    /// Bytes of a request's body, at most 8388608. What is left of it without its large values travels in
    /// one message of 524288 bytes
    max_body_bytes: usize = limits::COMMAND_BYTES_MAX, "BYTES" to "8388608";
    /// Waiting commands above which the HTTP API accepts no more
    max_backlog: u64 = limits::BACKLOG_MAX, "COUNT";
    /// Filter of log lines, such as `info` or `warn,executor=debug`
    log: String = "info", "FILTER" like form::log_filter();
    /// The form of the log: `text` or `json`
    log_format: LogFormat = "text", "FORMAT";
    /// Address for traces by OTLP over HTTP, such as `http://localhost:4318`
    otlp_endpoint: Option<WebAddress> = "", "URL";
    /// The name of this node; the host name with a random suffix if not set
    node: String = "", "NAME";
    /// URL at which `staunch doctor`, `staunch top` and validations reach the HTTP API of this node and
    /// no other, such as `http://10.0.0.1:5001`; its own address if not set, or `base-url` with `tls-cert`
    node_address: Option<NodeAddress> = "", "URL";
    /// Instances that one executor works on at the same time, at most 100000
    executor_concurrency: usize = "256", "COUNT" to "100000";
    /// Activities that an instance may run without a wait, before it ends with an incident
    executor_steps_max: u64 = "1000000", "COUNT";
    /// How long an event is kept while no instance waits for it, 1s to 720h
    event_wait: Duration = "24h", "TIME" from "1s" to "720h";
    /// Bytes of a payload: a file or body that rests beside its instance, 1 MiB to 4 GiB
    payload_bytes: u64 = "104857600", "BYTES" from "1048576" to "4294967296";
    /// Bytes above which a value, a file or a body rests beside its instance, 4 KiB to 256 KiB
    payload_above: usize = "262144", "BYTES" from "4096" to "262144";
    /// How long a payload is kept that no instance uses: longer than a message that names it is on its
    /// way, 1h to 720h
    payload_kept: Duration = "192h", "TIME" from "1h" to "720h";
    /// Where payloads rest: `database`, `nats` (a JetStream object store), `s3://bucket/prefix` with the
    /// usual AWS_… variables, or a folder that all nodes share; the database if not set. With several,
    /// new ones rest in the first, and earlier ones are read from the others
    payload_store: Vec<String> = "", "PLACES" like form::places();
    /// How flowcharts run where neither the start nor the definition says it: `counter` or `token`
    flowchart_mode: FlowchartMode = "counter", "MODE";
    /// What an incident does where the definition names no strategy: `fault` (the instance ends) or
    /// `continue-with-incidents` (other branches go on)
    incident_strategy: IncidentStrategy = "fault", "STRATEGY";
    /// Whether the journal keeps the values of inputs and outputs where the definition does not say it:
    /// `include` or `exclude`
    log_persistence: LogPersistence = "include", "MODE";
    /// Retries by name, for activities that name a resilience strategy: a JSON object such as
    /// `{"http": {"attempts": 5, "delay": "1s", "backoff": "exponential"}}`
    retry_strategies: Retries = "", "JSON";
    /// How long a lease lasts without being renewed, 1s to 60s
    lease_ttl: Duration = "4s", "TIME" from "1s" to "60s";
    /// How long a command waits here for a lease that another node holds, before it is sent back
    lease_wait: Duration = "2s", "TIME" to "60s";
    /// How long a node that is not heard of still counts as live, 1s to 60s
    presence_ttl: Duration = "3s", "TIME" from "1s" to "60s";
    /// How long a delivered command may go without a progress message, at most the 3s of the
    /// consumer
    ack_wait: Duration = "3s", "TIME" to "3s";
    /// Seconds in which a stopping process may finish its work in progress
    drain_seconds: u64 = "30", "SECONDS";
    /// How long a process with HTTP callers still answers them after SIGTERM, while readiness says
    /// 503 and every answer ends its connection; for load balancers that learn late, at most 5m
    drain_delay: Delay = "5s", "TIME" to "5m";
    /// Milliseconds that one script may run
    script_time_ms: u64 = limits::SCRIPT_TIME_MAX.as_millis(), "MILLISECONDS";
    /// Values that scripts may read with `getConfig` and `Configuration`, such as
    /// `Shop:Url=https://shop.example,Shop:Tries=3`; none if not set
    script_config: Entries = "", "KEY=VALUE,…";
    /// Libraries that scripts find under their names: `lodash` (also `_`), `lodashFp`, `moment`; none
    /// if not set
    script_libraries: Vec<ScriptLibrary> = "", "NAMES";
    /// Lets workflows call private and loopback addresses; on in `staunch dev`
    allow_private_addresses: bool = "false", "BOOL",
        num_args = 0..=1, default_missing_value = "true";
    /// Hosts that the HTTP calls of a workflow definition may go to, by its id; under `*` those of
    /// every definition without a list: `order=api.shop.example|*.pay.example,*=*.example.com`; any
    /// if not set
    call_hosts: HostLists = "", "ID=HOSTS";
    /// Subjects of NATS on which workflows may send and ask, by the id of the definition; under `*`
    /// those of every definition without a list: `order=orders.>|stock.*,*=public.>`; none if not
    /// set, all but Staunch's own in `staunch dev` with a nats-server of its own
    nats_subjects: NameLists = "", "ID=SUBJECTS";
    /// Buckets and object stores of NATS that workflows may use, likewise: `*=config|uploads`
    nats_buckets: BucketLists = "", "ID=BUCKETS";
    /// Databases that workflows may use: `name=postgres://…`, `name=mysql://…` or `name=sqlite://…`,
    /// separated by commas
    sql_connections: NamedUrls = "", "NAME=URL";
    /// Lets workflows name a database by its URL
    sql_urls: bool = "false", "BOOL", num_args = 0..=1, default_missing_value = "true";
    /// Mail server: `smtp://user:password@host:587` for STARTTLS, `smtps://…:465` for TLS from the
    /// start, `smtp://…?tls=none` without TLS
    smtp_url: Option<MailServer> = "", "URL";
    /// Sender of mails that name none
    smtp_from: Option<Sender> = "", "ADDRESS";
    /// PEM file with an authority that the mail server's certificate may come from
    smtp_ca: Option<PathBuf> = "", "FILE";
    /// Folder below which workflows may read and write files; off if not set
    files_folder: Option<PathBuf> = "", "FOLDER";
    /// Not supported: Timer and Cron have an input `misfire`, one for each schedule
    misfire: Option<MisfireOfAll> = "", "POLICY", hide = true;
    /// How long finished instances are kept, such as `30d`, at least 1h; for ever if not set. A
    /// definition says it for its own instances with `customProperties.retention`
    retain_finished: Option<Duration> = "", "TIME" from "1h";
    /// How long cancelled instances are kept; for ever if not set
    retain_cancelled: Option<Duration> = "", "TIME" from "1h";
    /// How long faulted instances are kept; for ever if not set
    retain_faulted: Option<Duration> = "", "TIME" from "1h";
    /// Where instances are written before they are removed: a folder, or `s3://bucket/prefix` with
    /// the usual AWS_… variables; they are removed without a copy if not set
    archive_to: Option<String> = "", "PLACE" like form::place();
    /// How long entries of the audit log are kept; for ever if not set
    retain_audit: Option<Duration> = "", "TIME" from "1h";
    /// How long dead letters are kept, if that is shorter than the 30 days of their stream
    retain_dead: Option<Duration> = "", "TIME" from "1h";
    /// Seconds between two looks for what is no longer kept, from 1 to 86400
    retain_every_seconds: u64 = "600", "SECONDS" from "1" to "86400";
    /// Seconds between two scans for timers that were not announced, at most 3600
    timer_scan_seconds: u64 = "5", "SECONDS" to "3600";
}

/// An address that a client can use: a server that listens on every address has this machine's own.
#[must_use]
pub fn reachable(listen: SocketAddr) -> String {
    match listen.ip().is_unspecified() {
        true => format!("localhost:{}", listen.port()),
        false => listen.to_string(),
    }
}

impl Settings {
    /// True when this process has the role.
    #[must_use]
    pub fn serves(&self, role: &str) -> bool {
        self.role.iter().any(|known| known == role || known == "all")
    }

    /// True if the value of this setting is a default: no flag, variable or file contains it.
    #[must_use]
    pub fn is_default(&self, name: &str) -> bool {
        self.all.iter().any(|one| one.name == name && one.origin == Origin::Default)
    }

    /// True if a flag, variable or file gives this setting a value that is not empty.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.all
            .iter()
            .any(|one| one.name == name && one.origin != Origin::Default && !one.value.is_empty())
    }

    /// The value of this setting as text; secrets and passwords are masked. Empty for an unknown name.
    #[must_use]
    pub fn shown(&self, name: &str) -> &str {
        let known = self.all.iter().find(|one| one.name == name);
        known.map(|one| one.value.as_str()).unwrap_or_default()
    }

    /// The URL of this process for callers from outside, without a slash at the end.
    #[must_use]
    pub fn public_url(&self) -> String {
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => {
                let path = self.base_path.as_ref().map(|path| path.0.as_str()).unwrap_or_default();
                format!("{}://{}{path}", self.scheme(), reachable(self.listen))
            }
        }
    }

    /// The URL of this node for tools of operators, without a slash at the end. `here` is the address
    /// by which the machine is reached, for a server that listens on every address.
    ///
    /// A certificate is seldom for an address: with one it is the public URL, unless the settings
    /// name another.
    #[must_use]
    pub fn node_url(&self, here: Option<IpAddr>) -> String {
        if let Some(address) = &self.node_address {
            return address.0.clone();
        }
        let ip = if self.listen.ip().is_unspecified() { here } else { Some(self.listen.ip()) };
        match ip {
            Some(ip) if self.tls_cert.is_none() => {
                format!("http://{}", SocketAddr::new(ip, self.listen.port()))
            }
            _ => self.public_url(),
        }
    }

    /// The path below which a proxy serves this process, such as `/staunch`; none if at the root.
    #[must_use]
    pub fn base_path(&self) -> Option<String> {
        if let Some(path) = &self.base_path {
            return Some(path.0.clone());
        }
        let (_, rest) = self.base_url.as_deref()?.split_once("://")?;
        let (_, path) = rest.split_once('/')?;
        BasePath::parse(&format!("/{path}")).ok().map(|path| path.0)
    }

    /// `https` with a certificate, else `http`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        if self.tls_cert.is_some() { "https" } else { "http" }
    }

    /// How long draining may take.
    #[must_use]
    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds)
    }

    /// How long this process answers after it was asked to stop. No time where nobody calls it.
    #[must_use]
    pub fn drain_delay(&self) -> Duration {
        if self.serves("ingress") { self.drain_delay.0 } else { Duration::ZERO }
    }

    /// How long ended instances are kept, where their definition does not say it.
    #[must_use]
    pub fn retention(&self) -> Retention {
        let after = if self.archive_to.is_some() { After::Archive } else { After::Delete };
        Retention {
            finished: self.retain_finished,
            cancelled: self.retain_cancelled,
            faulted: self.retain_faulted,
            after,
        }
    }

    /// The interval between two looks for what is no longer kept.
    #[must_use]
    pub fn retain_every(&self) -> Duration {
        Duration::from_secs(self.retain_every_seconds)
    }

    /// How long one script may run.
    #[must_use]
    pub fn script_time(&self) -> Duration {
        Duration::from_millis(self.script_time_ms)
    }

    /// The interval between two scans for timers.
    #[must_use]
    pub fn timer_scan(&self) -> Duration {
        Duration::from_secs(self.timer_scan_seconds)
    }
}

/// Shows the same as [`Settings::all`]: no secrets.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.all.iter().map(|one| (one.name, &one.value))).finish()
    }
}
