//! Tests in other places than a file of their own: those that a definition has with it, and the members of
//! a run as a test has them.

use model::Map;
use serde_json::Value;
use shortform::Tree;

/// The custom property of a definition that has its tests: the content of a test file.
pub const TESTS_MEMBER: &str = "Staunch.Tests";
/// The value that secrets have in a test that is made of a run.
const MADE_UP: &str = "made-up";

/// The tests that a definition has with it: the content of a test file.
#[must_use]
pub fn of_definition(definition: &Tree) -> Option<&Tree> {
    let custom = definition.get("customProperties")?;
    custom.get(TESTS_MEMBER).filter(|tests| !tests.is_null())
}

/// The members of a run as a test has them: those that say nothing are left out, and secrets have made-up
/// values, since many may read a test.
#[must_use]
pub fn as_case(members: Map) -> Map {
    let mut case: Map = members.into_iter().filter(|(_, value)| !is_empty(value)).collect();
    if let Some(Value::Object(secrets)) = case.get_mut("secrets") {
        for value in secrets.values_mut() {
            *value = MADE_UP.into();
        }
    }
    case
}

/// Whether a value is null, or has nothing in it.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
