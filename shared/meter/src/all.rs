//! The declarations, one file for each subject.

mod cluster;
mod database;
mod http;
mod lease;
mod nats;
mod process;
mod queue;
mod timer;
mod workflow;

use crate::instrument::Meter;

pub use cluster::*;
pub use database::*;
pub use http::*;
pub use lease::*;
pub use nats::*;
pub use process::*;
pub use queue::*;
pub use timer::*;
pub use workflow::*;

/// Every metric, by subject, in the order of the table.
pub(crate) fn groups() -> [(&'static str, &'static [&'static dyn Meter]); 9] {
    [
        ("Workflows", WORKFLOW_METERS),
        ("Commands", QUEUE_METERS),
        ("Leases", LEASE_METERS),
        ("Timers and the sweep", TIMER_METERS),
        ("Database", DATABASE_METERS),
        ("NATS", NATS_METERS),
        ("Cluster", CLUSTER_METERS),
        ("HTTP", HTTP_METERS),
        ("Process", PROCESS_METERS),
    ]
}
