//! Runs any set of roles in one process: starts them, reports when each is ready, stops them in
//! order.

use std::sync::Arc;
use std::time::Duration;

use bus::Bus;
use chassis::http::{Tls, TlsFiles, check_passed};
use chassis::{Admin, Clock as _, ConfigError, Life, LogFormat, Settings, SystemClock};
use connectors::Connectors;
use ingress::Demo;
use node::{Node, nonces};
use payloads::Payloads;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::process::Process;
use crate::{Failure, listen, say};

/// Every role.
pub(crate) const ALL: [&str; 4] = ["ingress", "executor", "timer", "cache-notifier"];

/// The role whose callers wait for the other roles.
const GATEWAY: &str = "ingress";
/// How long the other roles continue for these callers when the process is asked to stop.
const ANSWERS_TIME_MAX: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Running roles.
pub(crate) struct Roles {
    process: Process,
    running: JoinSet<()>,
    lives: Vec<(&'static str, Life)>,
    /// Answers health and metrics until all roles have ended.
    _admin: Option<Admin>,
}

impl Roles {
    /// Starts the roles that the settings name, and waits until all are ready. In a demo, ingress lets
    /// people kill the demo's executor.
    ///
    /// # Errors
    /// When there is no such role, it cannot run with the settings, the broker or the database does
    /// not answer, or a role ends before it is ready.
    pub(crate) async fn start(
        settings: &Settings,
        life: &Life,
        demo: Option<Demo>,
    ) -> Result<Self, Failure> {
        let roles = chosen(settings)?;
        check_texts(settings)?;
        check_files(settings)?;
        for role in &roles {
            check(role, settings).map_err(|why| Failure::usage(format!("{role}: {why}")))?;
        }
        let listen = roles.contains(&GATEWAY).then_some(settings.listen);
        check_passed(listen).map_err(|why| Failure::usage(why.to_string()))?;
        let process = Process::join(settings, &roles).await.map_err(unjoined)?;
        let admin = process.node.watch(settings, life)?;
        let mut hosted =
            Self { process, running: JoinSet::new(), lives: Vec::new(), _admin: admin };
        let (answered, later) = (CancellationToken::new(), CancellationToken::new());
        if !roles.contains(&GATEWAY) {
            answered.cancel();
        }
        let holding = hold_back(life.stop(), answered.clone(), later.clone().drop_guard());
        hosted.running.spawn(stopping_if_it_panics("hold back the roles", holding, life.clone()));
        for role in roles {
            let own = life.of_part();
            let process = hosted.process.clone();
            let running = run(role, settings.clone(), process, own.clone(), demo.clone());
            let stop = if role == GATEWAY { life.stop() } else { later.clone() };
            let hosting = host(role, running, own.clone(), life.clone(), stop);
            let hosting = stopping_if_it_panics("host a role", hosting, life.clone());
            let ended = (role == GATEWAY).then(|| answered.clone().drop_guard());
            let kill = own.kill().drop_guard();
            hosted.running.spawn(async move {
                hosting.await;
                // Where the host has panicked, its role is still there.
                drop((kill, ended));
            });
            hosted.lives.push((role, own));
        }
        for (role, own) in &hosted.lives {
            while !own.is_ready() {
                if life.is_draining() {
                    let why = life.failure().unwrap_or_else(|| "stopped".to_owned());
                    return Err(Failure::failed(why));
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
            // The caller says so in a line for people and programs.
            tracing::debug!(role, "ready");
        }
        life.ready();
        Ok(hosted)
    }

    /// Prints one line for each role that is ready, for the process that started this one, whatever
    /// the log leaves out; in a log of JSON as JSON.
    pub(crate) fn announce(&self, settings: &Settings) {
        for (role, _) in &self.lives {
            say::message(&ready_line(role, settings));
        }
    }

    /// The running roles and their addresses, for programs.
    pub(crate) fn document(&self, settings: &Settings) -> Value {
        let roles: Vec<_> = self.lives.iter().map(|(role, _)| *role).collect();
        let url = roles.contains(&GATEWAY).then(|| settings.public_url());
        json!({"node": settings.node, "pid": std::process::id(), "roles": roles, "url": url})
    }

    /// The bus of this process.
    pub(crate) fn bus(&self) -> Arc<dyn Bus> {
        Arc::clone(&self.process.node.bus)
    }

    /// Waits until all roles have ended, then leaves the live nodes and closes the shared
    /// connections.
    pub(crate) async fn ended(mut self) {
        while let Some(ended) = self.running.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a role was dropped");
            }
        }
        self.process.leave().await;
    }
}

fn ready_line(role: &str, settings: &Settings) -> String {
    let message = format!("{role} is ready");
    match settings.log_format {
        LogFormat::Text => message,
        LogFormat::Json => {
            let now = SystemClock.now().to_string();
            json!({"timestamp": now, "level": "INFO", "node": settings.node,
                "target": "staunch", "message": message, "role": role})
            .to_string()
        }
    }
}

/// Refuses settings with which no server could run, as far as their texts show it: no server is asked,
/// and nothing is made.
///
/// # Errors
/// A usage error that names the setting.
pub(crate) fn check_texts(settings: &Settings) -> Result<(), Failure> {
    if chosen(settings)?.contains(&GATEWAY) {
        ingress::Config::check_texts(settings)
            .map_err(|why| Failure::usage(format!("{GATEWAY}: {why}")))?;
    }
    node::check_nats_urls(&settings.nats_url).map_err(|error| {
        let reason = match error {
            bus::Error::Denied(reason) => reason,
            other => other.to_string(),
        };
        Failure::usage(settings.refusal("nats-url", reason).to_string())
    })?;
    let archive = settings.archive_to.as_deref().map(archive::Archive::check).transpose();
    archive.map(drop).map_err(|error| Failure::usage(format!("archive-to: {error}")))
}

/// Refuses files that the settings name, and places of payloads, with which a role could not run. Nothing
/// is connected and nothing is made.
///
/// # Errors
/// A usage error that names the setting and the file.
pub(crate) fn check_files(settings: &Settings) -> Result<(), Failure> {
    node::check_nats_login(settings).map_err(|why| Failure::usage(why.to_string()))?;
    for role in chosen(settings)? {
        let checked = match role {
            "executor" => executor::Config::check_files(settings).map_err(|why| why.to_string()),
            "timer" => {
                payloads::Places::check(&settings.payload_store).map_err(|why| why.to_string())
            }
            GATEWAY => check_gateway(settings),
            _ => Ok(()),
        };
        checked.map_err(|why| Failure::usage(format!("{role}: {why}")))?;
    }
    Ok(())
}

fn check_gateway(settings: &Settings) -> Result<(), String> {
    ingress::Config::check_files(settings).map_err(|why| why.to_string())?;
    let tls = TlsFiles::from_settings(settings).map(Tls::read).transpose();
    tls.map(drop).map_err(|why| why.to_string())
}

/// The roles of this process, in the order of the path of a command.
fn chosen(settings: &Settings) -> Result<Vec<&'static str>, Failure> {
    let unknown = settings.role.iter().find(|role| {
        let role = role.as_str();
        role != "all" && !ALL.contains(&role)
    });
    if let Some(role) = unknown {
        let known = ALL.join(", ");
        let reason = format!("there is no role {role:?}: use {known} or all");
        return Err(Failure::usage(settings.refusal("role", reason).to_string()));
    }
    let roles: Vec<&str> = ALL.into_iter().filter(|role| settings.serves(role)).collect();
    if roles.is_empty() {
        return Err(Failure::usage("no role is given: use --role all"));
    }
    Ok(roles)
}

