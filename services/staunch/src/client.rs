//! The server that a command asks: its address, and the caller's key.

pub(crate) use api_client::{Client, findings, problem, problems, segment};

use clap::Args;

use crate::Failure;

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

/// The key of the caller: the given one, which is from the command line or `STAUNCH_API_KEY`, or that in
/// the file that `STAUNCH_API_KEY_FILE` names.
///
/// # Errors
/// A usage error when both variables are set, or the file cannot be read.
pub(crate) fn key(given: Option<&str>) -> Result<Option<String>, Failure> {
    let key = chassis::client_key(given).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(key.map(|key| key.expose().to_owned()))
}
