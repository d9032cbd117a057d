//! `staunch nats-permissions`: the users of NATS, as a configuration of nats-server.

use bus::Error;
use clap::Args;
use engine::outside::{check_bucket, check_filter, check_stream};
use node::permissions::{Accounts, Used};

use crate::output::{self, Format};
use crate::{Failure, input, say};

#[derive(Args, Debug, Default)]
pub(crate) struct NatsPermissionsArgs {
    /// A type of tasks (`taskName`, or `taskName@2` for version 2) whose workers get an account of
    /// their own; may be repeated
    #[arg(long, value_name = "TASK", value_parser = input::task_kind)]
    pub(crate) worker: Vec<String>,
    /// Lets these users put objects: files of starters, large results of workers. The object store is one
    /// for all, so each can also replace and remove the objects of the others
    #[arg(long)]
    pub(crate) with_objects: bool,
    /// A subject on which workflows send or listen, such as `orders.>`: the users `executor` and `node` may; may
    /// be repeated
    #[arg(long, value_name = "SUBJECT", value_parser = subject)]
    pub(crate) subject: Vec<String>,
    /// A stream whose messages workflows take; may be repeated
    #[arg(long, value_name = "STREAM", value_parser = stream)]
    pub(crate) stream: Vec<String>,
    /// A bucket of which workflows read, write or follow keys; may be repeated
    #[arg(long, value_name = "BUCKET", value_parser = bucket)]
    pub(crate) bucket: Vec<String>,
    /// An object store of which workflows read, write or follow objects; may be repeated
    #[arg(long, value_name = "STORE", value_parser = bucket)]
    pub(crate) object_store: Vec<String>,
}

fn subject(text: &str) -> Result<String, String> {
    check_filter(text).map(|()| text.to_owned())
}

fn stream(text: &str) -> Result<String, String> {
    check_stream(text).map(|()| text.to_owned())
}

fn bucket(text: &str) -> Result<String, String> {
    check_bucket(text).map(|()| text.to_owned())
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
    let accounts = accounts.map_err(|error| match error {
        // What cannot be used was given here, and is not from the message bus.
        Error::Corrupt(why) => Failure::usage(format!("--worker: {why}")),
        other => Failure::usage(other.to_string()),
    })?;
    let used = Used {
        subjects: args.subject.clone(),
        streams: args.stream.clone(),
        buckets: args.bucket.clone(),
        object_stores: args.object_store.clone(),
    };
    accounts.for_workflows(&used).map_err(|error| match error {
        Error::Corrupt(why) => Failure::usage(why),
        other => Failure::usage(other.to_string()),
    })
}
