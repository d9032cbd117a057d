//! SendHttpRequest: makes an HTTP call and runs the activity that fits its result.

use engine::{
    Activity, Child, Decision, Descriptor, Failure, Kind, Next, NodeRef, Plan, Planning, PortKind,
    Request, Resumed, Step, Type,
};
use model::Map;
use serde_json::{Value, json};

use crate::called::read_xml;
use crate::write_http_response::{JOINED, headers};

const CODES: &str = "expectedStatusCodes";

/// The methods that servers usually know.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// `Elsa.SendHttpRequest`
pub(crate) struct SendHttpRequest;

/// A status code and the activity that runs for it.
struct Case {
    status_code: i64,
    node: Option<NodeRef>,
}

/// How a call ended.
pub(crate) enum Ended {
    /// It was answered.
    Answered(i64),
    /// It was not answered in time.
    TimedOut(Failure),
    /// It could not be made, or the connection broke.
    Failed(Failure),
}

impl Activity for SendHttpRequest {
    fn descriptor(&self) -> Descriptor {
        let what = "Makes an HTTP call and runs the activity that fits its result.";
        let descriptor = Descriptor::new("Elsa.SendHttpRequest", "HTTP", what)
            .called("HTTP Request")
            .kind(Kind::Task);
        with_outputs(with_inputs(descriptor))
            .port(CODES, PortKind::Parts(&["activity"]))
            .port("unmatchedStatusCode", PortKind::Embedded)
            .port("failedToConnect", PortKind::Embedded)
            .port("timeout", PortKind::Embedded)
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        check_url(node);
        let mut cases: Vec<Case> = Vec::new();
        for (case, child) in node.cases(CODES) {
            let code = case.get("statusCode").unwrap_or(&Value::Null);
            match status_code(code) {
                Some(status_code) => cases.push(Case { status_code, node: child }),
                None => node
                    .oversight(CODES, format!("{code} is not an HTTP status code: use 100 to 599")),
            }
        }
        Some(Box::new(cases))
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        send(step, ["content", "contentType"], false)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        match ended(step, resumed.input, set_outputs)? {
            Ended::Answered(status) => {
                let cases = step.plan::<Vec<Case>>().map(Vec::as_slice).unwrap_or_default();
                let next = match cases.iter().find(|case| case.status_code == status) {
                    Some(case) => case.node,
                    None => step.child("unmatchedStatusCode"),
                };
                Ok(run(step, next).unwrap_or_else(Next::done))
            }
            Ended::TimedOut(failure) => run(step, step.child("timeout")).ok_or(failure),
            Ended::Failed(failure) => run(step, step.child("failedToConnect")).ok_or(failure),
        }
    }

    fn child_completed(&self, _step: &mut Step<'_, '_>, _child: Child) -> Decision {
        Ok(Next::done())
    }
}

/// The status code of a case; none for what no answer has.
fn status_code(code: &Value) -> Option<i64> {
    let text = || code.as_str()?.trim().parse().ok();
    code.as_i64().or_else(text).filter(|code| (100..=599).contains(code))
}

fn run(step: &mut Step<'_, '_>, node: Option<NodeRef>) -> Option<Next> {
    step.schedule(Some(node?), None);
    Some(Next::Wait)
}

/// Adds the inputs that every HTTP call has.
pub(crate) fn with_inputs(descriptor: Descriptor) -> Descriptor {
    descriptor
        .calls()
        .input("url", Type::String, "An absolute http or https URL.")
        .required()
        .input("method", Type::String, "The method.")
        .default("GET")
        .input(
            "content",
            Type::Object,
            "Text is sent as it is, a file as its bytes, an object as a form if the type is one of \
             forms, anything else as JSON.",
        )
        .input("contentType", Type::String, "The Content-Type of the content.")
        .input("authorization", Type::String, "The Authorization header.")
        .input("disableAuthorizationHeaderValidation", Type::Boolean, "Not used; kept for exports.")
        .default(false)
        .input("requestHeaders", Type::Dictionary, "Header names and values.")
        .input("requestTimeout", Type::TimeSpan, "The longest wait for the answer.")
}

