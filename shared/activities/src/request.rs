//! Request: asks whoever answers on a subject of NATS.

use engine::{
    Activity, Decision, Descriptor, Failure, NatsCall, Next, Plan, Planning, Resumed, Step, Type,
};
use serde_json::Value;

use crate::nats;

/// `Staunch.Request`
pub(crate) struct Request;

/// The outcome when nobody listens on the subject.
const NO_RESPONDERS: &str = "No responders";
/// The outcome when there is no answer in time.
const TIMEOUT: &str = "Timeout";

impl Activity for Request {
    fn descriptor(&self) -> Descriptor {
        let what = "Asks whoever answers on a subject of NATS: a service, a function in any \
                    language, or `nats reply`. A crash may ask again, with the same Nats-Msg-Id.";
        nats::with_message(nats::descriptor("Staunch.Request", "Request", what))
            .input("timeout", Type::TimeSpan, "The longest wait for the answer of one try.")
            .default("00:00:05")
            .output("result", Type::Object, "The answer: JSON as a value, text, or a file.")
            .output("responseHeaders", Type::Dictionary, "The headers of the answer.")
            .outcomes(&["Done", NO_RESPONDERS, TIMEOUT])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check_message(node);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let message = nats::message(step)?;
        let timeout = step.span("timeout")?;
        step.call(NatsCall::Request { message }, timeout)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        let input = &mut resumed.input;
        if let Some(failure) = nats::failure(input) {
            let outcome = match input.get("error").and_then(Value::as_str) {
                Some("timeout") => TIMEOUT,
                Some("connect") => NO_RESPONDERS,
                _ => return Err(failure),
            };
            return if step.is_connected(outcome) {
                Ok(Next::outcome(outcome))
            } else {
                Err(failure)
            };
        }
        if let Some(code) = input.get("statusCode").and_then(Value::as_u64) {
            let said = input.get("message").and_then(Value::as_str).unwrap_or_default();
            let message = format!("the service answered with the error {code}: {said}");
            return Err(Failure::new("NatsService", message).in_category("Nats"));
        }
        step.set_output("responseHeaders", input.remove("headers").unwrap_or_default())?;
        step.set_output("result", input.remove("content").unwrap_or_default())?;
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::player;

    fn asks(connections: Value) -> Value {
        json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "Elsa.Flowchart", "activities": [
                {"type": "Staunch.Request", "id": "ask", "subject": "math.double", "content": "4",
                    "result": "Got"},
                {"type": "WriteLine", "id": "none", "text": "nobody"},
                {"type": "WriteLine", "id": "late", "text": "late"}],
                "connections": connections}
        })
    }

    #[test]
    fn the_answer_is_the_result() {
        let mut player = player(asks(json!([])));
        player.start(json!({}));
        assert!(player.resume("Call", json!({"content": 8, "headers": {}})));
        assert_eq!(player.state().output["Got"], json!(8));
    }

    #[test]
    fn each_failure_has_its_outcome_or_is_an_incident() {
        let link = |port: &str, target: &str| json!([{"source": {"activity": "ask", "port": port}, "target": {"activity": target}}]);
        let check = |answer: Value, port: &str, target: &str, line: &str, code: &str| {
            let mut handled = player(asks(link(port, target)));
            handled.start(json!({}));
            assert!(handled.resume("Call", answer.clone()));
            assert_eq!(handled.lines(), [line]);
            let mut alone = player(asks(json!([])));
            alone.start(json!({}));
            assert!(alone.resume("Call", answer));
            assert_eq!(alone.state().incidents[0].code, code);
        };
        let nobody = json!({"error": "connect", "code": "no-responders", "message": "nobody"});
        check(nobody, "No responders", "none", "nobody", "NatsConnect");
        let late = json!({"error": "timeout", "message": "late"});
        check(late, "Timeout", "late", "late", "NatsTimeout");
    }

    #[test]
    fn an_error_of_the_service_is_an_incident_with_its_code() {
        let mut player = player(asks(json!([])));
        player.start(json!({}));
        let refused = json!({"content": "no", "headers": {}, "statusCode": 422, "message": "odd"});
        assert!(player.resume("Call", refused));
        let incident = &player.state().incidents[0];
        assert_eq!(incident.code, "NatsService");
        assert!(incident.message.contains("422: odd"), "{incident:?}");
    }
}
