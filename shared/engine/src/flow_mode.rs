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

    /// The mode of this name, or of this number in the enumeration of Elsa's; none where something
    /// else decides.
    ///
    /// # Errors
    /// There is no mode of this name or number.
    pub fn named(value: &Value) -> Result<Option<Self>, String> {
        // By number: 0, 1, 2.
        let modes = [
            ("Default", None),
            ("TokenBased", Some(Self::Token)),
            ("CounterBased", Some(Self::Counter)),
        ];
        let name = value.as_str().unwrap_or_default().trim();
        let number = value.as_u64().or_else(|| name.parse().ok());
        let number = number.and_then(|number| usize::try_from(number).ok());
        let found = modes
            .into_iter()
            .enumerate()
            .find(|(at, (known, _))| number == Some(*at) || known.eq_ignore_ascii_case(name));
        match found {
            Some((_, (_, mode))) => Ok(mode),
            None if value.is_null() => Ok(None),
            None => Err(format!(
                "there is no execution mode {}: use TokenBased, CounterBased or Default",
                shown(value)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mode_has_a_name_and_a_number() {
        let check = |value: Value, expected: Option<FlowMode>| {
            assert_eq!(FlowMode::named(&value), Ok(expected), "{value}");
        };
        for value in [json!("TokenBased"), json!("tokenbased"), json!(1), json!("1")] {
            check(value, Some(FlowMode::Token));
        }
        for value in [json!("CounterBased"), json!(2), json!("2")] {
            check(value, Some(FlowMode::Counter));
        }
        for value in [json!("Default"), json!(0), Value::Null] {
            check(value, None);
        }
        for value in [json!("Banana"), json!(3), json!(-1), json!(1.5), json!(true), json!("")] {
            let said = FlowMode::named(&value).unwrap_err();
            assert!(said.starts_with("there is no execution mode"), "{value}: {said}");
        }
    }
}
