//! A stimulus: something that happened, and the hash that finds its bookmarks and triggers.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{ActivityId, DefinitionId, MessageSource, VersionId};

/// The event that a bookmark or trigger waits for: a name and a payload, hashed as Elsa hashes
/// them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stimulus {
    /// The activity type, such as `Elsa.Event`.
    pub name: String,
    /// PascalCase members in Elsa's declaration order; null when there is none.
    pub payload: Value,
}

impl Stimulus {
    /// The name of the stimulus of messages.
    pub const MESSAGE: &str = "Staunch.MessageReceived";

    /// An event of this name. Event names are case-sensitive.
    #[must_use]
    pub fn event(event_name: &str) -> Self {
        Self::of("Elsa.Event", "EventName", event_name)
    }

    /// The completion of this task.
    #[must_use]
    pub fn task(task_id: &str) -> Self {
        Self::of("Elsa.RunTask", "TaskId", task_id)
    }

    /// The end of this child instance; an activity of this type waits for it.
    #[must_use]
    pub fn child(activity_type: &str, child_instance_id: &str) -> Self {
        Self::of(activity_type, "ChildInstanceId", child_instance_id)
    }

    /// A request to this route template with this method; both are lowercased.
    #[must_use]
    pub fn http(template: &str, method: &str) -> Self {
        let path = format!("/{}", template.trim_matches('/')).to_lowercase();
        let payload = serde_json::json!({"Path": path, "Method": method.to_lowercase()});
        Self { name: "Elsa.HttpEndpoint".to_owned(), payload }
    }

    /// A message on a subject of NATS that fits this pattern: as it comes, or from a stream.
    #[must_use]
    pub fn message(source: &MessageSource) -> Self {
        Self { name: Self::MESSAGE.to_owned(), payload: source.payload() }
    }

    /// `UPPERHEX(SHA256(name|json(payload)))`, with the escaping of System.Text.Json, so that
    /// hashes computed by Elsa are the same.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut text = self.name.clone();
        match &self.payload {
            Value::Null => {}
            Value::String(payload) if payload.trim().is_empty() => {}
            Value::String(payload) => {
                text.push('|');
                text.push_str(payload);
            }
            payload => {
                text.push('|');
                text.push_str(&escaped(&payload.to_string()));
            }
        }
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02X}")).collect()
    }

    fn of(name: &str, member: &str, value: &str) -> Self {
        Self { name: name.to_owned(), payload: serde_json::json!({ member: value }) }
    }
}

/// The default encoder of System.Text.Json: everything outside ASCII, and `" & ' + < > \``
/// inside strings, as `\uXXXX`.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'"') => {
                chars.next();
                out.push_str("\\u0022");
            }
            '\\' => {
                out.push(c);
                out.extend(chars.next());
            }
            '&' | '\'' | '+' | '<' | '>' | '`' => out.push_str(&format!("\\u{:04X}", c as u32)),
            c if c.is_ascii() => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04X}"));
                }
            }
        }
    }
    out
}

/// A stimulus that starts a new instance of a published definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    /// The definition that it starts.
    pub definition_id: DefinitionId,
    /// The published version that declared it.
    pub version_id: VersionId,
    /// The activity that receives it.
    pub activity_id: ActivityId,
    /// The stimulus name, such as `Elsa.HttpEndpoint`.
    pub name: String,
    /// Hash of the stimulus.
    pub hash: String,
    /// The stimulus in readable form; for HTTP also the limits and the required authorization.
    pub payload: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_ones_elsa_computes() {
        let check = |stimulus: Stimulus, expected: &str| assert_eq!(stimulus.hash(), expected);
        check(
            Stimulus::event("MyEvent"),
            "8E97FC2AF58632571B86F16376EC5AC711074CED651BDE8AE6DED48EF0D028A0",
        );
        check(
            Stimulus::http("Hello-World", "GET"),
            "66C26B793A828B054F0D07A7860DC778478D89401F571487BC8D64CEF20DDE36",
        );
        check(
            Stimulus::task("abc"),
            "46DEA43426EC2AE46AE717CAA0486C270F77782B6203EE6011B81232C7A0164A",
        );
    }

    #[test]
    fn text_is_escaped_as_dotnet_escapes_it() {
        assert_eq!(escaped(r#"{"A":"é\"+"}"#), r#"{"A":"\u00E9\u0022\u002B"}"#);
    }
}
