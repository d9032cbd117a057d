//! The view that an activity has of the definition while it is compiled.

use std::collections::BTreeMap;

use model::Map;
use serde_json::Value;

use super::expression::Parser;
use super::findings::Findings;
use crate::outline::{Expression, Node, NodeRef, Outcomes, Source};
use crate::property::find;
use crate::{Descriptor, Languages, Type};

/// One activity of a definition, with its children compiled.
pub struct Planning<'c> {
    pub(super) languages: &'c Languages,
    pub(super) findings: &'c mut Findings,
    /// The nodes that are compiled already.
    pub(super) nodes: &'c mut [Node],
    pub(super) node: &'c mut Node,
    pub(super) raw: &'c Map,
    pub(super) parts: &'c BTreeMap<&'static str, Vec<Part>>,
}

/// An object in a port of [`crate::PortKind::Parts`].
#[derive(Clone, Debug)]
pub struct Part {
    /// The object as it was written.
    pub value: Value,
    pub(super) nodes: Vec<(&'static str, NodeRef)>,
}

impl Part {
    /// The activity in this member, if there is one.
    #[must_use]
    pub fn node(&self, member: &str) -> Option<NodeRef> {
        self.nodes.iter().find(|(name, _)| *name == member).map(|(_, node)| *node)
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeRef> {
        self.nodes.iter().map(|(_, node)| *node)
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

    /// The objects in a port, with their activities.
    #[must_use]
    pub fn parts(&self, port: &str) -> Vec<Part> {
        self.parts.get(port).cloned().unwrap_or_default()
    }

    /// The objects in a port, each with its `activity` if it has one.
    #[must_use]
    pub fn cases(&self, port: &str) -> Vec<(Value, Option<NodeRef>)> {
        let parts = self.parts(port).into_iter();
        parts.map(|part| (part.value.clone(), part.node("activity"))).collect()
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

    /// A custom property of a child, by its camelCase name.
    #[must_use]
    pub fn custom_of(&self, child: NodeRef, name: &str) -> Option<&Value> {
        self.child(child).custom.get(name)
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

    /// The outcomes that a child may complete with; none where nothing names them.
    #[must_use]
    pub fn outcomes(&self, child: NodeRef) -> Option<Outcomes> {
        self.child(child).outcomes()
    }

    /// Says the outcomes that the inputs name, beside those of the type.
    pub fn leaves_by(&mut self, outcomes: impl IntoIterator<Item = String>) {
        self.node.named_outcomes = Some(outcomes.into_iter().collect());
    }

    /// Records that a connection follows this outcome of a child. Warns if the child never leaves
    /// through it.
    pub fn connect(&mut self, child: NodeRef, outcome: &str) {
        let Node { id, descriptor, inputs, connected, .. } = &mut self.nodes[child.0 as usize];
        connected.push(outcome.to_owned());
        let port = descriptor.ports.iter().find(|port| port.name == outcome);
        let Some(input) = port.and_then(|port| port.exposed_by) else { return };
        let is_exposed = Expression(Source::Literal(Value::Bool(true)));
        if inputs.get(input) != Some(&is_exposed) {
            let message = format!(
                "a connection follows the outcome {outcome}, which is not exposed: set {input}"
            );
            self.findings.warning(Some(id), Some(input), message);
        }
    }

    /// Parses an expression inside a property, such as the condition of a case: `{"type": …,
    /// "value": …}`, a wrapped input, a bare value or a short form.
    pub fn expression(&mut self, property: &str, value: &Value, ty: &Type) -> Option<Expression> {
        let mut parser = Parser {
            languages: self.languages,
            findings: self.findings,
            activity: &self.node.id,
            property,
            is_ordinal: false,
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

    /// Warns the author who publishes about a property of this activity.
    pub fn warning(&mut self, property: &str, message: impl Into<String>) {
        self.findings.warning(Some(&self.node.id), Some(property), message.into());
    }

    /// Warns that an input changes nothing, where it has more than an empty value.
    pub fn warn_of_unused(&mut self, input: &str, reason: &str) {
        let is_empty = |value: &Value| match value {
            Value::String(text) => text.trim().is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if self.has(input) && !self.literal(input).is_some_and(is_empty) {
            self.warning(input, format!("has no effect: {reason}"));
        }
    }

    /// Warns if the activity sees no variable of this id or name.
    pub fn names_variable(&mut self, property: &str, id: &str, name: &str) {
        let visible = &self.findings.visible;
        let shown = if name.is_empty() { id } else { name };
        if !visible.has_variable(id)
            && let Some(message) = visible.missing_variable(shown)
        {
            self.findings.warning(Some(&self.node.id), Some(property), message);
        }
    }

    /// Warns if the workflow declares no output of this name.
    pub fn names_output(&mut self, property: &str, name: &str) {
        if let Some(message) = self.findings.visible.missing_output(name) {
            self.findings.warning(Some(&self.node.id), Some(property), message);
        }
    }

    /// Notes that a child begins when this activity begins.
    pub fn begins_with(&mut self, child: NodeRef) {
        self.nodes[child.0 as usize].is_first = true;
    }

    /// Warns that a child never runs.
    pub fn unreachable(&mut self, child: NodeRef, reason: &str) {
        let id = self.child(child).id.clone();
        self.findings.warning(Some(&id), None, format!("this activity never runs: {reason}"));
    }

    fn child(&self, child: NodeRef) -> &Node {
        &self.nodes[child.0 as usize]
    }
}
