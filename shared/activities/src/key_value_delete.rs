//! KeyValueDelete: deletes a key of a bucket of NATS.

use engine::outside::{check_bucket, check_key};
use engine::{
    Activity, Decision, Descriptor, Failure, NatsCall, Next, Plan, Planning, Resumed, Step, Type,
};

use crate::nats;

/// `Staunch.KeyValueDelete`
pub(crate) struct KeyValueDelete;

impl Activity for KeyValueDelete {
    fn descriptor(&self) -> Descriptor {
        let what = "Deletes a key of a bucket of NATS.";
        nats::with_key(nats::descriptor("Staunch.KeyValueDelete", "Delete Key", what))
            .input(
                "revision",
                Type::Integer(64),
                "The revision that the key has to have. Any if not set.",
            )
            .output("newRevision", Type::Integer(64), "The revision of the deletion.")
            .outcomes(&["Done", "Conflict"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check(node, "bucket", check_bucket);
        nats::check(node, "key", check_key);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let (bucket, key) = nats::key(step)?;
        let expected = nats::revision(step)?;
        step.call(NatsCall::Set { bucket, key, value: None, expected }, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        written(step, resumed)
    }
}

/// Reads the result of a write.
pub(crate) fn written(step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
    if let Some(failure) = nats::failure(&resumed.input) {
        return Err(failure);
    }
    if resumed.input.contains_key("conflict") {
        let message = "the key is not at the revision that was expected";
        let failure = Failure::new("NatsConflict", message).in_category("Nats");
        return if step.is_connected("Conflict") {
            Ok(Next::outcome("Conflict"))
        } else {
            Err(failure)
        };
    }
    step.set_output("newRevision", resumed.input.remove("revision").unwrap_or_default())?;
    Ok(Next::done())
}

#[cfg(test)]
mod tests {
    use engine::{NatsCall, Operation};
    use serde_json::{Value, json};

    use crate::tests::player;

    fn writes(kind: &str, revision: Value) -> Value {
        json!({"outputs": [{"name": "At"}],
            "root": {"type": "Elsa.Flowchart", "activities": [
                {"type": kind, "id": "write", "bucket": "config", "key": "a", "value": {"js": "({x: 1})"},
                    "revision": revision, "newRevision": "At"},
                {"type": "WriteLine", "id": "lost", "text": "lost"}],
                "connections": [{"source": {"activity": "write", "port": "Conflict"},
                    "target": {"activity": "lost"}}]}})
    }

    #[test]
    fn a_write_expects_a_revision_and_a_conflict_has_its_outcome() {
        for (kind, value) in
            [("Staunch.KeyValuePut", Some(json!({"x": 1}))), ("Staunch.KeyValueDelete", None)]
        {
            let mut player = player(writes(kind, json!(3)));
            player.start(json!({}));
            let call = player.state().calls.values().next().unwrap();
            let (bucket, key) = ("config".to_owned(), "a".to_owned());
            let expected = NatsCall::Set { bucket, key, value, expected: Some(3) };
            assert_eq!(call.operation, Operation::Nats(expected));
            assert!(player.resume("Call", json!({"revision": 4})));
            assert_eq!(player.state().output["At"], json!(4));
            let mut late = crate::tests::player(writes(kind, json!(3)));
            late.start(json!({}));
            assert!(late.resume("Call", json!({"conflict": true})));
            assert_eq!(late.lines(), ["lost"]);
        }
        let mut wrong = player(writes("Staunch.KeyValuePut", json!(-1)));
        wrong.start(json!({}));
        assert!(wrong.incident().unwrap().contains("less than 0"));
    }
}
