//! Migration: an instance goes on with another version of its definition. Everything that it holds
//! must have its place there.

use std::collections::BTreeMap;

use model::{Map, What, limits};
use serde_json::{Value, json};

use crate::Problem;
use crate::alter::refused;
use crate::draft::Draft;
use crate::moving::Moving;
use crate::outline::{Declared, Node, Outline};
use crate::program::Program;
use crate::run::Run;
use crate::state::{Execution, Migrated, State, Work};

impl<'a> Run<'a> {
    /// Goes on with the program of another version.
    pub(crate) fn migrate(&mut self, version: u32, to: &'a Program) -> Result<(), Vec<Problem>> {
        let from = self.program;
        if to.definition_id() != from.definition_id() || to.version() != version {
            return Err(refused(format!(
                "version {version} of definition {} is not there",
                from.definition_id()
            )));
        }
        if to.version_id() == from.version_id() {
            return Err(refused(format!("the instance runs version {version} already")));
        }
        if !self.draft.ended.is_empty() {
            return Err(refused("name Migrate before Retry"));
        }
        self.moved(to)?;
        self.program = to;
        self.draft.outline = &to.outline;
        let payload = json!({"fromVersion": from.version(), "toVersion": version});
        self.draft.write_whole(What::Altered, "Migrate".to_owned(), Some(payload));
        let Draft { state, recorder, .. } = &mut self.draft;
        for declared in to.outline.variables.iter().filter(|declared| !declared.is_hidden) {
            recorder.changed(0, &declared.id, declared.is_masked);
        }
        if state.migrations.len() >= limits::MIGRATIONS_MAX {
            state.migrations.remove(0);
        }
        let (at, from) = (state.journal_sequence, from.version_id().clone());
        state.migrations.push(Migrated { at, from });
        Ok(())
    }

