//! FlowSendHttpRequest: makes an HTTP call, and leaves through the outcome for its result.

use engine::{
    Activity, Decision, Descriptor, Failure, Kind, Next, Plan, Planning, Resumed, Step, Type,
};
use serde_json::{Value, json};

use crate::send_http_request::{
    Ended, check_url, ended, send, set_outputs, with_inputs, with_outputs,
};

const CODES: &str = "expectedStatusCodes";

/// `Elsa.FlowSendHttpRequest`
pub(crate) struct FlowSendHttpRequest;

impl Activity for FlowSendHttpRequest {
    fn descriptor(&self) -> Descriptor {
        let what = "Makes an HTTP call and leaves through the outcome for its result.";
        let descriptor = Descriptor::new("Elsa.FlowSendHttpRequest", "HTTP", what)
            .called("HTTP Request (flow)")
            .kind(Kind::Task);
        let codes = Type::List(Box::new(Type::StatusCode));
        with_outputs(with_inputs(descriptor))
            .input(CODES, codes, "Each of them is an outcome.")
            .default(json!([200]))
            .outcomes(&["Unmatched status code", "Failed to connect", "Timeout", "Done"])
            .more_outcomes()
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        check_url(node);
        leaves_by_codes(node);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        send(step, ["content", "contentType"], false)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        let ended = ended(step, resumed.input, set_outputs)?;
        left(step, ended)
    }
}

/// Says that the expected status codes are outcomes, where they are written out.
pub(crate) fn leaves_by_codes(node: &mut Planning<'_>) {
    let usual = json!([200]);
    let codes = match (node.raw(CODES), node.literal(CODES)) {
        (None, _) => Some(&usual),
        (_, written) => written,
    };
    if let Some(Value::Array(codes)) = codes {
        let codes: Vec<_> = codes.iter().map(Value::to_string).collect();
        node.leaves_by(codes);
    }
}

/// Leaves through the outcomes for the end of the call.
pub(crate) fn left(step: &mut Step<'_, '_>, ended: Ended) -> Decision {
    match ended {
        Ended::Answered(status) => {
            let expected = step.list(CODES)?;
            let mut outcomes = Vec::new();
            if expected.iter().filter_map(Value::as_i64).any(|code| code == status) {
                outcomes.push(status.to_string());
            } else if !expected.is_empty() {
                outcomes.push("Unmatched status code".to_owned());
            }
            outcomes.push("Done".to_owned());
            Ok(Next::Complete(outcomes))
        }
        Ended::TimedOut(failure) => leave(step, "Timeout", failure),
        Ended::Failed(failure) => leave(step, "Failed to connect", failure),
    }
}

/// Leaves through a connected outcome for the result; an incident when there is none.
fn leave(step: &Step<'_, '_>, outcome: &str, failure: Failure) -> Decision {
    if step.is_connected(outcome) { Ok(Next::outcome(outcome)) } else { Err(failure) }
}
