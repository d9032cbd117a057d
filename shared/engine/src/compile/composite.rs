//! Compiles a workflow that is used as an activity into the workflow that uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ActivityId, Argument, Definition, DefinitionId, Map};
use serde_json::Value;

use super::Compiler;
use super::expression::Parser;
use super::ids::Ids;
use super::log_persistence;
use super::raw::{bound, camel_cased, custom_properties};
use super::visible::Visible;
use crate::chart::WORKFLOW_ID;
use crate::composite::{ROOT, WorkflowActivity};
use crate::keeping::Mode;
use crate::library::{Reference, Types};
use crate::outline::{Expression, Node, NodeRef, Outcomes, Source, Used};
use crate::property::find;
use crate::{Activity as _, Problem, Type};

/// The part of the compiler's state that belongs to one workflow.
pub(super) struct Scope {
    /// The path of the activity that runs the workflow.
    pub(super) path: Arc<str>,
    /// The ids of its activities.
    pub(super) ids: Ids,
    /// Its outputs and their types.
    pub(super) outputs: BTreeMap<String, Type>,
    /// Whether the journal keeps values of its activities, where they do not say it.
    pub(super) keeps: Mode,
    /// The types that workers perform, as the workflow has them.
    pub(super) types: Types,
}

impl Scope {
    pub(super) fn new(path: &str, definition: &Definition) -> Self {
        let outputs = definition.outputs.iter().map(|output| {
            let alias = output.type_name.as_deref().unwrap_or("Object");
            (output.name.clone(), Type::from_alias(alias, output.is_array))
        });
        Self {
            path: path.into(),
            ids: Ids::of(&definition.root),
            outputs: outputs.collect(),
            keeps: Mode::Inherit,
            types: Types::of(definition),
        }
    }

    pub(super) fn outermost(definition: &Definition) -> Self {
        Self::new(WORKFLOW_ID, definition)
    }
}

