//! JSON Schemas of definitions, for editors: what they complete, explain and mark as wrong.

mod workers;

use engine::{Descriptor, InputDescriptor, PortKind, Type};
use model::activity_type::VERSION_MAX;
use model::{Map, limits};
use serde_json::{Value, json};

use crate::vocabulary::Vocabulary;

pub use workers::short_with;

const DIALECT: &str = "http://json-schema.org/draft-07/schema#";

/// Texts that are converted to a number. An empty one is no value.
const NUMBER: &str = r"^\s*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)?\s*$";

/// The two forms.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Full,
    Short,
}

/// The JSON Schema of definitions in the full form, which Elsa writes.
#[must_use]
pub fn full(vocabulary: &Vocabulary) -> Value {
    let definitions = definitions(vocabulary, Form::Full);
    json!({
        "$schema": DIALECT,
        "title": "Workflow definition",
        "description": "A definition in the full form, as Elsa Studio exports it.",
        "type": "object",
        "required": ["root"],
        "properties": document(Form::Full),
        "$defs": definitions,
    })
}

/// The JSON Schema of definitions in the short form.
#[must_use]
pub fn short(vocabulary: &Vocabulary) -> Value {
    let definitions = definitions(vocabulary, Form::Short);
    json!({
        "$schema": DIALECT,
        "title": "Workflow definition, short form",
        "description": "A definition for people who write by hand: docs/short-form.md describes it.",
        "anyOf": [
            {"type": "array", "description": "A sequence.", "items": reference("activity")},
            {
                "type": "object",
                "properties": document(Form::Short),
                "anyOf": [
                    {"required": ["root"]}, {"required": ["flow"]}, {"required": ["type"]},
                    {"required": ["full"]}
                ],
                "if": {"required": ["root", "id"]},
                "then": {"required": ["definitionId"],
                    "properties": {"definitionId": {"minLength": 1}}},
                "else": {
                    "if": {"required": ["flow", "id"], "not": {"required": ["type"]}},
                    "then": {"required": ["definitionId"],
                        "properties": {"definitionId": {"minLength": 1}}}
                }
            }
        ],
        "$defs": definitions,
    })
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn document(form: Form) -> Value {
    let said = |kind: &str, text: &str| json!({"type": kind, "description": text});
    let mut properties = json!({
        "definitionId": said("string", "The id of the definition across its versions."),
        "name": {"type": ["string", "null"], "description": "Its name for people."},
        "description": {"type": ["string", "null"], "description": "Its purpose."},
        "variables": reference("variables"),
        "inputs": reference("inputs"),
        "outputs": reference("outputs"),
        "outcomes": {"type": ["array", "null"], "items": {"type": "string"},
            "description": "Its outcomes when it is used as an activity."},
        "customProperties": {"type": ["object", "null"], "description": "Data that tools keep with it.",
            "properties": {"Flowchart:ExecutionMode": execution_mode()}},
        "options": {
            "type": ["object", "null"], "description": "The rules for starting and failing.",
            "properties": {
                "activationStrategyType": {"type": ["string", "null"],
                    "description": "The rule for instances that run at the same time: AllowAlwaysStrategy, SingletonStrategy, CorrelationStrategy or CorrelatedSingletonStrategy."},
                "incidentStrategyType": {"type": ["string", "null"],
                    "description": "The effect of an incident: FaultStrategy or ContinueWithIncidentsStrategy."},
                "usableAsActivity": {"type": ["boolean", "null"],
                    "description": "Other workflows may use it as an activity."},
                "autoUpdateConsumingWorkflows": {"type": ["boolean", "null"],
                    "description": "When a version is published, the workflows that use another one get a new version."},
            }
        },
        "root": reference("activity"),
    });
    if let (Form::Short, Some(properties)) = (form, properties.as_object_mut()) {
        properties.insert("flow".to_owned(), reference("flow"));
        properties.insert(
            "each".to_owned(),
            json!({"type": "object",
            "description": "Members that every activity has unless it says otherwise."}),
        );
    }
    properties
}

fn definitions(vocabulary: &Vocabulary, form: Form) -> Value {
    let mut all = Map::new();
    all.insert("activity".to_owned(), activity(vocabulary, form));
    all.insert("variables".to_owned(), declared(form, "typeName", "Variables", true));
    all.insert("inputs".to_owned(), declared(form, "type", "Inputs", false));
    all.insert("outputs".to_owned(), declared(form, "type", "Outputs", false));
    all.insert("connection".to_owned(), connection(form));
    all.insert("any".to_owned(), json!({"properties": common(form)}));
    all.insert("wrapped".to_owned(), wrapped());
    all.insert("bound".to_owned(), bound());
    if form == Form::Short {
        all.insert("flow".to_owned(), flow());
        all.insert("next".to_owned(), next());
        all.insert("expression".to_owned(), expression());
    }
    for descriptor in vocabulary.descriptors() {
        all.insert(descriptor.type_name.to_owned(), of_type(descriptor, form));
    }
    Value::Object(all)
}

/// Any activity: its type decides about its members.
fn activity(vocabulary: &Vocabulary, form: Form) -> Value {
    let known = vocabulary.descriptors().map(|descriptor| {
        let names = names(vocabulary, descriptor, form);
        json!({
            "if": {"required": ["type"], "properties": {"type": {"enum": names}}},
            "then": reference(descriptor.type_name),
        })
    });
    let types = vocabulary.descriptors().map(|descriptor| {
        let names = names(vocabulary, descriptor, form);
        json!({"enum": names, "description": descriptor.description})
    });
    let type_name = json!({
        "description": "The activity type: one of these, or a workflow that is used as an activity.",
        "anyOf": types.chain([json!({"type": "string"})]).collect::<Vec<_>>(),
    });
    let object = json!({
        "type": "object",
        "properties": {"type": type_name},
        "allOf": known.collect::<Vec<_>>(),
    });
    match form {
        Form::Full => json!({"required": ["type"], "allOf": [object]}),
        Form::Short => json!({"anyOf": [
            {"type": "array", "description": "A sequence.", "items": reference("activity")},
            {"allOf": [object], "anyOf": [
                {"required": ["type"]}, {"required": ["flow"], "properties": {"flow": reference("flow")}},
                {"required": ["full"]}
            ]}
        ]}),
    }
}

fn names(vocabulary: &Vocabulary, descriptor: &Descriptor, form: Form) -> Vec<String> {
    let short = vocabulary.short(descriptor.type_name);
    match form {
        Form::Short if short != descriptor.type_name => {
            vec![short.to_owned(), descriptor.type_name.to_owned()]
        }
        _ => vec![descriptor.type_name.to_owned()],
    }
}

/// The activities of one type.
fn of_type(descriptor: &Descriptor, form: Form) -> Value {
    let mut properties = shared(form);
    for output in &descriptor.outputs {
        properties.insert(output.name.to_owned(), output_schema(output.description, form));
    }
    for input in &descriptor.inputs {
        let mut schema = if input.is_wrapped {
            value(input, form)
        } else {
            json!({"anyOf": [plain(&input.ty), {"type": ["object", "array", "string", "null"]}]})
        };
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), input.description.into());
            if !input.default_value.is_null() {
                members.insert("default".to_owned(), input.default_value.clone());
            }
        }
        properties.insert(input.name.to_owned(), schema);
    }
    for port in &descriptor.ports {
        if let Some(schema) = port_schema(port.kind) {
            properties.insert(port.name.to_owned(), schema);
        }
    }
    if descriptor.type_name == "Elsa.Flowchart" {
        properties.insert("connections".to_owned(), json!({"type": "array",
            "description": "The connections between the activities.", "items": reference("connection")}));
        properties.insert(
            "start".to_owned(),
            json!({"type": ["string", "null"],
            "description": "Has no effect: a flowchart begins with its Elsa.Start, or else with \
                what no connection leads to."}),
        );
        if form == Form::Short {
            properties.insert("flow".to_owned(), reference("flow"));
        }
    }
    let mut schema = json!({
        "title": descriptor.display_name,
        "description": descriptor.description,
        "type": "object",
        "properties": properties,
    });
    if let (Form::Short, Some(members)) = (form, schema.as_object_mut()) {
        members.insert("additionalProperties".to_owned(), false.into());
    }
    schema
}

