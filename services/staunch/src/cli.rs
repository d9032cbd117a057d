//! The command line: its commands, and the function that each of them runs.

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use chassis::{Life, Settings};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use store::Store;

use crate::command::{
    app, apply, archive, bench, config, dead, decode, demo, dev, doctor, events, health, incident,
    instance, key, label, lease, listener, log_level, migrate, nats_permissions, payload,
    provision, retention, role, run, runtime, schedule, secret, server, signing_key, statement,
    support_bundle, task, test, top, user, validate, why, worker, workflow,
};
use crate::failure::{EXIT_CODES, Kind, exit_code};
use crate::output::Format;
use crate::{Failure, database, local, roles, say};

/// Durable workflows on NATS
#[derive(Parser, Debug)]
#[command(name = "staunch", version, propagate_version = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The form of standard output; with json, it holds nothing but JSON
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
    /// Creates the streams and buckets on NATS
    Provision(provision::ProvisionArgs),
    /// Prints users for NATS: one for each role and each kind of client, with what it needs alone
    NatsPermissions(nats_permissions::NatsPermissionsArgs),
    /// Brings the database's schema up to date
    Migrate(migrate::MigrateArgs),
    /// Shows what the nodes do, each second: rates, the queue, leases, timers, slow definitions
    Top(top::TopArgs),
    /// Says what is wrong with an installation, and what to do
    Doctor(doctor::DoctorArgs),
    /// Writes a zip file for someone who helps: settings, versions, checks, metrics; no secrets
    SupportBundle(support_bundle::SupportBundleArgs),
    /// Shows or changes what a running process logs
    LogLevel(log_level::LogLevelArgs),
    /// Checks a cluster, a running one or a new one, against its guarantees
    Validate(validate::ValidateArgs),
    /// Measures the speed of a cluster, or the bounds that NATS and the database set
    Bench(bench::BenchArgs),
    /// Shows every setting and where its value comes from
    Config(SettingsArgs),
    /// Asks a node for its health
    Health(health::HealthArgs),
    /// Starts an instance
    Run(run::RunArgs),
    /// Imports definitions from files and publishes them
    Apply(apply::ApplyArgs),
    /// Lists, shows, compares, exports, validates, publishes and retracts definitions
    Workflow(workflow::WorkflowArgs),
    /// Lists, makes and removes labels of definitions, and sets those of one
    Label(label::LabelArgs),
    /// Runs the tests of definitions, without a server
    Test(test::TestArgs),
    /// Lists, shows, watches, cancels and resumes instances
    Instance(instance::InstanceArgs),
    /// Lists incidents by cause
    Incident(incident::IncidentArgs),
    /// Says why an instance is where it is, and what would move it
    Why(why::WhyArgs),
    /// Follows what happens to instances, or shows what has happened
    Events(events::EventsArgs),
    /// Shows a message in MessagePack as JSON
    Decode(decode::DecodeArgs),
    /// Shows tasks and activity types of workers; posts tasks to a URL, and more
    Worker(worker::WorkerArgs),
    /// Lists the tasks that workflows wait for
    Task(task::TaskArgs),
    /// Lists, shows, replays and removes commands that could not be applied: those of NATS at --nats-url
    Dead(dead::DeadArgs),
    /// Lists leases, which show what node holds what instance, and takes them away: those of NATS at
    /// --nats-url
    Lease(lease::LeaseArgs),
    /// Lists the sources of messages to which workflows listen, and how far behind each is
    Listener(listener::ListenerArgs),
    /// Lists what the statements of the database take at a node
    Statement(statement::StatementArgs),
    /// Removes ended instances after their time, or says which would be removed
    Retention(retention::RetentionArgs),
    /// Lists and reads archived instances
    Archive(archive::ArchiveArgs),
    /// Keeps a file as a payload, for the inputs of workflows, and reads one
    Payload(payload::PayloadArgs),
    /// Lists, pauses, resumes and triggers the schedules of published definitions
    Schedule(schedule::ScheduleArgs),
    /// Shows, pauses, resumes and drains executors
    Runtime(runtime::RuntimeArgs),
    /// Creates, lists and removes API keys
    Key(key::KeyArgs),
    /// Creates, lists, changes and removes users
    User(user::UserArgs),
    /// Creates, lists, changes and removes roles
    Role(role::RoleArgs),
    /// Creates, lists and removes applications
    App(app::AppArgs),
    /// Sets, lists and removes secrets, and changes the key that encrypts them
    Secret(secret::SecretArgs),
    /// Rotates, lists and removes the keys that sign tokens
    SigningKey(signing_key::SigningKeyArgs),
}

