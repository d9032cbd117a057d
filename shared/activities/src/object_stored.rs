//! ObjectStored: waits until an object is stored in an object store of NATS, or starts a workflow then.

use engine::outside::check_bucket;
use engine::{
    Activity, Cause, Decision, Descriptor, Failure, Kind, Plan, Planning, Resumed, Step, Type,
};
use model::MessageSource;

use crate::listening::{
    check_from, from, outputs, taking, trigger, wait, warn_of_sharing, with_beginning, with_taking,
};
use crate::nats::{self, BUCKET};

/// `Staunch.ObjectStored`
pub(crate) struct ObjectStored;

impl Activity for ObjectStored {
    fn descriptor(&self) -> Descriptor {
        let what = "Waits until an object is stored in an object store of NATS, or starts then. Of an \
                    object that is stored several times in a row, the store keeps the last \
                    description alone.";
        let descriptor = Descriptor::new("Staunch.ObjectStored", "NATS", what)
            .called("Object Stored")
            .kind(Kind::Trigger)
            .input("bucket", Type::String, BUCKET)
            .required();
        with_taking(with_beginning(descriptor))
            .output("objectName", Type::String, "The name of the object.")
            .output("size", Type::Integer(64), "Its size in bytes.")
            .output("digest", Type::String, "The hash of its content: `SHA-256=…`.")
            .output("metadata", Type::Dictionary, "Names and values that were stored with it.")
            .output("headers", Type::Dictionary, "The headers that were stored with it.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check(node, "bucket", check_bucket);
        nats::check(node, "from", check_from);
        warn_of_sharing(node);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let source = source(step)?;
        wait(step, source)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        const OUTPUTS: [(&str, &str); 5] = [
            ("objectName", "name"),
            ("size", "size"),
            ("digest", "digest"),
            ("metadata", "metadata"),
            ("headers", "headers"),
        ];
        outputs(step, resumed, &OUTPUTS)
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        Ok(trigger(&source(step)?))
    }
}

/// The object store that the inputs name.
fn source(step: &mut Step<'_, '_>) -> Result<MessageSource, Failure> {
    let bucket = nats::named(step, "bucket", check_bucket)?;
    let from = Some(from(step)?);
    taking(step, MessageSource { from, ..MessageSource::objects(&bucket) })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::listening::INPUT;
    use crate::tests::{causes, player, problems};

    fn document(bucket: &str) -> Value {
        json!({"outputs": [{"name": "Name"}, {"name": "Size"}],
            "root": {"type": "Staunch.ObjectStored", "id": "o", "canStartWorkflow": true,
                "bucket": bucket, "objectName": "Name", "size": "Size"}})
    }

    #[test]
    fn an_object_starts_a_workflow() {
        let source = MessageSource::of(&causes(document("files")).stimuli.remove(0).payload);
        let expected = MessageSource::objects("files");
        assert_eq!(source, Some(MessageSource { from: Some("new".to_owned()), ..expected }));
        let mut started = player(document("files"));
        let arrived = json!({INPUT: {"payload": {"name": "a.pdf", "size": 9}}});
        started.start_at(Some("o"), arrived);
        assert_eq!(json!(started.state().output), json!({"Name": "a.pdf", "Size": 9}));
    }

    #[test]
    fn stores_of_staunch_are_refused() {
        for bucket in ["staunch_payloads", "a b"] {
            assert_eq!(problems(document(bucket)).len(), 1, "{bucket:?}");
        }
    }
}
