//! Calls: the work outside of the engine whose result an activity waits for.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{ActivityId, BookmarkId, Retry, Timestamp};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// A call that an activity waits for. It is made after the burst that asks for it is committed, and
/// again after a crash, with the same key.
///
/// The result comes back as the input of a resume of `bookmark_id`. Each operation documents its
/// own; a failure is `{"error": kind, "message": text, "code": text}` for all of them, where kind
/// is one of
/// - `timeout`: the whole answer did not come in time;
/// - `connect`: the other side could not be reached, or the connection broke;
/// - `refused`: the call is not allowed here, or its answer is too large;
/// - `failed`: the other side answered with an error.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Call {
    /// The same on every try. HTTP sends it as `Idempotency-Key`.
    pub key: String,
    /// The bookmark that waits for the result.
    pub bookmark_id: BookmarkId,
    /// The activity that asks for the call, for the log.
    pub activity_id: ActivityId,
    /// Longest wait for the result of one try.
    pub timeout: Option<Duration>,
    /// Its retries; none when it is made once.
    pub tries: Option<Box<Tries>>,
    /// The work to do.
    pub operation: Operation,
}

/// The attempts of a call that is made again after failures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tries {
    /// When to make it again.
    pub retry: Retry,
    /// The number of this attempt: 1, 2, 3 …
    pub attempt: u32,
    /// It is not made before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
}

/// The work of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Operation {
    /// Sends an HTTP request.
    Http(Request),
}

/// An HTTP request to send. Its result is `{"statusCode": 200, "headers": {…}, "content": …}`, with
/// JSON bodies parsed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Absolute http or https URL.
    pub url: String,
    /// Method, upper case.
    pub method: String,
    /// Header names and values.
    pub headers: BTreeMap<String, String>,
    /// `Content-Type` of the body.
    pub content_type: Option<String>,
    /// The body: text as it is, null as none, anything else as JSON.
    pub content: Value,
}

impl Operation {
    /// The kind of work, as metrics name it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Http(_) => "http",
        }
    }

    /// The values that it carries, whose size counts for the turn that asks for it.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        let values = match self {
            Self::Http(request) => vec![&request.content],
        };
        values.into_iter()
    }

    /// A short text for people, without anything that may be secret, such as `GET https://…`.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::Http(request) => format!("{} {}", request.method, request.url),
        }
    }
}

impl From<Request> for Operation {
    fn from(request: Request) -> Self {
        Self::Http(request)
    }
}

/// An HTTP request is stored flat in its call, as when there was no other operation: all versions
/// read it. Any other operation is the member `operation`.
impl Serialize for Call {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = match self.operation {
            Operation::Http(_) => 9,
        };
        let members = members + usize::from(self.tries.is_some());
        let mut call = serializer.serialize_struct("Call", members)?;
        call.serialize_field("key", &self.key)?;
        call.serialize_field("bookmarkId", &self.bookmark_id)?;
        call.serialize_field("activityId", &self.activity_id)?;
        match &self.operation {
            Operation::Http(request) => {
                call.serialize_field("url", &request.url)?;
                call.serialize_field("method", &request.method)?;
                call.serialize_field("headers", &request.headers)?;
                call.serialize_field("contentType", &request.content_type)?;
                call.serialize_field("content", &request.content)?;
            }
        }
        call.serialize_field("timeout", &self.timeout)?;
        if let Some(tries) = &self.tries {
            call.serialize_field("tries", tries)?;
        }
        call.end()
    }
}

/// A call as it is stored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    key: String,
    bookmark_id: BookmarkId,
    activity_id: ActivityId,
    operation: Option<Operation>,
    url: Option<String>,
    method: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    content_type: Option<String>,
    #[serde(default)]
    content: Value,
    timeout: Option<Duration>,
    tries: Option<Box<Tries>>,
}

impl TryFrom<Stored> for Call {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let operation = match (stored.operation, stored.url, stored.method) {
            (Some(operation), ..) => operation,
            (None, Some(url), Some(method)) => Operation::Http(Request {
                url,
                method,
                headers: stored.headers.unwrap_or_default(),
                content_type: stored.content_type,
                content: stored.content,
            }),
            (None, ..) => return Err("a call has neither an operation nor a url and a method"),
        };
        Ok(Self {
            key: stored.key,
            bookmark_id: stored.bookmark_id,
            activity_id: stored.activity_id,
            timeout: stored.timeout,
            tries: stored.tries,
            operation,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_http_call_is_stored_flat_and_read_back() {
        let document = json!({
            "key": "k", "bookmarkId": "b", "activityId": "a", "url": "https://example.org/",
            "method": "POST", "headers": {"X-A": "1"}, "contentType": null, "content": {"a": 1},
            "timeout": {"secs": 5, "nanos": 0}
        });
        let call: Call = serde_json::from_value(document.clone()).unwrap();
        let Operation::Http(request) = &call.operation;
        assert_eq!((request.method.as_str(), &request.content), ("POST", &json!({"a": 1})));
        assert_eq!(serde_json::to_value(&call).unwrap(), document);
    }

    #[test]
    fn a_call_without_work_is_not_read() {
        let document = json!({"key": "k", "bookmarkId": "b", "activityId": "a"});
        let error = serde_json::from_value::<Call>(document).unwrap_err();
        assert!(error.to_string().contains("neither an operation"), "{error}");
    }
}
