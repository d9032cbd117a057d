//! The kinds of values of settings, and their reading from text.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use model::{Retries, Retry, ScriptLibrary};
use serde_json::Value;

use super::form::Form;
use super::mask::masked;

const RENAMED: &str = "tokens of an identity provider are accepted with `auth` = oidc; its settings are \
    oidc-issuer, oidc-audience and oidc-jwks-url";
const ENTRIES: &str = "must be entries such as Key=value, separated by commas";
const MAIL_SERVER: &str = "must begin with smtp:// or smtps:// and name a host";
const NODE_ADDRESS: &str = "must be the URL of this node, such as http://10.0.0.1:5001";
const SENDER: &str = "must be an address such as shop@example.org, or Shop <shop@example.org>";
/// The schemes of databases that workflows may use.
const DATABASES: [&str; 5] = ["postgres", "postgresql", "mysql", "mariadb", "sqlite"];
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

    /// The texts that it takes, as far as a pattern can say it.
    fn form() -> Form;

    /// A number, or the milliseconds of a time, for its bounds; none if it is neither.
    fn amount(&self) -> Option<u128> {
        None
    }

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

/// URLs by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedUrls(pub Vec<(String, String)>);

/// The URL of a mail server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailServer(pub String);

/// The sender of a mail: an address, perhaps with a name before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender(pub String);

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

    fn form() -> Form {
        Form::any()
    }
}

impl Parse for Secret {
    fn parse(text: &str) -> Result<Self, String> {
        String::parse(text).map(Self)
    }

    fn form() -> Form {
        Form::secret()
    }

    fn shown(text: &str) -> String {
        if text.is_empty() { "" } else { "***" }.to_owned()
    }
}

impl Parse for PathBuf {
    fn parse(text: &str) -> Result<Self, String> {
        String::parse(text).map(Self::from)
    }

    fn form() -> Form {
        Form::any()
    }
}

impl<T: Parse> Parse for Option<T> {
    const IS_SETTING: bool = T::IS_SETTING;

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(None) } else { T::parse(text).map(Some) }
    }

    fn form() -> Form {
        T::form()
    }

    fn amount(&self) -> Option<u128> {
        self.as_ref()?.amount()
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

    fn form() -> Form {
        Form::any()
    }
}

impl Parse for Vec<ScriptLibrary> {
    fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(str::parse).collect()
    }

    fn form() -> Form {
        let named = ScriptLibrary::ALL.into_iter().filter_map(|one| one.globals().first().copied());
        let names = named.collect::<Vec<_>>();
        let must = format!("must be names of {}, with commas between them", names.join(", "));
        Form::list(must, &names.join("|"))
    }
}

impl Parse for Entries {
    fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let entries = items.map(|item| match item.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok((key.trim().to_owned(), value.trim().to_owned()))
            }
            _ => Err(ENTRIES.to_owned()),
        });
        entries.collect::<Result<_, _>>().map(Self)
    }

    fn form() -> Form {
        Form::list(ENTRIES, "[^=,]*[^=,\\s][^=,]*=[^,]*")
    }

    /// An item without `=` may be the rest of a value with a comma.
    fn shown(text: &str) -> String {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let shown: Vec<_> = items
            .map(|item| match item.split_once('=') {
                Some((key, _)) => format!("{}=***", key.trim()),
                None => "***".to_owned(),
            })
            .collect();
        shown.join(",")
    }
}

impl Parse for NamedUrls {
    fn parse(text: &str) -> Result<Self, String> {
        let mut urls: Vec<(String, String)> = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, url) = named_url(item).ok_or_else(named_urls)?;
            if urls.iter().any(|(known, _)| known == name) {
                return Err(format!("must have one URL for each name, and {name:?} has two"));
            }
            urls.push((name.to_owned(), url.to_owned()));
        }
        Ok(Self(urls))
    }

    fn form() -> Form {
        let schemes = DATABASES.join("|");
        Form::list(named_urls(), &format!("[^=,]*[^=,\\s][^=,]*=\\s*(?:{schemes}):[^,]+"))
    }
}

