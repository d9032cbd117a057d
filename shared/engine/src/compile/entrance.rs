//! Findings about a definition as a whole: whether something starts it, ids that mean several
//! activities, and what outputs are bound to.

use std::collections::BTreeMap;

use model::{ActivityId, Map};
use serde_json::Value;

use super::Compiler;
use crate::descriptor::Kind;
use crate::outline::{Node, NodeRef};
use crate::property::find;

impl Compiler<'_> {
    /// Warns of triggers at the beginning of a workflow in which no trigger may start it.
    pub(super) fn warn_of_entrance(&mut self, root: NodeRef) {
        let is_trigger = |node: &Node| node.descriptor.kind == Kind::Trigger;
        let starts = |node: &Node| node.can_start && node.scope == self.scope.path;
        if self.nodes.iter().any(|node| is_trigger(node) && starts(node)) {
            return;
        }
        let mut first = Vec::new();
        let mut rest = vec![root];
        while let Some(at) = rest.pop() {
            let node = &self.nodes[at.0 as usize];
            if is_trigger(node) {
                first.push(node.id.clone());
            }
            let below = node.children.values().flatten().copied();
            rest.extend(below.filter(|child| self.nodes[child.0 as usize].is_first));
        }
        for id in first {
            let message = "nothing starts the workflow here: set canStartWorkflow, or leave it so \
                           if each instance is started otherwise and waits here";
            self.findings.warning(Some(&id), Some("canStartWorkflow"), message.to_owned());
        }
    }

    /// Warns of ids that several activities of the workflow have. Inside one container that is an
    /// error.
    pub(super) fn warn_of_equal_ids(&mut self) {
        let mut paths: BTreeMap<&ActivityId, Vec<&str>> = BTreeMap::new();
        for node in self.nodes.iter().filter(|node| node.scope == self.scope.path) {
            let known = paths.entry(&node.id).or_default();
            if !known.contains(&node.path.as_str()) {
                known.push(&node.path);
            }
        }
        let shared = paths.into_iter().filter(|(_, paths)| paths.len() > 1);
        let shared: Vec<_> = shared.map(|(id, paths)| (id.clone(), paths.len())).collect();
        for (id, count) in shared {
            let message = format!(
                "{count} activities have the id {id}: a script that reads outputs by this id gets \
                 those of the one that ran last"
            );
            self.findings.warning(Some(&id), Some("id"), message);
        }
    }

    /// Warns of outputs that are bound to nothing that is there.
    pub(super) fn warn_of_bindings(&mut self, id: &ActivityId, bindings: &[(String, String)]) {
        for (output, target) in bindings {
            // Elsa names the memory of an unbound output `<activity>:<output>`.
            let is_known = target.contains(':')
                || self.findings.visible.has_variable(target)
                || self.scope.outputs.contains_key(target);
            if !is_known {
                let message = format!(
                    "there is no variable and no output of the workflow with the id or name \
                     {target}, so the value goes nowhere"
                );
                self.findings.warning(Some(id), Some(output), message);
            }
        }
    }

    /// Refuses outputs that would go nowhere without a word: those with an expression, and those that
    /// a converter of Elsa's is to change, which is C# code. An input may have the name of an output.
    pub(super) fn refuse_outputs<'o>(
        &mut self,
        id: &ActivityId,
        raw: &Map,
        outputs: impl Iterator<Item = &'o str>,
        is_input: impl Fn(&str) -> bool,
    ) {
        for output in outputs {
            let value = find(raw, output);
            if value.is_some_and(is_no_binding) && !is_input(output) {
                let message = "an output names the variable, or the output of the workflow, that \
                               gets it: write `Total`, or {\"memoryReference\": {\"id\": \"Total\"}}";
                self.findings.oversight(Some(id), Some(output), message.to_owned());
            }
            let wrapper = value.and_then(Value::as_object);
            let converter = wrapper.and_then(|wrapper| find(wrapper, "converter")?.as_object());
            let name = converter.and_then(|converter| find(converter, "id")?.as_str());
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                let message = format!(
                    "there is no output converter {name}: a converter of Elsa's is C# code; bind \
                     the output to a variable without it, and use Elsa.SetVariable with JavaScript"
                );
                self.findings.oversight(Some(id), Some(output), message);
            }
        }
    }
}

/// Whether the value of an output is something else than a binding, or none.
fn is_no_binding(output: &Value) -> bool {
    match output {
        Value::Null | Value::String(_) => false,
        Value::Object(wrapper) => {
            let has = |name: &str| find(wrapper, name).is_some();
            !has("memoryReference") && (has("expression") || !has("typeName"))
        }
        _ => true,
    }
}
