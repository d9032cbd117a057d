//! The outline of a compiled definition: its nodes, variables, inputs and outputs, without the code
//! of its activities. Flat and immutable.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::{ActivityId, ActivityType, Argument, DefinitionId, Map, Retry, Searchable, VersionId};
use serde_json::Value;

use crate::convert::convert;
use crate::keeping::Keeping;
use crate::schema::Schema;
use crate::{Descriptor, PortKind, Type};

/// The outline of one version of a definition.
pub(crate) struct Outline {
    pub(crate) definition_id: DefinitionId,
    pub(crate) version_id: VersionId,
    pub(crate) version: u32,
    pub(crate) name: Option<String>,
    pub(crate) is_system: bool,
    pub(crate) activation: Activation,
    /// An incident ends only its branch; none if the configuration decides.
    pub(crate) continues_with_incidents: Option<bool>,
    pub(crate) has_scripts: bool,
    /// Some variable is of the memory driver.
    pub(crate) hides: bool,
    /// Some variable of the workflow is searchable.
    pub(crate) is_searchable: bool,
    pub(crate) variables: Vec<Declared>,
    pub(crate) inputs: Vec<Argument>,
    pub(crate) outputs: Vec<Argument>,
    /// Custom properties of the definition, by their camelCase names.
    pub(crate) custom: Map,
    /// The nodes, children before their owner, so the root is the last.
    pub(crate) nodes: Vec<Node>,
    /// Nodes by their stable key.
    pub(crate) index: BTreeMap<String, NodeRef>,
}

/// The rule for instances that run at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// Any number.
    #[default]
    AllowAlways,
    /// One of this definition.
    Singleton,
    /// One of any definition with the same correlation id.
    Correlation,
    /// One of this definition with the same correlation id.
    CorrelatedSingleton,
}

/// The data that an activity type prepares once per definition, such as a flowchart's graph.
pub type Plan = Option<Box<dyn Any + Send + Sync>>;

/// A node of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeRef(pub(crate) u32);

/// An activity of the definition.
pub(crate) struct Node {
    pub(crate) id: ActivityId,
    /// The name of the node in states: its id where it is unique in the definition, else its path.
    pub(crate) key: String,
    /// Ids from the root, joined with `:`.
    pub(crate) path: String,
    /// The path of the workflow that it is a part of: the innermost one, if workflows are used as
    /// activities.
    pub(crate) scope: Arc<str>,
    /// What it runs instead of an activity of ours: a workflow, or a type that workers perform.
    pub(crate) used: Option<Box<Used>>,
    pub(crate) name: Option<String>,
    pub(crate) descriptor: Arc<Descriptor>,
    pub(crate) can_start: bool,
    pub(crate) custom: Map,
    pub(crate) variables: Vec<Declared>,
    pub(crate) inputs: BTreeMap<&'static str, Expression>,
    /// The values that the journal keeps.
    pub(crate) keeping: Keeping,
    /// The retries of its calls.
    pub(crate) retry: Option<RetryPolicy>,
    /// Its outputs that go somewhere.
    pub(crate) bindings: Vec<Binding>,
    pub(crate) children: BTreeMap<&'static str, Vec<NodeRef>>,
    /// The outcomes that its inputs name, beside those of its type; none where they are not known before
    /// it runs.
    pub(crate) named_outcomes: Option<Vec<String>>,
    /// Outcomes that the enclosing flowchart has connections for.
    pub(crate) connected: Vec<String>,
    /// It begins when its container begins.
    pub(crate) is_first: bool,
    pub(crate) plan: Plan,
}

/// An output that a variable or an output of the workflow gets.
pub(crate) struct Binding {
    pub(crate) output: String,
    /// The id or name of the variable, or the name of the workflow's output.
    pub(crate) target: String,
    /// The declared type of the target; none if it is not declared.
    pub(crate) ty: Option<Type>,
}

/// The source of the retries of an activity's calls.
pub(crate) enum RetryPolicy {
    /// The definition has them.
    Fixed(Box<Retry>),
    /// The configuration has them, under this name.
    Named(String),
    /// An expression gives them, or their name.
    Computed(Expression),
}

/// The outcomes that an activity may complete with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcomes {
    /// Their names.
    pub names: Vec<String>,
    /// It never has another one. Otherwise an expression may name some that are not declared.
    pub is_all: bool,
}

