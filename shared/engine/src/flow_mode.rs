//! The two ways in which a flowchart runs, as starts and definitions name them.

use serde_json::Value;

use crate::convert::shown;

/// The way in which a flowchart decides when an activity runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowMode {
    /// By counting visits of connections.
    Counter,
    /// By tokens.
    Token,
}

impl FlowMode {
    /// The property of a start that names the mode.
    pub const PROPERTY: &str = "Flowchart:ExecutionMode";
    /// The custom property of a flowchart or a definition that names it.
    pub const CUSTOM: &str = "flowchart:ExecutionMode";

    /// The mode of this name; none where something else decides.
    ///
    /// # Errors
    /// There is no mode of this name.
    pub fn named(value: &Value) -> Result<Option<Self>, String> {
        let modes = [
            ("Default", None),
            ("TokenBased", Some(Self::Token)),
            ("CounterBased", Some(Self::Counter)),
        ];
        let name = value.as_str().unwrap_or_default();
        let found = modes.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        match found {
            Some((_, mode)) => Ok(mode),
            None if value.is_null() => Ok(None),
            None => Err(format!(
                "there is no execution mode {}: use TokenBased, CounterBased or Default",
                shown(value)
            )),
        }
    }
}
