//! KeyValueGet: reads a key of a bucket of NATS.

use engine::outside::{check_bucket, check_key};
use engine::{Activity, Decision, Descriptor, NatsCall, Next, Plan, Planning, Resumed, Step, Type};

use crate::nats;

/// `Staunch.KeyValueGet`
pub(crate) struct KeyValueGet;

impl Activity for KeyValueGet {
    fn descriptor(&self) -> Descriptor {
        let what = "Reads a key of a bucket of NATS.";
        nats::with_key(nats::descriptor("Staunch.KeyValueGet", "Get Key", what))
            .output("value", Type::Object, "The value: JSON as a value, text, or a file.")
            .output("revision", Type::Integer(64), "Its revision; 0 if there is none.")
            .outcomes(&["Done", "Not found"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check(node, "bucket", check_bucket);
        nats::check(node, "key", check_key);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let (bucket, key) = nats::key(step)?;
        step.call(NatsCall::Get { bucket, key }, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = nats::failure(&resumed.input) {
            return Err(failure);
        }
        let revision = resumed.input.remove("revision");
        let is_there = revision.is_some();
        step.set_output("value", resumed.input.remove("value").unwrap_or_default())?;
        step.set_output("revision", revision.unwrap_or_else(|| 0.into()))?;
        // Without a path of its own, a key that is not there is a value that is null.
        let is_left = !is_there && step.is_connected("Not found");
        Ok(if is_left { Next::outcome("Not found") } else { Next::done() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::{player, problems};

    fn reads(bucket: &str, key: &str) -> Value {
        json!({"outputs": [{"name": "Got"}, {"name": "At"}],
            "root": {"type": "Staunch.KeyValueGet", "bucket": bucket, "key": key, "value": "Got",
                "revision": "At"}})
    }

    #[test]
    fn a_key_has_a_value_and_a_revision_or_is_not_there() {
        let check = |answer: Value, value: Value, revision: u64| {
            let mut player = player(reads("config", "a.b"));
            player.start(json!({}));
            assert!(player.resume("Call", answer));
            let output = &player.state().output;
            assert_eq!((&output["Got"], &output["At"]), (&value, &json!(revision)));
        };
        check(json!({"value": {"x": 1}, "revision": 4}), json!({"x": 1}), 4);
        check(json!({}), Value::Null, 0);
    }

    #[test]
    fn buckets_of_staunch_are_refused() {
        for (bucket, key) in
            [("staunch_leases", "a"), ("KV_STAUNCH_x", "a"), ("a.b", "a"), ("config", "a b")]
        {
            assert_eq!(problems(reads(bucket, key)).len(), 1, "{bucket} {key}");
        }
    }
}
