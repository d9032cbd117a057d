//! Members that mean nothing: of a definition, and of its activities.

use model::{ActivityId, Argument, Definition, Map};
use serde_json::Value;

use super::Compiler;
use crate::near::{hint, near};
use crate::property::{find, same_as, twins};
use crate::{Descriptor, PortKind};

/// Members of a definition that Elsa writes, or a request carries, and that change nothing here.
const WRITTEN: [&str; 16] = [
    "$schema",
    "binaryData",
    "hash",
    "links",
    "materializerContext",
    "materializerName",
    "metadata",
    "originalSource",
    "providerName",
    "publish",
    "sourceFile",
    "stringData",
    "tenantId",
    "toolVersion",
    "usableAsActivity",
    "workflowDefinition",
];
/// The members of a definition that its author writes.
pub(crate) const MEANT: [&str; 13] = [
    "definitionId",
    "name",
    "description",
    "variables",
    "inputs",
    "outputs",
    "outcomes",
    "customProperties",
    "isReadonly",
    "isSystem",
    "options",
    "root",
    "version",
];
/// The members of a definition that the server sets.
pub(crate) const SET: [&str; 7] =
    ["activityTypes", "createdAt", "id", "isLatest", "isPublished", "publishedAt", "savedAt"];
/// The members that every activity may have.
const COMMON: [&str; 13] = [
    "id",
    "nodeId",
    "name",
    "type",
    "version",
    "customProperties",
    "metadata",
    "canStartWorkflow",
    "runAsynchronously",
    "connections",
    "start",
    "variables",
    "variable",
];
/// Those of them that are long enough for a misspelled one to be told from another name.
const LONG: [&str; 5] =
    ["canStartWorkflow", "connections", "customProperties", "runAsynchronously", "variables"];

/// Members that tools write, and that change nothing or are warned of elsewhere.
const KEPT: [&str; 5] =
    ["displayName", "applicationProperties", "commitStrategyName", "source", "line"];
/// The members that an activity may have beside these if it runs a workflow.
const OF_WORKFLOWS: [&str; 4] = [
    "workflowDefinitionId",
    "workflowDefinitionVersionId",
    "latestAvailablePublishedVersion",
    "latestAvailablePublishedVersionId",
];

