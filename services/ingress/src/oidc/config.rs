//! The configuration of an issuer, and the checks of its values at the start.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use chassis::Settings;
use reqwest::Url;

use super::algorithm::Algorithm;
use super::fetch;

/// The largest number of audiences, of clients, and of claims.
const ITEMS_MAX: usize = 100;

/// The configuration of an OpenID Connect issuer.
#[derive(Clone, Debug)]
pub struct OidcConfig {
    /// The `iss` of its tokens, and the beginning of the URL of its discovery document.
    pub issuer: String,
    /// One of these is an `aud` of a token.
    pub audiences: Vec<String>,
    /// The URL of its keys; from its discovery document if none.
    pub jwks_url: Option<String>,
    /// PEM file with authorities of its certificate.
    pub ca: Option<PathBuf>,
    /// The algorithms that may sign.
    pub algorithms: Vec<Algorithm>,
    /// The clients whose tokens are accepted; all if empty.
    pub clients: Vec<String>,
    /// Claims whose values are permissions.
    pub permission_claims: Vec<String>,
    /// Claims whose values are mapped.
    pub role_claims: Vec<String>,
    /// Permissions and roles (`role:<id>`) by value.
    pub roles: BTreeMap<String, Vec<String>>,
    /// A value that is not mapped is the id of a role of the database.
    pub own_roles: bool,
    /// The claim with a name for the audit log.
    pub name_claim: Option<String>,
    /// By how much clocks may differ.
    pub leeway: Duration,
    /// How long keys are used while the issuer is away.
    pub keys_time: Duration,
    /// The keys are fetched again after this time.
    pub refresh_time: Duration,
    /// A token of an unknown key makes a node fetch them, at most this often.
    pub refetch_pause: Duration,
    /// How long one fetch may take, both documents together.
    pub fetch_time_max: Duration,
    /// `http://` is allowed on loopback.
    pub allows_http: bool,
}

impl Default for OidcConfig {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            audiences: Vec::new(),
            jwks_url: None,
            ca: None,
            algorithms: Algorithm::ALL.map(|(_, algorithm)| algorithm).to_vec(),
            clients: Vec::new(),
            permission_claims: vec!["permissions".to_owned()],
            role_claims: vec!["roles".to_owned()],
            roles: BTreeMap::new(),
            own_roles: false,
            name_claim: None,
            leeway: Duration::from_secs(30),
            keys_time: Duration::from_secs(24 * 3_600),
            refresh_time: Duration::from_secs(300),
            refetch_pause: Duration::from_secs(30),
            fetch_time_max: Duration::from_secs(5),
            allows_http: false,
        }
    }
}

impl OidcConfig {
    /// The configuration in these settings; `None` if the scheme is off.
    ///
    /// # Errors
    /// The setting that is missing or wrong, and its correction.
    pub(crate) fn from_settings(settings: &Settings) -> Result<Option<Self>, String> {
        if !settings.auth.oidc {
            return Ok(None);
        }
        let issuer = settings.oidc_issuer.clone().ok_or(
            "auth has oidc, and no issuer: set oidc-issuer to its URL, exactly as in the `iss` of \
             its tokens",
        )?;
        Ok(Some(Self {
            issuer,
            audiences: settings.oidc_audience.clone(),
            jwks_url: settings.oidc_jwks_url.clone(),
            ca: settings.oidc_ca.clone(),
            algorithms: algorithms(&settings.oidc_algorithms.0)?,
            clients: settings.oidc_clients.clone(),
            permission_claims: settings.oidc_permission_claims.clone(),
            role_claims: settings.oidc_role_claims.clone(),
            roles: settings.oidc_roles.0.clone(),
            own_roles: settings.oidc_own_roles,
            name_claim: settings.oidc_name_claim.clone(),
            leeway: settings.oidc_leeway,
            keys_time: settings.oidc_keys_time,
            allows_http: settings.oidc_http,
            ..Self::default()
        }))
    }

