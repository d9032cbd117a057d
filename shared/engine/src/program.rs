//! A compiled definition: flat, immutable, shared by every instance that runs it.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{ActivityId, Argument, DefinitionId, Map, VersionId};
use serde_json::Value;

use crate::activity::Plan;
use crate::registry::Registered;
use crate::{Descriptor, Type};

/// A definition, ready to run. Immutable, and cached by version id.
pub struct Program {
    pub(crate) definition_id: DefinitionId,
    pub(crate) version_id: VersionId,
    pub(crate) version: u32,
    pub(crate) name: Option<String>,
    pub(crate) activation: Activation,
    pub(crate) continues_with_incidents: bool,
    pub(crate) has_scripts: bool,
    pub(crate) variables: Vec<Declared>,
    pub(crate) inputs: Vec<Argument>,
    pub(crate) outputs: Vec<Argument>,
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
    pub(crate) name: Option<String>,
    pub(crate) kind: Arc<Registered>,
    pub(crate) can_start: bool,
    pub(crate) custom: Map,
    pub(crate) variables: Vec<Declared>,
    pub(crate) inputs: BTreeMap<&'static str, Expression>,
    /// (output, variable id or workflow output name)
    pub(crate) bindings: Vec<(String, String)>,
    pub(crate) children: BTreeMap<&'static str, Vec<NodeRef>>,
    /// Outcomes that the enclosing flowchart has connections for.
    pub(crate) connected: Vec<String>,
    pub(crate) plan: Plan,
}

/// A declared variable.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) default: Value,
}

/// A parsed expression: the way to get a value at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression(pub(crate) Source);

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

impl Program {
    /// The definition.
    #[must_use]
    pub fn definition_id(&self) -> &DefinitionId {
        &self.definition_id
    }

    /// The id of the version.
    #[must_use]
    pub fn version_id(&self) -> &VersionId {
        &self.version_id
    }

    /// 1, 2, 3 …
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The name of the definition.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The definition has scripts, so a turn may take long.
    #[must_use]
    pub fn has_scripts(&self) -> bool {
        self.has_scripts
    }

    /// The rule for instances that run at the same time.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The key that at most one unfinished instance may have; none when any number may run.
    #[must_use]
    pub fn activation_key(&self, correlation_id: Option<&str>) -> Option<String> {
        let definition = self.definition_id();
        match (self.activation(), correlation_id) {
            (Activation::AllowAlways, _) => None,
            (Activation::Singleton, _) => Some(format!("singleton:{definition}")),
            (Activation::Correlation, Some(id)) => Some(format!("correlation:{id}")),
            (Activation::CorrelatedSingleton, Some(id)) => {
                Some(format!("correlated:{definition}:{id}"))
            }
            (Activation::Correlation | Activation::CorrelatedSingleton, None) => None,
        }
    }

    /// The id, type and name of every activity, children before their owner.
    pub fn activities(&self) -> impl Iterator<Item = (&ActivityId, &'static str, Option<&str>)> {
        self.nodes.iter().map(|node| (&node.id, node.descriptor().type_name, node.name.as_deref()))
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

impl Node {
    pub(crate) fn descriptor(&self) -> &Descriptor {
        &self.kind.descriptor
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("definition_id", &self.definition_id)
            .field("version_id", &self.version_id)
            .field("activities", &self.nodes.len())
            .finish_non_exhaustive()
    }
}