#[derive(Args, Debug)]
struct SettingsArgs {
    #[command(flatten)]
    settings: chassis::Args,
}

/// Runs the command that the command line names; returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    if cli.output == Format::Json {
        say::keep_output_for_json();
    }
    match begin(cli) {
        Ok(code) => code,
        Err(failure) => {
            if failure.kind != Kind::Closed {
                say::message(&format!("error: {failure}"));
            }
            exit_code(failure.kind)
        }
    }
}

/// Prints the parser's output: help, a version, or an error of the command line.
fn refused(error: &clap::Error) -> ExitCode {
    match (error.print(), error.use_stderr()) {
        (Ok(()), false) => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}

fn begin(cli: Cli) -> Result<ExitCode, Failure> {
    let format = cli.output;
    match cli.command {
        Command::Server(args) => {
            let settings = with_files(load(&args.settings)?)?;
            Ok(host(settings, async move |settings, life| {
                server::run(settings, life, format).await
            }))
        }
        Command::Dev(args) => {
            let settings = at_home(&args.settings)?;
            Ok(host(settings, async move |settings, life| {
                dev::run(&args.data, settings, life, format).await
            }))
        }
        Command::Demo(args) => {
            let settings = at_home(&args.settings)?;
            Ok(host(settings, async move |settings, life| {
                demo::run(&args, settings, life, format).await
            }))
        }
        Command::Config(args) => {
            let settings = with_files(load(&args.settings)?)?;
            roles::check_texts(&settings)?;
            roles::check_files(&settings)?;
            config::run(&settings, format).map(|()| ExitCode::SUCCESS)
        }
        Command::Worker(worker::WorkerArgs { verb: worker::Verb::Forward(args) }) => {
            let settings = client_settings(&args.settings, true)?;
            Ok(host(settings, async move |settings, life| {
                worker::forward(*args, &settings, &life).await
            }))
        }
        command => to_its_end(command, format).map(|()| ExitCode::SUCCESS),
    }
}

/// Whether a command line of `staunch` may have this option.
pub(crate) fn takes(line: &str, option: &str) -> bool {
    let mut words = line.split_whitespace();
    if words.next() != Some("staunch") {
        return false;
    }
    let has = |command: &clap::Command| {
        let mut arguments = command.get_arguments().filter(|argument| !argument.is_hide_set());
        arguments.any(|argument| argument.get_long() == Some(option))
    };
    // The options of a command may stand behind the verbs below it, too.
    let mut command = &Cli::command();
    for word in words {
        match command.find_subcommand(word) {
            Some(below) => command = below,
            None => break,
        }
        if has(command) {
            return true;
        }
    }
    false
}

fn load(args: &chassis::Args) -> Result<Settings, Failure> {
    let settings = Settings::load(args).map_err(|error| Failure::usage(error.to_string()))?;
    database::check_kind(&settings)?;
    Ok(settings)
}

/// The settings of a command that connects to the database or the broker without running a role. A
/// command that only reads creates nothing, whatever the settings say.
fn client_settings(args: &chassis::Args, only_looks: bool) -> Result<Settings, Failure> {
    let mut settings = with_files(load(&of_caller(args))?)?;
    settings.provision &= !only_looks;
    Ok(settings)
}

/// The settings of a command that finds out what is wrong, files of no use among it.
fn suspected_settings(args: &chassis::Args) -> Result<Settings, Failure> {
    let mut settings = load(&of_caller(args))?;
    settings.provision = false;
    Ok(settings)
}

/// The arguments of a command that runs no server.
fn of_caller(args: &chassis::Args) -> chassis::Args {
    chassis::Args { is_caller: true, ..args.clone() }
}

/// The settings, if the files for connections can be used.
fn with_files(settings: Settings) -> Result<Settings, Failure> {
    chassis::check_outgoing(&settings).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(settings)
}

fn at_home(args: &chassis::Args) -> Result<Settings, Failure> {
    let mut args = args.clone();
    args.defaults.extend(local::defaults());
    with_files(load(&args)?)
}

/// Runs a command until the process is asked to stop. The exit code has the reason of a failure, as
/// with every other command.
fn host(
    settings: Settings,
    run: impl AsyncFnOnce(Settings, Life) -> Result<(), Failure>,
) -> ExitCode {
    let kind = Arc::new(OnceLock::new());
    let failed = Arc::clone(&kind);
    let code = chassis::host("staunch", settings, async move |settings, life| {
        run(settings, life).await.map_err(|failure| {
            failed.get_or_init(|| failure.kind);
            anyhow::Error::from(failure)
        })
    });
    kind.get().map_or(code, |kind| exit_code(*kind))
}

/// Runs a command that ends by itself.
fn to_its_end(command: Command, format: Format) -> Result<(), Failure> {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider is installed already");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("threads cannot be started: {error}")))?;
    runtime.block_on(done(command, format))
}

async fn done(command: Command, format: Format) -> Result<(), Failure> {
    match command {
        Command::Validate(args) => validate::run(args, format).await,
        Command::Bench(args) => bench::run(args, format).await,
        Command::Health(args) => health::run(args, format).await,
        Command::Run(args) => run::run(args, format).await,
        Command::Apply(args) => apply::run(args, format).await,
        Command::Workflow(args) => workflow::run(args, format).await,
        Command::Label(args) => label::run(args, format).await,
        Command::Test(args) => test::run(&args, format),
        Command::NatsPermissions(args) => nats_permissions::run(&args, format),
        Command::Instance(args) => instance::run(args, format).await,
        Command::Incident(args) => incident::run(args, format).await,
        Command::Runtime(args) => runtime::run(args, format).await,
        Command::Payload(args) => payload::run(args, format).await,
        Command::Schedule(args) => schedule::run(args, format).await,
        Command::Listener(args) => listener::run(args, format).await,
        Command::Statement(args) => statement::run(args, format).await,
        Command::Why(args) => why::run(args, format).await,
        Command::Top(args) => top::run(args, format).await,
        Command::Worker(worker::WorkerArgs { verb: worker::Verb::Progress(args) }) => {
            let settings = client_settings(&args.settings, true)?;
            let bus = node::connect(&settings).await?;
            let done = worker::progress(&args, &bus, format).await;
            bus.close().await;
            done
        }
        Command::Worker(args) => worker::run(args, format).await,
        Command::Task(args) => task::run(args, format).await,
        Command::Events(args) => events::run(args, format).await,
        Command::Decode(args) => decode::run(&args),
        Command::Dead(args) => {
            let settings = client_settings(&args.settings, args.verb.only_looks())?;
            args.server.say("dead letters", &settings);
            let bus = node::connect(&settings).await?;
            let done = dead::run(args.verb, &bus, format).await;
            bus.close().await;
            done
        }
        Command::Lease(args) => {
            let settings = client_settings(&args.settings, args.verb.only_looks())?;
            args.server.say("leases", &settings);
            let bus = node::connect(&settings).await?;
            let done = lease::run(args.verb, &bus, format).await;
            bus.close().await;
            done
        }
        Command::Retention(args) => {
            let (settings, store) = opened(&args.settings, args.verb.only_looks()).await?;
            let done = retention::run(args.verb, Arc::clone(&store), &settings, format).await;
            store.close().await;
            done
        }
        Command::Archive(args) => {
            let settings = suspected_settings(&args.settings)?;
            archive::run(args.verb, &settings, format).await
        }
        Command::LogLevel(args) => log_level::run(args, format).await,
        Command::SupportBundle(args) => {
            let settings = suspected_settings(&args.settings)?;
            support_bundle::run(args.file, args.server, args.nodes, &settings, format).await
        }
        Command::Doctor(args) => {
            let settings = suspected_settings(&args.settings)?;
            doctor::run(args.server, args.quiet, &settings, format).await
        }
        Command::Key(args) => {
            let looks = args.verb.only_looks();
            on_store(&args.settings, looks, async |store| key::run(args.verb, store, format).await)
                .await
        }
        Command::User(user::UserArgs { verb: user::Verb::ChangePassword(change), .. }) => {
            user::change_password(change, format).await
        }
        Command::User(args) => {
            if matches!(args.verb, user::Verb::Create { .. }) {
                role::check_setting(&args.settings)?;
            }
            let looks = args.verb.only_looks();
            on_store(&args.settings, looks, async |store| user::run(args.verb, store, format).await)
                .await
        }
        Command::Role(args) => {
            let looks = args.verb.only_looks();
            on_store(&args.settings, looks, async |store| role::run(args.verb, store, format).await)
                .await
        }
        Command::App(args) => {
            if matches!(args.verb, app::Verb::Create { .. }) {
                role::check_setting(&args.settings)?;
            }
            let looks = args.verb.only_looks();
            on_store(&args.settings, looks, async |store| app::run(args.verb, store, format).await)
                .await
        }
        Command::SigningKey(args) => {
            let (settings, store) = opened(&args.settings, args.verb.only_looks()).await?;
            let shared = Arc::clone(&store);
            let done = signing_key::run(args.verb, shared, &settings, format).await;
            store.close().await;
            done
        }
        Command::Secret(args) => {
            let (settings, store) = opened(&args.settings, args.verb.only_looks()).await?;
            let done = secret::run(args.verb, Arc::clone(&store), &settings, format).await;
            store.close().await;
            done
        }
        Command::Provision(args) => {
            let settings = client_settings(&args.settings, args.check)?;
            provision::run(&args, &settings, format).await
        }
        Command::Migrate(args) => {
            let only_looks = args.check || args.plan;
            let settings = client_settings(&args.settings, only_looks)?;
            if only_looks {
                database::must_exist(&settings)?;
            }
            if args.plan {
                return migrate::plan(&settings, format).await;
            }
            migrate::run(args.check, &settings, format).await
        }
        Command::Demo(_) | Command::Dev(_) | Command::Server(_) | Command::Config(_) => Ok(()),
    }
}

/// Runs a command on the database, without a server.
async fn on_store(
    args: &chassis::Args,
    only_looks: bool,
    run: impl AsyncFnOnce(&dyn Store) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (_, store) = opened(args, only_looks).await?;
    let done = run(&*store).await;
    store.close().await;
    done
}

/// The settings of a command, and their database.
async fn opened(
    args: &chassis::Args,
    only_looks: bool,
) -> Result<(Settings, Arc<dyn Store>), Failure> {
    let settings = client_settings(args, only_looks)?;
    database::must_exist(&settings)?;
    let store = node::open_store(&settings).await?;
    Ok((settings, store))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// clap checks a command when it is run, so that a mistake in one shows only to those who run it.
    #[test]
    fn no_command_has_a_mistake_in_its_arguments() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_version_may_be_an_argument() {
        for line in [
            &["worker", "rm", "upper", "1"][..],
            &["worker", "rm", "upper@1"],
            &["workflow", "get", "order", "--version", "2"],
            &["workflow", "export", "order", "--version", "2"],
        ] {
            if let Err(error) = Cli::try_parse_from([&["staunch"], line].concat()) {
                panic!("{line:?}: {error}");
            }
        }
    }
}
