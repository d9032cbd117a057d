//! The input with which a child that has ended resumes its waiting parent.

use model::{Instance, InstanceId, Map, limits};
use protocol::{ContentType, encode_body};
use serde_json::{Value, json};

/// The member of the input with the child's end; the other members are the child's output.
const CHILD_KEY: &str = "__Child";
/// The member of [`CHILD_KEY`] with the reason why the parent does not get the output.
const REFUSED: &str = "refused";
/// The number of outputs that a refusal names.
const NAMED_MAX: usize = 3;

/// The input for a parent: the child's output and its end.
pub(super) fn ended(row: &Instance, output: &Map) -> Map {
    let mut input = output.clone();
    let mut child = how(row);
    // The output is there once, as the other members, unless one of them has this name, too.
    if output.contains_key(CHILD_KEY) {
        child["output"] = Value::Object(output.clone());
    }
    input.insert(CHILD_KEY.to_owned(), child);
    input
}

/// The child's end, and the reason why its output is not sent with it.
pub(super) fn refused(row: &Instance, output: &Map) -> Map {
    let mut child = how(row);
    child["output"] = json!({});
    child[REFUSED] = Value::String(too_large(row, output));
    Map::from_iter([(CHILD_KEY.to_owned(), child)])
}

/// The reason why a child was not started: its parent gets it instead of an end.
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

/// Whether an output is small enough for a parent. `encoded` is the size of the whole command in
/// bytes.
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

/// The size as MessagePack in bytes; the largest number for a value that cannot be encoded.
fn size(value: &impl serde::Serialize) -> usize {
    encode_body(ContentType::MessagePack, value).map_or(usize::MAX, |bytes| bytes.len())
}