/// The members that activities of every type may have, each as a reference.
fn shared(form: Form) -> Map {
    let shared = common(form).into_iter().map(|(name, _)| {
        let schema = reference(&format!("any/properties/{name}"));
        (name, schema)
    });
    shared.collect()
}

/// The members that activities of every type may have.
fn common(form: Form) -> Map {
    let mut all = Map::new();
    let mut add = |name: &str, kind: Value, text: &str| {
        all.insert(name.to_owned(), json!({"type": kind, "description": text}));
    };
    let (text, flag) = (json!(["string", "null"]), json!(["boolean", "null"]));
    add("type", json!("string"), "The activity type.");
    add("id", text.clone(), "Its id within the workflow.");
    add("nodeId", text.clone(), "The ids from the root.");
    add("name", text.clone(), "Its name for people and for scripts.");
    add("displayName", text.clone(), "Its name in the designer.");
    add("version", json!(["integer", "null"]), "The version of the activity type.");
    add("canStartWorkflow", flag.clone(), "A trigger starts the workflow.");
    add("runAsynchronously", flag, "Has no effect: activities never block each other.");
    add("applicationProperties", json!(["object", "null"]), "Data that older tools keep with it.");
    add("metadata", json!(["object", "null"]), "Its place in the designer.");
    add("source", text, "Where it was written, if a tool says so.");
    add("line", json!(["integer", "string", "null"]), "The line there.");
    all.insert("customProperties".to_owned(), custom_properties());
    all.insert("variables".to_owned(), reference("variables"));
    if form == Form::Short {
        all.insert("next".to_owned(), reference("next"));
    }
    all
}

