//! The view that an activity has of the definition while it is compiled.

use std::collections::BTreeMap;

use model::{ActivityId, Map};
use serde_json::Value;

use super::expression::At;
use super::{Compiler, find};
use crate::program::{Expression, Node, NodeRef, Source};
use crate::{Descriptor, Type};

/// One activity of a definition, with its children compiled.
pub struct Planning<'c> {
    pub(super) compiler: &'c mut dyn Plans,
    pub(super) node: &'c mut Node,
    pub(super) raw: &'c Map,
    pub(super) cases: &'c BTreeMap<&'static str, Vec<(Value, Option<NodeRef>)>>,
}

/// The compiler without its lifetime parameter.
pub(super) trait Plans {
    fn expression(&mut self, at: At<'_>, value: &Value, ty: &Type) -> Option<Expression>;
    fn typed(&mut self, at: At<'_>, expression: &Map, ty: &Type) -> Option<Expression>;
    fn problem(&mut self, activity: &ActivityId, property: &str, message: String);
    fn oversight(&mut self, activity: &ActivityId, property: &str, message: String);
    fn node(&self, node: NodeRef) -> &Node;
    fn node_mut(&mut self, node: NodeRef) -> &mut Node;
}

impl Plans for Compiler<'_> {
    fn expression(&mut self, at: At<'_>, value: &Value, ty: &Type) -> Option<Expression> {
        Compiler::expression(self, at, value, ty)
    }

    fn typed(&mut self, at: At<'_>, expression: &Map, ty: &Type) -> Option<Expression> {
        Compiler::typed(self, at, expression, ty)
    }

    fn problem(&mut self, activity: &ActivityId, property: &str, message: String) {
        Compiler::problem(self, Some(activity), Some(property), message);
    }

    fn oversight(&mut self, activity: &ActivityId, property: &str, message: String) {
        Compiler::oversight(self, Some(activity), Some(property), message);
    }

    fn node(&self, node: NodeRef) -> &Node {
        &self.nodes[node.0 as usize]
    }

    fn node_mut(&mut self, node: NodeRef) -> &mut Node {
        &mut self.nodes[node.0 as usize]
    }
}

impl Planning<'_> {
    /// A property as it was written: an exact match first, else in any case.
    #[must_use]
    pub fn raw(&self, property: &str) -> Option<&Value> {
        find(self.raw, property).filter(|value| !value.is_null())
    }

    /// The value of an input, if it is a literal that needs no evaluation.
    #[must_use]
    pub fn literal(&self, input: &str) -> Option<&Value> {
        match self.node.inputs.get(input) {
            Some(Expression(Source::Literal(value))) => Some(value),
            _ => None,
        }
    }

    /// An input has some value or expression.
    #[must_use]
    pub fn has(&self, input: &str) -> bool {
        self.node.inputs.contains_key(input)
    }

    /// The activities in a port.
    #[must_use]
    pub fn children(&self, port: &str) -> Vec<NodeRef> {
        self.node.children.get(port).cloned().unwrap_or_default()
    }

    /// The objects in a port of cases, each with its activity if it has one.
    #[must_use]
    pub fn cases(&self, port: &str) -> Vec<(Value, Option<NodeRef>)> {
        self.cases.get(port).cloned().unwrap_or_default()
    }

    /// A child's id.
    #[must_use]
    pub fn id(&self, child: NodeRef) -> &str {
        self.compiler.node(child).id.as_str()
    }

    /// A child's name.
    #[must_use]
    pub fn name(&self, child: NodeRef) -> Option<&str> {
        self.compiler.node(child).name.as_deref()
    }

    /// A child's description.
    #[must_use]
    pub fn descriptor(&self, child: NodeRef) -> &Descriptor {
        self.compiler.node(child).descriptor()
    }

    /// A child may start the workflow.
    #[must_use]
    pub fn can_start(&self, child: NodeRef) -> bool {
        self.compiler.node(child).can_start
    }

    /// This activity itself may start the workflow.
    #[must_use]
    pub fn starts(&self) -> bool {
        self.node.can_start
    }

    /// Records that a connection follows this outcome of a child.
    pub fn connect(&mut self, child: NodeRef, outcome: &str) {
        self.compiler.node_mut(child).connected.push(outcome.to_owned());
    }

    /// Parses an expression inside a property, such as the condition of a case: `{"type": …,
    /// "value": …}`, a wrapped input, a bare value or a short form.
    pub fn expression(&mut self, property: &str, value: &Value, ty: &Type) -> Option<Expression> {
        let at = At { activity: &self.node.id, property };
        match value.as_object() {
            Some(map) if map.contains_key("type") && map.contains_key("value") => {
                self.compiler.typed(at, map, ty)
            }
            _ => self.compiler.expression(at, value, ty),
        }
    }

    /// Reports a problem of a property.
    pub fn problem(&mut self, property: &str, message: impl Into<String>) {
        self.compiler.problem(&self.node.id, property, message.into());
    }

    /// Reports that a part of a property is ignored when the definition runs. That is a problem
    /// only for a definition that is to be published.
    pub fn oversight(&mut self, property: &str, message: impl Into<String>) {
        self.compiler.oversight(&self.node.id, property, message.into());
    }
}
