//! The kinds of values of settings, and their reading from text.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use model::{Retries, Retry, ScriptLibrary};
use serde_json::Value;

use super::mask::masked;

const RENAMED: &str = "tokens of an identity provider are accepted with `auth` = oidc; its settings are \
    oidc-issuer, oidc-audience and oidc-jwks-url";
const SCHEMES: &str = "must be none or api-key, identity, oidc, or several of these separated by \
    commas";

/// A value that can be read from text and written back.
pub(super) trait Parse: Sized {
    /// Whether it can have a value: a name that is always refused is not listed as a setting.
    const IS_SETTING: bool = true;

    /// Reads the text.
    ///
    /// # Errors
    /// The values that are allowed.
    fn parse(text: &str) -> Result<Self, String>;

    /// The text as it may be shown.
    fn shown(text: &str) -> String {
        masked(text)
    }
}

/// Text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself; not to be logged.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// A time that may be none: `0s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay(pub Duration);

/// A path that begins with a slash and does not end with one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasePath(pub String);

/// A URL with http or https and a host, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAddress(pub String);

/// How callers authenticate: the schemes that are on, side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auth {
    /// By API key.
    pub api_key: bool,
    /// By the token of a user who has logged in.
    pub identity: bool,
    /// By the token of an OpenID Connect issuer.
    pub oidc: bool,
}

impl Auth {
    /// Not at all; only on loopback.
    pub const NONE: Self = Self { api_key: false, identity: false, oidc: false };
    /// By API key alone.
    pub const API_KEY: Self = Self { api_key: true, ..Self::NONE };
    /// By API key, or by the token of a user.
    pub const BOTH: Self = Self { identity: true, ..Self::API_KEY };
    /// By API key, by the token of a user, or by that of an issuer.
    pub const ALL: Self = Self { oidc: true, ..Self::BOTH };

    /// Whether tokens of any kind are accepted.
    #[must_use]
    pub fn takes_tokens(self) -> bool {
        self.identity || self.oidc
    }
}

/// Values by their keys. Only the keys are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries(BTreeMap<String, String>);

impl Entries {
    /// The values, by key.
    #[must_use]
    pub fn values(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// How flowcharts run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowchartMode {
    /// An activity runs once all paths to it are done.
    Counter,
    /// An activity runs by its merge mode.
    Token,
}

/// What an incident does to its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncidentStrategy {
    /// The instance ends as faulted.
    Fault,
    /// Other branches go on.
    ContinueWithIncidents,
}

/// Whether the journal keeps values of inputs and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPersistence {
    /// It keeps them.
    Include,
    /// It leaves them out.
    Exclude,
}

/// URLs by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedUrls(pub Vec<(String, String)>);

/// The URL of a mail server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailServer(pub String);

/// A setting of an identity provider under a name that it does not have here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityProvider {}

/// One policy for the missed occurrences of all schedules, which is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MisfireOfAll {}

impl Parse for String {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) }
    }
}

impl Parse for Secret {
    fn parse(text: &str) -> Result<Self, String> {
        String::parse(text).map(Self)
    }

    fn shown(text: &str) -> String {
        if text.is_empty() { "" } else { "***" }.to_owned()
    }
}

impl Parse for PathBuf {
    fn parse(text: &str) -> Result<Self, String> {
        String::parse(text).map(Self::from)
    }
}

impl<T: Parse> Parse for Option<T> {
    const IS_SETTING: bool = T::IS_SETTING;

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(None) } else { T::parse(text).map(Some) }
    }

    fn shown(text: &str) -> String {
        T::shown(text)
    }
}

impl Parse for Vec<String> {
    fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        Ok(items.map(str::to_owned).collect())
    }
}

impl Parse for Vec<ScriptLibrary> {
    fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(str::parse).collect()
    }
}

impl Parse for Entries {
    fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let entries = items.map(|item| match item.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok((key.trim().to_owned(), value.trim().to_owned()))
            }
            _ => Err("must be entries such as Key=value, separated by commas".to_owned()),
        });
        entries.collect::<Result<_, _>>().map(Self)
    }

    fn shown(text: &str) -> String {
        let keys = text.split(',').filter_map(|item| item.split_once('='));
        let keys: Vec<_> = keys.map(|(key, _)| format!("{}=***", key.trim())).collect();
        keys.join(",")
    }
}

impl Parse for NamedUrls {
    fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let named = items.map(|item| match item.split_once('=') {
            Some((name, url)) if !name.trim().is_empty() && url.contains(':') => {
                Ok((name.trim().to_owned(), url.trim().to_owned()))
            }
            _ => {
                Err("must be NAME=URL, such as shop=postgres://user:password@host/shop".to_owned())
            }
        });
        named.collect::<Result<_, _>>().map(Self)
    }
}

impl Parse for MailServer {
    fn parse(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("smtp://").or_else(|| text.strip_prefix("smtps://"));
        match rest {
            Some(rest) if !rest.is_empty() => Ok(Self(text.to_owned())),
            _ => Err("must begin with smtp:// or smtps:// and name a host".to_owned()),
        }
    }
}

impl Parse for bool {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => Err("must be true or false".to_owned()),
        }
    }
}

impl Parse for usize {
    fn parse(text: &str) -> Result<Self, String> {
        match text.replace('_', "").parse() {
            Ok(0) | Err(_) => Err("must be a whole number above 0".to_owned()),
            Ok(number) => Ok(number),
        }
    }
}

impl Parse for u64 {
    fn parse(text: &str) -> Result<Self, String> {
        let number = usize::parse(text)?;
        Self::try_from(number).map_err(|error| error.to_string())
    }
}

