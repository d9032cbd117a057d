//! The command line: what can be asked, and who does it.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::command::{apply, instance, run};
use crate::output::Format;
use crate::{Failure, say};

/// Durable workflows on NATS.
#[derive(Parser, Debug)]
#[command(name = "staunch", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The form of what is printed
    #[arg(short, long, global = true, value_enum, default_value_t)]
    output: Format,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Starts an instance
    Run(run::RunArgs),
    /// Imports definitions from files and publishes them
    Apply(apply::ApplyArgs),
    /// Looks at instances, watches, cancels and resumes them
    Instance(instance::InstanceArgs),
}

/// Does what the command line asks, and answers with the exit code.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return said(&error),
    };
    match begin(cli) {
        Ok(()) => ExitCode::SUCCESS,
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

fn begin(cli: Cli) -> Result<(), Failure> {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider is installed already");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("no threads: {error}")))?;
    runtime.block_on(done(cli))
}

async fn done(cli: Cli) -> Result<(), Failure> {
    let format = cli.output;
    match cli.command {
        Command::Run(args) => run::run(args, format).await,
        Command::Apply(args) => apply::run(args, format).await,
        Command::Instance(args) => instance::run(args, format).await,
    }
}
