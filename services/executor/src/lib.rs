//! Executor: applies commands to workflow instances, one writer per instance.
//!
//! `pipeline` reads as the design: lock, load, run, commit, publish, perform, settle. `actor` is
//! one instance in this process, `handle` one delivery, `route` events and tasks. The lease saves
//! work; the version check in `commit` saves truth: delete every lease and results stay right.
//! Nothing here knows NATS or SQL: the adapters are named in `main.rs` alone.

mod actor;
mod api;
pub mod calls;
mod config;
mod decide;
mod draft;
mod executor;
mod handle;
mod metrics;
mod pipeline;
mod poison;
mod pull;
mod record;
mod reply;
mod role;
mod route;
mod trodden;
#[cfg(test)]
mod wired;
mod work;

pub use chassis::{Point, Points};
pub use config::Config;
pub use executor::{Context, Executor};
pub use record::{KeptAnswer, Record, TakenEvent};
pub use role::run;