/// The name and the URL of an item; none if it is no database that can be called.
fn named_url(item: &str) -> Option<(&str, &str)> {
    let (name, url) = item.split_once('=')?;
    let (name, url) = (name.trim(), url.trim());
    let (scheme, rest) = url.split_once(':')?;
    let is_right = !name.is_empty() && DATABASES.contains(&scheme) && !rest.is_empty();
    is_right.then_some((name, url))
}

fn named_urls() -> String {
    format!(
        "must be NAME=URL, such as shop=postgres://user:password@host/shop, with one of the schemes \
         {}",
        DATABASES.join(", ")
    )
}

impl Parse for MailServer {
    fn parse(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("smtp://").or_else(|| text.strip_prefix("smtps://"));
        match rest {
            Some(rest) if !rest.is_empty() => Ok(Self(text.to_owned())),
            _ => Err(MAIL_SERVER.to_owned()),
        }
    }

    fn form() -> Form {
        Form::of(MAIL_SERVER, "smtps?://[\\s\\S]+")
    }
}

impl Parse for Sender {
    fn parse(text: &str) -> Result<Self, String> {
        let sides = text.rsplit_once('@');
        let is_right = |(name, domain): (&str, &str)| {
            let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
            !is_blank(name.chars().next_back()) && !is_blank(domain.chars().next())
        };
        if sides.is_some_and(is_right) { Ok(Self(text.to_owned())) } else { Err(SENDER.to_owned()) }
    }

    fn form() -> Form {
        Form::of(SENDER, "[\\s\\S]*\\S@\\S[\\s\\S]*")
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
            _ => Err(NODE_ADDRESS.to_owned()),
        }
    }

    fn form() -> Form {
        Form::of(NODE_ADDRESS, "https?://[^ ?#@,*/:][^ ?#@,*]*")
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

    fn form() -> Form {
        Form::any()
    }
}

impl Parse for SocketAddr {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.replace("localhost:", "127.0.0.1:");
        let wrong = "must be an address and a port, such as 127.0.0.1:5001 or [::1]:5001";
        text.parse().or(Err(wrong.to_owned()))
    }

    fn form() -> Form {
        Form::any()
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

    fn form() -> Form {
        Form::list(SCHEMES, "none|api-key|identity|oidc")
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

    fn form() -> Form {
        Form::object("must be a JSON object of retries by name")
    }
}

impl Parse for IdentityProvider {
    const IS_SETTING: bool = false;

    fn parse(_: &str) -> Result<Self, String> {
        Err(RENAMED.to_owned())
    }

    fn form() -> Form {
        Form::any()
    }
}

impl Parse for MisfireOfAll {
    const IS_SETTING: bool = false;

    fn parse(_: &str) -> Result<Self, String> {
        let instead =
            "a schedule has its own: set the input `misfire` of the activity (Timer, Cron)";
        Err(instead.to_owned())
    }

    fn form() -> Form {
        Form::any()
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
        assert_eq!(Entries::shown("Key=begin,the rest"), "Key=***,***");
        assert_eq!((Entries::shown("novalue"), Entries::shown("")), ("***".into(), String::new()));
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
        for wrong in ["postgres://h/d", "=postgres://h/d", "a=oracle://h", "a=postgres", "a=mysql:"]
        {
            let reason = NamedUrls::parse(wrong).unwrap_err();
            assert!(reason.contains("shop=postgres://") && reason.contains("sqlite"), "{reason}");
        }
        let twice = NamedUrls::parse("a=sqlite://x,a=sqlite://y").unwrap_err();
        assert!(twice.contains("\"a\" has two"), "{twice}");
        assert!(MailServer::parse("http://h").is_err() && MailServer::parse("smtps://h").is_ok());
    }

    #[test]
    fn a_sender_has_an_address() {
        for good in ["shop@example.org", "Shop, Inc <shop@example.org>"] {
            assert_eq!(Sender::parse(good), Ok(Sender(good.to_owned())));
        }
        for wrong in ["nobody", "@example.org", "shop@", "shop @ example.org"] {
            assert!(Sender::parse(wrong).unwrap_err().contains("shop@example.org"), "{wrong}");
        }
    }
}
