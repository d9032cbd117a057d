//! What a test file may have: each member once, with its kind and its meaning. The reader refuses
//! all others, and the JSON Schema for editors is made of the same tables.

use Kind::{
    Any, Calls, Happening, List, Named, Number, Object, Optional, Text, Time, Values, Words,
};
use serde_json::{Map, Value, json};

/// A member of an object.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    kind: Kind,
    is_needed: bool,
    meaning: &'static str,
}

/// The kind of a value.
pub(crate) enum Kind {
    Text,
    /// A text or null.
    Optional,
    /// One of these texts.
    Words(&'static [&'static str]),
    /// RFC 3339.
    Time,
    Number,
    Any,
    /// Names and values of any kind.
    Values,
    List(&'static Kind),
    /// Any names, each with a value of this kind.
    Named(&'static Kind),
    Object(&'static [Field]),
    /// Answers by method and URL.
    Calls,
    /// Something that happens, with these members besides.
    Happening(&'static [Field]),
    /// The first member alone, or an object with the members to compare.
    Alike(&'static [Field]),
}

const fn field(name: &'static str, kind: Kind, meaning: &'static str) -> Field {
    Field { name, kind, is_needed: false, meaning }
}

const fn needed(name: &'static str, kind: Kind, meaning: &'static str) -> Field {
    Field { name, kind, is_needed: true, meaning }
}

/// The members of a file.
pub(crate) const FILE: &[Field] = &[
    field(
        "definition",
        Text,
        "The file of the definition; without it, the one with the same name.",
    ),
    field("uses", List(&Text), "The files of the workflows that it uses as activities."),
    field(
        "calls",
        Calls,
        "Answers to calls, for all tests: by method and URL, with * for any characters.",
    ),
    field("tasks", Values, "Results of tasks by name, for all tests."),
    field(
        "workflows",
        Named(&Object(WORKFLOW)),
        "Ends of child workflows by definition id, for all tests.",
    ),
    field("secrets", Values, "Values of secrets by name, for all tests."),
    field("pins", Named(&Object(PIN)), "Results of activities by id or name, for all tests."),
    needed("tests", Named(&Object(TEST)), "The tests, by their names."),
    field("$schema", Text, "The schema of this file, for editors."),
];

/// The members of a test.
pub(crate) const TEST: &[Field] = &[
    field("input", Values, "The input of the start."),
    field("properties", Values, "Properties of the start, such as Flowchart:ExecutionMode."),
    field("correlationId", Text, "The correlation id of the start."),
    field("variables", Values, "Values that variables have at the start, by id or name."),
    field("start", Happening(&[]), "The trigger; without it, a plain start."),
    field("now", Time, "The time of the start; 2026-01-01T00:00:00Z if not given."),
    field(
        "steps",
        List(&Happening(AFTER)),
        "What happens, in this order. A step waits until something waits for it, and timers fire meanwhile.",
    ),
    field(
        "time",
        Text,
        "Timers that are due later than this after the start do not fire, such as 10h.",
    ),
    field("calls", Calls, "Answers to calls: by method and URL, with * for any characters."),
    field("tasks", Values, "Results of tasks by name; one that is not here goes on waiting."),
    field("workflows", Named(&Object(WORKFLOW)), "Ends of child workflows by definition id."),
    field("secrets", Values, "Values of secrets by name."),
    field(
        "pins",
        Named(&Object(PIN)),
        "Results of activities by id or name: such an activity does nothing, and has this result.",
    ),
    needed("expect", Object(EXPECT), "What is expected; what is not here is not checked."),
];

/// The member of a step besides what happens.
pub(crate) const AFTER: &[Field] =
    &[field("after", Text, "It happens at this time after the start, such as 10m.")];

/// What may happen; the first member of each says which it is.
pub(crate) const HAPPENINGS: [&[Field]; 4] = [
    &[
        needed("event", Text, "The name of an event."),
        field("payload", Any, "The payload of the event."),
    ],
    &[needed("http", Object(HTTP), "An HTTP request.")],
    &[
        needed("activity", Text, "The id or name of the activity that is resumed or started at."),
        field("input", Values, "What it is given."),
    ],
    &[needed("cancel", Optional, "The reason why the instance is cancelled.")],
];

/// The members of an HTTP request.
pub(crate) const HTTP: &[Field] = &[
    field("method", Text, "GET if not given."),
    needed("path", Text, "Such as orders/7."),
    field("route", Values, "Values of the path's parameters."),
    field("query", Values, "Values of the query."),
    field("headers", Values, "Headers."),
    field("body", Any, "The body, parsed."),
    field("form", Values, "Values of a form."),
];

/// The members of the answer to a call.
pub(crate) const ANSWER: &[Field] = &[
    field("status", Number, "The HTTP status; 200 if not given."),
    field("headers", Values, "Headers."),
    field("body", Any, "The body."),
    field("result", Values, "The result of a call that is not HTTP, such as SQL on orders."),
    field("error", Words(&ERRORS), "The call fails with this error."),
    field("message", Text, "The message of the error."),
];

/// The errors of calls.
pub(crate) const ERRORS: [&str; 4] = ["timeout", "connect", "refused", "failed"];

/// The members of the end of a child workflow.
pub(crate) const WORKFLOW: &[Field] = &[
    field("output", Values, "Its output."),
    field("status", Words(&["Finished", "Cancelled", "Faulted"]), "Finished if not given."),
];

/// The members of a result that is given.
pub(crate) const PIN: &[Field] = &[
    field("outcome", Text, "The outcome that the activity completes with; Done if not given."),
    field("outcomes", List(&Text), "Several outcomes."),
    field("outputs", Values, "Its outputs by name."),
];

/// What can be expected.
pub(crate) const EXPECT: &[Field] = &[
    field(
        "status",
        Words(&["Finished", "Suspended", "Faulted", "Cancelled"]),
        "The status at the end.",
    ),
    field("lines", List(&Text), "The lines that were written."),
    field("path", List(&Text), "The activities that began, by id or name, without the root."),
    field("output", Values, "The outputs that are named."),
    field(
        "calls",
        List(&Kind::Alike(CALL)),
        "The calls that were made, in order, such as GET https://example.com/a.",
    ),
    field("tasks", List(&Kind::Alike(TASK)), "The tasks that were asked for, in order."),
    field(
        "workflows",
        List(&Kind::Alike(CHILD)),
        "The child workflows that were started, in order.",
    ),
    field("events", List(&Kind::Alike(EVENT)), "The events that were published, in order."),
    field("responses", List(&Kind::Alike(RESPONSE)), "The HTTP responses, in order."),
    field("incident", Optional, "A part of the newest incident's message."),
    field("waits", List(&Text), "The activities that wait, by id or name."),
    field("took", Text, "The time from the start to the newest turn, such as 1h."),
];

const CALL: &[Field] = &[
    field("call", Text, "The method and the URL."),
    field("headers", Values, "Its headers."),
    field("body", Any, "Its body."),
];
const TASK: &[Field] =
    &[field("task", Text, "The name of the task."), field("payload", Any, "Its payload.")];
const CHILD: &[Field] = &[
    field("workflow", Text, "The id of the definition."),
    field("input", Values, "Its input."),
    field("correlationId", Optional, "Its correlation id."),
];
const EVENT: &[Field] = &[
    field("event", Text, "The name of the event."),
    field("payload", Any, "Its payload."),
    field("correlationId", Optional, "Its correlation id."),
];
const RESPONSE: &[Field] = &[
    field("status", Number, "The HTTP status."),
    field("headers", Values, "Its headers."),
    field("contentType", Optional, "The type of its body."),
    field("body", Any, "Its body."),
];

/// The words of which an expectation is one.
pub(crate) fn words(expectation: &str) -> Option<&'static [&'static str]> {
    match EXPECT.iter().find(|field| field.name == expectation)?.kind {
        Words(words) => Some(words),
        _ => None,
    }
}

/// The members of the items of an expected list; none if its items are texts.
pub(crate) fn alike(expectation: &str) -> Option<&'static [Field]> {
    let field = EXPECT.iter().find(|field| field.name == expectation)?;
    match field.kind {
        List(Kind::Alike(fields)) => Some(*fields),
        _ => None,
    }
}

/// The JSON Schema of test files.
#[must_use]
pub fn schema() -> Value {
    let mut schema = object(FILE);
    for (name, value) in [
        ("description", "A file *.test.yaml of staunch test: docs/testing.md describes it."),
        ("title", "Tests of a workflow definition"),
        ("$schema", "http://json-schema.org/draft-07/schema#"),
    ] {
        schema.shift_insert(0, name.to_owned(), value.into());
    }
    schema.insert("$defs".to_owned(), json!({"calls": calls()}));
    schema.into()
}

fn calls() -> Value {
    let answer = Value::Object(object(ANSWER));
    json!({
        "type": "object",
        "propertyNames": {"pattern": "^[^ ]+ "},
        "additionalProperties": {"anyOf": [answer, {"type": "array", "items": answer}]},
    })
}

fn object<'f>(fields: impl IntoIterator<Item = &'f Field>) -> Map<String, Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in fields {
        let mut schema = field.kind.schema();
        schema["description"] = field.meaning.into();
        properties.insert(field.name.to_owned(), schema);
        required.extend(field.is_needed.then_some(field.name));
    }
    let mut object = Map::new();
    object.insert("type".to_owned(), "object".into());
    if !required.is_empty() {
        object.insert("required".to_owned(), required.into());
    }
    object.insert("properties".to_owned(), properties.into());
    object.insert("additionalProperties".to_owned(), false.into());
    object
}

impl Kind {
    fn schema(&self) -> Value {
        match self {
            Text => json!({"type": "string"}),
            Optional => json!({"type": ["string", "null"]}),
            Words(words) => json!({"type": "string", "enum": words}),
            Time => json!({"type": "string", "format": "date-time"}),
            Number => json!({"type": "integer"}),
            Any => json!({}),
            Values => json!({"type": ["object", "null"]}),
            List(kind) => json!({"type": "array", "items": kind.schema()}),
            Named(kind) => {
                json!({"type": "object", "minProperties": 1, "additionalProperties": kind.schema()})
            }
            Object(fields) => object(*fields).into(),
            // Draft 7 ignores what is beside a reference.
            Calls => json!({"allOf": [{"$ref": "#/$defs/calls"}]}),
            Happening(more) => {
                let all = HAPPENINGS.iter().map(|own| object(own.iter().chain(*more)));
                json!({"anyOf": all.collect::<Vec<_>>()})
            }
            Kind::Alike(fields) => {
                let first = fields.first().map(|field| field.kind.schema());
                json!({"anyOf": [first, object(*fields)]})
            }
        }
    }
}
