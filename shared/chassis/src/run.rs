//! The run of a process, from `main` to the exit code.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser as _;

use crate::http::check_passed;
use crate::{Args, ConfigError, Life, LogFormat, Settings, Telemetry, check_outgoing};

/// The exit code after a second signal.
const KILLED: u8 = 130;

/// A service of Staunch: durable workflows on NATS.
#[derive(clap::Parser)]
#[command(version)]
struct Command {
    #[command(flatten)]
    args: Args,
}

/// The whole `main` of a service: reads the settings, then does the same as [`host`]. The role is
/// `name` unless the settings name another.
pub fn main<F, Fut>(name: &'static str, run: F) -> ExitCode
where
    F: FnOnce(Settings, Life) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    let mut args = match Command::try_parse() {
        Ok(command) => command.args,
        Err(error) => {
            let failed = error.print().is_err() || error.use_stderr();
            return if failed { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    args.defaults.push(("role", name.to_owned()));
    match usable(&args) {
        Ok(settings) => host(name, settings, run),
        Err(error) => {
            complain(name, &error);
            ExitCode::from(2)
        }
    }
}

/// The settings, whose files can be used, with an address for each socket that systemd has passed.
fn usable(args: &Args) -> anyhow::Result<Settings> {
    let settings = Settings::load(args)?;
    check_outgoing(&settings)?;
    check_passed(settings.serves("ingress").then_some(settings.listen))?;
    Ok(settings)
}

/// Runs a service: installs the TLS provider, telemetry and signals, runs `run` to its end, then
/// waits for the tasks of its [`Life`], bounded by the drain time.
///
/// SIGTERM and SIGINT ask for a soft stop, which begins after the setting `drain-delay` where the
/// process has callers; the second signal stops at once, with exit code 130.
/// An error, a failed task or a drain that took too long give exit code 1, and settings that are
/// refused later than at first sight ([`ConfigError`]) 2; stderr has the reason.
pub fn host<F, Fut>(name: &'static str, settings: Settings, run: F) -> ExitCode
where
    F: FnOnce(Settings, Life) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    match begin(name, settings, run) {
        Ok(code) => code,
        Err(error) => {
            complain(name, &error);
            ExitCode::FAILURE
        }
    }
}

fn begin<F, Fut>(name: &'static str, settings: Settings, run: F) -> anyhow::Result<ExitCode>
where
    F: FnOnce(Settings, Life) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider is installed already");
    }
    // The exporter's client must be created before the runtime.
    let telemetry = Telemetry::start(name, &settings).context("start telemetry")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name(name)
        .build()
        .context("start the runtime")?;
    let life = Life::new(settings.drain());
    // `version` is a number elsewhere: that of a definition.
    tracing::info!(service = name, program = crate::version(), node = settings.node, "starting");
    for unknown in settings.unknown_variables() {
        tracing::warn!("{unknown}");
    }
    let is_json = settings.log_format == LogFormat::Json;
    // In a log of JSON a reason in plain text would be no line of it.
    let complain = |error: &anyhow::Error| match is_json {
        true => tracing::error!(service = name, error = format!("{error:#}"), "failed"),
        false => complain(name, error),
    };
    let delay = settings.drain_delay();
    let end = runtime.block_on(live(life.clone(), delay, run(settings, life.clone())));
    runtime.shutdown_background();
    let code = match (end, life.failure()) {
        (End::Killed, None) => ExitCode::from(KILLED),
        (_, Some(reason)) => {
            complain(&anyhow::anyhow!(reason));
            ExitCode::FAILURE
        }
        (End::Failed(error), None) => {
            complain(&error);
            match error.is::<ConfigError>() {
                true => ExitCode::from(2),
                false => ExitCode::FAILURE,
            }
        }
        (End::Finished, None) => ExitCode::SUCCESS,
    };
    tracing::info!(service = name, "stopped");
    telemetry.stop();
    Ok(code)
}

enum End {
    Finished,
    Failed(anyhow::Error),
    Killed,
}

async fn live(life: Life, delay: Duration, run: impl Future<Output = anyhow::Result<()>>) -> End {
    let watcher = tasks::supervise("signals", life.kill(), {
        let life = life.clone();
        move || watch(life.clone(), delay)
    });
    let drain = tasks::supervise("drain", life.kill(), {
        let life = life.clone();
        move || watch_drain(life.clone())
    });
    let kill = life.kill();
    let result = tokio::select! {
        result = tasks::caught("main", run) => result.unwrap_or_else(|panicked| Err(panicked.into())),
        () = kill.cancelled() => return End::Killed,
    };
    // In every case the tasks get time to finish.
    life.begin_stop();
    let finished = life.finished().await;
    watcher.abort();
    drain.abort();
    match result {
        Err(error) => End::Failed(error),
        Ok(()) if finished => End::Finished,
        Ok(()) => End::Killed,
    }
}

/// Leaves at the first signal, stops after `delay`, and kills at the second signal.
async fn watch(life: Life, delay: Duration) {
    if let Err(error) = signal().await {
        tracing::error!(%error, "signals cannot be watched");
        return;
    }
    let killing = async {
        if signal().await.is_ok() {
            tracing::warn!("stopping at once");
            life.begin_kill();
        }
    };
    tokio::join!(leave(&life, delay), killing);
}

/// Is not ready for `delay`, in which requests are answered as before, and then stops.
async fn leave(life: &Life, delay: Duration) {
    if !delay.is_zero() {
        let seconds = delay.as_secs();
        tracing::info!(seconds, "leaving: not ready from now on; a second signal kills");
        life.begin_leaving();
        life.stop().run_until_cancelled(tokio::time::sleep(delay)).await;
    }
    let seconds = life.drain_time().as_secs();
    tracing::info!(seconds, "stopping; a second signal kills");
    life.begin_stop();
}

async fn watch_drain(life: Life) {
    life.watch_drain().await;
}

/// Completes with the next SIGTERM or SIGINT.
#[cfg(unix)]
async fn signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    Ok(())
}

/// Completes with the next Ctrl-C.
#[cfg(not(unix))]
async fn signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// Writes an error with its causes to stderr.
fn complain(name: &str, error: &anyhow::Error) {
    let mut text = format!("{name}: {error}\n");
    for cause in error.chain().skip(1) {
        text.push_str(&format!("  because: {cause}\n"));
    }
    if std::io::stderr().write_all(text.as_bytes()).is_err() {
        tracing::error!(error = format!("{error:#}"), "failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn end(run: impl AsyncFnOnce(Life) -> anyhow::Result<()>) -> (End, Life) {
        let life = Life::new(Duration::from_secs(5));
        let end = live(life.clone(), Duration::ZERO, run(life.clone())).await;
        (end, life)
    }

    #[tokio::test]
    async fn a_run_that_ends_lets_its_tasks_end_too() {
        let (end, life) = end(async |life| {
            let stop = life.stop();
            life.spawn("tail", async move { stop.cancelled().await });
            Ok(())
        })
        .await;
        assert!(matches!(end, End::Finished));
        assert_eq!(life.tasks_left(), 0);
    }

    #[tokio::test]
    async fn a_run_that_fails_keeps_its_error() {
        let (end, _) = end(async |_| anyhow::bail!("no database")).await;
        assert!(matches!(end, End::Failed(error) if error.to_string() == "no database"));
    }

    #[tokio::test]
    async fn a_run_that_panics_lets_its_tasks_end_in_order() {
        let (end, life) = end(async |life| {
            let stop = life.stop();
            life.spawn("tail", async move { stop.cancelled().await });
            panic!("bug")
        })
        .await;
        assert!(matches!(end, End::Failed(error) if error.to_string().contains("bug")));
        assert_eq!(life.tasks_left(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn readiness_ends_first_and_the_stop_begins_after_the_delay() {
        let life = Life::new(Duration::from_secs(30));
        life.ready();
        let began = tokio::time::Instant::now();
        let look = async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            assert!(!life.is_ready() && !life.is_draining());
        };
        tokio::join!(leave(&life, Duration::from_secs(5)), look);
        assert!(life.is_draining());
        assert_eq!(began.elapsed().as_secs(), 5);
    }

    #[tokio::test]
    async fn a_second_signal_ends_a_run_that_hangs() {
        let (end, _) = end(async |life| {
            life.begin_kill();
            std::future::pending().await
        })
        .await;
        assert!(matches!(end, End::Killed));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_ignores_the_stop_is_dropped_after_the_drain_time() {
        let (end, life) = end(async |life| {
            life.begin_stop();
            std::future::pending().await
        })
        .await;
        assert!(matches!(end, End::Killed));
        assert!(life.failure().is_some());
    }
}
