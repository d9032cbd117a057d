//! The values that expressions can read and set: variables from the innermost scope outwards,
//! inputs, outputs, identity.

use std::time::Duration;

use model::{Argument, Map, Timestamp, Token, TokenTarget, depth};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::convert::convert;
use crate::decision::Failure;
use crate::draft::Draft;
use crate::outline::{Declared, Node, Source, fit};
use crate::program::type_of;
use crate::state::Execution;
use crate::{Effect, Identity, Scope, Step, Type, UrlOf};

/// How long an event URL is valid when no lifetime is given.
const URL_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The owner of a variable.
pub(crate) enum VariableOwner {
    /// Given by name to an execution.
    Given { number: u64, name: String },
    /// Declared by the activity of an execution.
    Declared { number: u64, id: String, ty: Type, is_hidden: bool, is_masked: bool },
    /// Declared by the workflow.
    Workflow { id: String, ty: Type, is_hidden: bool, is_masked: bool },
}

impl VariableOwner {
    /// The variable is of the memory driver.
    fn is_hidden(&self) -> bool {
        match self {
            Self::Given { .. } => false,
            Self::Declared { is_hidden, .. } | Self::Workflow { is_hidden, .. } => *is_hidden,
        }
    }

    /// The journal keeps none of its values.
    fn is_masked(&self) -> bool {
        match self {
            Self::Given { .. } => false,
            Self::Declared { is_masked, .. } | Self::Workflow { is_masked, .. } => *is_masked,
        }
    }

    /// The number of the execution that declares it, 0 for the workflow; none for a variable that is
    /// not declared.
    fn recorded(&self) -> Option<u64> {
        match self {
            Self::Given { .. } => None,
            Self::Declared { number, .. } => Some(*number),
            Self::Workflow { .. } => Some(0),
        }
    }
}

/// The side from which an execution is seen. One of a workflow used as an activity has two: what its
/// owner gives it is for its inputs, and its variables are for the activities in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Both,
    Outside,
    Inside,
}

impl Step<'_, '_> {
    pub(crate) fn place_by_id(&self, id: &str) -> Option<VariableOwner> {
        self.place(None, |declared| declared.id == id)
    }

    pub(crate) fn place_by_name(&self, name: &str) -> Option<VariableOwner> {
        self.place(Some(name), |declared| declared.name == name)
    }

    fn place(
        &self,
        name: Option<&str>,
        is_it: impl Fn(&Declared) -> bool,
    ) -> Option<VariableOwner> {
        let mut at = Some(self.number);
        while let Some(execution) = at.and_then(|number| self.draft.state.executions.get(&number)) {
            let number = execution.number;
            let (_, node) = self.draft.outline.keyed(&execution.node);
            let side = self.side(execution, node);
            let given = name.filter(|name| execution.given.contains_key(*name));
            if let Some(name) = given.filter(|_| side != Side::Inside) {
                return Some(VariableOwner::Given { number, name: name.to_owned() });
            }
            let mut declared = node.variables.iter().filter(|_| side != Side::Outside);
            if let Some(found) = declared.find(|declared| is_it(declared)) {
                let (id, ty) = (found.id.clone(), found.ty.clone());
                let Declared { is_hidden, is_masked, .. } = *found;
                return Some(VariableOwner::Declared { number, id, ty, is_hidden, is_masked });
            }
            if side == Side::Inside {
                return None;
            }
            at = execution.owner;
        }
        let found = self.draft.outline.variables.iter().find(|declared| is_it(declared))?;
        let (id, ty) = (found.id.clone(), found.ty.clone());
        let Declared { is_hidden, is_masked, .. } = *found;
        Some(VariableOwner::Workflow { id, ty, is_hidden, is_masked })
    }

    /// The side from which this activity sees an execution around it, or its own.
    fn side(&self, execution: &Execution, node: &Node) -> Side {
        match node.workflow() {
            None => Side::Both,
            Some(_) if execution.number == self.number => Side::Outside,
            Some(_) => Side::Inside,
        }
    }

    /// The declared inputs of the innermost workflow, and their values.
    fn inputs(&self) -> (&[Argument], Option<&Map>) {
        let Draft { outline, state, .. } = &*self.draft;
        match self.composite() {
            Some((number, composite)) => {
                let execution = state.executions.get(&number);
                (&composite.inputs, execution.map(|execution| &execution.input))
            }
            None => (&outline.inputs, Some(&state.input)),
        }
    }

    pub(crate) fn at(&self, place: &VariableOwner) -> Option<Value> {
        if place.is_hidden() {
            self.read_hidden();
        }
        let executions = &self.draft.state.executions;
        let found = match place {
            VariableOwner::Given { number, name } => executions.get(number)?.given.get(name),
            VariableOwner::Declared { number, id, .. } => executions.get(number)?.variables.get(id),
            VariableOwner::Workflow { id, .. } => self.draft.state.variables.get(id),
        };
        found.cloned()
    }

