//! Newtype ids. Ids are text, as Elsa's are; their alphabet is bounded so that each can be a NATS
//! subject token and a key-value key without escaping if its type requires that.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits;

/// The reason why a text is not an id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "{kind} {text:?} is not valid: use 1 to {max} characters of A-Z, a-z, 0-9, '_' and '-'",
    max = limits::ID_CHARS_MAX
)]
pub struct InvalidId {
    kind: &'static str,
    text: String,
}

/// An id that can be derived again: the same parts give the same id, on every machine and every
/// try.
///
/// This is UUID version 5 (RFC 9562, section 5.5) over the parts joined with NUL.
#[must_use]
pub fn derived(parts: &[&str]) -> String {
    const NAMESPACE: Uuid = Uuid::from_u128(0x6b1f_4f0e_7a53_4c53_9a5e_57a0_9c48_a11e);
    Uuid::new_v5(&NAMESPACE, parts.join("\0").as_bytes()).simple().to_string()
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $kind:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps a text that is known to be valid, or that needs no restriction.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// Takes a text from outside: 1 to 128 characters of `A-Za-z0-9_-`.
            ///
            /// # Errors
            /// [`InvalidId`] says what is wrong and what is allowed.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                if text.is_empty() || text.len() > limits::ID_CHARS_MAX || !text.chars().all(allowed) {
                    let text = text.chars().take(limits::ID_CHARS_MAX).collect();
                    return Err(InvalidId { kind: $kind, text });
                }
                Ok(Self(text.to_owned()))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    )+};
}

ids! {
    /// A definition across its versions (Elsa's `definitionId`).
    DefinitionId "definition id";
    /// One immutable version of a definition (Elsa's `id`).
    VersionId "definition version id";
    /// One run of a definition version.
    InstanceId "instance id";
    /// A node of the graph, unique within its definition.
    ActivityId "activity id";
    /// A place where an instance waits.
    BookmarkId "bookmark id";
    /// One command, the same on every delivery: the idempotency key.
    CommandId "command id";
    /// A recurring or one-time start of a published definition.
    ScheduleId "schedule id";
}
