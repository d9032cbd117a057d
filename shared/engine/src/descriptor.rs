//! The description of an activity type: enough to compile it, to draw it and to list it.

use serde::Serialize;
use serde_json::Value;

use crate::Type;

/// The description of an activity type, in the shape of Elsa's activity descriptors.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// Such as `Elsa.WriteLine`.
    pub type_name: &'static str,
    /// Such as `Elsa`.
    pub namespace: &'static str,
    /// Such as `WriteLine`.
    pub name: &'static str,
    /// Always 1.
    pub version: u32,
    /// The group in which the designer lists it.
    pub category: &'static str,
    /// The name in the designer.
    pub display_name: &'static str,
    /// Its purpose, in a sentence.
    pub description: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// It holds other activities in a list.
    pub is_container: bool,
    /// The designer lists it.
    pub is_browsable: bool,
    /// The preferred start of a flowchart.
    pub is_start: bool,
    /// Its completion ends the enclosing flowchart or sequence.
    pub is_terminal: bool,
    /// `Break` inside ends it.
    #[serde(skip)]
    pub is_loop: bool,
    /// It makes calls to something outside, which may be made again after failures.
    #[serde(skip)]
    pub makes_calls: bool,
    /// The variables that it gives to the activities in it.
    #[serde(skip)]
    pub gives: &'static [&'static str],
    /// It may complete with other outcomes than those of its ports.
    #[serde(skip)]
    pub has_more_outcomes: bool,
    /// Inputs, in order.
    pub inputs: Vec<InputDescriptor>,
    /// Outputs, in order.
    pub outputs: Vec<OutputDescriptor>,
    /// Ports, in order.
    pub ports: Vec<Port>,
}

/// The kind of an activity type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Kind {
    /// Runs.
    Action,
    /// Runs, and can start a workflow.
    Trigger,
    /// Asks for an effect outside the instance, and waits for the result.
    Task,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InputDescriptor {
    /// The property in the JSON.
    pub name: &'static str,
    /// The type that values are converted to.
    #[serde(rename = "typeName")]
    pub ty: Type,
    /// The name in the designer.
    pub display_name: String,
    /// Its meaning.
    pub description: &'static str,
    /// Position in the designer.
    pub order: usize,
    /// It may be an expression; plain JSON otherwise.
    pub is_wrapped: bool,
    /// Its value if none is given.
    pub default_value: Value,
    /// The language the designer offers first.
    pub default_syntax: &'static str,
    /// The words that it may be; empty if any value is allowed.
    pub options: Vec<&'static str>,
    /// The arguments that its expression is evaluated with: `args` in JavaScript.
    #[serde(skip)]
    pub arguments: &'static [&'static str],
    /// Its script may set outcomes.
    #[serde(skip)]
    pub sets_outcomes: bool,
    /// It is a whole number from 1 on, and not rounded to one as others are.
    #[serde(skip)]
    pub is_ordinal: bool,
    /// It must have a value, unless one of these inputs has one; none where it may be left out.
    #[serde(skip)]
    pub required_unless: Option<&'static [&'static str]>,
}

/// An output.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputDescriptor {
    /// The property in the JSON.
    pub name: &'static str,
    /// Its type.
    #[serde(rename = "typeName")]
    pub ty: Type,
    /// The name in the designer.
    pub display_name: String,
    /// Its meaning.
    pub description: &'static str,
}

/// A way out of an activity, or a place for embedded activities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Port {
    /// An outcome, or a property in the JSON.
    pub name: &'static str,
    /// The name in the designer.
    pub display_name: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: PortKind,
    /// The designer shows it.
    pub is_browsable: bool,
    /// The plain input that has to be true for the activity to leave through it.
    #[serde(skip)]
    pub exposed_by: Option<&'static str>,
}

/// The kind of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum PortKind {
    /// An outcome to connect.
    Flow,
    /// A property that holds one activity.
    Embedded,
    /// A property that holds a list of activities.
    #[serde(rename = "Embedded")]
    List,
    /// A property that holds a list of objects, each with an activity in some of these members.
    #[serde(rename = "Embedded")]
    Parts(#[serde(skip)] &'static [&'static str]),
}

impl Descriptor {
    /// A plain action with no inputs.
    #[must_use]
    pub fn new(type_name: &'static str, category: &'static str, description: &'static str) -> Self {
        let (namespace, name) = type_name.rsplit_once('.').unwrap_or(("", type_name));
        Self {
            type_name,
            namespace,
            name,
            version: 1,
            category,
            display_name: name,
            description,
            kind: Kind::Action,
            is_container: false,
            is_browsable: true,
            is_start: false,
            is_terminal: false,
            is_loop: false,
            makes_calls: false,
            gives: &[],
            has_more_outcomes: false,
            inputs: Vec::new(),
            outputs: Vec::new(),
            ports: Vec::new(),
        }
    }

    /// With another display name.
    #[must_use]
    pub fn called(mut self, display_name: &'static str) -> Self {
        self.display_name = display_name;
        self
    }

