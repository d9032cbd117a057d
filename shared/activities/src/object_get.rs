//! ObjectGet: reads an object of an object store of NATS.

use engine::outside::check_bucket;
use engine::{Activity, Decision, Descriptor, NatsCall, Next, Plan, Planning, Resumed, Step, Type};

use crate::nats;

/// `Staunch.ObjectGet`
pub(crate) struct ObjectGet;

impl Activity for ObjectGet {
    fn descriptor(&self) -> Descriptor {
        let what = "Reads an object of an object store of NATS, of at most 8 MiB.";
        nats::with_object(nats::descriptor("Staunch.ObjectGet", "Get Object", what))
            .output("result", Type::Object, "The object, as a file.")
            .outcomes(&["Done", "Not found"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        nats::check(node, "bucket", check_bucket);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let (bucket, name) = nats::object(step)?;
        step.call(NatsCall::GetObject { bucket, name }, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = nats::failure(&resumed.input) {
            return Err(failure);
        }
        let object = resumed.input.remove("object");
        let is_left = object.is_none() && step.is_connected("Not found");
        step.set_output("result", object.unwrap_or_default())?;
        Ok(if is_left { Next::outcome("Not found") } else { Next::done() })
    }
}
