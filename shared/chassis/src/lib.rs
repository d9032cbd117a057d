//! What every service's `main` needs: configuration, telemetry, signals, time, chance, health.
//!
//! This crate owns how a process starts, is seen, and stops, and it is the only place that reads
//! the environment, the system's clock and the system's chance. It never knows what a workflow is;
//! of the nouns it uses [`model::Timestamp`] alone.
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

mod build_info;
mod chance;
mod clock;
mod config;
mod health;
mod lifecycle;
mod point;
mod run;
mod telemetry;

/// A third of a node's time went into the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub use build_info::{commit, version};
pub use chance::{Chance, SeededChance, SystemChance};
pub use clock::{Clock, SystemClock, TokioClock};
pub use config::{Args, Auth, ConfigError, LogFormat, Misfire, Origin, Secret, Setting, Settings};
pub use health::{Health, HealthReport, Outcome};
pub use lifecycle::Life;
pub use point::{Point, Points, Trail};
pub use run::{host, main};
pub use telemetry::{SECONDS, Telemetry, inject, link, metrics_text, set_parent};
