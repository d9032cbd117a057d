//! `staunch nats-permissions`: the users of NATS, as a configuration of nats-server.

use bus::Error;
use clap::Args;
use node::permissions::Accounts;

use crate::output::{self, Format};
use crate::{Failure, input, say};

#[derive(Args, Debug)]
pub(crate) struct NatsPermissionsArgs {
    /// A type of tasks (`taskName`, or `taskName@2` for version 2) whose workers get an account of
    /// their own; may be repeated
    #[arg(long, value_name = "TASK", value_parser = input::task_kind)]
    pub(crate) worker: Vec<String>,
    /// Lets these users put objects: files of starters, large results of workers. The object store is one
    /// for all, so each can also replace and remove the objects of the others
    #[arg(long)]
    pub(crate) with_objects: bool,
}

/// Prints what an installation that has the other users needs for these workers.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_for_workers(args: &NatsPermissionsArgs, format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => run(args, format),
        Format::Table => accounts(args)?.text_of_workers().lines().try_for_each(say::data),
    }
}

/// Prints the block `accounts` of nats-server's configuration.
///
/// # Errors
/// When two types of tasks would have the same user.
pub(crate) fn run(args: &NatsPermissionsArgs, format: Format) -> Result<(), Failure> {
    let accounts = accounts(args)?;
    match format {
        Format::Json => output::json(&accounts.json()),
        Format::Table => accounts.text().lines().try_for_each(say::data),
    }
}

fn accounts(args: &NatsPermissionsArgs) -> Result<Accounts, Failure> {
    let workers: Vec<&str> = args.worker.iter().map(String::as_str).collect();
    let accounts = match args.with_objects {
        true => Accounts::with_objects(&workers),
        false => Accounts::new(&workers),
    };
    accounts.map_err(|error| match error {
        // What cannot be used was given here, and is not from the message bus.
        Error::Corrupt(why) => Failure::usage(format!("--worker: {why}")),
        other => Failure::usage(other.to_string()),
    })
}
