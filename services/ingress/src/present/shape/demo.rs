//! The demo.

use utoipa::ToSchema;

/// Whether this is `staunch demo`, and what its executors did.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DemoShown {
    /// False in every other cluster: there the other members are null.
    is_demo: bool,
    /// `Showing` its own steps, `Running`, or `Replacing` an executor.
    state: Option<String>,
    /// The executor that works.
    executor: Option<DemoProcess>,
    /// The last executor that was killed over HTTP.
    last_kill: Option<DemoKill>,
}

/// An executor of the demo.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DemoProcess {
    /// Its name among the nodes.
    node: String,
    process_id: u32,
}

/// An executor that was killed, and what became of the instances since.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DemoKill {
    /// When it was dead.
    at: String,
    killed: DemoProcess,
    /// The instances that there were then.
    instances_before: u64,
    /// Those of them that are there now.
    instances_kept: u64,
    /// Those of them that another executor has worked on since.
    instances_moved_on: u64,
    /// The instances that were started since.
    started_since: u64,
    /// The instances that finished since, whenever they were started.
    finished_since: u64,
}
