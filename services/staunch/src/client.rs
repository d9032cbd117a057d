//! The server that a command asks: its address, and the caller's key.

pub(crate) use api_client::{Client, findings, problem, problems, segment};

use chassis::Settings;
use clap::Args;

use crate::{Failure, say};

/// The server that is asked if none is named.
pub(crate) const SERVER: &str = "http://127.0.0.1:5001";

/// The address of the API, and the caller's key.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClientArgs {
    /// Address of the HTTP API
    #[arg(
        long,
        global = true,
        env = "STAUNCH_SERVER",
        default_value = SERVER,
        value_name = "URL"
    )]
    server: String,
    /// API key, if the server requires one
    #[arg(
        long,
        global = true,
        env = "STAUNCH_API_KEY",
        hide_env_values = true,
        value_name = "KEY"
    )]
    api_key: Option<String>,
}

impl ClientArgs {
    /// A client of the server.
    ///
    /// # Errors
    /// When it is not a valid address, or the key cannot be read.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        // In compose files an empty variable means that there is no value.
        self.of(if self.server.is_empty() { SERVER } else { &self.server })
    }

    /// A client of another server of the same cluster, with the same key.
    ///
    /// # Errors
    /// When it is not a valid address, or the key cannot be read.
    pub(crate) fn of(&self, server: &str) -> Result<Client, Failure> {
        Client::to(server, key(self.api_key.as_deref())?.as_deref())
    }
}

/// The server that other commands ask. Those that have this ask NATS.
#[derive(Args, Clone, Debug)]
pub(crate) struct Unasked {
    #[arg(long, global = true, env = "STAUNCH_SERVER", hide = true)]
    server: Option<String>,
}

impl Unasked {
    /// Says which NATS is asked where a server is named as well: the two may be of different clusters.
    pub(crate) fn say(&self, what: &str, settings: &Settings) {
        let Some(server) = self.server.as_deref().filter(|server| !server.is_empty()) else {
            return;
        };
        say::message(&format!(
            "{what} of NATS at {}; the server {} is not asked",
            settings.shown("nats-url"),
            chassis::masked(server)
        ));
    }
}

/// The key of the caller: the given one, which is from the command line or `STAUNCH_API_KEY`, or that in
/// the file that `STAUNCH_API_KEY_FILE` names.
///
/// # Errors
/// A usage error when both variables are set, or the file cannot be read.
pub(crate) fn key(given: Option<&str>) -> Result<Option<String>, Failure> {
    let key = chassis::client_key(given).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(key.map(|key| key.expose().to_owned()))
}
