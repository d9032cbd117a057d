//! What an executor says about its work when it is asked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Whether an executor takes commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Taking {
    /// It takes commands.
    #[default]
    Running,
    /// It is paused, and may still get the commands of its last pull.
    Pausing,
    /// It takes no commands.
    Paused,
}

/// The answer on `staunch.runtime.<node>`: the work of one executor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// The node.
    pub node: String,
    /// Whether it takes commands.
    pub state: Taking,
    /// The number of commands that it works on.
    pub commands: u64,
    /// The number of instances that it works on.
    pub instances: u64,
    /// Instances whose leases it holds and other nodes wait for, with these nodes: some of them, if there
    /// are many.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub wanted: BTreeMap<String, Vec<String>>,
}

impl Runtime {
    /// It takes no commands, and has finished those that it had.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.state == Taking::Paused && self.commands == 0 && self.instances == 0
    }
}