    /// Carries the state over; the reasons why parts of it have no place in the other version.
    fn moved(&mut self, to: &'a Program) -> Result<(), Vec<Problem>> {
        let (old, new) = (&self.program.outline, &to.outline);
        let state = &mut self.draft.state;
        let mut problems = Vec::new();
        if state.halted.as_ref().is_some_and(|halted| !halted.ended.is_empty()) {
            problems.extend(refused("it stopped in the middle of a step: retry it first"));
        }
        state.variables =
            variables(&old.variables, &new.variables, &state.variables, None, &mut problems);
        let (executions, work, outputs) = match &mut state.halted {
            Some(halted) => (&mut halted.executions, &mut halted.work, &mut halted.outputs),
            None => (&mut state.executions, &mut state.work, &mut state.outputs),
        };
        for one in executions.values() {
            let owner = one.owner.and_then(|owner| executions.get(&owner));
            problems.extend(placed(old, new, &one.node, owner.map(|owner| owner.node.as_str())));
        }
        for one in work.iter().filter(|one| one.node.is_some()) {
            let owner = one.owner.and_then(|owner| executions.get(&owner));
            let key = one.node.as_deref().unwrap_or_default();
            problems.extend(placed(old, new, key, owner.map(|owner| owner.node.as_str())));
        }
        if self.migrates_unchecked {
            problems.clear();
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        outputs.retain(|output| new.find(&output.node).is_some());
        if state.trigger.as_ref().is_some_and(|key| new.find(key).is_none()) {
            state.trigger = None;
        }
        let (executions, work) = match &mut state.halted {
            Some(halted) => (&mut halted.executions, &mut halted.work),
            None => (&mut state.executions, &mut state.work),
        };
        let numbers: Vec<u64> = executions.keys().copied().collect();
        for number in numbers {
            problems.extend(remembered(self.program, to, number, executions, work));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

impl State {
    /// The activities that the state names and the program lacks.
    pub(crate) fn strangers(&self, outline: &Outline) -> Vec<Problem> {
        let held = self.halted.as_deref();
        let executions =
            self.executions.values().chain(held.iter().flat_map(|held| held.executions.values()));
        let work = self.work.iter().chain(held.iter().flat_map(|held| held.work.iter()));
        let keys = executions.map(|one| &one.node).chain(work.filter_map(|one| one.node.as_ref()));
        let unknown = keys.filter(|key| outline.find(key).is_none());
        unknown.flat_map(|key| refused(format!("the definition has no activity {key}"))).collect()
    }
}

/// The reason why a node has no place in the other version.
fn placed(old: &Outline, new: &Outline, key: &str, owner: Option<&str>) -> Option<Problem> {
    let before = old.keyed(key).1;
    let about = |message: String| Some(Problem::error(Some(&before.id), None, message));
    let Some(after) = new.find(key) else {
        return about("the instance is at this activity, which is not there".to_owned());
    };
    let (was, is) = (before.type_name(), new.node(after).type_name());
    if was != is {
        return about(format!(
            "the instance is at this activity, which is a {is} there, not a {was}"
        ));
    }
    let owner = owner?;
    let container = new.find(owner).map(|owner| new.node(owner));
    let is_inside = container.is_some_and(|container| {
        container.children.values().flatten().any(|child| *child == after)
    });
    if is_inside {
        return None;
    }
    about(format!("the instance is at this activity, which is not a part of {owner} there"))
}

/// Carries over the variables and the memory of one execution.
fn remembered(
    from: &Program,
    to: &Program,
    number: u64,
    executions: &mut BTreeMap<u64, Execution>,
    work: &mut std::collections::VecDeque<Work>,
) -> Vec<Problem> {
    let Some(mut execution) = executions.remove(&number) else { return Vec::new() };
    let (_, before) = from.outline.keyed(&execution.node);
    let (node_ref, after) = to.outline.keyed(&execution.node);
    let mut problems = Vec::new();
    execution.variables = variables(
        &before.variables,
        &after.variables,
        &execution.variables,
        Some(after),
        &mut problems,
    );
    let tagged = |tag: &mut Option<Value>| tag.take().unwrap_or_default();
    let mut held: Vec<Value> = executions
        .values_mut()
        .filter(|child| child.owner == Some(number))
        .map(|child| tagged(&mut child.tag))
        .chain(
            work.iter_mut()
                .filter(|child| child.owner == Some(number))
                .map(|child| tagged(&mut child.tag)),
        )
        .collect();
    let mut memory = std::mem::take(&mut execution.memory);
    let mut moving = Moving {
        before: (&from.outline, before),
        after: (&to.outline, after),
        memory: &mut memory,
        tags: held.iter_mut().collect(),
    };
    if let Err(message) = to.activity(node_ref).migrate(&mut moving) {
        problems.push(Problem::error(Some(&after.id), None, message));
    }
    execution.memory = memory;
    let mut held = held.into_iter().map(|tag| Some(tag).filter(|tag| !tag.is_null()));
    for child in executions.values_mut().filter(|child| child.owner == Some(number)) {
        child.tag = held.next().flatten();
    }
    for child in work.iter_mut().filter(|child| child.owner == Some(number)) {
        child.tag = held.next().flatten();
    }
    executions.insert(number, execution);
    problems
}

/// The values of the declared variables of the other version: those that it had, else the defaults.
fn variables(
    old: &[Declared],
    new: &[Declared],
    values: &Map,
    node: Option<&Node>,
    problems: &mut Vec<Problem>,
) -> Map {
    let mut moved = Map::new();
    for declared in new {
        let same = old.iter().find(|old| old.id == declared.id);
        let same = same.or_else(|| old.iter().find(|old| old.name == declared.name));
        let value = same.and_then(|same| values.get(&same.id)).cloned();
        let value = match value {
            None => declared.default.clone(),
            Some(value) => declared.fit(value).unwrap_or_else(|error| {
                let message = format!("variable {} has another type there: {error}", declared.name);
                problems.push(Problem::error(node.map(|node| &node.id), None, message));
                Value::Null
            }),
        };
        moved.insert(declared.id.clone(), value);
    }
    moved
}
