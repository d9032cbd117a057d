//! HttpEndpoint: starts a workflow with an HTTP request, or waits for one.

mod template;

use engine::{
    Activity, Cause, Decision, Descriptor, Failure, Kind, Next, Plan, Planning, Resumed, Step, Type,
};
use model::{Map, Stimulus, endpoint};
use serde_json::{Value, json};

use crate::called::wants_value;

/// `Elsa.HttpEndpoint`
pub(crate) struct HttpEndpoint;

/// The name of the input under which the request arrives.
const INPUT: &str = "__HttpRequest";

impl Activity for HttpEndpoint {
    fn descriptor(&self) -> Descriptor {
        let what = "Starts a workflow with an HTTP request, or waits for one.";
        let descriptor = Descriptor::new("Elsa.HttpEndpoint", "HTTP", what)
            .called("HTTP Endpoint")
            .kind(Kind::Trigger)
            .input("path", Type::String, "A path or route template, such as orders/{id}.")
            .required()
            .input("supportedMethods", Type::texts(), "The HTTP methods.")
            .default(json!(["GET"]))
            .input("authorize", Type::Boolean, "Accept only authenticated callers.")
            .default(false)
            .input("policy", Type::String, "The permission a caller needs.")
            .input("requestTimeout", Type::TimeSpan, "The longest time a caller waits.")
            .input("requestSizeLimit", Type::Integer(64), "The most bytes of a request's body.");
        with_outcomes(with_files(descriptor))
            .output(
                "parsedContent",
                Type::Object,
                "The body: JSON, a form, text, or a file if its media type is no text; XML as text, \
                 or as an object for a variable of that type.",
            )
            .output("files", Type::List(Box::new(Type::Object)), "Uploaded files.")
            .output("file", Type::Object, "The first uploaded file.")
            .output("routeData", Type::Dictionary, "Values of the route template.")
            .output("queryStringData", Type::Dictionary, "Values of the query string.")
            .output("headers", Type::Dictionary, "The request's headers.")
            .output(
                "result",
                Type::Object,
                "The whole request. After an outcome other than Done it has a `refusal`: \
                 `{outcome, message}`.",
            )
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        if let Some(Value::String(path)) = node.literal("path") {
            let template::Findings { flaws, warnings } = template::examine(path);
            flaws.into_iter().for_each(|flaw| node.oversight("path", flaw));
            warnings.into_iter().for_each(|warning| node.warning("path", warning));
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        for (stimulus, payload) in endpoints(step)? {
            step.wait(&stimulus, payload, None)?;
        }
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        let request = resumed.input.remove(INPUT).unwrap_or_default();
        let part = |name: &str| request.get(name).cloned().unwrap_or_default();
        let form = part("form");
        let has_form = form.as_object().is_some_and(|form| !form.is_empty());
        let content = match part("body") {
            Value::Null if has_form => form,
            body => body,
        };
        let files = part("files");
        let refusal = part(endpoint::REFUSAL);
        step.set_output("parsedContent", content)?;
        step.set_output("routeData", part("routeData"))?;
        step.set_output("queryStringData", part("query"))?;
        step.set_output("headers", part("headers"))?;
        step.set_output("file", files.get(0).cloned().unwrap_or_default())?;
        step.set_output("files", files)?;
        step.set_output("result", request)?;
        let outcome = refusal.get("outcome").and_then(Value::as_str);
        let outcome = endpoint::REFUSALS.into_iter().find(|known| Some(*known) == outcome);
        Ok(outcome.map_or_else(Next::done, Next::outcome))
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        let endpoints = endpoints(step)?;
        let cause = |(stimulus, payload)| Cause::Stimulus { stimulus, payload };
        Ok(endpoints.into_iter().map(cause).collect())
    }
}

fn with_files(descriptor: Descriptor) -> Descriptor {
    let extensions = Type::texts;
    descriptor
        .input("fileSizeLimit", Type::Integer(64), "The most bytes of an uploaded file.")
        .input("allowedFileExtensions", extensions(), "Those of uploaded files, such as .pdf.")
        .input("blockedFileExtensions", extensions(), "Those that uploaded files must not have.")
        .input(
            "allowedMimeTypes",
            Type::texts(),
            "The media types of uploaded files, as their sender declares them, such as \
             application/pdf or image/*.",
        )
}

/// The inputs that expose an outcome, and the outcomes.
const EXPOSING: [(&str, &str, &str); 4] = [
    (
        "exposeRequestTooLargeOutcome",
        endpoint::REQUEST_TOO_LARGE,
        "Go on with this outcome, without the body, instead of refusing with 413.",
    ),
    (
        "exposeFileTooLargeOutcome",
        endpoint::FILE_TOO_LARGE,
        "Go on with this outcome, without the files, instead of refusing with 413.",
    ),
    (
        "exposeInvalidFileExtensionOutcome",
        endpoint::INVALID_EXTENSION,
        "Go on with this outcome, without the files, instead of refusing with 415.",
    ),
    (
        "exposeInvalidFileMimeTypeOutcome",
        endpoint::INVALID_MIME_TYPE,
        "Go on with this outcome, without the files, instead of refusing with 415.",
    ),
];

fn with_outcomes(descriptor: Descriptor) -> Descriptor {
    EXPOSING.into_iter().fold(descriptor, |descriptor, (input, outcome, what)| {
        descriptor.input(input, Type::Boolean, what).default(false).raw().outcome_if(input, outcome)
    })
}

/// The stimuli that it waits for, one per method, each with the settings that ingress needs.
fn endpoints(step: &mut Step<'_, '_>) -> Result<Vec<(Stimulus, Value)>, Failure> {
    let path = step.required("path")?;
    let methods = step.texts("supportedMethods")?;
    if methods.is_empty() {
        return Err(Failure::input("supportedMethods", "there is no method: give at least one"));
    }
    let settings = settings(step)?;
    let endpoints = methods.iter().map(|method| {
        let stimulus = Stimulus::http(&path, method.trim());
        let mut payload = stimulus.payload.clone();
        if let Some(payload) = payload.as_object_mut() {
            payload.extend(settings.clone());
        }
        (stimulus, payload)
    });
    Ok(endpoints.collect())
}

/// The settings that ingress needs. Those of files and outcomes are left out if they are not given.
fn settings(step: &mut Step<'_, '_>) -> Result<Map, Failure> {
    let mut settings = Map::new();
    let mut set = |name: &str, value: Value| settings.insert(name.to_owned(), value);
    set("authorize", step.flag("authorize")?.into());
    set("policy", step.text("policy")?.into());
    set("requestTimeout", step.text("requestTimeout")?.into());
    set("requestSizeLimit", size(step, "requestSizeLimit")?.into());
    if let Some(bytes) = size(step, "fileSizeLimit")? {
        set("fileSizeLimit", bytes.into());
    }
    for name in ["allowedFileExtensions", "blockedFileExtensions", "allowedMimeTypes"] {
        let mut texts = step.texts(name)?;
        texts.retain(|text| !text.trim().is_empty());
        if !texts.is_empty() {
            set(name, texts.into());
        }
    }
    let mut exposed = Vec::new();
    for (input, outcome, _) in EXPOSING {
        if step.flag(input)? {
            exposed.push(outcome);
        }
    }
    if !exposed.is_empty() {
        set(endpoint::EXPOSED, exposed.into());
    }
    if wants_value(step, "parsedContent") {
        set(endpoint::READS_XML, true.into());
    }
    Ok(settings)
}

fn size(step: &mut Step<'_, '_>, input: &str) -> Result<Option<i64>, Failure> {
    let bytes = step.integer(input)?;
    match bytes {
        Some(bytes) if bytes < 0 => {
            Err(Failure::input(input, format!("{bytes} is no number of bytes: give 0 or more")))
        }
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::causes;

    fn document() -> Value {
        json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "HttpEndpoint", "id": "h", "canStartWorkflow": true,
                "path": "orders/{id}", "supportedMethods": ["GET", "POST"], "authorize": true,
                "requestTimeout": "00:00:30",
                "routeData": {"typeName": "Object", "memoryReference": {"id": "Got"}}}
        })
    }

    #[test]
    fn every_method_is_a_trigger_that_says_what_the_edge_must_know() {
        let triggers = causes(document()).stimuli;
        let hashes: Vec<&str> = triggers.iter().map(|trigger| trigger.hash.as_str()).collect();
        let hash = |method: &str| Stimulus::http("orders/{id}", method).hash();
        assert_eq!(hashes, [hash("get"), hash("post")]);
        assert_eq!(
            triggers[0].payload,
            json!({"Path": "/orders/{id}", "Method": "get", "authorize": true, "policy": null,
                "requestTimeout": "00:00:30", "requestSizeLimit": null})
        );
    }
}