/// Adds the outputs that every HTTP call has.
pub(crate) fn with_outputs(descriptor: Descriptor) -> Descriptor {
    descriptor
        .output("statusCode", Type::Integer(32), "The answer's status code.")
        .output(
            "parsedContent",
            Type::Object,
            "The answer's body: JSON, text, or a file; XML as text, or as an object for a variable \
             of that type.",
        )
        .output("responseHeaders", Type::Dictionary, "The answer's headers.")
        .output("result", Type::Object, "The whole answer.")
}

/// Reports a URL that is written out and is none.
pub(crate) fn check_url(node: &mut Planning<'_>) {
    let url = node.literal("url").and_then(Value::as_str).filter(|url| !url.trim().is_empty());
    if let Some(flaw) = url.and_then(no_url) {
        node.oversight("url", flaw);
    }
    let method = node.literal("method").and_then(Value::as_str).unwrap_or_default();
    let is_known = METHODS.iter().any(|known| known.eq_ignore_ascii_case(method.trim()));
    if !method.trim().is_empty() && !is_known {
        let known = METHODS.join(", ");
        node.warning("method", format!("{method:?} is no usual method: most servers know {known}"));
    }
}

fn no_url(url: &str) -> Option<String> {
    let is_absolute = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    (!is_absolute).then(|| format!("{url:?} is not an absolute http(s) URL"))
}

/// Asks for the call. The inputs are those of the content and of its type.
pub(crate) fn send(
    step: &mut Step<'_, '_>,
    [content, content_type]: [&str; 2],
    as_file: bool,
) -> Result<(), Failure> {
    let url = step.required("url")?;
    if engine::is_sealed(&Value::String(url.clone())) {
        let reason = "a URL is shown in many places, so that it cannot be made of a secret: use a \
                      header or the content";
        return Err(Failure::input("url", reason));
    }
    if let Some(flaw) = no_url(&url) {
        return Err(Failure::input("url", flaw));
    }
    let method = step.required("method")?.trim().to_uppercase();
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(Failure::input("method", format!("{method:?} is not an HTTP method")));
    }
    let mut headers = headers(step.object("requestHeaders")?, JOINED);
    if let Some(authorization) = step.text("authorization")? {
        headers.insert("Authorization".to_owned(), authorization);
    }
    let request = Request {
        url,
        method,
        headers,
        content_type: step.text(content_type)?,
        content: step.content(content)?,
        as_file,
        ..Request::default()
    };
    let timeout = step.span("requestTimeout")?;
    step.call(request, timeout)
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: Value,
    pub(crate) content: Value,
    pub(crate) headers: Value,
}

/// Sets the outputs that every HTTP call has.
pub(crate) fn set_outputs(step: &mut Step<'_, '_>, answer: Answer) -> Result<(), Failure> {
    let Answer { status, content, headers } = answer;
    let content = read_xml(step, "parsedContent", content, &headers)?;
    step.set_output("statusCode", status.clone())?;
    step.set_output("parsedContent", content.clone())?;
    step.set_output("responseHeaders", headers.clone())?;
    let result = json!({"statusCode": status, "headers": headers, "content": content});
    step.set_output("result", result)
}

/// Reads the result of the call, and sets the outputs of its answer.
pub(crate) fn ended(
    step: &mut Step<'_, '_>,
    mut input: Map,
    set: impl FnOnce(&mut Step<'_, '_>, Answer) -> Result<(), Failure>,
) -> Result<Ended, Failure> {
    if let Some(kind) = input.get("error").and_then(Value::as_str) {
        let message = input.get("message").and_then(Value::as_str).unwrap_or(kind);
        let failure = |code| Failure::new(code, message).in_category("HTTP");
        return Ok(match kind {
            "timeout" => Ended::TimedOut(failure("HttpTimeout")),
            "refused" => Ended::Failed(failure("HttpRefused")),
            _ => Ended::Failed(failure("HttpConnect")),
        });
    }
    let status = input.get("statusCode").cloned().unwrap_or_default();
    let content = input.remove("content").unwrap_or_default();
    let headers = input.remove("headers").unwrap_or_else(|| json!({}));
    let code = status.as_i64().unwrap_or_default();
    set(step, Answer { status, content, headers })?;
    Ok(Ended::Answered(code))
}
