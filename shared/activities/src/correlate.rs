//! Correlate: gives the instance a correlation id.

use engine::{Activity, Decision, Descriptor, Next, Step, Type};

use crate::shown;

/// `Elsa.Correlate`
pub(crate) struct Correlate;

impl Activity for Correlate {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Correlate", "Primitives", "Gives the instance a correlation id.")
            .input("correlationId", Type::String, "The id.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let correlation_id = step.text("correlationId")?;
        shown::check("correlationId", correlation_id.as_deref())?;
        step.correlate(correlation_id);
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::player;

    #[test]
    fn the_instance_has_the_correlation_id() {
        let mut player = player(json!({"type": "Correlate", "correlationId": 7}));
        player.start(json!({}));
        assert_eq!(player.state().correlation_id.as_deref(), Some("7"));
    }
}
