//! What a child that has ended hands to the parent that waits for it: the input of the resume.

use model::{Instance, InstanceId, Map, limits};
use protocol::{ContentType, encode_body};
use serde_json::{Value, json};

/// The member of the input that says how the child ended; the other members are its output.
const CHILD_KEY: &str = "__Child";
/// The member of [`CHILD_KEY`] that says why the parent does not get what it waits for.
const REFUSED: &str = "refused";
/// Outputs that a refusal names.
const NAMED_MAX: usize = 3;

/// The child's output, and how it ended.
pub(super) fn ended(row: &Instance, output: &Map) -> Map {
    let mut input = output.clone();
    let mut child = how(row);
    // The output is there once, as the other members, unless one of them has the name of this one.
    if output.contains_key(CHILD_KEY) {
        child["output"] = Value::Object(output.clone());
    }
    input.insert(CHILD_KEY.to_owned(), child);
    input
}

/// How the child ended, and why its output does not come with it.
pub(super) fn refused(row: &Instance, output: &Map) -> Map {
    let mut child = how(row);
    child["output"] = json!({});
    child[REFUSED] = Value::String(too_large(row, output));
    Map::from_iter([(CHILD_KEY.to_owned(), child)])
}

/// Why a child is not started: its parent gets this in place of an end.
pub(super) fn not_started(instance_id: &InstanceId, reason: String) -> Map {
    let child = json!({
        "workflowInstanceId": instance_id, "status": "Finished", "subStatus": "Faulted",
        "output": {}, REFUSED: reason
    });
    Map::from_iter([(CHILD_KEY.to_owned(), child)])
}

fn how(row: &Instance) -> Value {
    json!({
        "workflowInstanceId": row.id,
        "status": "Finished",
        "subStatus": row.status.as_str(),
    })
}

/// Whether an output is small enough for a parent. `encoded` are the bytes of the whole command.
pub(super) fn fits(output: &Map, encoded: usize) -> bool {
    encoded <= limits::CHILD_OUTPUT_BYTES_MAX || size(output) <= limits::CHILD_OUTPUT_BYTES_MAX
}

fn too_large(row: &Instance, output: &Map) -> String {
    let mut sizes: Vec<_> = output.iter().map(|(name, value)| (size(value), name)).collect();
    sizes.sort_unstable_by(|left, right| right.cmp(left));
    let named: Vec<_> = sizes
        .iter()
        .take(NAMED_MAX)
        .map(|(bytes, name)| format!("{name} ({bytes} bytes)"))
        .collect();
    format!(
        "the output of the child {} has {} bytes, more than the {} that a parent may be handed; \
         its largest outputs: {}. Keep large data elsewhere and hand over a reference to it",
        row.id,
        size(output),
        limits::CHILD_OUTPUT_BYTES_MAX,
        named.join(", ")
    )
}

/// Bytes as MessagePack; all there are for what has no form in it.
fn size(value: &impl serde::Serialize) -> usize {
    encode_body(ContentType::MessagePack, value).map_or(usize::MAX, |bytes| bytes.len())
}
