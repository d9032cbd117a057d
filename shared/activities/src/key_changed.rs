//! KeyChanged: waits for a change of a key in a bucket of NATS, or starts a workflow with it.

use engine::outside::{check_bucket, check_keys};
use engine::{
    Activity, Cause, Decision, Descriptor, Failure, Kind, Plan, Planning, Resumed, Step, Type,
};
use model::MessageSource;

use crate::listening::{
    check_from, from, outputs, taking, trigger, wait, warn_of_sharing, with_beginning, with_taking,
};
use crate::nats::{self, BUCKET};

/// `Staunch.KeyChanged`
pub(crate) struct KeyChanged;

/// What may happen to a key.
const OPERATIONS: [&str; 3] = ["put", "delete", "purge"];

impl Activity for KeyChanged {
    fn descriptor(&self) -> Descriptor {
        let what = "Waits for a change of a key in a bucket of NATS, or starts with it. Each change that \
                    the bucket still has is taken exactly once.";
        let descriptor = Descriptor::new("Staunch.KeyChanged", "NATS", what)
            .called("Key Changed")
            .kind(Kind::Trigger)
            .input("bucket", Type::String, BUCKET)
            .required()
            .input(
                "key",
                Type::String,
                "The key; `*` stands for one token, `>` at the end for the rest.",
            )
            .default(">")
            .input("operations", Type::texts(), "`put`, `delete`, `purge`; none: all of them.");
        with_taking(with_beginning(descriptor))
            .output("result", Type::Object, "The value: JSON as a value, text, or a file.")
            .output("changedKey", Type::String, "The key.")
            .output("operation", Type::String, "`put`, `delete` or `purge`.")
            .output("revision", Type::Integer(64), "The revision of the key.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check(node, "bucket", check_bucket);
        nats::check(node, "key", check_keys);
        nats::check(node, "from", check_from);
        warn_of_sharing(node);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let source = source(step)?;
        wait(step, source)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        const OUTPUTS: [(&str, &str); 4] = [
            ("changedKey", "key"),
            ("operation", "operation"),
            ("revision", "sequence"),
            ("result", "content"),
        ];
        outputs(step, resumed, &OUTPUTS)
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        Ok(trigger(&source(step)?))
    }
}

/// The changes that the inputs name.
fn source(step: &mut Step<'_, '_>) -> Result<MessageSource, Failure> {
    let bucket = nats::named(step, "bucket", check_bucket)?;
    let keys = nats::named(step, "key", check_keys)?;
    let mut operations = step.texts("operations")?;
    operations.iter_mut().for_each(|operation| *operation = operation.to_ascii_lowercase());
    if let Some(bad) = operations.iter().find(|one| !OPERATIONS.contains(&one.as_str())) {
        let reason = format!("{bad:?} is no operation: use {}", OPERATIONS.join(", "));
        return Err(Failure::input("operations", reason));
    }
    operations.sort_unstable();
    operations.dedup();
    let from = Some(from(step)?);
    taking(step, MessageSource { from, ..MessageSource::keys(&bucket, &keys, operations) })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::listening::INPUT;
    use crate::tests::{causes, player, problems, trigger_problems};

    fn document(more: Value) -> Value {
        let mut root = json!({"type": "Staunch.KeyChanged", "id": "k", "canStartWorkflow": true,
            "bucket": "config", "key": "a.*", "result": "Got", "changedKey": "Key",
            "operation": "How", "revision": "At"});
        for (name, value) in more.as_object().into_iter().flatten() {
            root[name] = value.clone();
        }
        let outputs = ["Got", "Key", "How", "At"].map(|name| json!({"name": name}));
        json!({"outputs": outputs, "root": root})
    }

    #[test]
    fn a_change_starts_and_resumes() {
        let source = |document: Value| {
            MessageSource::of(&causes(document).stimuli.remove(0).payload).unwrap()
        };
        let expected = MessageSource::keys("config", "a.*", Vec::new());
        let expected = MessageSource { from: Some("new".to_owned()), ..expected };
        assert_eq!(source(document(json!({}))), expected);
        assert_eq!(
            (expected.subject.as_str(), expected.stream.as_deref()),
            ("$KV.config.a.*", Some("KV_config"))
        );
        let arrived = json!({INPUT: {"payload": {"key": "a.b", "operation": "put", "sequence": 7,
            "content": {"x": 1}}}});
        let mut started = player(document(json!({})));
        started.start_at(Some("k"), arrived.clone());
        let wanted = json!({"Got": {"x": 1}, "Key": "a.b", "How": "put", "At": 7});
        assert_eq!(json!(started.state().output), wanted);
        let mut waiting = player(document(json!({"operations": ["PUT", "delete", "put"]})));
        waiting.start(json!({}));
        let bookmark = waiting.state().bookmarks.values().next().unwrap();
        let source = MessageSource::of(&bookmark.payload).unwrap();
        let operations = ["delete", "put"].map(str::to_owned).to_vec();
        assert_eq!(source.content, model::Content::Key(operations));
        assert!(waiting.resume(model::Stimulus::MESSAGE, arrived));
        assert_eq!(json!(waiting.state().output), wanted);
    }

    #[test]
    fn what_must_not_be_watched_is_refused() {
        for given in [
            json!({"bucket": "staunch_leases"}),
            json!({"bucket": "KV_STAUNCH_x"}),
            json!({"bucket": "a.b"}),
            json!({"key": "a..b"}),
            json!({"from": "yesterday"}),
        ] {
            assert_eq!(problems(document(given.clone())).len(), 1, "{given}");
        }
        let found = trigger_problems(document(json!({"operations": ["touch"]})));
        assert!(found.len() == 1 && found[0].contains("is no operation"), "{found:?}");
    }
}