/// A workflow, or a type that workers perform, as it is used as an activity.
pub(crate) struct Used {
    /// The type that the definition around it names.
    pub(crate) type_name: String,
    /// The version of the definition or the type that is used.
    pub(crate) version: u32,
    /// Its declared inputs.
    pub(crate) inputs: Vec<Argument>,
    /// Its declared outputs.
    pub(crate) outputs: Vec<Argument>,
    /// The outcomes that it completes with; none where nothing names them.
    pub(crate) outcomes: Option<Outcomes>,
    /// The values of its inputs, by name, as the workflow around it gives them.
    pub(crate) given: BTreeMap<String, (Expression, Type)>,
    /// The type that workers perform; none of a workflow.
    pub(crate) performed: Option<Performed>,
}

/// An activity type that workers perform.
pub(crate) struct Performed {
    pub(crate) kind: ActivityType,
    pub(crate) input: Schema,
    pub(crate) output: Schema,
    /// The longest wait for the result.
    pub(crate) timeout: Option<Duration>,
}

/// A declared variable.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) default: Value,
    /// Its storage driver is Memory: it is stored with the instance, and never shown.
    pub(crate) is_hidden: bool,
    /// It is hidden, or named like a credential: the journal keeps none of its values.
    pub(crate) is_masked: bool,
    /// What its values are compared as, if instances are found by them. Only variables of the
    /// workflow are searchable.
    pub(crate) searchable: Option<Searchable>,
}

impl Declared {
    /// The value as one of its type.
    ///
    /// # Errors
    /// The reason why the value does not fit, without the value of a hidden variable.
    pub(crate) fn fit(&self, value: Value) -> Result<Value, String> {
        fit(value, &self.ty, self.is_hidden)
    }
}

/// What is said of a hidden value that does not fit.
pub(crate) const NOT_SHOWN: &str = "the value does not fit, and is not shown";

/// The value as one of this type; the reason why it does not fit contains no hidden value.
pub(crate) fn fit(value: Value, ty: &Type, is_hidden: bool) -> Result<Value, String> {
    let hide = |error| match is_hidden {
        true => NOT_SHOWN.to_owned(),
        false => error,
    };
    convert(value, ty).map_err(hide)
}

/// A parsed expression: the way to get a value at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression(pub(crate) Source);

impl Expression {
    /// The definition has the value as it is.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(self.0, Source::Literal(_))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// A value of the target type.
    Literal(Value),
    /// A variable, by id, or by name where it has no id.
    Variable { id: String, name: String },
    /// A workflow input.
    Input(String),
    /// A script in a registered language.
    Script { language: String, text: String },
}

impl Node {
    /// The workflow that it runs as an activity.
    pub(crate) fn workflow(&self) -> Option<&Used> {
        self.used.as_deref().filter(|used| used.performed.is_none())
    }

    /// The outcomes that it may complete with; none where nothing names them.
    pub(crate) fn outcomes(&self) -> Option<Outcomes> {
        let Self { descriptor, used, named_outcomes, .. } = self;
        if let Some(used) = used {
            return used.outcomes.clone();
        }
        let ports = descriptor.ports.iter().filter(|port| port.kind == PortKind::Flow);
        let own = ports.map(|port| port.name.to_owned());
        let names: Vec<_> = named_outcomes.iter().flatten().cloned().chain(own).collect();
        let is_known =
            !names.is_empty() && (named_outcomes.is_some() || !descriptor.has_more_outcomes);
        is_known.then_some(Outcomes { names, is_all: true })
    }

    /// Such as `Elsa.WriteLine`.
    pub(crate) fn type_name(&self) -> &str {
        self.used.as_ref().map_or(self.descriptor.type_name, |found| &found.type_name)
    }
}

impl Outline {
    /// Whether the node is a part of the instance's own workflow, not of one used as an activity.
    pub(crate) fn is_own(&self, node: &Node) -> bool {
        node.scope == self.root().scope
    }

    pub(crate) fn node(&self, node: NodeRef) -> &Node {
        &self.nodes[node.0 as usize]
    }

    pub(crate) fn root(&self) -> &Node {
        assert!(!self.nodes.is_empty(), "INV-1: a program has a root");
        &self.nodes[self.nodes.len() - 1]
    }

    pub(crate) fn find(&self, key: &str) -> Option<NodeRef> {
        self.index.get(key).copied()
    }

    /// The node of an execution. A version is immutable, so its keys never go away.
    pub(crate) fn keyed(&self, key: &str) -> (NodeRef, &Node) {
        let found = self.find(key);
        assert!(found.is_some(), "INV-2: node {key:?} of the state is in the program");
        let node = found.unwrap_or(NodeRef(0));
        (node, self.node(node))
    }
}

/// The defaults of declared variables, by id.
pub(crate) fn defaults(declared: &[Declared]) -> Map {
    declared.iter().map(|variable| (variable.id.clone(), variable.default.clone())).collect()
}
