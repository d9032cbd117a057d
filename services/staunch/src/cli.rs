//! The command line: what can be asked, and who does it.

use std::process::ExitCode;

use chassis::{Life, Settings};
use clap::{Args, Parser, Subcommand};

use crate::command::{
    apply, bench, config, dead, demo, dev, instance, key, migrate, provision, run, server, validate,
};
use crate::output::Format;
use crate::{Failure, local, say};

/// Durable workflows on NATS
#[derive(Parser, Debug)]
#[command(name = "staunch", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The form of what is printed
    #[arg(short, long, global = true, value_enum, default_value_t)]
    output: Format,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Shows what Staunch does: a workflow, a crash, a timer, an approval
    Demo(demo::DemoArgs),
    /// Runs everything in one process, with data in ./.staunch
    Dev(dev::DevArgs),
    /// Runs roles: ingress, executor, timer, cache-notifier or all
    Server(SettingsArgs),
    /// Makes the streams and buckets on NATS
    Provision(provision::ProvisionArgs),
    /// Brings the database's schema up to date
    Migrate(migrate::MigrateArgs),
    /// Proves on a running cluster, or on one of its own, that a cluster keeps its promises
    Validate(validate::ValidateArgs),
    /// Measures how fast a cluster is, or what its parts could do at best
    Bench(bench::BenchArgs),
    /// Shows every setting and where its value comes from
    Config(SettingsArgs),
    /// Starts an instance
    Run(run::RunArgs),
    /// Imports definitions from files and publishes them
    Apply(apply::ApplyArgs),
    /// Looks at instances, watches, cancels and resumes them
    Instance(instance::InstanceArgs),
    /// Looks at commands that could not be applied, replays or removes them
    Dead(dead::DeadArgs),
    /// Makes, lists and removes API keys
    Key(key::KeyArgs),
}

#[derive(Args, Debug)]
struct SettingsArgs {
    #[command(flatten)]
    settings: chassis::Args,
}

/// Does what the command line asks, and answers with the exit code.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return said(&error),
    };
    match begin(cli) {
        Ok(code) => code,
        Err(failure) => {
            say::talk(&format!("error: {failure}"));
            failure.code()
        }
    }
}

/// Help and versions are data; everything else that stops the parser is a wrong question.
fn said(error: &clap::Error) -> ExitCode {
    match (error.print(), error.use_stderr()) {
        (Ok(()), false) => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}

fn begin(cli: Cli) -> Result<ExitCode, Failure> {
    let format = cli.output;
    match cli.command {
        Command::Server(args) => {
            let settings = load(&args.settings)?;
            Ok(host(settings, server::run))
        }
        Command::Dev(args) => {
            let settings = at_home(&args.settings)?;
            Ok(host(settings, async move |settings, life| {
                dev::run(&args.data, settings, life).await
            }))
        }
        Command::Demo(args) => {
            let settings = at_home(&args.settings)?;
            Ok(host(settings, async move |settings, life| {
                demo::run(args.exit, settings, life).await
            }))
        }
        Command::Config(args) => {
            config::run(&load(&args.settings)?, format).map(|()| ExitCode::SUCCESS)
        }
        command => at_once(command, format).map(|()| ExitCode::SUCCESS),
    }
}

fn load(args: &chassis::Args) -> Result<Settings, Failure> {
    Settings::load(args).map_err(|error| Failure::usage(error.to_string()))
}

fn at_home(args: &chassis::Args) -> Result<Settings, Failure> {
    let mut settings = load(args)?;
    local::at_home(&mut settings);
    Ok(settings)
}

/// Commands that run until they are asked to stop.
fn host(
    settings: Settings,
    run: impl AsyncFnOnce(Settings, Life) -> Result<(), Failure>,
) -> ExitCode {
    chassis::host("staunch", settings, async move |settings, life| {
        run(settings, life).await.map_err(anyhow::Error::from)
    })
}

/// Commands that ask something and are done.
fn at_once(command: Command, format: Format) -> Result<(), Failure> {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider is installed already");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("no threads: {error}")))?;
    runtime.block_on(done(command, format))
}

async fn done(command: Command, format: Format) -> Result<(), Failure> {
    match command {
        Command::Validate(args) => validate::run(args, format).await,
        Command::Bench(args) => bench::run(args, format).await,
        Command::Run(args) => run::run(args, format).await,
        Command::Apply(args) => apply::run(args, format).await,
        Command::Instance(args) => instance::run(args, format).await,
        Command::Dead(args) => {
            let bus = node::connect(&load(&args.settings)?).await?;
            let done = dead::run(args.verb, &bus, format).await;
            bus.close().await;
            done
        }
        Command::Key(args) => {
            let store = node::open_store(&load(&args.settings)?).await?;
            let done = key::run(args.verb, &*store, format).await;
            store.close().await;
            done
        }
        Command::Provision(args) => {
            provision::run(args.replicas, args.check, &load(&args.settings)?).await
        }
        Command::Migrate(args) => migrate::run(args.check, &load(&args.settings)?).await,
        Command::Demo(_) | Command::Dev(_) | Command::Server(_) | Command::Config(_) => Ok(()),
    }
}
