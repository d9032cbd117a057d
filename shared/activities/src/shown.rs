//! Texts that are kept in clear and shown in many places: names and correlation ids.

use engine::Failure;
use model::sealed::looks_sealed;

/// Refuses such a text of an input if it is made of a secret.
pub(crate) fn check(property: &str, text: Option<&str>) -> Result<(), Failure> {
    if text.is_some_and(looks_sealed) {
        let reason = "a secret is no name: names and correlation ids are shown in many places, so \
                      that they cannot be made of one";
        return Err(Failure::input(property, reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::player;

    #[test]
    fn a_secret_is_no_name_and_no_correlation_id() {
        let sealed = format!("Order {{sealed:{}}}", "Ab-_".repeat(10));
        let check = |activity: &Value, property: &str, text: &str| {
            let mut activity = activity.clone();
            activity["id"] = json!("one");
            activity[property] = match property {
                "correlationIdFunction" => json!({"js": format!("'{text}'")}),
                _ => Value::from(text),
            };
            let mut player = player(activity);
            player.start(json!({}));
            let incidents = &player.state().incidents;
            incidents.first().map(|incident| (incident.code.clone(), incident.message.clone()))
        };
        for (activity, property) in [
            (json!({"type": "SetName"}), "value"),
            (json!({"type": "Correlate"}), "correlationId"),
            (json!({"type": "PublishEvent"}), "eventName"),
            (json!({"type": "PublishEvent", "eventName": "Paid"}), "correlationId"),
            (json!({"type": "Event"}), "eventName"),
            (json!({"type": "DispatchWorkflow", "workflowDefinitionId": "child"}), "correlationId"),
            (
                json!({"type": "BulkDispatchWorkflows", "workflowDefinitionId": "child",
                    "items": [1]}),
                "correlationIdFunction",
            ),
            (json!({"type": "RunTask"}), "taskName"),
        ] {
            let (code, message) = check(&activity, property, &sealed).unwrap();
            assert_eq!(code, "InvalidInput", "{activity}");
            let begin = format!("{property}: a secret is no name");
            assert!(message.starts_with(&begin), "{activity} {property}: {message}");
            assert_eq!(check(&activity, property, "Order 7"), None, "{activity} {property}");
        }
    }
}