impl Compiler<'_> {
    /// The definition that an activity of an unknown type runs.
    pub(super) fn used(&self, raw: &Map) -> Option<Arc<Definition>> {
        let type_name = find(raw, "type").and_then(Value::as_str)?;
        self.library.get(&Reference::of(raw, type_name)?).cloned()
    }

    /// Compiles the definition as an activity.
    pub(super) fn composite(
        &mut self,
        raw: &Map,
        definition: &Definition,
        owner_path: &str,
        depth: usize,
    ) -> Option<NodeRef> {
        let type_name = find(raw, "type").and_then(Value::as_str).unwrap_or_default();
        let (id, path) = self.place(raw, type_name, owner_path, depth)?;
        if self.using.contains(&definition.definition_id) {
            let message = self.circle(&definition.definition_id);
            self.findings.problem(Some(&id), Some("type"), message);
            return None;
        }
        let Definition { inputs, outputs, .. } = definition;
        let name = definition.name.as_deref().unwrap_or(definition.definition_id.as_str());
        let what = format!("the workflow {name}");
        self.warn_of_members_of(&id, raw, &what, inputs.iter().chain(outputs));
        let given = self.given(&id, raw, inputs);
        let outputs = definition.outputs.iter().map(|output| output.name.as_str());
        let is_input = |name: &str| {
            definition.inputs.iter().any(|input| input.name.eq_ignore_ascii_case(name))
        };
        self.refuse_outputs(&id, raw, outputs, is_input);
        let before = self.nodes.len();
        let (root, variables) = self.inside(&id, definition, &path, depth)?;
        let used = Used {
            type_name: type_name.to_owned(),
            version: definition.version,
            inputs: definition.inputs.clone(),
            outputs: definition.outputs.clone(),
            outcomes: outcomes(definition, &self.nodes[before..], &path),
            given,
            performed: None,
        };
        let bindings = definition
            .outputs
            .iter()
            .filter_map(|output| Some((output.name.clone(), bound(find(raw, &output.name)?)?)));
        let custom = custom_properties(raw);
        let keeping = self.keeping(&id, &custom);
        let node = Node {
            name: find(raw, "name").and_then(Value::as_str).map(str::to_owned),
            bindings: bindings.map(|found| self.binding(found)).collect(),
            children: BTreeMap::from([(ROOT, vec![root])]),
            key: String::new(),
            connected: Vec::new(),
            named_outcomes: None,
            is_first: false,
            plan: None,
            id,
            path,
            scope: Arc::clone(&self.scope.path),
            used: Some(Box::new(used)),
            descriptor: Arc::new(WorkflowActivity.descriptor()),
            can_start: false,
            keeping,
            custom,
            variables,
            inputs: BTreeMap::new(),
            retry: None,
        };
        Some(self.planned(Arc::new(WorkflowActivity), node, raw, &BTreeMap::new()))
    }

    /// Says that a workflow would run within itself, if this one were used here.
    pub(super) fn circle(&self, again: &DefinitionId) -> String {
        let mut circle: Vec<&str> = self.using.iter().map(AsRef::as_ref).collect();
        circle.push(again.as_str());
        format!(
            "the workflow would run within itself: {}; use ExecuteWorkflow to start another \
             instance",
            circle.join(" > ")
        )
    }

    /// The root and the variables of a definition that is used as an activity. Its problems are
    /// those of the activity.
    fn inside(
        &mut self,
        id: &ActivityId,
        definition: &Definition,
        path: &str,
        depth: usize,
    ) -> Option<(NodeRef, Vec<crate::outline::Declared>)> {
        let custom = camel_cased(&definition.custom_properties);
        let said = log_persistence::said(&mut self.findings, Some(id), &custom);
        let scope =
            Scope { keeps: said.by_default.or(self.scope.keeps), ..Scope::new(path, definition) };
        let around = std::mem::replace(&mut self.scope, scope);
        self.using.push(definition.definition_id.clone());
        let known = self.findings.problems.len();
        let visible = Visible::of(definition);
        let visible = std::mem::replace(&mut self.findings.visible, visible);
        let variables = self.variables(Some(id), definition.variables.iter().enumerate());
        let root = self.node(&definition.root, path, depth + 1);
        self.findings.visible = visible;
        // Its warnings were given to the author who published it.
        let mut inner = self.findings.problems.split_off(known);
        inner.retain(Problem::is_error);
        self.findings.problems.append(&mut inner);
        let name = definition.name.as_deref().unwrap_or(definition.definition_id.as_str());
        for problem in &mut self.findings.problems[known..] {
            let at = problem.activity_id.replace(id.clone()).filter(|inner| inner != id);
            let at = at.map(|inner| format!(", activity {inner}")).unwrap_or_default();
            problem.message = format!("in the workflow {name}{at}: {}", problem.message);
        }
        self.using.pop();
        self.scope = around;
        Some((root?, variables))
    }

    /// The values that the activity gives to the inputs of what it uses.
    pub(super) fn given(
        &mut self,
        id: &ActivityId,
        raw: &Map,
        inputs: &[Argument],
    ) -> BTreeMap<String, (Expression, Type)> {
        let mut given = BTreeMap::new();
        let known = self.findings.problems.len();
        for input in inputs {
            let Some(value) = find(raw, &input.name) else { continue };
            let alias = input.type_name.as_deref().unwrap_or("Object");
            let ty = Type::from_alias(alias, input.is_array);
            let mut parser = Parser {
                languages: self.languages,
                findings: &mut self.findings,
                activity: id,
                property: &input.name,
                is_ordinal: false,
            };
            if let Some(expression) = parser.expression(value, &ty) {
                given.insert(input.name.clone(), (expression, ty));
            }
        }
        self.refuse_missing_of(id, inputs, &given, known);
        given
    }
}

/// The outcomes that a workflow may complete with: those that it declares, and those of its `Complete`
/// activities. None where an expression says one and none are declared.
fn outcomes(definition: &Definition, inside: &[Node], path: &str) -> Option<Outcomes> {
    let mut all: BTreeSet<String> = definition.outcomes.iter().cloned().collect();
    all.insert("Done".to_owned());
    let mut is_all = true;
    let is_end = |node: &&Node| &*node.scope == path && node.type_name() == "Elsa.Complete";
    for end in inside.iter().filter(is_end) {
        match end.inputs.get("outcomes").map(|expression| &expression.0) {
            None => {}
            Some(Source::Literal(Value::String(text))) if !text.trim_start().starts_with('[') => {
                all.insert(text.clone());
            }
            Some(Source::Literal(value)) => {
                let text = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
                let names = text.as_ref().unwrap_or(value).as_array();
                let names = names.into_iter().flatten().filter_map(Value::as_str);
                all.extend(names.map(str::to_owned));
            }
            Some(_) => is_all = false,
        }
    }
    let is_known = is_all || !definition.outcomes.is_empty();
    is_known.then(|| Outcomes { names: all.into_iter().collect(), is_all })
}