/// The members of a definition, and the other names given, that a name which is none of them probably
/// means. Empty for a name that is one of them, or similar to none.
#[must_use]
pub fn near_members(name: &str, others: &[&'static str]) -> Vec<&'static str> {
    let is_written = WRITTEN.iter().any(|it| it.eq_ignore_ascii_case(name));
    if is_written || MEANT.iter().chain(&SET).chain(others).any(|it| *it == name) {
        return Vec::new();
    }
    near(&name.to_ascii_lowercase(), spelled(MEANT.iter().chain(others).copied()))
}

/// The members that an activity of this type may have; of another type, those that every activity may
/// have.
pub(crate) fn members_of(descriptor: Option<&Descriptor>) -> Vec<&'static str> {
    let mut known = [&COMMON[..], &KEPT, &OF_WORKFLOWS].concat();
    if let Some(descriptor) = descriptor {
        known.extend(descriptor.inputs.iter().map(|input| input.name));
        known.extend(descriptor.outputs.iter().map(|output| output.name));
        let ports = descriptor.ports.iter().filter(|port| port.kind != PortKind::Flow);
        known.extend(ports.map(|port| port.name));
    }
    known
}

impl Compiler<'_> {
    /// Warns of members of the definition that mean nothing.
    pub(super) fn warn_of_unknown(&mut self, definition: &Definition) {
        let is_written = |name: &str| WRITTEN.iter().any(|it| it.eq_ignore_ascii_case(name));
        let unknown = definition.extra.keys().filter(|name| !is_written(name));
        for name in unknown {
            let message = match name.as_str() {
                "activities" | "connections" => {
                    format!("a definition has no {name}: write them into its root")
                }
                _ => format!(
                    "a definition has no member {name}, so that member is ignored{}",
                    hint(&near(&name.to_ascii_lowercase(), spelled(MEANT.into_iter())))
                ),
            };
            self.findings.warning(None, Some(name), message);
        }
    }

    /// Warns of a version that an activity type of ours does not have: each has one, and that one runs.
    pub(super) fn warn_of_version(&mut self, id: &ActivityId, raw: &Map, descriptor: &Descriptor) {
        let Descriptor { type_name, version: own, .. } = *descriptor;
        let version = find(raw, "version").and_then(Value::as_f64);
        // Editors write 0 where they know none.
        let other = version.filter(|version| ![0.0, f64::from(own)].contains(version));
        if let Some(version) = other {
            let message = format!("{type_name} has no version {version}: version {own} runs");
            self.findings.warning(Some(id), Some("version"), message);
        }
    }

    /// Warns of members that activities of this type do not have.
    pub(super) fn warn_of_members(&mut self, id: &ActivityId, raw: &Map, descriptor: &Descriptor) {
        let embedded = descriptor.ports.iter().filter(|port| port.kind != PortKind::Flow);
        let inputs = descriptor.inputs.iter().map(|input| input.name);
        let outputs = descriptor.outputs.iter().map(|output| output.name);
        let own: Vec<_> = inputs.chain(outputs).chain(embedded.map(|port| port.name)).collect();
        for (name, value) in raw {
            let mut known = own.iter().chain(&COMMON).chain(&KEPT);
            if value.is_null() || known.any(|known| known.eq_ignore_ascii_case(name)) {
                continue;
            }
            let all = own.iter().chain(&LONG).copied();
            let near = near(&name.to_ascii_lowercase(), spelled(all));
            let kind = descriptor.name;
            let message =
                format!("{kind} has no member {name}, so that member is ignored{}", hint(&near));
            self.findings.warning(Some(id), Some(name), message);
        }
    }

    /// Warns of members of an activity that are not declared by the workflow or type that it uses, and
    /// refuses those that are there twice.
    pub(super) fn warn_of_members_of<'d>(
        &mut self,
        id: &ActivityId,
        raw: &Map,
        what: &str,
        declared: impl Iterator<Item = &'d Argument>,
    ) {
        let own: Vec<_> = declared.map(|declared| declared.name.as_str()).collect();
        let mut known: Vec<&str> = members_of(None);
        known.extend(own.iter().copied());
        self.refuse_twins(id, raw, &known);
        for name in raw.keys() {
            let mut known = own.iter().chain(&COMMON).chain(&KEPT).chain(&OF_WORKFLOWS);
            if !known.any(|known| known.eq_ignore_ascii_case(name)) {
                let near = near(&name.to_ascii_lowercase(), spelled(own.iter().copied()));
                let message = format!(
                    "{what} has no input or output {name}, so that value is ignored{}",
                    hint(&near)
                );
                self.findings.warning(Some(id), Some(name), message);
            }
        }
    }

    /// Refuses members whose names differ in case only, of which one would be read.
    pub(super) fn refuse_twins(&mut self, id: &ActivityId, raw: &Map, known: &[&str]) {
        for [first, second] in twins(raw, known) {
            self.findings.oversight(Some(id), Some(second), same_as(first));
        }
    }

    /// Refuses a text or a number where true or false is expected.
    pub(super) fn check_flags(&mut self, id: &ActivityId, raw: &Map, custom: &Map) {
        let name = "canStartWorkflow";
        for value in [find(raw, name), custom.get(name)].into_iter().flatten() {
            let is_flag = match value {
                Value::Null | Value::Bool(_) => true,
                Value::String(text) => {
                    ["", "true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word))
                }
                _ => false,
            };
            if !is_flag {
                let message = format!("{value} is neither true nor false: write one of them");
                self.findings.oversight(Some(id), Some(name), message);
            }
        }
    }
}

/// The names, each with the spelling by which similar ones are found.
fn spelled<'n>(names: impl Iterator<Item = &'n str>) -> impl Iterator<Item = (String, &'n str)> {
    names.map(|name| (name.to_ascii_lowercase(), name))
}
