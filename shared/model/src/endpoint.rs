//! What an HTTP endpoint of a workflow and the server that receives its requests agree on: the
//! outcomes of requests that exceed a limit, and the members of payloads that name the limits.

/// The body has more bytes than the endpoint allows.
pub const REQUEST_TOO_LARGE: &str = "Request too large";
/// A file has more bytes than the endpoint allows.
pub const FILE_TOO_LARGE: &str = "File too large";
/// A file has an extension that the endpoint does not allow.
pub const INVALID_EXTENSION: &str = "Invalid file extension";
/// A file has a media type that the endpoint does not allow.
pub const INVALID_MIME_TYPE: &str = "Invalid file MIME type";
/// Each of these outcomes.
pub const REFUSALS: [&str; 4] =
    [REQUEST_TOO_LARGE, FILE_TOO_LARGE, INVALID_EXTENSION, INVALID_MIME_TYPE];

/// The member of a payload with the outcomes for which the workflow goes on. For the others the
/// request is refused.
pub const EXPOSED: &str = "exposedOutcomes";
/// The member of a payload that says that XML is read as a value.
pub const READS_XML: &str = "readsXml";
/// The member of a request with the reason why it has no body or files: `{outcome, message}`.
pub const REFUSAL: &str = "refusal";
