//! Descriptions of activity types as Elsa's designers read them: names in Pascal case, the editor of
//! each input, and of the ports only those that hold one activity or are an outcome.

use engine::{
    Descriptor, InputDescriptor, OutputDescriptor, Port, PortKind, Type, WORKFLOW_TYPE,
    is_credential, pascal,
};
use serde_json::{Value, json};

/// Types that a designer does not offer: it draws them where a definition has them.
const UNLISTED: [&str; 5] =
    ["Elsa.Flowchart", "Elsa.Sequence", "Elsa.Parallel", "Elsa.Fork", "Elsa.NotFoundActivity"];

const CONTAINERS: [&str; 3] = ["Elsa.Flowchart", "Elsa.Sequence", "Elsa.Parallel"];

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"];
const ENDPOINT_METHODS: [&str; 5] = ["GET", "POST", "PUT", "HEAD", "DELETE"];
const CONTENT_TYPES: [&str; 7] = [
    "",
    "text/plain",
    "text/html",
    "application/json",
    "application/xml",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
];
const STATUSES: [&str; 12] = [
    "OK",
    "Created",
    "Accepted",
    "NoContent",
    "Found",
    "BadRequest",
    "Unauthorized",
    "Forbidden",
    "NotFound",
    "Conflict",
    "UnprocessableEntity",
    "InternalServerError",
];

/// The editor of an input.
enum Hint {
    /// One that needs nothing else.
    Plain(&'static str),
    /// One of these words.
    Dropdown(&'static [&'static str]),
    /// Any of these words.
    Checklist(&'static [&'static str]),
    /// A text with this before it.
    Prefixed(&'static str),
    /// A script in this language.
    Code(&'static str),
    /// Names of outcomes, beside these fixed ones.
    Outcomes(&'static [&'static str]),
}

impl Hint {
    fn name(&self) -> &'static str {
        match self {
            Self::Plain(name) => name,
            Self::Dropdown(_) => "dropdown",
            Self::Checklist(_) => "checklist",
            Self::Prefixed(_) => "singleline",
            Self::Code(_) => "code-editor",
            Self::Outcomes(_) => "dynamic-outcomes",
        }
    }

    /// The settings of the editor.
    fn specifications(&self) -> Value {
        let items = |words: &[&str]| {
            let items: Vec<_> =
                words.iter().map(|word| json!({"text": word, "value": word})).collect();
            json!({"items": items, "isFlagsEnum": false})
        };
        match self {
            Self::Plain(_) => json!({}),
            Self::Dropdown(words) => {
                json!({"dropdown": {"selectList": items(words), "providerName": null}})
            }
            Self::Checklist(words) => json!({"checklist": {"checkList": items(words)}}),
            Self::Prefixed(text) => {
                json!({"singleline": {"adornmentText": text, "enableCopyAdornment": true}})
            }
            Self::Code(language) => {
                json!({"code-editor": {"language": language.to_lowercase()}})
            }
            Self::Outcomes(fixed) => json!({"DynamicOutcomesOptions": {"fixedOutcomes": fixed}}),
        }
    }
}

/// The editor of an input: by its name where that says more than its type.
fn hint(activity: &str, input: &InputDescriptor) -> Hint {
    match (activity, input.name) {
        (_, "workflowDefinitionId") => Hint::Plain("workflow-definition-picker"),
        ("Elsa.SetVariable", "variable") => Hint::Plain("variable-picker"),
        ("Elsa.SetOutput", "outputName") => Hint::Plain("output-picker"),
        ("Elsa.Complete", "outcomes") => Hint::Plain("outcome-picker"),
        ("Elsa.If" | "Elsa.FlowDecision" | "Elsa.While", "condition") => Hint::Plain("singleline"),
        ("Elsa.FlowSwitch", "cases") => Hint::Plain("flow-switch-editor"),
        ("Elsa.DispatchWorkflow" | "Elsa.BulkDispatchWorkflows", "channelName") => {
            Hint::Dropdown(&[])
        }
        ("Elsa.FlowFork", "branches") => Hint::Outcomes(&[]),
        ("Elsa.RunJavaScript", "possibleOutcomes") => Hint::Outcomes(&[]),
        ("Elsa.HttpEndpoint", "path") => Hint::Prefixed("/workflows"),
        ("Elsa.HttpEndpoint", "supportedMethods") => Hint::Checklist(&ENDPOINT_METHODS),
        ("Elsa.WriteHttpResponse", "statusCode") => Hint::Dropdown(&STATUSES),
        (_, "method") => Hint::Dropdown(&METHODS),
        (_, "contentType" | "requestContentType") => Hint::Dropdown(&CONTENT_TYPES),
        _ => by_type(&input.ty),
    }
}

