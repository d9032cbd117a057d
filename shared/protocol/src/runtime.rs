//! What an executor says about its work when it is asked.

use serde::{Deserialize, Serialize};

/// Whether an executor takes commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Taking {
    /// It takes commands.
    Running,
    /// It is paused, and may still get the commands of its last pull.
    Pausing,
    /// It takes no commands.
    Paused,
}

/// The answer on `staunch.runtime.<node>`: the work of one executor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Runtime {
    /// It takes no commands, and has finished those that it had.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.state == Taking::Paused && self.commands == 0 && self.instances == 0
    }
}
