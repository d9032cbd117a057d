//! MessageReceived: waits for a message on a subject of NATS, or starts a workflow with it.

use engine::outside::{check_filter, check_stream};
use engine::{
    Activity, Cause, Decision, Descriptor, Failure, Kind, Plan, Planning, Resumed, Step, Type,
};
use model::MessageSource;
use serde_json::Value;

use crate::listening::{
    check_from, from, outputs, taking, trigger, wait, warn_of_sharing, with_beginning, with_taking,
};
use crate::nats;

/// `Staunch.MessageReceived`
pub(crate) struct MessageReceived;

impl Activity for MessageReceived {
    fn descriptor(&self) -> Descriptor {
        let what = "Waits for a message on a subject of NATS, or starts with it. From a stream each \
                    message is taken exactly once; without one, at most once.";
        let descriptor = Descriptor::new("Staunch.MessageReceived", "NATS", what)
            .called("Message Received")
            .kind(Kind::Trigger)
            .input(
                "subject",
                Type::String,
                "The subject; `*` stands for one token, `>` at the end for the rest. The setting \
                 `nats-subjects` says which a workflow may use.",
            )
            .required()
            .input("stream", Type::String, "The stream that has the messages; none: as they come.");
        with_taking(with_beginning(descriptor))
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
        if node.has("stream") {
            warn_of_sharing(node);
        } else if node.literal("from").and_then(Value::as_str).is_some_and(|from| from != "new") {
            node.warning("from", "there is no stream to begin: name one, or leave from out");
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let source = source(step)?;
        wait(step, source)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        const OUTPUTS: [(&str, &str); 5] = [
            ("messageSubject", "subject"),
            ("tokens", "tokens"),
            ("headers", "headers"),
            ("sequence", "sequence"),
            ("result", "content"),
        ];
        outputs(step, resumed, &OUTPUTS)
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        Ok(trigger(&source(step)?))
    }
}

/// Where the messages come from that the inputs name.
fn source(step: &mut Step<'_, '_>) -> Result<MessageSource, Failure> {
    let subject = step.required("subject")?;
    check_filter(&subject).map_err(|flaw| Failure::input("subject", flaw))?;
    let stream = step.text("stream")?.filter(|stream| !stream.trim().is_empty());
    let from = if stream.is_some() { Some(from(step)?) } else { None };
    if let Some(stream) = &stream {
        check_stream(stream).map_err(|flaw| Failure::input("stream", flaw))?;
    }
    taking(step, MessageSource { subject, stream, from, ..MessageSource::default() })
}

#[cfg(test)]
mod tests {
    use model::{Script, Stimulus};
    use serde_json::json;

    use super::*;
    use crate::listening::INPUT;
    use crate::tests::{causes, player, problems, trigger_problems, warnings};

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
            ..MessageSource::default()
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

    /// A trigger with these inputs does not empty the place at which they read.
    #[test]
    fn those_that_wait_for_what_was_before_read_in_order_at_a_place_of_their_own() {
        for from in ["all", "2026-01-31T08:00:00Z"] {
            let document = document(json!({"stream": "ORDERS", "from": from}));
            let trigger = causes(document.clone()).stimuli.remove(0);
            assert!(!MessageSource::of(&trigger.payload).unwrap().in_order, "{from}");
            let mut waiting = player(document);
            waiting.start(json!({}));
            let bookmark = waiting.state().bookmarks.values().next().unwrap();
            let source = MessageSource::of(&bookmark.payload).unwrap();
            assert_eq!(bookmark.hash, Stimulus::message(&source).hash());
            assert!(source.in_order && bookmark.hash != trigger.hash, "{from}");
        }
    }

    #[test]
    fn who_waits_for_what_was_before_is_told_what_is_shared() {
        let of = |more: Value| {
            let mut document = document(more);
            document["root"]["canStartWorkflow"] = json!(false);
            warnings(document)
        };
        for from in [json!("all"), json!({"js": "'all'"})] {
            let said = of(json!({"stream": "ORDERS", "from": from})).concat();
            assert!(said.contains("read the stream at one place"), "{from}: {said}");
        }
        for more in [
            json!({"stream": "ORDERS"}),
            json!({"stream": "ORDERS", "from": "new"}),
            json!({"from": "all"}),
        ] {
            let said = of(more.clone()).concat();
            assert!(!said.contains("at one place"), "{more}: {said}");
        }
        assert!(of(json!({"from": "all"})).concat().contains("no stream to begin"));
        let starts = warnings(document(json!({"stream": "ORDERS", "from": "all"})));
        assert!(!starts.concat().contains("at one place"), "{starts:?}");
    }

    #[test]
    fn a_source_has_the_expressions_that_choose() {
        let document = document(json!({
            "stream": "ORDERS", "inOrder": true,
            "predicate": {"js": "args.content.total > 100"},
            "correlationId": {"js": "args.content.customer"},
            "deduplicationKey": {"liquid": "{{ args.content.id }}"},
        }));
        let trigger = causes(document).stimuli.remove(0);
        let source = MessageSource::of(&trigger.payload).unwrap();
        let script = |language: &str, text: &str| {
            Some(Script { language: language.to_owned(), text: text.to_owned() })
        };
        assert_eq!(source.predicate, script("JavaScript", "args.content.total > 100"));
        assert_eq!(source.correlation, script("JavaScript", "args.content.customer"));
        assert_eq!(source.key, script("Liquid", "{{ args.content.id }}"));
        assert!(source.in_order);
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
        let beyond = json!({"stream": "ORDERS", "from": "9999-12-31T23:59:59Z"});
        let said = problems(document(beyond)).concat();
        assert!(said.contains("the latest time is 9999-12-30T22:00:00.999Z"), "{said}");
        for (given, said) in [
            (json!({"inOrder": true}), "inOrder"),
            (
                json!({"predicate": {"js": "args.content.id > variables.Got"}}),
                "there is no variable Got here",
            ),
        ] {
            let found = trigger_problems(document(given));
            assert!(found.len() == 1 && found[0].contains(said), "{found:?}");
        }
    }
}
