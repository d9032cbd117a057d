//! MessageReceived: waits for a message on a subject of NATS, or starts a workflow with it.

use engine::outside::{check_filter, check_stream};
use engine::{
    Activity, Cause, Decision, Descriptor, Failure, Kind, Next, Plan, Planning, Resumed, Step, Type,
};
use model::{MessageSource, Stimulus, Timestamp};
use serde_json::Value;

use crate::nats;

/// `Staunch.MessageReceived`
pub(crate) struct MessageReceived;

/// The name of the input under which the message arrives, as `{"payload": …}`.
const INPUT: &str = "__EventPayloadWorkflowInput";
/// Where a stream may be begun, beside a time.
const BEGINNINGS: [&str; 2] = ["new", "all"];

impl Activity for MessageReceived {
    fn descriptor(&self) -> Descriptor {
        let what = "Waits for a message on a subject of NATS, or starts with it. From a stream each \
                    message is taken exactly once; without one, at most once.";
        Descriptor::new("Staunch.MessageReceived", "NATS", what)
            .called("Message Received")
            .kind(Kind::Trigger)
            .input(
                "subject",
                Type::String,
                "The subject; `*` stands for one token, `>` at the end for the rest. The setting \
                 `nats-subjects` says which a workflow may use.",
            )
            .required()
            .input("stream", Type::String, "The stream that has the messages; none: as they come.")
            .input(
                "from",
                Type::String,
                "Where the stream is begun: `new`, `all`, or a time in RFC 3339.",
            )
            .default("new")
            .output("result", Type::Object, "The content: JSON as a value, text, or a file.")
            .output("messageSubject", Type::String, "The subject of the message.")
            .output("tokens", Type::texts(), "What the wildcards stand for.")
            .output("headers", Type::Dictionary, "The headers of the message.")
            .output("sequence", Type::Integer(64), "Its number in the stream.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check(node, "subject", check_filter);
        nats::check(node, "stream", check_stream);
        nats::check(node, "from", check_from);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let stimulus = Stimulus::message(&source(step)?);
        let payload = stimulus.payload.clone();
        step.wait(&stimulus, payload, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        let mut message = resumed.input.remove(INPUT).unwrap_or_default();
        let message = &mut message["payload"];
        let mut take = |name: &str| message.get_mut(name).map(Value::take).unwrap_or_default();
        for (output, member) in [
            ("messageSubject", "subject"),
            ("tokens", "tokens"),
            ("headers", "headers"),
            ("sequence", "sequence"),
            ("result", "content"),
        ] {
            let value = take(member);
            step.set_output(output, value)?;
        }
        Ok(Next::done())
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        let stimulus = Stimulus::message(&source(step)?);
        let payload = stimulus.payload.clone();
        Ok(vec![Cause::Stimulus { stimulus, payload }])
    }
}

fn check_from(from: &str) -> Result<(), String> {
    if BEGINNINGS.contains(&from) || Timestamp::parse(from).is_ok() {
        return Ok(());
    }
    Err(format!("{from:?} is neither `new` nor `all` nor a time such as 2026-01-31T08:00:00Z"))
}

/// Where the messages come from that the inputs name.
fn source(step: &mut Step<'_, '_>) -> Result<MessageSource, Failure> {
    let subject = step.required("subject")?;
    check_filter(&subject).map_err(|flaw| Failure::input("subject", flaw))?;
    let stream = step.text("stream")?.filter(|stream| !stream.trim().is_empty());
    let Some(stream) = stream else {
        return Ok(MessageSource { subject, ..MessageSource::default() });
    };
    check_stream(&stream).map_err(|flaw| Failure::input("stream", flaw))?;
    let from = step.required("from")?;
    check_from(&from).map_err(|flaw| Failure::input("from", flaw))?;
    Ok(MessageSource { subject, stream: Some(stream), from: Some(from) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::{causes, player, problems};

    fn document(more: Value) -> Value {
        let mut root = json!({"type": "Staunch.MessageReceived", "id": "m", "canStartWorkflow": true,
            "subject": "orders.*.>", "result": "Got", "tokens": "Tokens", "sequence": "Number"});
        for (name, value) in more.as_object().into_iter().flatten() {
            root[name] = value.clone();
        }
        json!({"outputs": [{"name": "Got"}, {"name": "Tokens"}, {"name": "Number"}], "root": root})
    }

    fn arrived() -> Value {
        json!({INPUT: {"payload": {"subject": "orders.eu.new.big", "tokens": ["eu", "new", "big"],
            "headers": {"A": "1"}, "sequence": 4, "content": {"id": 7}}}})
    }

    #[test]
    fn a_trigger_and_a_wait_have_the_hash_of_their_source() {
        let source = MessageSource {
            subject: "orders.*.>".to_owned(),
            stream: Some("ORDERS".to_owned()),
            from: Some("new".to_owned()),
        };
        let hash = Stimulus::message(&source).hash();
        let document = document(json!({"stream": "ORDERS"}));
        assert_eq!(causes(document.clone()).stimuli.remove(0).hash, hash);
        let mut waiting = player(document.clone());
        waiting.start(json!({}));
        let bookmark = waiting.state().bookmarks.values().next().unwrap();
        assert_eq!((&bookmark.hash, MessageSource::of(&bookmark.payload)), (&hash, Some(source)));
        assert!(waiting.resume(Stimulus::MESSAGE, arrived()));
        let output = waiting.state().output.clone();
        assert_eq!(output["Tokens"], json!(["eu", "new", "big"]));
        let mut started = player(document);
        started.start_at(Some("m"), arrived());
        assert_eq!(started.state().output, output);
        assert_eq!((&output["Got"], &output["Number"]), (&json!({"id": 7}), &json!(4)));
    }

    #[test]
    fn what_must_not_be_heard_is_refused() {
        for (given, property) in [
            (json!({"subject": ">"}), "subject"),
            (json!({"subject": "staunch.>"}), "subject"),
            (json!({"stream": "STAUNCH_COMMANDS"}), "stream"),
            (json!({"stream": "ORDERS", "from": "yesterday"}), "from"),
        ] {
            assert_eq!(problems(document(given.clone())).len(), 1, "{given} {property}");
        }
    }
}