    pub(crate) fn put(&mut self, place: &VariableOwner, value: Value) -> Result<(), Failure> {
        depth::check_held(&value)
            .map_err(|error| Failure::new("InvalidValue", error.to_string()))?;
        self.draft.spend(&value);
        let state = &mut self.draft.state;
        let (map, key, ty, is_hidden) = match place {
            VariableOwner::Given { number, name } => {
                let execution = state.executions.get_mut(number);
                (execution.map(|found| &mut found.given), name, &Type::Object, false)
            }
            VariableOwner::Declared { number, id, ty, is_hidden, .. } => {
                let execution = state.executions.get_mut(number);
                (execution.map(|found| &mut found.variables), id, ty, *is_hidden)
            }
            VariableOwner::Workflow { id, ty, is_hidden, .. } => {
                (Some(&mut state.variables), id, ty, *is_hidden)
            }
        };
        let value = fit(value, ty, is_hidden).map_err(|error| {
            Failure::new("InvalidValue", format!("variable {key} is {}: {error}", ty.alias()))
        })?;
        let Some(map) = map else { return Ok(()) };
        let before = map.insert(key.clone(), value);
        let recorder = &mut self.draft.recorder;
        if place.is_masked() {
            recorder.withhold(self.number);
        }
        if let Some(owner) = place.recorded().filter(|_| !is_hidden)
            && before.as_ref() != map.get(key)
        {
            recorder.changed(owner, key, place.is_masked());
        }
        Ok(())
    }

    /// A workflow input in the form of its declared type.
    pub(crate) fn workflow_input(&self, name: &str) -> Option<Value> {
        let (declared, input) = self.inputs();
        let declared = declared.iter().find(|declared| declared.name == name);
        let found = input.and_then(|input| Argument::given(name, input));
        match (found.cloned().map(|value| self.whole(value)), declared) {
            (Some(value), Some(declared)) => Some(lenient(declared, value)),
            (Some(value), None) => Some(value),
            (None, Some(declared)) => {
                let default = declared.extra.get("defaultValue").cloned().unwrap_or_default();
                Some(lenient(declared, default))
            }
            (None, None) => None,
        }
    }
}

/// The value converted to its declared type; unchanged if it has none or does not fit.
fn lenient(declared: &Argument, value: Value) -> Value {
    convert(value.clone(), &type_of(declared)).unwrap_or(value)
}

impl Scope for Step<'_, '_> {
    fn variable(&self, name: &str) -> Option<Value> {
        Some(self.opened(self.at(&self.place_by_name(name)?)?))
    }

    fn set_variable(&mut self, name: &str, value: Value) -> bool {
        let Some(place) = self.place_by_name(name) else { return false };
        let kept = match self.has_read_secret() {
            true => self.sealed(value).map_err(|why| Failure::new("InvalidValue", why)),
            false => Ok(value),
        };
        if let Err(failure) = kept.and_then(|value| self.put(&place, value)) {
            self.flaw.get_or_insert(failure);
        }
        true
    }

