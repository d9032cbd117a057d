//! The view that an activity has of the definition while it is compiled.

use std::collections::BTreeMap;

use model::Map;
use serde_json::Value;

use super::expression::Parser;
use super::findings::Findings;
use super::raw::find;
use crate::outline::{Expression, Node, NodeRef, Source};
use crate::{Descriptor, Languages, Type};

/// One activity of a definition, with its children compiled.
pub struct Planning<'c> {
    pub(super) languages: &'c Languages,
    pub(super) findings: &'c mut Findings,
    /// The nodes that are compiled already.
    pub(super) nodes: &'c mut [Node],
    pub(super) node: &'c mut Node,
    pub(super) raw: &'c Map,
    pub(super) cases: &'c BTreeMap<&'static str, Vec<(Value, Option<NodeRef>)>>,
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
        self.child(child).id.as_str()
    }

    /// A child's name.
    #[must_use]
    pub fn name(&self, child: NodeRef) -> Option<&str> {
        self.child(child).name.as_deref()
    }

    /// A child's description.
    #[must_use]
    pub fn descriptor(&self, child: NodeRef) -> &Descriptor {
        &self.child(child).descriptor
    }

    /// A child may start the workflow.
    #[must_use]
    pub fn can_start(&self, child: NodeRef) -> bool {
        self.child(child).can_start
    }

    /// This activity itself may start the workflow.
    #[must_use]
    pub fn starts(&self) -> bool {
        self.node.can_start
    }

    /// Records that a connection follows this outcome of a child.
    pub fn connect(&mut self, child: NodeRef, outcome: &str) {
        self.nodes[child.0 as usize].connected.push(outcome.to_owned());
    }

    /// Parses an expression inside a property, such as the condition of a case: `{"type": …,
    /// "value": …}`, a wrapped input, a bare value or a short form.
    pub fn expression(&mut self, property: &str, value: &Value, ty: &Type) -> Option<Expression> {
        let mut parser = Parser {
            languages: self.languages,
            findings: self.findings,
            activity: &self.node.id,
            property,
        };
        match value.as_object() {
            Some(map) if map.contains_key("type") && map.contains_key("value") => {
                parser.typed(map, ty)
            }
            _ => parser.expression(value, ty),
        }
    }

    /// Reports a problem of a property.
    pub fn problem(&mut self, property: &str, message: impl Into<String>) {
        self.findings.problem(Some(&self.node.id), Some(property), message.into());
    }

    /// Reports that a part of a property is ignored when the definition runs. That is a problem
    /// only for a definition that is to be published.
    pub fn oversight(&mut self, property: &str, message: impl Into<String>) {
        self.findings.oversight(Some(&self.node.id), Some(property), message.into());
    }

    fn child(&self, child: NodeRef) -> &Node {
        &self.nodes[child.0 as usize]
    }
}
