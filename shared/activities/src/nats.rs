//! What the activities that use NATS share: their inputs, and their checks.

use engine::outside::{check_bucket, check_key, check_subject};
use engine::{Descriptor, Failure, Kind, Outgoing, Planning, Step, Type};
use model::Map;
use serde_json::Value;

use crate::called;
use crate::write_http_response::{JOINED, headers};

const CONTENT: &str = "Text is sent as it is, a file as its bytes, anything else as JSON.";
pub(crate) const BUCKET: &str =
    "The bucket. The setting `nats-buckets` says which a workflow may use.";

/// A descriptor of an activity that uses NATS.
pub(crate) fn descriptor(
    type_name: &'static str,
    called: &'static str,
    what: &'static str,
) -> Descriptor {
    Descriptor::new(type_name, "NATS", what).called(called).kind(Kind::Task).calls()
}

/// Adds the inputs of a message.
pub(crate) fn with_message(descriptor: Descriptor) -> Descriptor {
    descriptor
        .input(
            "subject",
            Type::String,
            "The subject. The setting `nats-subjects` says which a workflow may use.",
        )
        .required()
        .input("content", Type::Object, CONTENT)
        .input("headers", Type::Dictionary, "Header names and values.")
}

/// Adds the inputs that name a key.
pub(crate) fn with_key(descriptor: Descriptor) -> Descriptor {
    descriptor
        .input("bucket", Type::String, BUCKET)
        .required()
        .input("key", Type::String, "The key.")
        .required()
}

/// Adds the inputs that name an object.
pub(crate) fn with_object(descriptor: Descriptor) -> Descriptor {
    descriptor
        .input("bucket", Type::String, BUCKET)
        .required()
        .input("objectName", Type::String, "The name of the object.")
        .required()
}

/// Reports a name that is written out and cannot be used.
pub(crate) fn check(node: &mut Planning<'_>, input: &str, is_good: fn(&str) -> Result<(), String>) {
    let named = node.literal(input).and_then(Value::as_str).unwrap_or_default();
    if !named.trim().is_empty()
        && let Err(flaw) = is_good(named)
    {
        node.problem(input, flaw);
    }
}

/// Checks the inputs of a message that are written out.
pub(crate) fn check_message(node: &mut Planning<'_>) {
    check(node, "subject", check_subject);
    let named = node.literal("headers").and_then(Value::as_object).into_iter().flatten();
    let flaw = named
        .map(|(name, value)| {
            check_header(name).and(check_value(name, value.as_str().unwrap_or_default()))
        })
        .find_map(Result::err);
    if let Some(flaw) = flaw {
        node.problem("headers", flaw);
    }
}

/// Checks the name of a header of a message.
fn check_header(name: &str) -> Result<(), String> {
    if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':') {
        return Ok(());
    }
    let shown: String = name.chars().take(100).collect();
    Err(format!(
        "{shown:?} is no name of a header: use printable characters of ASCII, without spaces and colons"
    ))
}

/// Checks the value of a header of a message.
fn check_value(name: &str, value: &str) -> Result<(), String> {
    if value.contains(['\r', '\n']) {
        return Err(format!("the value of {name} has a line break, which no header can have"));
    }
    Ok(())
}

/// The message that the inputs make.
pub(crate) fn message(step: &mut Step<'_, '_>) -> Result<Outgoing, Failure> {
    let subject = named(step, "subject", check_subject)?;
    let headers = headers(step.object("headers")?, JOINED);
    let wrong = headers
        .iter()
        .map(|(name, value)| check_header(name).and(check_value(name, value)))
        .find_map(Result::err);
    if let Some(flaw) = wrong {
        return Err(Failure::input("headers", flaw));
    }
    let content = step.content("content")?;
    Ok(Outgoing { subject, headers, content })
}

/// The bucket and the key that the inputs name.
pub(crate) fn key(step: &mut Step<'_, '_>) -> Result<(String, String), Failure> {
    Ok((named(step, "bucket", check_bucket)?, named(step, "key", check_key)?))
}

/// The store and the object that the inputs name.
pub(crate) fn object(step: &mut Step<'_, '_>) -> Result<(String, String), Failure> {
    Ok((named(step, "bucket", check_bucket)?, step.required("objectName")?))
}

/// A name in an input, which is checked.
pub(crate) fn named(
    step: &mut Step<'_, '_>,
    input: &str,
    is_good: fn(&str) -> Result<(), String>,
) -> Result<String, Failure> {
    let name = step.required(input)?;
    is_good(&name).map_err(|flaw| Failure::input(input, flaw))?;
    Ok(name)
}

/// The revision that a write expects; none if it does not ask for one.
pub(crate) fn revision(step: &mut Step<'_, '_>) -> Result<Option<u64>, Failure> {
    let Some(revision) = step.integer("revision")? else { return Ok(None) };
    let expected = u64::try_from(revision).ok();
    let wrong = || {
        Failure::input("revision", format!("{revision} is less than 0: revisions are from 0 on"))
    };
    expected.ok_or_else(wrong).map(Some)
}

/// The failure of a call to NATS, if it has no result.
pub(crate) fn failure(input: &Map) -> Option<Failure> {
    called::failure(input, "Nats")
}
