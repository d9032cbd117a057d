//! TypeScript declarations of everything that a script can use, for editors.
//!
//! [`FUNCTIONS`] and [`TYPES`] are the whole list; a test compares it with what a script finds.

use engine::{Surroundings, Type};
use model::ScriptLibrary;

use super::accessor::pascal;

/// Every function of ours, with its parameters and its result.
const FUNCTIONS: &[(&str, &str)] = &[
    ("getWorkflowDefinitionId", "(): string"),
    ("getWorkflowDefinitionVersionId", "(): string"),
    ("getWorkflowDefinitionVersion", "(): number"),
    ("getWorkflowInstanceId", "(): string"),
    ("getWorkflowInstanceName", "(): string | null"),
    ("setWorkflowInstanceName", "(name: string | null): void"),
    ("getCorrelationId", "(): string | null"),
    ("setCorrelationId", "(id: string | null): void"),
    ("getVariable", "(name: string): any"),
    ("setVariable", "(name: string, value: any): void"),
    ("getInput", "(name: string): any"),
    ("getOutputFrom", "(activity: string, output?: string): any"),
    ("getLastResult", "(): any"),
    ("getConfig", "(key: string): any"),
    ("getSecret", "(name: string): Promise<string>"),
    ("setOutcome", "(name: string): void"),
    ("setOutcomes", "(names: string[]): void"),
    (
        "createEventTriggerUrl",
        "(event: string, lifetime?: TimeSpan | DateTimeOffset | number | string): string",
    ),
    (
        "createBookmarkTriggerUrl",
        "(activity: string, lifetime?: TimeSpan | DateTimeOffset | number | string): string",
    ),
    ("isNullOrEmpty", "(text?: string | null): boolean"),
    ("isNullOrWhiteSpace", "(text?: string | null): boolean"),
    ("toJson", "(value: any): string"),
    ("parseGuid", "(text: string): string"),
    ("newGuid", "(): string"),
    ("newGuidString", "(): string"),
    ("newShortGuid", "(): string"),
    ("getGuidString", "(): string"),
    ("getShortGuid", "(): string"),
    ("stringToBase64", "(text: string): string"),
    ("stringFromBase64", "(base64: string): string"),
    ("bytesToString", "(bytes: Uint8Array): string"),
    ("bytesFromString", "(text: string): Uint8Array"),
    ("bytesToBase64", "(bytes: Uint8Array): string"),
    ("bytesFromBase64", "(base64: string): Uint8Array"),
    ("streamToBytes", "(stream: any): Uint8Array"),
    ("streamToBase64", "(stream: any): string"),
];

/// Every type of ours that a script can make.
const TYPES: &[&str] = &["DateTime", "DateTimeOffset", "TimeSpan", "Guid", "Random"];

