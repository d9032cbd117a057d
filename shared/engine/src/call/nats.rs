//! What activities ask of NATS.

use std::collections::BTreeMap;

use model::large::weight;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Work with NATS. A content is text as it is, a file (`model::file`) as its bytes, null as nothing,
/// anything else as JSON; what comes back is JSON, text, or a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NatsCall {
    /// Sends a message with the key of the call as its id. The result is `{}`, or if a stream has to
    /// have it `{"stream": …, "sequence": …}`.
    Publish {
        /// Where it goes.
        message: Outgoing,
        /// A stream has to have it.
        stored: bool,
    },
    /// Sends a request. The result is `{"content": …, "headers": {…}}`, with `statusCode` and `message`
    /// too if a service answered with an error. The code `no-responders` of a failure means that
    /// nobody listens.
    Request {
        /// Where it goes.
        message: Outgoing,
    },
    /// Asks the responders of an activity type. The result is that of a request, with the `outcome` that
    /// the answer names in the header `Staunch-Outcome`.
    Act {
        /// The type.
        task_type: String,
        /// Its version.
        version: u32,
        /// The input of the activity.
        input: Value,
    },
    /// Reads a key. The result is `{"value": …, "revision": …}`, or `{}` if there is none.
    Get {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
    },
    /// Writes a key, or deletes it. The result is `{"revision": …}`, or `{"conflict": true}` if it is
    /// not at the expected revision.
    Set {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
        /// The value; none deletes the key.
        value: Option<Value>,
        /// The revision at which it has to be; 0: it must not exist.
        expected: Option<u64>,
    },
    /// Reads an object. The result is `{"object": file}`, or `{}` if there is none.
    GetObject {
        /// The object store.
        bucket: String,
        /// The name.
        name: String,
    },
    /// Writes an object. The result is `{"size": …}`.
    SetObject {
        /// The object store.
        bucket: String,
        /// The name.
        name: String,
        /// Its content.
        content: Value,
    },
}

/// A message to send.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outgoing {
    /// Its subject.
    pub subject: String,
    /// Header names and values.
    pub headers: BTreeMap<String, String>,
    /// Its content.
    pub content: Value,
}

impl NatsCall {
    /// What is done, and with what.
    pub(super) fn summary(&self) -> String {
        match self {
            Self::Publish { message, .. } => format!("message to {}", message.subject),
            Self::Request { message } => format!("request to {}", message.subject),
            Self::Act { task_type, version, .. } => format!("request to {task_type} {version}"),
            Self::Get { bucket, key } | Self::Set { bucket, key, .. } => {
                format!("key {key} of {bucket}")
            }
            Self::GetObject { bucket, name } | Self::SetObject { bucket, name, .. } => {
                format!("object {name} of {bucket}")
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Publish { message, .. } | Self::Request { message } => {
                let headers = message.headers.iter().map(|(name, value)| name.len() + value.len());
                message.subject.len() + weight(&message.content) + headers.sum::<usize>()
            }
            Self::Act { task_type, input, .. } => task_type.len() + weight(input),
            Self::Get { bucket, key } => bucket.len() + key.len(),
            Self::Set { bucket, key, value, .. } => {
                bucket.len() + key.len() + value.as_ref().map(weight).unwrap_or_default()
            }
            Self::GetObject { bucket, name } => bucket.len() + name.len(),
            Self::SetObject { bucket, name, content } => {
                bucket.len() + name.len() + weight(content)
            }
        }
    }
}
