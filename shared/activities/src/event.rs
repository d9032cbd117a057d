//! Event: waits for an event, or starts a workflow with it.

use engine::{Activity, Cause, Decision, Descriptor, Failure, Kind, Next, Resumed, Step, Type};
use model::Stimulus;
use serde_json::Value;

use crate::shown;

/// `Elsa.Event`
pub(crate) struct Event;

/// The name of the input under which the payload arrives, as `{"payload": …}`.
const INPUT: &str = "__EventPayloadWorkflowInput";

impl Activity for Event {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Event", "Primitives", "Waits for an event, or starts with it.")
            .kind(Kind::Trigger)
            .input("eventName", Type::String, "The event's name, case-sensitive.")
            .required()
            .output("result", Type::Object, "The event's payload.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let name = step.required("eventName")?;
        shown::check("eventName", Some(&name))?;
        let stimulus = Stimulus::event(&name);
        let payload = stimulus.payload.clone();
        step.wait(&stimulus, payload, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        let received = resumed.input.remove(INPUT).unwrap_or_default();
        step.set_output("result", payload(received))?;
        Ok(Next::done())
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        let stimulus = Stimulus::event(&step.required("eventName")?);
        let payload = stimulus.payload.clone();
        Ok(vec![Cause::Stimulus { stimulus, payload }])
    }
}

fn payload(received: Value) -> Value {
    match received {
        Value::Object(mut map) if map.len() == 1 && map.contains_key("payload") => {
            map.remove("payload").unwrap_or_default()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::{causes, player, trigger_problems};

    fn document() -> Value {
        json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "Event", "id": "e", "canStartWorkflow": true, "eventName": "Paid",
                "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}}
        })
    }

    #[test]
    fn it_waits_at_the_hash_of_its_name_and_gives_the_payload() {
        let mut player = player(document());
        player.start(json!({}));
        let bookmark = player.state().bookmarks.values().next().unwrap();
        assert_eq!(bookmark.hash, Stimulus::event("Paid").hash());
        assert!(player.resume("Elsa.Event", json!({INPUT: {"payload": {"amount": 7}}})));
        assert_eq!(player.state().output["Got"], json!({"amount": 7}));
    }

    #[test]
    fn as_the_trigger_it_completes_at_once() {
        let trigger = causes(document()).stimuli.remove(0);
        assert_eq!(trigger.hash, Stimulus::event("Paid").hash());
        let mut player = player(document());
        player.start_at(Some("e"), json!({INPUT: {"payload": 1}}));
        assert_eq!(player.state().output["Got"], json!(1));
        assert!(!player.state().input.contains_key(INPUT));
    }

    #[test]
    fn a_trigger_without_a_name_is_a_problem() {
        let problems =
            trigger_problems(json!({"type": "Event", "id": "e", "canStartWorkflow": true}));
        assert_eq!(problems, ["activity e: eventName: there is no value: give one"]);
    }
}
