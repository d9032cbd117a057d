//! Header names.

/// JetStream's deduplication key: our command id, the same on every try.
pub const MESSAGE_ID: &str = "Nats-Msg-Id";
/// The command's id where it differs from the message id: a waiting command is woken under a new
/// message id, because the old one is still within the duplicate window.
pub const COMMAND_ID: &str = "Staunch-Command-Id";
/// `application/json` (the default) or `application/msgpack`.
pub const CONTENT_TYPE: &str = "Content-Type";
/// Where the outcome of a command is sent.
pub const REPLY_TO: &str = "Staunch-Reply-To";
/// `committed` (default) or `settled`: when the outcome is sent.
pub const REPLY_WHEN: &str = "Staunch-Reply-When";
/// `<sender>:<number>`: commands of one sender to one instance apply in this order.
pub const SEQUENCE: &str = "Staunch-Sequence";
/// The instance a message is about.
pub const INSTANCE: &str = "Staunch-Instance";
/// Why a command is among the dead.
pub const REASON: &str = "Staunch-Reason";
/// The subject a dead command came from.
pub const ORIGIN: &str = "Staunch-Origin";
/// W3C trace context.
pub const TRACEPARENT: &str = "traceparent";
