//! What Elsa has and Staunch does not: what to use instead.

use model::{ActivityId, Map};
use serde_json::Value;

use super::findings::Findings;
use super::raw::{class_of, flag};
use crate::FlowMode;
use crate::property::find;

const WORKER: &str = "use Elsa.RunTask, and a worker that does it";
const SCRIPT: &str = "use Elsa.RunJavaScript, or Elsa.RunTask and a worker in that language";
const RECEIVE: &str = "use Staunch.MessageReceived, with the messages brought to a stream of NATS";
const SEND: &str = "use Staunch.PublishMessage, with the messages taken on from NATS, or \
                    Elsa.RunTask and a worker that sends them";
const BOTH: &str = "use Staunch.MessageReceived to receive and Staunch.PublishMessage to send, with \
                    the messages carried between NATS and its transport";
const CODE: &str = "C# code is no part of a definition: use Elsa.RunJavaScript, or Elsa.RunTask and \
                    a worker";

/// Activity types by the beginning of their names, the longer ones first.
const TYPES: [(&str, &str); 26] = [
    ("Elsa.RunCSharp", SCRIPT),
    ("Elsa.RunPython", SCRIPT),
    ("Elsa.Kafka.MessageReceived", RECEIVE),
    ("Elsa.Kafka.", SEND),
    ("Elsa.ServiceBus.Kafka.", SEND),
    ("Elsa.AzureServiceBus.MessageReceived", RECEIVE),
    ("Elsa.AzureServiceBus.", SEND),
    ("Elsa.ServiceBus.", SEND),
    ("Elsa.MassTransit.", BOTH),
    ("MassTransit.", BOTH),
    ("Elsa.Inline", CODE),
    ("Elsa.DynamicActivity", CODE),
    ("Elsa.Integrations.", WORKER),
    ("Elsa.GitHub.", WORKER),
    ("GitHub.", WORKER),
    ("Elsa.Slack.", WORKER),
    ("Slack.", WORKER),
    ("Elsa.Telnyx.", WORKER),
    ("Telnyx.", WORKER),
    ("Elsa.OrchardCore.", WORKER),
    ("OrchardCore.", WORKER),
    ("Elsa.Ldap.", WORKER),
    ("Ldap.", WORKER),
    ("Elsa.Agents.", WORKER),
    ("Webhooks.", "use Elsa.HttpEndpoint, and let the webhook call it"),
    ("Elsa.BpmnProcess", "use Elsa.Flowchart"),
];

/// What to use instead of an activity type of Elsa's that is not built.
pub(super) fn instead(type_name: &str) -> Option<&'static str> {
    // As with the types that are there, `RunCSharp` means `Elsa.RunCSharp`.
    let full = if type_name.contains('.') { String::new() } else { format!("Elsa.{type_name}") };
    let is_it = |prefix: &str| type_name.starts_with(prefix) || full.starts_with(prefix);
    let found = TYPES.iter().find(|(prefix, _)| is_it(prefix));
    found.map(|(_, advice)| *advice)
}

/// What to use instead of an expression type of Elsa's.
pub(super) fn language_instead(language: &str) -> Option<&'static str> {
    match language.to_ascii_lowercase().as_str() {
        "csharp" | "c#" | "python" => Some("use JavaScript, or Elsa.RunTask and a worker"),
        "delegate" => Some("C# code is no part of a definition: use JavaScript"),
        "secret" => Some("use getConfig of JavaScript, or let a worker read the secret"),
        _ => None,
    }
}

/// Refuses an execution mode that does not exist, of a flowchart or of a whole definition.
pub(super) fn refuse_mode(findings: &mut Findings, id: Option<&ActivityId>, custom: &Map) {
    let named = custom.get(FlowMode::CUSTOM).map(FlowMode::named);
    if let Some(Err(reason)) = named {
        let property = format!("customProperties.{}", FlowMode::PROPERTY);
        findings.oversight(id, Some(&property), reason);
    }
}

/// Warns about settings of an activity that change nothing here.
pub(super) fn warn_of_settings(
    findings: &mut Findings,
    id: Option<&ActivityId>,
    raw: &Map,
    custom: &Map,
) {
    const COMMITS: &str = "each burst, up to where the workflow waits, is committed whole";
    let setting = |name: &str| custom.get(name).or_else(|| find(raw, name));
    let given = |name: &str| setting(name).filter(|value| !is_default(value));
    if flag(setting("runAsynchronously")) {
        let message = "runAsynchronously has no effect: calls, tasks and timers never hold a burst \
                       up, and other activities run within it";
        findings.warning(id, Some("runAsynchronously"), message.to_owned());
    }
    let name = "commitStrategyName";
    if given(name).is_some() {
        findings.warning(id, Some(name), format!("{name} has no effect: {COMMITS}"));
    }
}

/// Nothing but the words that mean the default, at any depth.
fn is_default(value: &Value) -> bool {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => rest.extend(map.values()),
            Value::String(text) if !is_default_word(class_of(text)) => return false,
            Value::Number(_) | Value::Bool(true) => return false,
            Value::String(_) | Value::Null | Value::Bool(false) => {}
        }
    }
    true
}

fn is_default_word(word: &str) -> bool {
    // `Strategy` says that a strategy is named beside it.
    ["", "Inherit", "Default", "Configuration", "Strategy"].contains(&word)
}