/// The declarations for a script with these surroundings.
pub(super) fn declarations(around: &Surroundings, libraries: &[ScriptLibrary]) -> String {
    let mut text = String::new();
    for (name, signature) in FUNCTIONS {
        if around.refuses_outcomes && name.starts_with("setOutcome") {
            continue;
        }
        push(&mut text, &format!("declare function {name}{signature};"));
    }
    for name in TYPES {
        push(&mut text, &format!("declare const {name}: any;\ndeclare type {name} = any;"));
    }
    for name in libraries.iter().flat_map(|library| library.globals()) {
        push(&mut text, &format!("declare const {name}: any;"));
    }
    object(&mut text, "variables", &around.variables);
    match &around.arguments {
        None => push(&mut text, "declare const args: { [name: string]: any };"),
        Some(names) => {
            push(&mut text, "declare const args: {");
            names.iter().for_each(|name| push(&mut text, &format!("  {}: any;", quoted(name))));
            push(&mut text, "};");
            for name in names {
                accessor(&mut text, &format!("get{}", pascal(name)), "(): any");
            }
        }
    }
    for (name, ty) in &around.variables {
        let (name, ty) = (pascal(name), typescript(ty));
        accessor(&mut text, &format!("get{name}"), &format!("(): {ty}"));
        accessor(&mut text, &format!("set{name}"), &format!("(value: {ty}): void"));
    }
    for (name, ty) in &around.inputs {
        accessor(&mut text, &format!("get{}", pascal(name)), &format!("(): {}", typescript(ty)));
    }
    for (activity, output, ty) in &around.outputs {
        let name = format!("get{}From{}", pascal(output), pascal(activity));
        accessor(&mut text, &name, &format!("(): {}", typescript(ty)));
    }
    text
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// A function, if its name can be written in a script and is not there yet.
fn accessor(text: &mut String, name: &str, signature: &str) {
    let line = format!("declare function {name}");
    let is_known = text
        .lines()
        .any(|known| known.strip_prefix(&line).is_some_and(|rest| rest.starts_with('(')));
    if name.chars().all(super::words::is_word_char) && !is_known {
        push(text, &format!("{line}{signature};"));
    }
}

fn object(text: &mut String, name: &str, members: &[(String, Type)]) {
    push(text, &format!("declare const {name}: {{"));
    let mut seen = Vec::new();
    for (member, ty) in members {
        if !seen.contains(&member) {
            seen.push(member);
            push(text, &format!("  {}: {};", quoted(member), typescript(ty)));
        }
    }
    push(text, "  [name: string]: any;\n};");
}

/// A JSON text is a TypeScript text too.
fn quoted(name: &str) -> serde_json::Value {
    name.into()
}

fn typescript(ty: &Type) -> String {
    match ty {
        Type::String | Type::TimeSpan | Type::DateTime | Type::Text(_) | Type::Script(_) => {
            "string".to_owned()
        }
        Type::Enum(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
            words.join(" | ")
        }
        Type::Boolean => "boolean".to_owned(),
        Type::Integer(_) | Type::Unsigned(_) | Type::Double | Type::StatusCode => {
            "number".to_owned()
        }
        Type::List(element) => format!("Array<{}>", typescript(element)),
        Type::Dictionary => "{ [name: string]: any }".to_owned(),
        Type::TextDictionary => "{ [name: string]: string }".to_owned(),
        Type::Object | Type::Json => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use engine::Language as _;
    use serde_json::{Value, json};

    use super::*;
    use crate::JavaScript;
    use crate::stage::{Stage, furnished};

    /// The names that a script finds, without those of the language itself.
    fn defined() -> BTreeSet<String> {
        let everything = "Object.getOwnPropertyNames(globalThis)";
        let found = JavaScript::new().evaluate(everything, &mut Stage::new()).unwrap();
        let names: BTreeSet<String> = serde_json::from_value(found).unwrap();
        let of_the_language: &[&str] = &[
            "AggregateError",
            "Array",
            "ArrayBuffer",
            "Atomics",
            "BigInt",
            "BigInt64Array",
            "BigUint64Array",
            "Boolean",
            "DataView",
            "Date",
            "Error",
            "EvalError",
            "Float16Array",
            "Float32Array",
            "Float64Array",
            "Function",
            "Infinity",
            "Int16Array",
            "Int32Array",
            "Int8Array",
            "InternalError",
            "Iterator",
            "JSON",
            "Map",
            "Math",
            "NaN",
            "Number",
            "Object",
            "Promise",
            "Proxy",
            "RangeError",
            "ReferenceError",
            "Reflect",
            "RegExp",
            "Set",
            "SharedArrayBuffer",
            "String",
            "Symbol",
            "SyntaxError",
            "TypeError",
            "URIError",
            "Uint16Array",
            "Uint32Array",
            "Uint8Array",
            "Uint8ClampedArray",
            "WeakMap",
            "WeakSet",
            "decodeURI",
            "decodeURIComponent",
            "encodeURI",
            "encodeURIComponent",
            "escape",
            "eval",
            "globalThis",
            "isFinite",
            "isNaN",
            "parseFloat",
            "parseInt",
            "undefined",
            "unescape",
            "queueMicrotask",
            "DOMException",
            "Performance",
            "performance",
            "DisposableStack",
            "AsyncDisposableStack",
            "SuppressedError",
        ];
        let ours = names.into_iter().filter(|name| !of_the_language.contains(&name.as_str()));
        ours.filter(|name| !name.contains(':')).collect()
    }

    #[test]
    fn every_name_that_a_script_finds_is_declared_and_no_other() {
        let functions = FUNCTIONS.iter().map(|(name, _)| (*name).to_owned());
        let types = TYPES.iter().map(|name| (*name).to_owned());
        let objects = ["variables", "args"].map(str::to_owned);
        let declared: BTreeSet<String> = functions.chain(types).chain(objects).collect();
        assert_eq!(declared, defined());
    }

    #[test]
    fn variables_inputs_and_outputs_have_typed_accessors() {
        let around = Surroundings {
            variables: vec![
                ("order total".to_owned(), Type::Double),
                ("Lines".to_owned(), Type::texts()),
                ("a\"b".to_owned(), Type::Object),
            ],
            inputs: vec![
                ("amount".to_owned(), Type::Integer(32)),
                ("Lines".to_owned(), Type::Object),
            ],
            outputs: vec![("Fetch".to_owned(), "statusCode".to_owned(), Type::StatusCode)],
            ..Surroundings::default()
        };
        let text = declarations(&around, &[]);
        for line in [
            "  \"order total\": number;",
            "  \"a\\\"b\": any;",
            "declare function getOrderTotal(): number;",
            "declare function setOrderTotal(value: number): void;",
            "declare function getLines(): Array<string>;",
            "declare function getAmount(): number;",
            "declare function getStatusCodeFromFetch(): number;",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
        assert_eq!(text.matches("getLines(").count(), 1);
        let value = JavaScript::new().evaluate("getCounter()", &mut furnished());
        assert_eq!(value.unwrap_or(Value::Null), json!(4));
    }
}