/// Refuses settings with which a role could not run, and places that cannot be opened, before anything is
/// connected. Files are known to be good by then.
fn check(role: &str, settings: &Settings) -> Result<(), String> {
    match role {
        "executor" => {
            executor::Config::from_settings(settings).map(drop).map_err(|why| why.to_string())
        }
        "timer" => timer::Config::from_settings(settings).map(drop).map_err(|why| why.to_string()),
        GATEWAY => {
            ingress::Config::from_settings(settings).map(drop).map_err(|why| why.to_string())
        }
        _ => Ok(()),
    }
}

/// The reason why a process could not join the cluster; settings that do not fit the database are wrong
/// usage.
fn unjoined(error: anyhow::Error) -> Failure {
    match error.downcast::<ConfigError>() {
        Ok(error) => Failure::usage(error.to_string()),
        Err(error) => error.into(),
    }
}

/// Runs a task of the process; a panic in it stops the process softly.
async fn stopping_if_it_panics(name: &'static str, task: impl Future<Output = ()>, life: Life) {
    if let Err(panicked) = tasks::caught(name, task).await {
        life.fail(panicked.to_string());
    }
}

/// Stops the gateway first, then the other roles, because its callers wait for them. The other
/// roles stop when `later` is dropped.
async fn hold_back(stop: CancellationToken, answered: CancellationToken, later: DropGuard) {
    stop.cancelled().await;
    if tokio::time::timeout(ANSWERS_TIME_MAX, answered.cancelled()).await.is_err() {
        tracing::info!("callers still wait for answers; stopping all the same");
    }
    drop(later);
}

