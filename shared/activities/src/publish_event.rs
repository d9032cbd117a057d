//! PublishEvent: raises an event.

use engine::{Activity, Decision, Descriptor, Effect, Next, Publish, Step, Type};

use crate::shown;

/// `Elsa.PublishEvent`
pub(crate) struct PublishEvent;

impl Activity for PublishEvent {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.PublishEvent", "Primitives", "Raises an event.")
            .called("Publish Event")
            .input("eventName", Type::String, "The event's name, case-sensitive.")
            .required()
            .input("correlationId", Type::String, "Only instances with this correlation id.")
            .input("isLocalEvent", Type::Boolean, "Only this instance.")
            .default(false)
            .input("payload", Type::Object, "The event's payload.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let is_local = step.flag("isLocalEvent")?;
        let publish = Publish {
            event_name: step.required("eventName")?,
            correlation_id: step.text("correlationId")?,
            instance_id: is_local.then(|| step.instance_id().clone()),
            payload: step.value("payload")?,
        };
        shown::check("eventName", Some(&publish.event_name))?;
        shown::check("correlationId", publish.correlation_id.as_deref())?;
        step.emit(Effect::Publish(publish));
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    #[test]
    fn the_effect_says_who_is_meant() {
        let mut player = player(json!({"type": "PublishEvent", "eventName": "Paid",
            "correlationId": "c1", "isLocalEvent": true, "payload": {"amount": 7}}));
        player.start(json!({}));
        let expected = Publish {
            event_name: "Paid".to_owned(),
            correlation_id: Some("c1".to_owned()),
            instance_id: Some("instance-1".into()),
            payload: json!({"amount": 7}),
        };
        assert_eq!(player.effects, [Effect::Publish(expected)]);
    }
}