fn by_type(ty: &Type) -> Hint {
    match ty {
        Type::Boolean => Hint::Plain("checkbox"),
        Type::Enum(words) => Hint::Dropdown(words),
        Type::Script(language) => Hint::Code(language),
        Type::Dictionary => Hint::Plain("json-editor"),
        Type::List(element) if **element == Type::Object => Hint::Plain("json-editor"),
        Type::List(_) => Hint::Plain("multitext"),
        _ => Hint::Plain("singleline"),
    }
}

/// The tab of the designer that has the input; none for the first.
fn tab(activity: &str, input: &str) -> Option<&'static str> {
    match (activity, input) {
        ("Elsa.HttpEndpoint", "authorize" | "policy")
        | (_, "authorization" | "disableAuthorizationHeaderValidation") => Some("Security"),
        ("Elsa.HttpEndpoint", "requestTimeout" | "requestSizeLimit" | "fileSizeLimit")
        | (_, "allowedFileExtensions" | "blockedFileExtensions" | "allowedMimeTypes") => {
            Some("Upload")
        }
        ("Elsa.HttpEndpoint", name) if name.starts_with("expose") => Some("Outcomes"),
        (_, "requestHeaders" | "responseHeaders") => Some("Advanced"),
        (_, "startNewTrace") => Some("Open Telemetry"),
        _ => None,
    }
}

/// The name in the designer, where Elsa's differs from that of the property.
fn display_name<'i>(activity: &str, input: &'i InputDescriptor) -> &'i str {
    match (activity, input.name) {
        ("Elsa.SetOutput", "outputName") => "Output",
        ("Elsa.Fault", "faultType") => "Type",
        ("Elsa.PublishEvent", "isLocalEvent") => "Local event",
        ("Elsa.DownloadHttpFile", "requestContent") => "Content",
        _ => &input.display_name,
    }
}

/// The place in the designer. Elsa puts one between two others.
fn order(activity: &str, input: &InputDescriptor) -> Value {
    match (activity, input.name) {
        ("Elsa.FlowSendHttpRequest", "expectedStatusCodes") => json!(5.1),
        _ => json!(input.order),
    }
}

/// The value if none is given, in the form that the editor writes.
fn default_value(activity: &str, input: &InputDescriptor) -> Value {
    match (activity, input.name) {
        ("Elsa.WriteHttpResponse", "statusCode") => json!("OK"),
        ("Elsa.Complete", "outcomes") => json!([input.default_value]),
        _ => input.default_value.clone(),
    }
}

/// The language that the designer offers first. The editor of outcomes writes a list.
fn default_syntax(activity: &str, input: &InputDescriptor) -> &'static str {
    match (activity, input.name) {
        ("Elsa.Complete", "outcomes") => "Object",
        _ => input.default_syntax,
    }
}

/// The input is evaluated once, before the activity runs. The others are evaluated by their activity:
/// for each round, or for each item.
fn is_evaluated_before(activity: &str, input: &InputDescriptor) -> bool {
    input.arguments.is_empty() && (activity, input.name) != ("Elsa.While", "condition")
}

/// The description of an activity type.
pub(crate) fn activity(descriptor: &Descriptor) -> Value {
    let name = descriptor.type_name;
    let is_list = |port: &&Port| matches!(port.kind, PortKind::Parts(_));
    let lists = descriptor.ports.iter().filter(is_list);
    let after = descriptor.inputs.len();
    let inputs: Vec<_> = descriptor
        .inputs
        .iter()
        .map(|shown| input(name, shown))
        .chain(lists.enumerate().map(|(at, port)| list(name, port, after + at)))
        .collect();
    let outputs: Vec<_> =
        descriptor.outputs.iter().enumerate().map(|(order, shown)| output(shown, order)).collect();
    let is_port = |port: &&Port| matches!(port.kind, PortKind::Flow | PortKind::Embedded);
    let ports: Vec<_> = descriptor.ports.iter().filter(is_port).map(port).collect();
    json!({
        "typeName": name,
        "namespace": descriptor.namespace,
        "name": descriptor.name,
        "version": descriptor.version,
        "category": descriptor.category,
        "displayName": descriptor.display_name,
        "description": descriptor.description,
        "kind": descriptor.kind,
        // No activity of Elsa's own asks for it, and here it would change nothing.
        "runAsynchronously": false,
        "isContainer": CONTAINERS.contains(&name),
        "isBrowsable": descriptor.is_browsable && !UNLISTED.contains(&name),
        "isStart": descriptor.is_start,
        "isTerminal": descriptor.is_terminal,
        "inputs": inputs,
        "outputs": outputs,
        "ports": ports,
        "customProperties": custom_properties(descriptor),
        "constructionProperties": {},
    })
}

