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
    /// When it is not a valid address.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        // In compose files an empty variable means that there is no value.
        self.of(if self.server.is_empty() { SERVER } else { &self.server })
    }

    /// A client of another server of the same cluster, with the same key.
    ///
    /// # Errors
    /// When it is not a valid address.
    pub(crate) fn of(&self, server: &str) -> Result<Client, Failure> {
        Client::to(server, self.api_key.as_deref().filter(|key| !key.is_empty()))
    }
}