/// The custom properties of an activity: those that mean something, and any others.
fn custom_properties() -> Value {
    json!({
        "type": ["object", "null"], "description": "Data that tools keep with it.",
        "properties": {
            "mergeMode": {
                "description": "When the activity runs, in a flowchart in token mode.",
                "enum": ["None", "Stream", "Merge", "Converge", "Cascade", "Race", null]
            },
            "Flowchart:ExecutionMode": execution_mode(),
            "retry": retry(),
        }
    })
}

fn execution_mode() -> Value {
    json!({
        "description": "How flowcharts run.",
        "enum": ["TokenBased", "CounterBased", "Default", null]
    })
}

/// The retries of an activity that makes calls: `docs/retries.md` describes them.
fn retry() -> Value {
    let duration = |text: &str| {
        json!({"type": ["string", "null"], "description": text,
            "examples": ["00:00:05", "PT5S", "5s"]})
    };
    json!({
        "type": ["object", "null"], "description": "When a call that failed is made again.",
        "additionalProperties": false,
        "properties": {
            // Elsa's names of the same, and what its strategies have beside them.
            "maxRetryAttempts": {}, "backoffType": {}, "useJitter": {},
            "$type": {}, "id": {}, "displayName": {},
            "attempts": {"type": ["integer", "null"], "minimum": 1,
                "maximum": limits::CALL_ATTEMPTS_MAX,
                "description": "How often the call is made, the first time included.", "default": 4},
            "backoff": {"enum": ["constant", "linear", "exponential", null],
                "description": "How the pauses grow.", "default": "exponential"},
            "delay": duration("The first pause."),
            "maxDelay": duration("The longest pause."),
            "jitter": {"type": ["boolean", "null"], "default": false,
                "description": "A pause is between one half and the whole, at random."},
            "on": {"type": ["array", "null"],
                "description": "The failures after which the call is made again.",
                "items": {"anyOf": [
                    {"enum": ["timeout", "connect", "4xx", "5xx"]},
                    {"type": "integer", "minimum": 100, "maximum": 599},
                    {"type": "string", "pattern": "^[1-5][0-9][0-9]$"}
                ]}}
        }
    })
}

fn port_schema(kind: PortKind) -> Option<Value> {
    let activity = || json!({"anyOf": [reference("activity"), {"type": "null"}]});
    match kind {
        PortKind::Flow => None,
        PortKind::Embedded => Some(activity()),
        PortKind::List => Some(json!({"type": ["array", "null"], "items": reference("activity")})),
        PortKind::Parts(members) => {
            let members: Map =
                members.iter().map(|member| ((*member).to_owned(), activity())).collect();
            let item = json!({"type": "object", "properties": members});
            Some(json!({"type": ["array", "null"], "items": item}))
        }
    }
}

fn output_schema(description: &str, form: Form) -> Value {
    let bound = reference("bound");
    match form {
        Form::Full => json!({"description": description, "anyOf": [bound, {"type": "null"}]}),
        Form::Short => json!({
            "description": format!("{description} Name the variable that gets it."),
            "anyOf": [{"type": "string"}, bound, {"type": "null"}]
        }),
    }
}

/// A value with its expression, as Elsa writes it.
fn wrapped() -> Value {
    json!({"type": "object", "properties": {
        "typeName": {"type": "string"},
        "expression": {"type": "object", "properties": {
            "type": {"type": "string", "examples": ["Literal", "Object", "Variable", "Input", "JavaScript", "Liquid", "Sql"]},
            "value": {}
        }}
    }})
}

/// The variable or output that gets a result, as Elsa writes it.
fn bound() -> Value {
    json!({"type": "object", "properties": {
        "typeName": {"type": "string"},
        "memoryReference": {"type": "object", "properties": {"id": {"type": "string"}}}
    }})
}