    /// Refuses a configuration that is not safe, or cannot work.
    ///
    /// # Errors
    /// The setting that is wrong, and its correction.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.check_texts()?;
        fetch::client(self.ca.as_deref()).map(drop)
    }

    /// Refuses a file of authorities that cannot be used. It is looked at whether the scheme is on or not,
    /// as any other file that settings name.
    ///
    /// # Errors
    /// The reason, with the file.
    pub(crate) fn check_ca(settings: &Settings) -> Result<(), String> {
        match &settings.oidc_ca {
            Some(file) => fetch::client(Some(file.as_path())).map(drop),
            None => Ok(()),
        }
    }

    /// As [`Self::check`], without a look at the file of the authorities.
    ///
    /// # Errors
    /// The setting that is wrong, and its correction.
    pub(crate) fn check_texts(&self) -> Result<(), String> {
        let issuer = self.check_url("oidc-issuer", &self.issuer)?;
        if issuer.query().is_some() || self.issuer.ends_with('?') {
            return Err(format!("oidc-issuer {:?} has a query: an issuer has none", self.issuer));
        }
        if let Some(url) = &self.jwks_url {
            self.check_url("oidc-jwks-url", url)?;
        }
        if self.audiences.is_empty() {
            return Err(
                "auth has oidc, and no audience: set oidc-audience to the `aud` of tokens \
                        for this server; without it tokens for any other would be accepted"
                    .to_owned(),
            );
        }
        for (name, items) in [
            ("oidc-audience", &self.audiences),
            ("oidc-clients", &self.clients),
            ("oidc-permission-claims", &self.permission_claims),
            ("oidc-role-claims", &self.role_claims),
        ] {
            if items.len() > ITEMS_MAX {
                return Err(format!("{name} has {} items: use at most {ITEMS_MAX}", items.len()));
            }
        }
        Ok(())
    }

    /// The URL in this text, if keys may be fetched from there.
    ///
    /// # Errors
    /// The reason why they may not, and a URL that works.
    pub(crate) fn check_url(&self, what: &str, text: &str) -> Result<Url, String> {
        let url = Url::parse(text).map_err(|error| {
            format!(
                "{what} {text:?} is not a URL ({error}): use one such as https://id.example.com"
            )
        })?;
        let is_on_loopback = url.host_str().is_some_and(chassis::is_loopback);
        match url.scheme() {
            "https" => {}
            "http" if self.allows_http && is_on_loopback => {}
            "http" => {
                return Err(format!(
                    "{what} {text:?} is not https: anyone on the way could replace the keys; for \
                     development oidc-http allows http on loopback"
                ));
            }
            _ => return Err(format!("{what} {text:?} is not an https URL")),
        }
        let has_login = !url.username().is_empty() || url.password().is_some();
        if has_login || url.fragment().is_some() {
            return Err(format!("{what} has a user, a password or a fragment: leave them out"));
        }
        Ok(url)
    }

    /// The URL of the discovery document.
    pub(crate) fn discovery_url(&self) -> String {
        format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'))
    }
}

fn algorithms(names: &[String]) -> Result<Vec<Algorithm>, String> {
    let algorithm = |name: &String| {
        Algorithm::named(name).ok_or_else(|| format!("oidc-algorithms has {name:?}, which is none"))
    };
    names.iter().map(algorithm).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<OidcConfig, String> {
        let mut all = BTreeMap::from([
            ("STAUNCH_AUTH", "oidc"),
            ("STAUNCH_OIDC_ISSUER", "https://id.example.com/realms/one"),
            ("STAUNCH_OIDC_AUDIENCE", "staunch"),
        ]);
        all.extend(variables.iter().copied());
        let variable = |name: &str| all.get(name).map(|value| (*value).to_owned());
        let settings = Settings::resolve(&chassis::Args::default(), &variable)
            .map_err(|error| error.to_string())?;
        let config = OidcConfig::from_settings(&settings)?.expect("the scheme is on");
        config.check().map(|()| config)
    }

    #[test]
    fn settings_say_what_is_wrong() {
        let config = read(&[]).unwrap();
        assert_eq!(
            config.discovery_url(),
            "https://id.example.com/realms/one/.well-known/openid-configuration"
        );
        assert_eq!(config.algorithms.len(), Algorithm::ALL.len());
        assert_eq!(chassis::TokenAlgorithms::ALL, Algorithm::ALL.map(|(name, _)| name));
        let slash = read(&[("STAUNCH_OIDC_ISSUER", "https://id.example.com/")]).unwrap();
        assert_eq!(slash.issuer, "https://id.example.com/", "an issuer is compared exactly");
        for (name, value, expected) in [
            ("OIDC_ISSUER", "", "set oidc-issuer"),
            ("OIDC_ISSUER", "id.example.com", "is not a URL"),
            ("OIDC_ISSUER", "http://id.example.com", "is not https"),
            ("OIDC_ISSUER", "http://127.0.0.1:9000", "is not https"),
            ("OIDC_ISSUER", "ftp://id.example.com", "is not an https URL"),
            ("OIDC_ISSUER", "https://a:b@id.example.com", "a user, a password"),
            ("OIDC_ISSUER", "https://id.example.com/?a=b", "has a query"),
            ("OIDC_ISSUER", "https://id.example.com/#a", "a fragment"),
            ("OIDC_JWKS_URL", "http://id.example.com/keys", "oidc-jwks-url"),
            ("OIDC_AUDIENCE", "", "no audience"),
            ("OIDC_AUDIENCE", ",", "no audience"),
            ("OIDC_ALGORITHMS", "RS256,HS256", "\"HS256\""),
            ("OIDC_ALGORITHMS", "none", "signs nothing"),
            ("OIDC_ALGORITHMS", ",", "no token could be accepted"),
            ("OIDC_LEEWAY", "6m", "at most 5m"),
            ("OIDC_KEYS_TIME", "30s", "between 1m and 720h"),
            ("OIDC_CA", "/no/such/file", "/no/such/file"),
        ] {
            let name = format!("STAUNCH_{name}");
            let why = read(&[(name.as_str(), value)]).unwrap_err();
            assert!(why.contains(expected), "{name}={value}: {why}");
        }
    }

    #[test]
    fn http_is_for_loopback_and_for_development() {
        let with = |url: &str| {
            read(&[("STAUNCH_OIDC_HTTP", "true"), ("STAUNCH_OIDC_ISSUER", url)]).is_ok()
        };
        for url in ["http://127.0.0.1:9000", "http://localhost/realm", "http://[::1]:80"] {
            assert!(with(url), "{url}");
        }
        for url in [
            "http://id.example.com",
            "http://10.0.0.1",
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "http://localhost@example.com",
        ] {
            assert!(!with(url), "{url}");
        }
    }
}
