//! Calls: the work outside of the engine whose result an activity waits for.

mod nats;
mod secret;

use std::collections::BTreeMap;
use std::time::Duration;

use model::large::weight;
use model::{ActivityId, BookmarkId, PayloadHash, Retry, Timestamp};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

pub use nats::{NatsCall, Outgoing};
pub use secret::SecretParts;

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
    /// Runs an SQL statement.
    Sql(Statement),
    /// Sends a message by SMTP.
    Mail(Mail),
    /// Reads or writes a file.
    File(FileAccess),
    /// Sends to NATS, or reads from it.
    Nats(NatsCall),
}

/// An HTTP request to send. Its result is `{"statusCode": 200, "headers": {…}, "content": …}`, with
/// JSON bodies parsed, and bodies that are no text as files.
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
    /// The body: text as it is, a file (`model::file`) as its bytes, null as none, anything else as
    /// JSON; an object as a form, where the content type is one of a form.
    pub content: Value,
    /// The content of the answer is wanted as a file, whatever it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_file: bool,
    /// The parts that contain a secret. It is known while the call is made, and never stored.
    #[serde(skip)]
    pub secret: SecretParts,
}

/// An SQL statement to run, with bound parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Statement {
    /// The name of a configured connection, or its URL where the configuration allows URLs.
    pub connection: String,
    /// The text before, between and after the parameters: one more than there are parameters.
    pub parts: Vec<String>,
    /// The values of the parameters, in order.
    pub values: Vec<Value>,
    /// The positions of parameters whose value is the key of the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<usize>,
    /// The result that is wanted.
    pub wanted: Wanted,
}

/// The result of an SQL statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Wanted {
    /// `{"rows": [{column: value}]}`
    Rows,
    /// `{"value": …}`: the first column of the first row, null if there is no row.
    Value,
    /// `{"affected": 3}`: the number of changed rows.
    Affected,
}

/// A message to send by SMTP. Its result is `{"messageId": "<…>"}`, derived from the key of the
/// call, so that a repeated message can be recognised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mail {
    /// The sender; the configured one if there is none.
    pub from: Option<String>,
    /// Receivers.
    pub to: Vec<String>,
    /// Receivers of a copy.
    pub cc: Vec<String>,
    /// Receivers whom the others do not see.
    pub bcc: Vec<String>,
    /// The subject.
    pub subject: String,
    /// The text, as HTML.
    pub body: String,
    /// Files that go with it.
    pub attachments: Vec<Attachment>,
}

/// A file that goes with a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Its name.
    pub file_name: String,
    /// Its media type.
    pub content_type: String,
    /// Its bytes, in base64.
    pub content: String,
    /// The payload with its bytes, in the place of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadHash>,
}

/// A file below the configured folder, to read or write. The path is relative to that folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileAccess {
    /// Reads a file. The result is a file, as in `model::file`.
    Open {
        /// Its path.
        path: String,
    },
    /// Writes a file, as a whole or behind its end. The result is `{"path": …, "size": …}`.
    Save {
        /// Its path.
        path: String,
        /// The bytes to write, in base64.
        data: String,
        /// The payload with the bytes, in the place of the data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payload: Option<PayloadHash>,
        /// Behind the end of the file.
        append: bool,
    },
}

impl FileAccess {
    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Open { path } | Self::Save { path, .. } => path,
        }
    }
}