impl Parse for u32 {
    fn parse(text: &str) -> Result<Self, String> {
        let number = usize::parse(text)?;
        Self::try_from(number).map_err(|error| error.to_string())
    }
}

impl Parse for Duration {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "must be a time such as 500ms, 30s, 5m, 1h or 30d".to_owned();
        let unit_at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(unit_at);
        let Ok(number) = number.parse::<u64>() else { return Err(wrong()) };
        let time = match unit.trim() {
            "ms" => Some(Self::from_millis(number)),
            "s" => Some(Self::from_secs(number)),
            "m" => number.checked_mul(60).map(Self::from_secs),
            "h" => number.checked_mul(3_600).map(Self::from_secs),
            "d" => number.checked_mul(86_400).map(Self::from_secs),
            _ => None,
        };
        time.filter(|time| !time.is_zero()).ok_or_else(wrong)
    }
}

impl Parse for NodeAddress {
    fn parse(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        let is_host = |rest: &str| !rest.is_empty() && !rest.starts_with(['/', ':']);
        match rest.map(|rest| rest.trim_end_matches('/')) {
            Some(rest) if is_host(rest) && !rest.contains([' ', '?', '#', '@', ',', '*']) => {
                Ok(Self(text.trim_end_matches('/').to_owned()))
            }
            _ => Err("must be the URL of this node, such as http://10.0.0.1:5001".to_owned()),
        }
    }
}

impl Parse for BasePath {
    fn parse(text: &str) -> Result<Self, String> {
        let path = text.trim().trim_end_matches('/');
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        let is_part = |part: &str| !matches!(part, "" | "." | "..") && part.chars().all(is_plain);
        let is_right = path.strip_prefix('/').is_some_and(|path| path.split('/').all(is_part));
        let wrong = "must be a path such as /staunch, of letters, digits, dashes and dots";
        if is_right { Ok(Self(path.to_owned())) } else { Err(wrong.to_owned()) }
    }
}

impl Parse for Delay {
    fn parse(text: &str) -> Result<Self, String> {
        let is_none = matches!(text.trim(), "0" | "0s" | "0ms");
        if is_none { Ok(Self(Duration::ZERO)) } else { Duration::parse(text).map(Self) }
    }
}

impl Parse for SocketAddr {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.replace("localhost:", "127.0.0.1:");
        let wrong = "must be an address and a port, such as 127.0.0.1:5001 or [::1]:5001";
        text.parse().or(Err(wrong.to_owned()))
    }
}

impl Parse for Auth {
    fn parse(text: &str) -> Result<Self, String> {
        let mut auth = Self::NONE;
        if text == "none" {
            return Ok(auth);
        }
        for scheme in text.split(',').map(str::trim) {
            match scheme {
                "api-key" => auth.api_key = true,
                "identity" => auth.identity = true,
                "oidc" => auth.oidc = true,
                "jwt" => return Err(RENAMED.to_owned()),
                _ => return Err(SCHEMES.to_owned()),
            }
        }
        Ok(auth)
    }
}

impl Parse for LogFormat {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("must be text or json".to_owned()),
        }
    }
}

impl Parse for FlowchartMode {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "counter" => Ok(Self::Counter),
            "token" => Ok(Self::Token),
            _ => Err("must be counter or token".to_owned()),
        }
    }
}

impl Parse for IncidentStrategy {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "fault" => Ok(Self::Fault),
            "continue-with-incidents" => Ok(Self::ContinueWithIncidents),
            _ => Err("must be fault or continue-with-incidents".to_owned()),
        }
    }
}

impl Parse for LogPersistence {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "include" => Ok(Self::Include),
            "exclude" => Ok(Self::Exclude),
            _ => Err("must be include or exclude".to_owned()),
        }
    }
}

impl Parse for Retries {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::new());
        }
        let found: BTreeMap<String, Value> = serde_json::from_str(text)
            .map_err(|error| format!("must be a JSON object of retries by name: {error}"))?;
        let read = |(name, value): (String, Value)| match Retry::read(&value) {
            Ok(retry) => Ok((name, retry)),
            Err(reason) => Err(format!("{name}: {reason}")),
        };
        found.into_iter().map(read).collect()
    }
}

impl Parse for IdentityProvider {
    const IS_SETTING: bool = false;

    fn parse(_: &str) -> Result<Self, String> {
        Err(RENAMED.to_owned())
    }
}

impl Parse for MisfireOfAll {
    const IS_SETTING: bool = false;

    fn parse(_: &str) -> Result<Self, String> {
        let instead =
            "a schedule has its own: set the input `misfire` of the activity (Timer, Cron)";
        Err(instead.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_keys_and_hide_their_values() {
        let entries = Entries::parse("Shop:Url=https://a/?x=1, Tries = 3,").unwrap();
        let entries: Vec<_> =
            entries.values().iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(entries, [("Shop:Url", "https://a/?x=1"), ("Tries", "3")]);
        assert_eq!(Entries::shown("Shop:Key=secret,B=2"), "Shop:Key=***,B=***");
        assert_eq!(Entries::parse("").unwrap(), Entries::default());
        assert!(Entries::parse("nothing").is_err());
        assert!(Entries::parse("=value").is_err());
    }

    #[test]
    fn databases_have_names() {
        let NamedUrls(urls) =
            NamedUrls::parse("shop=postgres://h/d?a=b, b=sqlite::memory:").unwrap();
        assert_eq!(urls[0], ("shop".to_owned(), "postgres://h/d?a=b".to_owned()));
        assert_eq!(urls[1].0, "b");
        assert!(NamedUrls::parse("postgres://h/d").is_err());
        assert!(MailServer::parse("http://h").is_err() && MailServer::parse("smtps://h").is_ok());
    }
}
