//! Executor: applies commands to workflow instances, one writer per instance.
//!
//! Begin with `pipeline`: it is the path of a command, from the lock to the acknowledgement. Above
//! it, `handle` takes one delivery, `actor` decides what one instance does next, and `route` finds
//! the receivers of events and tasks. Below it are the types that the steps share: `cx`, `work`,
//! `job`, `tenure`, `burst`, `record`, `stop`. The lease saves work; the version check in `commit`
//! saves truth: delete every lease and results stay right. No module here knows NATS or SQL: only
//! `main.rs` names the adapters.

mod accept;
mod actor;
mod api;
mod attach;
mod burst;
mod chains;
mod config;
mod cx;
mod executor;
mod gate;
mod handle;
mod hold;
mod job;
mod listen;
mod mailbox;
mod metrics;
mod pipeline;
mod poison;
mod pull;
mod record;
mod reply;
mod role;
mod route;
mod sample;
mod stop;
mod tenure;
mod unfit;
mod watched;
#[cfg(test)]
mod wired;
mod work;

pub use chassis::{Point, Points};
pub use config::Config;
pub use executor::{Context, Executor};
pub use record::{KeptAnswer, Record, TakenEvent};
pub use role::run;
