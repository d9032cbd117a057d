//! Reads a definition into a [`Program`], and finds everything that is wrong with it.
//!
//! Lenient where Elsa is: unknown fields, both generations of metadata, bare values as inputs.
//! Strict where ignoring a mistake would surprise the author: unknown activities, unknown
//! languages, broken scripts.
//!
//! An oversight is a part of a definition that is ignored when it runs, such as a connection to an
//! activity that does not exist. It is a problem for a definition that is to be published, but not
//! for a stored one: a definition that was published once goes on running.

mod composite;
mod declared;
mod elsewhere;
mod entrance;
mod expression;
mod findings;
mod ids;
mod log_persistence;
pub(crate) mod members;
mod missing;
mod performed;
mod planning;
mod raw;
mod retry;
mod searchable;
mod unknown;
mod visible;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ActivityId, Definition, DefinitionId, Map, Retention, limits};
use serde_json::Value;

pub use expression::{near_language, short_language};
pub(crate) use findings::Oversights;
pub(crate) use ids::Ids;
pub use ids::UNTYPED;
pub(crate) use members::members_of;
pub use members::near_members;
pub use planning::{Part, Planning};

use crate::chart::WORKFLOW_ID;
use crate::convert::shown;
use crate::descriptor::PortKind;
use crate::keeping::Keeping;
use crate::outline::{Binding, Expression, Node, NodeRef, Outline};
use crate::program::Program;
use crate::property::find;
use crate::registry::Registered;
use crate::{Activity, Descriptor, Languages, Library, Problem, Registry, placeholder};
use composite::Scope;
use expression::Parser;
use findings::Findings;
use raw::{bindings, camel_cased, custom_properties, flag};
use visible::Visible;

pub(crate) fn compile(
    definition: &Definition,
    library: &Library,
    registry: &Registry,
    languages: &Languages,
    oversights: Oversights,
) -> Compiled {
    let mut compiler = Compiler {
        definition,
        library,
        registry,
        languages,
        findings: Findings::new(oversights),
        nodes: Vec::new(),
        activities: Vec::new(),
        paths: BTreeSet::new(),
        scope: Scope::outermost(definition),
        using: vec![definition.definition_id.clone()],
        is_full: false,
    };
    compiler.arguments("inputs", &definition.inputs);
    compiler.arguments("outputs", &definition.outputs);
    let activation = compiler.activation(definition);
    let continues_with_incidents = compiler.continues_with_incidents(definition);
    let mut variables = compiler.variables(None, definition.variables.iter().enumerate());
    compiler.searchable(&definition.variables, &mut variables);
    compiler.findings.visible = Visible::of(definition);
    let custom = camel_cased(&definition.custom_properties);
    compiler.scope.keeps = log_persistence::said(&mut compiler.findings, None, &custom).by_default;
    compiler.warn_of_unknown(definition);
    let options = &definition.options.extra;
    elsewhere::warn_of_settings(&mut compiler.findings, None, options, &custom);
    elsewhere::refuse_mode(&mut compiler.findings, None, &custom);
    if let Err(reason) = Retention::default().said_by(&custom) {
        compiler.findings.oversight(None, Some("customProperties"), reason);
    }
    let mut root = None;
    if definition.root.is_null() {
        compiler.findings.problem(
            None,
            Some("root"),
            "there is no root activity: add one".to_owned(),
        );
    } else {
        root = compiler.node(&definition.root, WORKFLOW_ID, 0);
    }
    if let Some(root) = root {
        compiler.warn_of_entrance(root);
        compiler.warn_of_equal_ids();
    }
    let Findings { problems, has_scripts, .. } = compiler.findings;
    if root.is_none() {
        return Compiled { program: None, problems };
    }
    let (nodes, index) = keyed(compiler.nodes);
    let inner = nodes.iter().flat_map(|node| &node.variables);
    let hides = variables.iter().chain(inner).any(|variable| variable.is_hidden);
    let is_searchable = variables.iter().any(|variable| variable.searchable.is_some());
    let outline = Outline {
        definition_id: definition.definition_id.clone(),
        version_id: definition.id.clone(),
        version: definition.version,
        name: definition.name.clone(),
        is_system: definition.is_system,
        activation,
        continues_with_incidents,
        has_scripts,
        hides,
        is_searchable,
        variables,
        inputs: definition.inputs.clone(),
        outputs: definition.outputs.clone(),
        custom,
        nodes,
        index,
    };
    let program = Some(Program { outline: Arc::new(outline), activities: compiler.activities });
    Compiled { program, problems }
}