    /// Of this kind.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The preferred start of a flowchart.
    #[must_use]
    pub fn start(mut self) -> Self {
        self.is_start = true;
        self
    }

    /// Its completion ends the enclosing flowchart or sequence.
    #[must_use]
    pub fn terminal(mut self) -> Self {
        self.is_terminal = true;
        self
    }

    /// `Break` inside ends it.
    #[must_use]
    pub fn loops(mut self) -> Self {
        self.is_loop = true;
        self
    }

    /// It makes calls to something outside, which may be made again after failures.
    #[must_use]
    pub fn calls(mut self) -> Self {
        self.makes_calls = true;
        self
    }

    /// Gives these variables to the activities in it.
    #[must_use]
    pub fn gives(mut self, names: &'static [&'static str]) -> Self {
        self.gives = names;
        self
    }

    /// With an input that may be an expression.
    #[must_use]
    pub fn input(mut self, name: &'static str, ty: Type, description: &'static str) -> Self {
        let default_syntax = match ty {
            Type::Script(language) => language,
            Type::List(_) | Type::Json | Type::Dictionary | Type::TextDictionary => "Object",
            _ => "Literal",
        };
        let options = if let Type::Enum(words) = ty { words.to_vec() } else { Vec::new() };
        self.inputs.push(InputDescriptor {
            name,
            ty,
            display_name: humanized(name),
            description,
            order: self.inputs.len(),
            is_wrapped: true,
            default_value: Value::Null,
            default_syntax,
            options,
            arguments: &[],
            sets_outcomes: false,
            is_ordinal: false,
            required_unless: None,
        });
        self
    }

    /// The input added last has this value when it is given none.
    #[must_use]
    pub fn default(mut self, value: impl Into<Value>) -> Self {
        if let Some(input) = self.inputs.last_mut() {
            input.default_value = value.into();
        }
        self
    }

    /// The input added last must have a value.
    #[must_use]
    pub fn required(self) -> Self {
        self.required_unless(&[])
    }

    /// The input added last must have a value, unless one of these has one.
    #[must_use]
    pub fn required_unless(mut self, others: &'static [&'static str]) -> Self {
        if let Some(input) = self.inputs.last_mut() {
            input.required_unless = Some(others);
        }
        self
    }

    /// The input added last is plain JSON, never an expression.
    #[must_use]
    pub fn raw(mut self) -> Self {
        if let Some(input) = self.inputs.last_mut() {
            input.is_wrapped = false;
        }
        self
    }

    /// The input added last is evaluated with these arguments.
    #[must_use]
    pub fn arguments(mut self, names: &'static [&'static str]) -> Self {
        if let Some(input) = self.inputs.last_mut() {
            input.arguments = names;
        }
        self
    }

    /// The input added last is a script that may set outcomes.
    #[must_use]
    pub fn sets_outcomes(mut self) -> Self {
        if let Some(input) = self.inputs.last_mut() {
            input.sets_outcomes = true;
        }
        self
    }

    /// The input added last is a whole number from 1 on, and not rounded to one.
    #[must_use]
    pub fn ordinal(mut self) -> Self {
        if let Some(input) = self.inputs.last_mut() {
            input.is_ordinal = true;
        }
        self
    }

    /// With an output.
    #[must_use]
    pub fn output(mut self, name: &'static str, ty: Type, description: &'static str) -> Self {
        let display_name = humanized(name);
        self.outputs.push(OutputDescriptor { name, ty, display_name, description });
        self
    }

    /// With outcomes to connect.
    #[must_use]
    pub fn outcomes(mut self, names: &[&'static str]) -> Self {
        for &name in names {
            self.ports.push(port(name, PortKind::Flow));
        }
        self
    }

    /// It may complete with other outcomes too, which its properties name.
    #[must_use]
    pub fn more_outcomes(mut self) -> Self {
        self.has_more_outcomes = true;
        self
    }

    /// With an outcome that exists only where this plain input is true.
    #[must_use]
    pub fn outcome_if(mut self, input: &'static str, name: &'static str) -> Self {
        self.ports.push(Port { exposed_by: Some(input), ..port(name, PortKind::Flow) });
        self
    }

    /// With a property that holds activities.
    #[must_use]
    pub fn port(mut self, name: &'static str, kind: PortKind) -> Self {
        self.is_container |= kind == PortKind::List;
        self.ports.push(port(name, kind));
        self
    }
}

fn port(name: &'static str, kind: PortKind) -> Port {
    let display_name = if kind == PortKind::Flow { name.to_owned() } else { humanized(name) };
    Port { name, display_name, kind, is_browsable: true, exposed_by: None }
}

/// `workflowDefinitionId` becomes `Workflow definition id`.
fn humanized(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (position, c) in name.chars().enumerate() {
        if position == 0 {
            out.extend(c.to_uppercase());
        } else if c.is_uppercase() {
            out.push(' ');
            out.extend(c.to_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}
