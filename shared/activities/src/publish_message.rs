//! PublishMessage: sends a message to a subject of NATS.

use engine::{Activity, Decision, Descriptor, NatsCall, Next, Plan, Planning, Resumed, Step, Type};

use crate::nats;

/// `Staunch.PublishMessage`
pub(crate) struct PublishMessage;

impl Activity for PublishMessage {
    fn descriptor(&self) -> Descriptor {
        let what = "Sends a message to a subject of NATS, once its instance is stored. A crash may \
                    send it again with the same Nats-Msg-Id, by which a stream stores it once.";
        nats::with_message(nats::descriptor("Staunch.PublishMessage", "Publish Message", what))
            .input("stored", Type::Boolean, "Waits until a stream has it; without one it fails.")
            .default(false)
            .output("stream", Type::String, "The stream that has it, where that is asked for.")
            .output("sequence", Type::Integer(64), "Its number in the stream.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check_message(node);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let message = nats::message(step)?;
        let stored = step.flag("stored")?;
        step.call(NatsCall::Publish { message, stored }, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = nats::failure(&resumed.input) {
            return Err(failure);
        }
        step.set_output("stream", resumed.input.remove("stream").unwrap_or_default())?;
        step.set_output("sequence", resumed.input.remove("sequence").unwrap_or_default())?;
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use engine::{NatsCall, Operation};
    use serde_json::{Value, json};

    use crate::tests::{player, problems};

    fn document(subject: Value) -> Value {
        json!({
            "outputs": [{"name": "Stream"}, {"name": "Number"}],
            "root": {"type": "Staunch.PublishMessage", "subject": subject, "stored": true,
                "headers": {"expression": {"type": "Object", "value": {"X-Order": "7"}}},
                "content": {"js": "({id: 7})"}, "stream": "Stream", "sequence": "Number"}
        })
    }

    #[test]
    fn the_call_has_the_message_and_the_outputs_say_where_it_is() {
        let mut player = player(document(json!("orders.new")));
        player.start(json!({}));
        let call = player.state().calls.values().next().unwrap();
        let Operation::Nats(NatsCall::Publish { message, stored: true }) = &call.operation else {
            panic!("{call:?}")
        };
        assert_eq!((message.subject.as_str(), &message.content), ("orders.new", &json!({"id": 7})));
        assert_eq!(message.headers["X-Order"], "7");
        assert!(player.resume("Call", json!({"stream": "ORDERS", "sequence": 9})));
        assert_eq!(
            (&player.state().output["Stream"], &player.state().output["Number"]),
            (&json!("ORDERS"), &json!(9))
        );
    }

    #[test]
    fn subjects_of_staunch_are_refused_written_out_and_computed() {
        for subject in ["staunch.cmd.start.x", "$JS.API.INFO", "_INBOX.a", "a.*", "a b"] {
            let found = problems(document(json!(subject)));
            assert!(found.iter().any(|problem| problem.contains(subject)), "{found:?}");
            let mut player = player(document(json!({"js": format!("'{subject}'")})));
            player.start(json!({}));
            assert!(player.incident().unwrap().contains(subject), "{subject}");
            assert!(player.state().calls.is_empty());
        }
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_named() {
        for name in ["A B", "A:", "", "\u{e4}", "A\r\nB"] {
            let mut written = document(json!("orders.new"));
            written["root"]["headers"] = json!({"X-Order": "7", name: "1"});
            let mut computed = document(json!("orders.new"));
            let headers = format!("({})", json!({name: "1"}));
            computed["root"]["headers"] = json!({"js": headers});
            let shown = format!("{name:?} is no name of a header");
            let found = problems(written);
            assert!(found.iter().any(|problem| problem.contains(&shown)), "{found:?}");
            let mut player = player(computed);
            player.start(json!({}));
            let incident = player.incident().unwrap();
            assert!(incident.contains("headers") && incident.contains(&shown), "{incident}");
            assert!(player.state().calls.is_empty());
        }
    }

    #[test]
    fn a_value_of_a_header_with_a_line_break_is_refused() {
        for value in [json!("a\nb"), json!("a\r"), json!(["a", "b\nc"])] {
            let with = |headers: Value| {
                let mut document = document(json!("orders.new"));
                document["root"]["headers"] = headers;
                document
            };
            let computed = json!({"js": format!("({})", json!({"X": value}))});
            let mut player = player(with(computed));
            player.start(json!({}));
            let incident = player.incident().unwrap();
            assert!(incident.contains("the value of X has a line break"), "{incident}");
            assert!(player.state().calls.is_empty());
            if value.is_string() {
                let found = problems(with(json!({"X": value})));
                assert!(found.iter().any(|problem| problem.contains("line break")), "{found:?}");
            }
        }
    }
}