/// What designers find out from a type beside its inputs: an activity that makes calls can have a
/// resilience strategy of this category.
fn custom_properties(descriptor: &Descriptor) -> Value {
    if !descriptor.makes_calls {
        return json!({});
    }
    let category = if descriptor.type_name.contains("Http") { "HTTP" } else { "Default" };
    json!({ "ResilienceCategory": category })
}

/// The description of the workflow around the root activity, which journals and records name.
pub(crate) fn workflow_type() -> Value {
    json!({
        "typeName": WORKFLOW_TYPE,
        "namespace": "Elsa",
        "name": "Workflow",
        "version": 1,
        "category": "Workflows",
        "displayName": "Workflow",
        "description": "The workflow as a whole.",
        "kind": "Action",
        "runAsynchronously": false,
        "isContainer": false,
        "isBrowsable": false,
        "isStart": false,
        "isTerminal": false,
        "inputs": [],
        "outputs": [],
        "ports": [{"name": "Root", "displayName": "Root", "type": "Embedded", "isBrowsable": false}],
        "customProperties": {},
        "constructionProperties": {},
    })
}

fn input(activity: &str, input: &InputDescriptor) -> Value {
    let hint = hint(activity, input);
    json!({
        "name": pascal(input.name),
        "typeName": input.ty.alias(),
        "displayName": display_name(activity, input),
        "description": input.description,
        "order": order(activity, input),
        "isBrowsable": true,
        "isSerializable": true,
        "isSynthetic": false,
        "isWrapped": input.is_wrapped,
        "uiHint": hint.name(),
        "uiSpecifications": hint.specifications(),
        "category": tab(activity, input.name),
        "defaultValue": default_value(activity, input),
        "defaultSyntax": default_syntax(activity, input),
        "isReadOnly": false,
        "isSensitive": input.ty == Type::String && is_credential(input.name),
        "autoEvaluate": is_evaluated_before(activity, input),
        "storageDriverType": null,
        "options": input.options,
    })
}

/// The meaning of a list of parts.
fn of_list(activity: &str, name: &str) -> &'static str {
    match (activity, name) {
        (_, "cases") => {
            "Cases, in order: each has a label, a condition, and an activity that runs if it is true."
        }
        (_, "expectedStatusCodes") => {
            "Statuses: each has an activity that runs after an answer with it."
        }
        ("Elsa.StateMachine", "states") => {
            "States: each has activities that run when it is entered and when it is left."
        }
        ("Elsa.StateMachine", "transitions") => {
            "Ways from one state to another: each has a trigger, a condition and an action."
        }
        _ => "Parts: each has activities.",
    }
}

/// A list of parts that hold activities: an input with an editor of its own.
fn list(activity: &str, port: &Port, order: usize) -> Value {
    let hint = match (activity, port.name) {
        (_, "cases") => "switch-editor",
        (_, "expectedStatusCodes") => "http-status-codes",
        _ => "json-editor",
    };
    json!({
        "name": pascal(port.name),
        "typeName": "Object",
        "displayName": port.display_name,
        "description": of_list(activity, port.name),
        "order": order,
        "isBrowsable": activity != "Elsa.StateMachine",
        "isSerializable": true,
        "isSynthetic": false,
        "isWrapped": false,
        "uiHint": hint,
        "uiSpecifications": {},
        "category": null,
        "defaultValue": null,
        "defaultSyntax": "Object",
        "isReadOnly": false,
        "isSensitive": false,
        "autoEvaluate": true,
        "storageDriverType": null,
        "options": [],
    })
}

fn output(output: &OutputDescriptor, order: usize) -> Value {
    json!({
        "name": pascal(output.name),
        "typeName": output.ty.alias(),
        "displayName": output.display_name,
        "description": output.description,
        "order": order,
        "isBrowsable": true,
        "isSerializable": null,
        "isSynthetic": false,
    })
}

fn port(port: &Port) -> Value {
    let is_property = port.kind == PortKind::Embedded;
    json!({
        "name": if is_property { pascal(port.name) } else { port.name.to_owned() },
        "displayName": port.display_name,
        "type": port.kind,
        "isBrowsable": port.is_browsable,
    })
}
