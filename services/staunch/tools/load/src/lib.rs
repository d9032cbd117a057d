//! Puts load on a cluster over NATS or HTTP, and measures it: for `staunch bench`, and for tests
//! that break parts of a cluster under load.
//!
//! A fixed number of lanes does one step after the other (closed loop), or each step when it is due
//! (open loop: latencies count from the due time, so that a stall is not omitted). It shares its
//! machine with the measured cluster, so it starts no task and parses no JSON without need.
//!
//! To add a scenario: 1. a variant of [`Scenario`], 2. its definition in `workflow.rs`, 3. its step
//! in `lane.rs`.

mod access;
mod callee;
mod door;
mod http;
mod lane;
mod outside;
mod process;
mod run;
mod scenario;
mod stream;
mod times;
mod wire;
mod workflow;

pub use access::Access;
pub use callee::Callee;
pub use http::Connection;
pub use process::{Process, Usage};
pub use run::{Bounds, Order, Report, Target, run};
pub use scenario::{Scenario, Transport};
pub use times::{Figures, Times};
