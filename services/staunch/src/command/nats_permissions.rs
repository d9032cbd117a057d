//! `staunch nats-permissions`: the users of NATS, as a configuration of nats-server.

use clap::Args;
use node::permissions::Accounts;

use crate::output::{self, Format};
use crate::{Failure, say};

#[derive(Args, Debug)]
pub(crate) struct NatsPermissionsArgs {
    /// A type of tasks (`taskName`, or `taskName@2` for version 2) whose workers get an account of
    /// their own; may be repeated
    #[arg(long, value_name = "TASK")]
    pub(crate) worker: Vec<String>,
}

/// Prints the block `accounts` of nats-server's configuration.
///
/// # Errors
/// When two types of tasks would have the same user.
pub(crate) fn run(args: &NatsPermissionsArgs, format: Format) -> Result<(), Failure> {
    let workers: Vec<&str> = args.worker.iter().map(String::as_str).collect();
    let accounts = Accounts::new(&workers).map_err(|error| Failure::usage(error.to_string()))?;
    match format {
        Format::Json => output::json(&accounts.json()),
        Format::Table => accounts.text().lines().try_for_each(say::data),
    }
}