/// The value of an input: plain where that is possible, or an expression.
fn value(input: &InputDescriptor, form: Form) -> Value {
    let wrapped = reference("wrapped");
    match form {
        Form::Full => {
            json!({"anyOf": [wrapped, {"type": ["string", "number", "boolean", "array", "null"]}]})
        }
        Form::Short => {
            let plain = if input.is_ordinal { ordinal() } else { plain(&input.ty) };
            json!({"anyOf": [plain, reference("expression"), wrapped, {"type": "null"}]})
        }
    }
}

fn ordinal() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": VERSION_MAX})
}

fn plain(ty: &Type) -> Value {
    match ty {
        Type::Object | Type::Json => json!({}),
        Type::String | Type::DateTime | Type::Text(_) | Type::Script(_) => {
            json!({"type": ["string", "number", "boolean"]})
        }
        Type::TimeSpan => json!({"type": "string", "examples": ["00:00:05", "PT5S", "5s"]}),
        Type::Boolean => json!({"type": ["boolean", "string"]}),
        Type::Integer(_) | Type::Unsigned(_) | Type::Double => {
            json!({"type": ["number", "string"], "pattern": NUMBER})
        }
        Type::StatusCode => json!({"type": ["integer", "string"]}),
        Type::Enum(words) => json!({"enum": words}),
        Type::List(_) => json!({"type": ["array", "string"]}),
        Type::Dictionary | Type::TextDictionary => json!({"type": "object"}),
    }
}

fn expression() -> Value {
    let one = |name: &str, text: &str| {
        json!({"type": "object", "required": [name], "additionalProperties": false,
            "properties": {name: {"description": text}}})
    };
    json!({"anyOf": [
        one("js", "JavaScript."),
        one("liquid", "A Liquid template."),
        one("sql", "SQL, with {{Variable.Name}} and {{Input.Name}} for values."),
        one("variable", "The value of the variable of this name."),
        one("input", "The value of the workflow's input of this name."),
        one("secret", "The value of the secret of this name."),
        one("literal", "The value as it is, where it looks like one of the others."),
        one("object", "JSON as a text."),
    ]})
}

fn declared(form: Form, type_member: &str, what: &str, has_value: bool) -> Value {
    let type_name = json!({"type": ["string", "null"], "examples": [
        "String", "Boolean", "Int32", "Int64", "Double", "Decimal", "DateTime", "TimeSpan", "Object"
    ]});
    let mut item = json!({"type": "object", "properties": {
        "name": {"type": "string"}, type_member: type_name, "isArray": {"type": "boolean"}
    }});
    let mut one = json!({"type": "object", "properties": {
        "type": type_name, "isArray": {"type": "boolean"}, "description": {"type": "string"}
    }});
    // Variables have values, inputs and outputs have not.
    if has_value {
        item["properties"]["searchable"] = searchable();
        one["properties"]["searchable"] = searchable();
    }
    let list = json!({"type": ["array", "null"], "items": item});
    if form == Form::Full {
        return json!({"description": what, "anyOf": [list]});
    }
    let plain = if has_value { json!({}) } else { json!({"type": "string"}) };
    let said = if has_value {
        "by name: a value, or {type, value}"
    } else {
        "by name: a type, or {type, description}"
    };
    json!({
        "description": format!("{what} {said}."),
        "anyOf": [{"type": "object", "additionalProperties": {"anyOf": [one, plain]}}, list]
    })
}

/// The member of a variable by whose values instances are found.
fn searchable() -> Value {
    json!({
        "description": "What the values are compared as, if instances are found by them; only for \
            variables of the workflow itself, 16 at most.",
        "enum": ["text", "number", "time", "boolean", null]
    })
}

fn connection(form: Form) -> Value {
    // Up to Elsa 3.0 an end is an id, and its port a member of the connection.
    let end = json!({"anyOf": [
        {"type": "string"},
        {"type": "object", "properties": {
            "activity": {"type": "string"}, "port": {"type": ["string", "null"]}
        }}
    ]});
    let full = json!({"type": "object", "properties": {"source": end, "target": end}});
    match form {
        Form::Full => full,
        Form::Short => json!({"anyOf": [
            {"type": "string", "description": "a -> b, or a.Outcome -> b", "pattern": "->"},
            {"type": "object", "required": ["from", "to"],
                "properties": {"from": {"type": "string"}, "to": {"type": "string"}}},
            full
        ]}),
    }
}

fn flow() -> Value {
    json!({
        "description": "The activities of a flowchart, by their ids or as a list.",
        "anyOf": [
            {"type": "object", "additionalProperties": reference("activity")},
            {"type": "array", "items": reference("activity")}
        ]
    })
}

fn next() -> Value {
    let ids =
        json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    json!({
        "description": "The activities that follow, by their ids; or by the outcomes that lead to them.",
        "anyOf": [ids, {"type": "object", "additionalProperties": ids}]
    })
}
