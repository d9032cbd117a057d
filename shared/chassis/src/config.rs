//! The settings of every role: their names, the sources of their values, and the checks of these
//! values.
//!
//! A value comes from the command line, else from a variable `STAUNCH_<NAME>`, else from a TOML
//! file, else from its default. `STAUNCH_<NAME>_FILE` names a file with the value, as containers get
//! secrets. Every setting has one name: `nats-url` is the flag `--nats-url`,
//! the variable `STAUNCH_NATS_URL` and the key `nats-url`. To add a setting: see `settings.rs`.

mod amount;
mod check;
mod declare;
mod error;
mod form;
mod gate;
mod mask;
mod oidc;
pub(crate) mod postgres;
mod rules;
mod settings;
mod source;
#[cfg(test)]
mod tests;
mod unknown;
mod value;
mod web_origins;
mod web_url;
mod word;

pub use amount::Delay;
pub(crate) use check::key_fault;
pub use error::{ConfigError, Origin};
pub use form::{Described, Form};
pub use gate::{BucketLists, HostLists, NameLists, Networks, Rate};
pub use mask::{masked, percent_decoded, secrets_in_urls};
pub use oidc::{ClaimRoles, TokenAlgorithms};
pub use rules::{Need, RULES, Rules};
pub use settings::{Args, Settings, reachable};
pub use source::{Setting, variable_of};
pub(crate) use source::{nearest, value_in};
pub use unknown::UnknownVariable;
pub use value::{Auth, BasePath, Entries, MailServer, NamedUrls, NodeAddress, Secret, Sender};
pub use web_origins::WebOrigins;
pub use web_url::WebAddress;
pub use word::{ClientAuth, FlowchartMode, IncidentStrategy, LogFormat, LogPersistence};

use settings::NAMES;
use source::Sources;
use value::Parse as _;

impl Settings {
    /// Reads the settings of this process, with its environment.
    ///
    /// # Errors
    /// [`ConfigError`] when a value cannot be read, is out of bounds, or is not safe.
    #[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
    pub fn load(args: &Args) -> Result<Self, ConfigError> {
        let settings = Self::resolve(args, &|name| std::env::var(name).ok())?;
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        Ok(settings.with_unknown(unknown::unknown(names, NAMES)))
    }

    /// Reads the settings, with this environment.
    ///
    /// # Errors
    /// [`ConfigError`] when a value cannot be read, is out of bounds, or is not safe.
    pub fn resolve(
        args: &Args,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut defaults = args.defaults.clone();
        defaults.push(("node", default_node(variable)));
        let from = Sources::open(args.config.as_deref(), NAMES, variable, defaults)?;
        let settings = Self::read(args, from)?;
        check::texts(&settings)?;
        postgres::check(&settings, variable)?;
        check::together(&settings)?;
        check::safety(&settings, args.is_caller)?;
        check::addresses(&settings)?;
        check::gate(&settings)?;
        Ok(settings)
    }
}

/// The API key with which a command asks a node: that of the command line, else of `STAUNCH_API_KEY` or of
/// the file that `STAUNCH_API_KEY_FILE` names. `given` is from the command line or the first variable.
///
/// # Errors
/// [`ConfigError`] when both variables are set, the file cannot be read, or no request can carry the key.
#[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
pub fn client_key(given: Option<&str>) -> Result<Option<Secret>, ConfigError> {
    key_of_client(given, &|name| std::env::var(name).ok())
}

fn key_of_client(
    given: Option<&str>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, ConfigError> {
    const NAME: &str = "api-key";
    let Some((key, origin)) = source::of_command(NAME, given, NAMES, variable)? else {
        return Ok(None);
    };
    match check::unsendable(&key) {
        Some(reason) => {
            let text = Secret::shown(&key);
            Err(ConfigError::Value { name: NAME, text, origin, line: None, reason })
        }
        None => Ok(Some(Secret::new(key))),
    }
}

/// The host's name with a random suffix, so that two processes on one host differ.
fn default_node(variable: &dyn Fn(&str) -> Option<String>) -> String {
    let host = variable("HOSTNAME")
        .or_else(|| std::fs::read_to_string("/etc/hostname").ok())
        .unwrap_or_default();
    let host: String = host
        .trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' })
        .take(40)
        .collect();
    let host = if host.is_empty() { "node" } else { &host };
    format!("{host}-{:06x}", rand::random::<u32>() & 0x00ff_ffff)
}
