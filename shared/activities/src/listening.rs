//! What the activities share that listen to NATS: which messages of a source they take, and what they
//! do with one.

use engine::{Cause, Decision, Descriptor, Failure, Next, Planning, Resumed, Step, Type};
use model::{MessageSource, Stimulus, Timestamp};
use serde_json::Value;

/// The name of the input under which the message arrives, as `{"payload": …}`.
pub(crate) const INPUT: &str = "__EventPayloadWorkflowInput";
/// Where a stream may be begun, beside a time.
const BEGINNINGS: [&str; 2] = ["new", "all"];
/// What those should know that wait for messages from before their wait.
const SHARED: &str = "all instances that wait with these settings read the stream at one place, one message \
                      after the other, which the first of them begins here: a message resumes those that \
                      wait at that moment, and a later wait gets one of those that follow";
/// The parts of a message that expressions see.
const ARGUMENTS: &[&str] = &["subject", "tokens", "headers", "sequence", "content"];

/// Adds the input that says where a stream is begun.
pub(crate) fn with_beginning(descriptor: Descriptor) -> Descriptor {
    descriptor
        .input(
            "from",
            Type::String,
            "Where the stream is begun: `new`, `all`, or a time in RFC 3339. Waits begin it together, \
             and read what was there before in order.",
        )
        .default("new")
}

/// Adds the inputs that choose messages.
pub(crate) fn with_taking(descriptor: Descriptor) -> Descriptor {
    descriptor
        .input(
            "predicate",
            Type::Boolean,
            "Only messages for which this is true are taken. It sees the message alone, as `args`.",
        )
        .arguments(ARGUMENTS)
        .input(
            "correlationId",
            Type::String,
            "The correlation id of the message: an instance that starts gets it; of those that wait, \
             the ones that have it go on.",
        )
        .arguments(ARGUMENTS)
        .input(
            "deduplicationKey",
            Type::String,
            "Messages with the same key are one message: the second has no effect.",
        )
        .arguments(ARGUMENTS)
        .input(
            "inOrder",
            Type::Boolean,
            "The next message is handed over when the instances that took the one before have ended \
             or wait. Needs a stream.",
        )
}

/// The source with the inputs that choose messages.
pub(crate) fn taking(
    step: &mut Step<'_, '_>,
    source: MessageSource,
) -> Result<MessageSource, Failure> {
    let in_order = step.flag("inOrder")?;
    if in_order && source.stream.is_none() {
        let reason = "messages without a stream come in no order: name the stream that keeps them";
        return Err(Failure::input("inOrder", reason));
    }
    Ok(MessageSource {
        predicate: step.lone_script("predicate")?,
        correlation: step.lone_script("correlationId")?,
        key: step.lone_script("deduplicationKey")?,
        in_order,
        ..source
    })
}

/// Checks where a stream is begun.
pub(crate) fn check_from(from: &str) -> Result<(), String> {
    match Timestamp::parse(from) {
        Ok(_) => Ok(()),
        Err(_) if BEGINNINGS.contains(&from) => Ok(()),
        Err(error) if error.is_out_of_range() => Err(error.to_string()),
        Err(_) => Err(format!(
            "{from:?} is neither `new` nor `all` nor a time such as 2026-01-31T08:00:00Z"
        )),
    }
}

/// Where the stream is begun.
pub(crate) fn from(step: &mut Step<'_, '_>) -> Result<String, Failure> {
    let from = step.required("from")?;
    check_from(&from).map_err(|flaw| Failure::input("from", flaw))?;
    Ok(from)
}

/// Says of an activity that waits, and begins its stream elsewhere than at its wait, what it shares.
pub(crate) fn warn_of_sharing(node: &mut Planning<'_>) {
    let written = node.literal("from").and_then(Value::as_str);
    let is_of_now = !node.has("from") || written.is_some_and(|from| from == BEGINNINGS[0]);
    if !is_of_now && !node.starts() {
        node.warning("from", SHARED);
    }
}

/// Waits for a message of this source.
pub(crate) fn wait(step: &mut Step<'_, '_>, source: MessageSource) -> Decision {
    let stimulus = Stimulus::message(&source.awaited());
    let payload = stimulus.payload.clone();
    step.wait(&stimulus, payload, None)?;
    Ok(Next::Wait)
}

/// What starts a workflow with a message of this source.
pub(crate) fn trigger(source: &MessageSource) -> Vec<Cause> {
    let stimulus = Stimulus::message(source);
    let payload = stimulus.payload.clone();
    vec![Cause::Stimulus { stimulus, payload }]
}

/// Sets outputs, each from a member of the message that came.
pub(crate) fn outputs(
    step: &mut Step<'_, '_>,
    mut resumed: Resumed,
    outputs: &[(&str, &str)],
) -> Decision {
    let mut message = resumed.input.remove(INPUT).unwrap_or_default();
    for (output, member) in outputs {
        let message = message.get_mut("payload");
        let value = message.and_then(|message| message.get_mut(*member)).map(Value::take);
        step.set_output(output, value.unwrap_or_default())?;
    }
    Ok(Next::done())
}
