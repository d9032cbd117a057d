//! ObjectPut: writes an object of an object store of NATS.

use engine::outside::check_bucket;
use engine::{Activity, Decision, Descriptor, NatsCall, Next, Plan, Planning, Resumed, Step, Type};

use crate::nats;

/// `Staunch.ObjectPut`
pub(crate) struct ObjectPut;

impl Activity for ObjectPut {
    fn descriptor(&self) -> Descriptor {
        let what = "Writes an object of an object store of NATS, in the place of one of the same \
                    name. A crash may write it again.";
        nats::with_object(nats::descriptor("Staunch.ObjectPut", "Put Object", what))
            .input("content", Type::Object, "Text, a file, or anything else as JSON.")
            .output("size", Type::Integer(64), "Its bytes.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check(node, "bucket", check_bucket);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let (bucket, name) = nats::object(step)?;
        let content = step.content("content")?;
        step.call(NatsCall::SetObject { bucket, name, content }, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = nats::failure(&resumed.input) {
            return Err(failure);
        }
        step.set_output("size", resumed.input.remove("size").unwrap_or_default())?;
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use engine::{NatsCall, Operation};
    use serde_json::{Value, json};

    use crate::tests::player;

    #[test]
    fn an_object_is_written_and_read_as_a_file() {
        let mut put = player(json!({"outputs": [{"name": "Size"}],
            "root": {"type": "Staunch.ObjectPut", "bucket": "uploads", "objectName": "a.txt",
                "content": "hi", "size": "Size"}}));
        put.start(json!({}));
        let call = put.state().calls.values().next().unwrap();
        let Operation::Nats(NatsCall::SetObject { name, content, .. }) = &call.operation else {
            panic!("{call:?}")
        };
        assert_eq!((name.as_str(), content), ("a.txt", &json!("hi")));
        assert!(put.resume("Call", json!({"size": 2})));
        assert_eq!(put.state().output["Size"], json!(2));

        let file = json!({"fileName": "a.txt", "content": "aGk="});
        for (answer, expected) in [(json!({"object": &file}), file), (json!({}), Value::Null)] {
            let mut get = player(json!({"outputs": [{"name": "Got"}],
                "root": {"type": "Staunch.ObjectGet", "bucket": "uploads", "objectName": "a.txt",
                    "result": "Got"}}));
            get.start(json!({}));
            assert!(get.resume("Call", answer));
            assert_eq!(get.state().output["Got"], expected);
        }
    }
}