impl Operation {
    /// The kind of work, as metrics name it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Http(_) => "http",
            Self::Sql(_) => "sql",
            Self::Mail(_) => "mail",
            Self::File(_) => "file",
            Self::Nats(_) => "nats",
        }
    }

    /// The server of an HTTP request, as `host` or `host:port`, without the user in its URL.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        let Self::Http(request) = self else { return None };
        let (_, rest) = request.url.split_once("://")?;
        let place = rest.split(['/', '?', '#']).next()?;
        Some(place.rsplit_once('@').map_or(place, |(_, place)| place))
    }

    /// The bytes that it carries, which count for the turn that asks for it.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Http(request) => weight(&request.content),
            Self::Sql(statement) => {
                let text: usize = statement.parts.iter().map(String::len).sum();
                text + statement.values.iter().map(weight).sum::<usize>()
            }
            Self::Mail(mail) => {
                let files: usize = mail.attachments.iter().map(|file| file.content.len()).sum();
                mail.body.len() + files
            }
            Self::File(FileAccess::Open { path }) => path.len(),
            Self::File(FileAccess::Save { path, data, .. }) => path.len() + data.len(),
            Self::Nats(call) => call.bytes(),
        }
    }

    /// A short text for people, without anything that may be secret, such as `GET https://…`.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::Http(request) => format!("{} {}", request.method, request.url),
            Self::Sql(statement) if statement.connection.contains("://") => "SQL".to_owned(),
            Self::Sql(statement) => format!("SQL on {}", statement.connection),
            Self::Mail(mail) => format!("mail to {}", mail.to.join(", ")),
            Self::File(access) => format!("file {}", access.path()),
            Self::Nats(call) => call.summary(),
        }
    }
}

impl From<Request> for Operation {
    fn from(request: Request) -> Self {
        Self::Http(request)
    }
}

impl From<Statement> for Operation {
    fn from(statement: Statement) -> Self {
        Self::Sql(statement)
    }
}

impl From<Mail> for Operation {
    fn from(mail: Mail) -> Self {
        Self::Mail(mail)
    }
}

impl From<FileAccess> for Operation {
    fn from(access: FileAccess) -> Self {
        Self::File(access)
    }
}

impl From<NatsCall> for Operation {
    fn from(call: NatsCall) -> Self {
        Self::Nats(call)
    }
}

/// An HTTP request is stored flat in its call, as when there was no other operation: all versions
/// read it. Any other operation is the member `operation`.
impl Serialize for Call {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = match self.operation {
            Operation::Http(ref request) => 9 + usize::from(request.as_file),
            Operation::Sql(_) | Operation::Mail(_) | Operation::File(_) | Operation::Nats(_) => 5,
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
                if request.as_file {
                    call.serialize_field("asFile", &true)?;
                }
            }
            operation => call.serialize_field("operation", operation)?,
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
    #[serde(default)]
    as_file: bool,
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
                as_file: stored.as_file,
                secret: SecretParts::default(),
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
        let Operation::Http(request) = &call.operation else { panic!("{call:?}") };
        assert_eq!((request.method.as_str(), &request.content), ("POST", &json!({"a": 1})));
        assert_eq!(serde_json::to_value(&call).unwrap(), document);
        let mut wants_file = document;
        wants_file["asFile"] = json!(true);
        let call: Call = serde_json::from_value(wants_file.clone()).unwrap();
        assert_eq!(serde_json::to_value(&call).unwrap(), wants_file);
    }

    #[test]
    fn any_other_call_is_read_back() {
        let statement = Statement {
            connection: "orders".into(),
            parts: vec!["select ".into(), String::new()],
            values: vec![json!(1)],
            keys: Vec::new(),
            wanted: Wanted::Rows,
        };
        let mail = Mail { to: vec!["a@example.org".into()], ..Mail::default() };
        let open = FileAccess::Open { path: "a.txt".into() };
        let message = Outgoing { subject: "orders".into(), ..Outgoing::default() };
        let publish = NatsCall::Publish { message, stored: true };
        let operations = [statement.into(), mail.into(), open.into(), Operation::from(publish)];
        for operation in operations {
            let call = Call {
                key: "k".into(),
                bookmark_id: "b".into(),
                activity_id: "a".into(),
                timeout: None,
                tries: None,
                operation,
            };
            let bytes = serde_json::to_vec(&call).unwrap();
            assert_eq!(serde_json::from_slice::<Call>(&bytes).unwrap(), call);
        }
    }

    #[test]
    fn a_call_without_work_is_not_read() {
        let document = json!({"key": "k", "bookmarkId": "b", "activityId": "a"});
        let error = serde_json::from_value::<Call>(document).unwrap_err();
        assert!(error.to_string().contains("neither an operation"), "{error}");
    }
}