/// What was read from a definition.
pub(crate) struct Compiled {
    /// The program; it lacks the activities that have problems. None without a root.
    pub(crate) program: Option<Program>,
    /// Errors and warnings.
    pub(crate) problems: Vec<Problem>,
}

impl Compiled {
    /// The program, or all errors.
    pub(crate) fn checked(self) -> Result<Program, Vec<Problem>> {
        let mut errors = self.problems;
        errors.retain(Problem::is_error);
        self.program.filter(|_| errors.is_empty()).ok_or(errors)
    }
}

/// The state of reading one definition.
struct Compiler<'e> {
    /// The definition, without those that it uses.
    definition: &'e Definition,
    library: &'e Library,
    registry: &'e Registry,
    languages: &'e Languages,
    findings: Findings,
    nodes: Vec<Node>,
    /// The activity of each node.
    activities: Vec<Arc<dyn Activity>>,
    paths: BTreeSet<String>,
    /// The workflow that is being read.
    scope: Scope,
    /// That workflow and those around it, the outermost first.
    using: Vec<DefinitionId>,
    is_full: bool,
}

/// The children that were found below one node.
#[derive(Default)]
struct Below {
    children: BTreeMap<&'static str, Vec<NodeRef>>,
    parts: BTreeMap<&'static str, Vec<Part>>,
}