/// Runs one role with a separate life cycle, which ends when `stop` is cancelled. A role that fails
/// stops the process.
async fn host(
    role: &'static str,
    running: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    own: Life,
    life: Life,
    stop: CancellationToken,
) {
    let mut running = tasks::spawn(role, running);
    let kill = life.kill();
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = killed(&stop, &kill, &own) => {
            running.abort();
            running.await
        }
    };
    match ended {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => life.fail(format!("{role}: {error:#}")),
        Ok(Err(panicked)) => life.fail(panicked.to_string()),
        Err(error) => tracing::debug!(role, %error, "a role was dropped"),
    }
    own.begin_stop();
    tokio::select! {
        _ = own.finished() => {}
        () = kill.cancelled() => own.begin_kill(),
    }
    if let Some(reason) = own.failure() {
        life.fail(format!("{role}: {reason}"));
    }
    if !life.is_draining() {
        life.fail(format!("{role} has ended by itself"));
    }
}

/// Passes a stop on to a role; completes when the process is killed.
async fn killed(stop: &CancellationToken, kill: &CancellationToken, own: &Life) {
    tokio::select! {
        () = stop.cancelled() => own.begin_stop(),
        () = kill.cancelled() => {}
    }
    kill.cancelled().await;
    own.begin_kill();
}

/// Runs one role to its end.
async fn run(
    role: &'static str,
    settings: Settings,
    process: Process,
    life: Life,
    demo: Option<Demo>,
) -> anyhow::Result<()> {
    let Process { node, engine, catalog } = process;
    let Node { name: node, store, bus, clock, chance, presence, .. } = node;
    match role {
        "executor" => {
            let config = executor::Config::from_settings(&settings)?;
            let bytes_max = config.payload_bytes_max;
            let outside = bus.outside();
            let payloads = Payloads::new(store.clone(), clock.clone(), chance.clone(), bytes_max)
                .above(config.payload_above)
                .resting(config.payload_places.over(&outside));
            let calls =
                Arc::new(Connectors::new(&config.connectors, Some(outside), Some(payloads)));
            let points = listen::points();
            let cx = executor::Context {
                node,
                store,
                bus,
                engine,
                catalog,
                clock,
                chance,
                presence,
                calls,
                points,
                config,
            };
            executor::run(cx, life).await
        }
        "timer" => {
            let config = timer::Config::from_settings(&settings)?;
            let cx = timer::Context::new(&node, store, bus, presence, nonces(), config);
            timer::run(cx.watched(listen::points()), life).await
        }
        "cache-notifier" => {
            let config = cache_notifier::Config::default();
            let chance = nonces();
            let cx =
                cache_notifier::Context::start(&node, store, bus, presence, chance, config).await?;
            cache_notifier::run(cx.watched(listen::points()), life).await
        }
        _ => {
            let config = ingress::Config { demo, ..ingress::Config::from_settings(&settings)? };
            let trail = chassis::Trail::new(&node, listen::points());
            let cx =
                ingress::Context { store, bus, engine, catalog, presence, clock, chance, trail };
            ingress::start(cx, config, &life).await?;
            life.ready();
            life.stop().cancelled().await;
            Ok(())
        }
    }
}
