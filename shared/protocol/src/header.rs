//! Header names.

/// What is between several values of a header in [`crate::Headers`].
pub const BETWEEN: char = '\n';
/// JetStream's deduplication key: our command id, the same on every try.
pub const MESSAGE_ID: &str = "Nats-Msg-Id";
/// The command's id, when it differs from the message id. A command that waited is published again
/// under a new message id, because the stream still refuses the old one as a duplicate.
pub const COMMAND_ID: &str = "Staunch-Command-Id";
/// `application/json` (the default) or `application/msgpack`.
pub const CONTENT_TYPE: &str = "Content-Type";
/// The subject that the outcome of a command is sent to; see [`crate::subject::check_reply`].
pub const REPLY_TO: &str = "Staunch-Reply-To";
/// `committed` (default) or `settled`: when the outcome is sent.
pub const REPLY_WHEN: &str = "Staunch-Reply-When";
/// `<sender>:<number>`: commands of one sender to one instance apply in this order.
pub const SEQUENCE: &str = "Staunch-Sequence";
/// `<depth>.<chain>`: the descent of the instance that sends a command.
pub const LINEAGE: &str = "Staunch-Lineage";
/// `<member>=<object>`: the member of the input gets the file that a client has put into the object store
/// [`crate::subject::PAYLOADS_STORE`]. A message may have several; in [`crate::Headers`] they are one
/// value, with [`PAYLOAD_BETWEEN`] between them. `$payload=<object>` is alone: the JSON in the object is the
/// whole result of a task.
pub const PAYLOAD: &str = "Staunch-Payload";
/// What is between several values of [`PAYLOAD`].
pub const PAYLOAD_BETWEEN: &str = ", ";
/// The bytes of a whole payload, in the answer with one part of it.
pub const PAYLOAD_BYTES: &str = "Staunch-Payload-Bytes";
/// The number of the parts of a payload, in the answer with one of them.
pub const PAYLOAD_PARTS: &str = "Staunch-Payload-Parts";
/// The id of a task.
pub const TASK: &str = "Staunch-Task";
/// The attempt of a task: 1, 2, 3 …
pub const ATTEMPT: &str = "Staunch-Attempt";
/// The time after which the result of a task is not used, in RFC 3339.
pub const DEADLINE: &str = "Staunch-Deadline";
/// The outcome by which an activity ends, in the answer of its responder.
pub const OUTCOME: &str = "Staunch-Outcome";
/// The instance a message is about.
pub const INSTANCE: &str = "Staunch-Instance";
/// The reason why a command is among the dead letters.
pub const REASON: &str = "Staunch-Reason";
/// The number of deliveries of a dead command.
pub const ATTEMPTS: &str = "Staunch-Attempts";
/// The subject that a dead command was published on.
pub const ORIGIN: &str = "Staunch-Origin";
/// The stream of a message that is a dead letter.
pub const ORIGIN_STREAM: &str = "Staunch-Origin-Stream";
/// The number of a message that is a dead letter, in its stream.
pub const ORIGIN_SEQUENCE: &str = "Staunch-Origin-Sequence";
/// `<definition>/<activity>`: who listens to a message that is a dead letter, with `, ` between several.
pub const LISTENERS: &str = "Staunch-Listeners";
/// W3C trace context.
pub const TRACEPARENT: &str = "traceparent";
