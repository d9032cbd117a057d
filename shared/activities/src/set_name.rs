//! SetName: gives the instance a name.

use engine::{Activity, Decision, Descriptor, Next, Step, Type};

use crate::shown;

/// `Elsa.SetName`
pub(crate) struct SetName;

impl Activity for SetName {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.SetName", "Primitives", "Gives the instance a name.")
            .called("Set Name")
            .input("value", Type::String, "The name.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let name = step.text("value")?;
        shown::check("value", name.as_deref())?;
        step.set_name(name);
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::player;

    #[test]
    fn the_instance_has_the_name() {
        let mut player = player(json!({"type": "SetName", "value": "Order 7"}));
        player.start(json!({}));
        assert_eq!(player.state().name.as_deref(), Some("Order 7"));
    }
}
