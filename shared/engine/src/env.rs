//! The surroundings of a turn, as values.

use std::sync::Arc;

use model::{CommandId, Retries, Timestamp};

use crate::{Contents, Secrets};

/// Time and random numbers, as values: the same values give the same turn.
#[derive(Clone, Debug)]
pub struct Env {
    /// The time of the whole turn.
    pub now: Timestamp,
    /// 256 random bits, drawn once per burst: the source of `newGuid()` and of URL tokens.
    pub seed: [u8; 32],
    /// The command that caused the turn. Ids that a retry must repeat derive from it.
    pub command_id: CommandId,
    /// What the configuration says to workflows.
    pub installation: Arc<Installation>,
    /// The contents of payloads that it may read.
    pub contents: Contents,
}

/// What the configuration of an installation says to its workflows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Installation {
    /// Its address, such as `http://127.0.0.1:5001`, without a slash at the end. Absolute URLs begin
    /// with it.
    pub base_url: String,
    /// Flowcharts run in token mode, where neither the start nor the definition chooses the mode.
    pub token_mode: bool,
    /// An incident ends only its branch, where the definition names no incident strategy.
    pub continues_with_incidents: bool,
    /// The journal keeps no values of inputs and outputs, where the definition does not say it.
    pub leaves_out_values: bool,
    /// Retries by name, for activities that name a resilience strategy.
    pub retries: Retries,
    /// What `getSecret` and `Secret` expressions read.
    pub secrets: Secrets,
}