    fn variable_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut add = |name: &String| {
            if !names.contains(name) {
                names.push(name.clone());
            }
        };
        let mut at = Some(self.number);
        while let Some(execution) = at.and_then(|number| self.draft.state.executions.get(&number)) {
            let (_, node) = self.draft.outline.keyed(&execution.node);
            let side = self.side(execution, node);
            if side != Side::Inside {
                execution.given.keys().for_each(&mut add);
            }
            if side != Side::Outside {
                node.variables.iter().for_each(|declared| add(&declared.name));
            }
            if side == Side::Inside {
                return names;
            }
            at = execution.owner;
        }
        self.draft.outline.variables.iter().for_each(|declared| add(&declared.name));
        names
    }

    fn input(&self, name: &str) -> Option<Value> {
        self.workflow_input(name).map(|value| self.opened(value))
    }

    fn activity_input(&self, name: &str) -> Option<Value> {
        let (name, expression) =
            self.node.inputs.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        let value = match &expression.0 {
            Source::Literal(value) => return Some(value.clone()),
            Source::Variable { id, name } => {
                let place = self.place_by_id(id).or_else(|| self.place_by_name(name))?;
                self.at(&place)?
            }
            Source::Input(name) => self.workflow_input(name)?,
            Source::Script { .. } => return None,
        };
        let declared = self.node.descriptor.inputs.iter().find(|input| input.name == *name)?;
        convert(self.opened(value), &declared.ty).ok()
    }

    fn input_names(&self) -> Vec<String> {
        let (declared, input) = self.inputs();
        let mut names: Vec<String> = declared.iter().map(|input| input.name.clone()).collect();
        for name in input.into_iter().flat_map(Map::keys) {
            if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                names.push(name.clone());
            }
        }
        names
    }

    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value> {
        // The output may be bound to a hidden variable.
        if self.draft.outline.hides {
            self.read_hidden();
        }
        let wanted = output.unwrap_or("result");
        let found = self.draft.state.outputs.iter().rev().find(|recorded| {
            let (_, node) = self.draft.outline.keyed(&recorded.node);
            let is_it = node.id.as_str() == activity || node.name.as_deref() == Some(activity);
            is_it && node.scope == self.node.scope && recorded.name.eq_ignore_ascii_case(wanted)
        });
        found.map(|recorded| self.opened(recorded.value.clone()))
    }

    fn output_names(&self) -> Vec<(String, String)> {
        let names = self.draft.state.outputs.iter().filter_map(|recorded| {
            let (_, node) = self.draft.outline.keyed(&recorded.node);
            let name = node.name.clone().unwrap_or_else(|| node.id.as_str().to_owned());
            (node.scope == self.node.scope).then(|| (name, recorded.name.clone()))
        });
        names.collect()
    }

    fn arguments(&self) -> &Map {
        &self.arguments
    }

    fn last_result(&self) -> Option<Value> {
        if self.draft.outline.hides {
            self.read_hidden();
        }
        let result = Some(&self.draft.state.last_result).filter(|result| !result.is_null());
        result.cloned().map(|result| self.opened(result))
    }

    fn secret(&mut self, name: &str) -> Result<String, String> {
        self.read_secret(name)
    }

    fn sealed_secret(&mut self, name: &str) -> Result<String, String> {
        self.seal_secret(name)
    }

    fn identity(&self) -> Identity {
        let outline = self.draft.outline;
        Identity {
            definition_id: outline.definition_id.as_str().to_owned(),
            version_id: outline.version_id.as_str().to_owned(),
            version: outline.version,
            instance_id: self.draft.state.instance_id.as_str().to_owned(),
            correlation_id: self.draft.state.correlation_id.clone(),
            instance_name: self.draft.state.name.clone(),
        }
    }

    fn set_correlation_id(&mut self, value: Option<String>) {
        if self.may_show("the correlation id", value.as_deref()) {
            self.draft.state.correlation_id = value;
        }
    }

    fn set_instance_name(&mut self, value: Option<String>) {
        if self.may_show("the name of the instance", value.as_deref()) {
            self.draft.state.name = value;
        }
    }

    fn set_outcomes(&mut self, outcomes: Vec<String>) -> bool {
        let may_show = outcomes.iter().all(|one| self.may_show("an outcome", Some(one)));
        if self.takes_outcomes && may_show {
            self.outcomes = Some(outcomes);
        }
        self.takes_outcomes
    }

    fn takes_files(&self) -> bool {
        self.takes_files
    }

    fn now(&self) -> Timestamp {
        self.draft.env.now
    }

    fn random(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.draft.random()[..16]);
        bytes
    }

    fn url(&mut self, of: UrlOf<'_>, lifetime: Option<Duration>) -> Result<String, String> {
        let target = match of {
            UrlOf::Event(name) if !self.may_show("the name of an event", Some(name)) => {
                return Ok(String::new());
            }
            UrlOf::Event(name) => TokenTarget::Event(name.to_owned()),
            UrlOf::Activity(named) => TokenTarget::Activity(self.node_of(named)?),
        };
        let token = hex(&self.draft.random());
        let now = self.draft.env.now;
        self.draft.effects.push(Effect::Grant(Token {
            hash: hex(&Sha256::digest(token.as_bytes())),
            instance_id: self.draft.state.instance_id.clone(),
            target,
            created_at: now,
            expires_at: now.after(lifetime.unwrap_or(URL_LIFETIME)),
        }));
        Ok(format!("{}/bookmarks/resume?t={token}", self.draft.env.installation.base_url))
    }
}

impl Step<'_, '_> {
    /// The node id of the activity with this id or name, of the workflow that asks.
    fn node_of(&self, named: &str) -> Result<String, String> {
        let nodes = self.draft.outline.nodes.iter();
        let mut found = nodes.filter(|node| {
            let is_it = node.id.as_str() == named || node.name.as_deref() == Some(named);
            is_it && node.scope == self.node.scope
        });
        match (found.next(), found.next()) {
            (Some(node), None) => Ok(node.path.clone()),
            (None, _) => Err(format!("the workflow has no activity with the id or name {named:?}")),
            (Some(one), Some(other)) => Err(format!(
                "{named:?} names more than one activity, {} and {}: use an id",
                one.path, other.path
            )),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
