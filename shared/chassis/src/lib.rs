//! The common parts of every service's `main`: configuration, telemetry, signals, time, randomness,
//! health.
//!
//! This crate owns how a process starts, reports and stops. Only it reads the environment, the
//! system's clock and the system's random source. It does not know what a workflow is.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     chassis::main("timer", run)
//! }
//!
//! async fn run(settings: chassis::Settings, life: chassis::Life) -> anyhow::Result<()> {
//!     let stop = life.stop();
//!     life.spawn("loop", async move { stop.cancelled().await });
//!     life.ready();
//!     life.stop().cancelled().await;
//!     Ok(())
//! }
//! ```

mod admin;
mod build_info;
mod certificate;
mod chance;
mod clock;
mod config;
mod health;
pub mod http;
mod lifecycle;
mod live;
mod log_filter;
mod outgoing;
mod point;
mod run;
mod telemetry;

/// With the system's allocator a node spent a third of its time in it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub use admin::{Admin, AdminKeys, is_loopback};
pub use build_info::{commit, version};
pub use certificate::{Certificate, EXPIRY_NOTED, certificates, watch_certificates};
pub use chance::{SeededChance, SystemChance, drawn_at};
pub use clock::{SystemClock, TokioClock};
pub use config::{
    Args, Auth, BasePath, BucketLists, ClaimRoles, ClientAuth, ConfigError, Delay, Described,
    Entries, FlowchartMode, Form, HostLists, IncidentStrategy, LogFormat, LogPersistence,
    MailServer, NameLists, NamedUrls, Need, Networks, NodeAddress, Origin, RULES, Rate, Rules,
    Secret, Sender, Setting, Settings, TokenAlgorithms, UnknownVariable, WebAddress, WebOrigins,
    client_key, masked, percent_decoded, reachable, secrets_in_urls, variable_of,
};
pub use health::{CheckResult, Health, HealthReport};
pub use lifecycle::Life;
pub use live::LiveKey;
pub use log_filter::check_log_filter;
pub use model::{Chance, Clock};
pub use outgoing::check_outgoing;
pub use point::{Point, Points, Trail};
pub use run::{host, main};
pub use telemetry::{Telemetry, inject, link, set_parent, trace_id};
