//! KeyValuePut: writes a key of a bucket of NATS.

use engine::outside::{check_bucket, check_key};
use engine::{Activity, Decision, Descriptor, NatsCall, Next, Plan, Planning, Resumed, Step, Type};

use crate::key_value_delete::written;
use crate::nats;

/// `Staunch.KeyValuePut`
pub(crate) struct KeyValuePut;

impl Activity for KeyValuePut {
    fn descriptor(&self) -> Descriptor {
        let what = "Writes a key of a bucket of NATS. A crash may write it again, and the bucket \
                    knows that by its id for its duplicate window.";
        nats::with_key(nats::descriptor("Staunch.KeyValuePut", "Put Key", what))
            .input(
                "value",
                Type::Object,
                "Text as it is, a file as its bytes, other values as JSON.",
            )
            .input(
                "revision",
                Type::Integer(64),
                "The revision that the key has to have; 0: it must not exist. Any if not set.",
            )
            .output("newRevision", Type::Integer(64), "The revision of the write.")
            .outcomes(&["Done", "Conflict"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check(node, "bucket", check_bucket);
        nats::check(node, "key", check_key);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let (bucket, key) = nats::key(step)?;
        let value = Some(step.content("value")?);
        let expected = nats::revision(step)?;
        step.call(NatsCall::Set { bucket, key, value, expected }, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        written(step, resumed)
    }
}