impl Compiler<'_> {
    /// Compiles the activity in a property of another one.
    fn child(
        &mut self,
        owner: &ActivityId,
        property: impl FnOnce() -> String,
        raw: &Value,
        path: &str,
        depth: usize,
    ) -> Option<NodeRef> {
        if !raw.is_object() {
            self.findings.problem(Some(owner), Some(&property()), no_activity(raw));
            return None;
        }
        self.node(raw, path, depth + 1)
    }

    /// Compiles an activity and everything below it; none if that is impossible.
    fn node(&mut self, raw: &Value, owner_path: &str, depth: usize) -> Option<NodeRef> {
        let Some(raw) = raw.as_object() else {
            self.findings.problem(None, Some("root"), no_activity(raw));
            return None;
        };
        let restored = placeholder::original(raw);
        let is_restored = restored.is_some();
        let raw = restored.as_ref().unwrap_or(raw);
        let type_name = self.type_name(raw, owner_path)?;
        let Some(Registered { descriptor, activity }) = self.registry.get(type_name).cloned()
        else {
            if let Some(definition) = self.used(raw) {
                return self.composite(raw, &definition, owner_path, depth);
            }
            if let Some(kind) = self.type_of_worker(raw, type_name) {
                return self.performed(raw, &kind, owner_path, depth);
            }
            self.unknown_type(raw, type_name, owner_path, is_restored);
            return None;
        };
        let (id, path) = self.place(raw, descriptor.name, owner_path, depth)?;
        let custom = custom_properties(raw);
        let can_start = flag(raw.get("canStartWorkflow")) || flag(custom.get("canStartWorkflow"));
        self.check_flags(&id, raw, &custom);
        self.refuse_twins(&id, raw, &members_of(Some(&*descriptor)));
        self.warn_of_members(&id, raw, &descriptor);
        self.warn_of_version(&id, raw, &descriptor);
        elsewhere::warn_of_settings(&mut self.findings, Some(&id), raw, &custom);
        elsewhere::refuse_mode(&mut self.findings, Some(&id), &custom);
        let variables = self.container_variables(&id, raw);
        let outside = self.findings.visible.mark();
        self.findings.visible.declare(variables.values());
        let inside = self.findings.visible.mark();
        self.findings.visible.give(descriptor.gives);
        let below = self.below(raw, &id, &descriptor, &path, depth);
        self.findings.visible.leave(inside);
        let numbered = variables.iter().map(|(at, variable)| (*at, variable));
        let variables = self.variables(Some(&id), numbered);
        let inputs = self.inputs(&id, raw, &descriptor);
        let retry = self.retry(&id, &custom, &descriptor);
        let keeping = self.keeping(&id, &custom);
        let bindings = bindings(raw, &descriptor);
        self.warn_of_bindings(&id, &bindings);
        let bindings = bindings.into_iter().map(|found| self.binding(found)).collect();
        let outputs = descriptor.outputs.iter().map(|output| output.name);
        let is_input = |name: &str| descriptor.inputs.iter().any(|input| input.name == name);
        self.refuse_outputs(&id, raw, outputs, is_input);
        let node = Node {
            name: find(raw, "name").and_then(Value::as_str).map(str::to_owned),
            bindings,
            children: below.children,
            key: String::new(),
            connected: Vec::new(),
            named_outcomes: None,
            is_first: false,
            plan: None,
            id,
            path,
            scope: Arc::clone(&self.scope.path),
            used: None,
            descriptor,
            can_start,
            custom,
            variables,
            inputs,
            keeping,
            retry,
        };
        let planned = self.planned(activity, node, raw, &below.parts);
        self.findings.visible.leave(outside);
        Some(planned)
    }

    /// What the journal keeps of an activity's values.
    fn keeping(&mut self, id: &ActivityId, custom: &Map) -> Keeping {
        let said = log_persistence::said(&mut self.findings, Some(id), custom);
        Keeping::new(said, self.scope.keeps)
    }

    /// An output, and the variable or workflow output that gets it.
    fn binding(&self, (output, target): (String, String)) -> Binding {
        let ty = self.findings.visible.type_of(&target).or_else(|| self.scope.outputs.get(&target));
        Binding { ty: ty.cloned(), output, target }
    }

    fn planned(
        &mut self,
        activity: Arc<dyn Activity>,
        mut node: Node,
        raw: &Map,
        parts: &BTreeMap<&'static str, Vec<Part>>,
    ) -> NodeRef {
        node.plan = activity.plan(&mut Planning {
            languages: self.languages,
            findings: &mut self.findings,
            nodes: &mut self.nodes,
            node: &mut node,
            raw,
            parts,
        });
        self.nodes.push(node);
        self.activities.push(activity);
        NodeRef(u32::try_from(self.nodes.len() - 1).unwrap_or(u32::MAX))
    }

    fn type_name<'r>(&mut self, raw: &'r Map, owner_path: &str) -> Option<&'r str> {
        let type_name = find(raw, "type").and_then(Value::as_str);
        if type_name.is_none() {
            let (id, _) = self.named(raw, UNTYPED, owner_path);
            let message = "there is no type: write one, such as Elsa.WriteLine".to_owned();
            self.findings.problem(Some(&id), Some("type"), message);
        }
        type_name
    }

    /// The id and the path of an activity; none when there is no room for it.
    fn place(
        &mut self,
        raw: &Map,
        short_name: &str,
        owner_path: &str,
        depth: usize,
    ) -> Option<(ActivityId, String)> {
        let (id, path) = self.named(raw, short_name, owner_path);
        self.has_room(&id, depth).then_some((id, path))
    }

    /// The id and the path of an activity, also of one that does not compile.
    fn named(&mut self, raw: &Map, short_name: &str, owner_path: &str) -> (ActivityId, String) {
        let id = ActivityId::new(self.scope.ids.of_activity(raw, short_name));
        let path = format!("{owner_path}:{id}");
        if !self.paths.insert(path.clone()) {
            let message = format!("the id {id} is used twice here: give each activity its own");
            self.findings.problem(Some(&id), Some("id"), message);
        }
        (id, path)
    }

    /// False once the definition is too big or too deep; reports that problem once.
    fn has_room(&mut self, id: &ActivityId, depth: usize) -> bool {
        if depth > limits::NESTING_MAX {
            let max = limits::NESTING_MAX;
            self.findings.problem(
                Some(id),
                None,
                format!("activities are nested deeper than {max}"),
            );
            return false;
        }
        if self.nodes.len() < limits::ACTIVITIES_MAX && !self.is_full {
            return true;
        }
        if !self.is_full {
            let max = limits::ACTIVITIES_MAX;
            self.findings.problem(None, None, format!("there are more than {max} activities"));
        }
        self.is_full = true;
        false
    }

    fn below(
        &mut self,
        raw: &Map,
        id: &ActivityId,
        descriptor: &Descriptor,
        path: &str,
        depth: usize,
    ) -> Below {
        let mut below = Below::default();
        for port in &descriptor.ports {
            let Some(value) = find(raw, port.name).filter(|value| !value.is_null()) else {
                continue;
            };
            let found = match port.kind {
                PortKind::Flow => continue,
                PortKind::Embedded => {
                    let name = || port.name.to_owned();
                    self.child(id, name, value, path, depth).into_iter().collect()
                }
                PortKind::List => {
                    let items = self.items(id, port.name, value).iter().enumerate();
                    let compiled = items.filter_map(|(at, item)| {
                        self.child(id, || format!("{}[{at}]", port.name), item, path, depth)
                    });
                    compiled.collect()
                }
                PortKind::Parts(members) => {
                    let items = self.items(id, port.name, value);
                    let parts = self.parts(id, port.name, items, members, path, depth);
                    let nodes = parts.iter().flat_map(Part::nodes).collect();
                    below.parts.insert(port.name, parts);
                    nodes
                }
            };
            below.children.insert(port.name, found);
        }
        below
    }

    fn inputs(
        &mut self,
        id: &ActivityId,
        raw: &Map,
        descriptor: &Descriptor,
    ) -> BTreeMap<&'static str, Expression> {
        let mut inputs = BTreeMap::new();
        let known = self.findings.problems.len();
        let own = descriptor.inputs.iter().map(|input| input.name).collect();
        self.findings.visible.own_inputs = own;
        for input in &descriptor.inputs {
            let Some(value) = find(raw, input.name) else { continue };
            let mut parser = Parser {
                languages: self.languages,
                findings: &mut self.findings,
                activity: id,
                property: input.name,
                is_ordinal: input.is_ordinal,
            };
            let expression = if input.is_wrapped {
                parser.expression(value, &input.ty)
            } else {
                parser.literal(value, &input.ty)
            };
            if let Some(expression) = expression {
                inputs.insert(input.name, expression);
            }
        }
        self.findings.visible.own_inputs = Vec::new();
        self.refuse_missing(id, descriptor, &inputs, known);
        inputs
    }

    /// The items of a list; any other value is a problem.
    fn items<'v>(&mut self, id: &ActivityId, property: &str, value: &'v Value) -> &'v [Value] {
        match value {
            Value::Array(items) => items,
            other => {
                let message = format!("{} is not a list: write [ … ]", shown(other));
                self.findings.oversight(Some(id), Some(property), message);
                &[]
            }
        }
    }

    fn parts(
        &mut self,
        id: &ActivityId,
        port: &str,
        items: &[Value],
        members: &[&'static str],
        path: &str,
        depth: usize,
    ) -> Vec<Part> {
        let compiled = items.iter().enumerate().map(|(at, item)| {
            let filled = members.iter().filter_map(|member| {
                let activity = item.get(member).filter(|activity| !activity.is_null())?;
                let name = || format!("{port}[{at}].{member}");
                Some((*member, self.child(id, name, activity, path, depth)?))
            });
            Part { nodes: filled.collect(), value: item.clone() }
        });
        compiled.collect()
    }
}

fn no_activity(value: &Value) -> String {
    format!("{} is not an activity: write an object with a type", shown(value))
}

/// Gives every node its stable key: its id if that is unique, else its path.
fn keyed(mut nodes: Vec<Node>) -> (Vec<Node>, BTreeMap<String, NodeRef>) {
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    for node in &nodes {
        *count.entry(node.id.as_str().to_owned()).or_default() += 1;
    }
    let mut index = BTreeMap::new();
    for (at, node) in nodes.iter_mut().enumerate() {
        let is_unique = count.get(node.id.as_str()) == Some(&1);
        let key = if is_unique { node.id.as_str() } else { node.path.as_str() };
        key.clone_into(&mut node.key);
        index.insert(node.key.clone(), NodeRef(u32::try_from(at).unwrap_or(u32::MAX)));
    }
    (nodes, index)
}
