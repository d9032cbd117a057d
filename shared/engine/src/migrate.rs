//! Migration: an instance goes on with another version of its definition. Everything that it holds
//! must have its place there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::{ActivityId, Map, What, limits};
use serde_json::{Value, json};

use crate::Problem;
use crate::alter::refused;
use crate::draft::Draft;
use crate::mapping::{Mapping, with_article};
use crate::moving::Moving;
use crate::outline::{Declared, Node, Outline};
use crate::program::Program;
use crate::run::Run;
use crate::state::{Execution, Migrated, Output, Renamed, State, Work};

impl<'a> Run<'a> {
    /// Goes on with the program of another version, in which activities may have another id.
    pub(crate) fn migrate(
        &mut self,
        version: u32,
        activities: &BTreeMap<ActivityId, ActivityId>,
        to: &'a Program,
    ) -> Result<(), Vec<Problem>> {
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
        let mut mapping = Mapping::of(&from.outline, &to.outline, activities)?;
        self.moved(to, &mut mapping)?;
        self.program = to;
        self.draft.outline = &to.outline;
        let mut payload = json!({"fromVersion": from.version(), "toVersion": version});
        let moved = mapping.moved();
        if !moved.is_empty() {
            payload["activities"] = json!(moved);
        }
        self.draft.write_whole(What::Altered, "Migrate".to_owned(), Some(payload));
        let Draft { state, recorder, env, .. } = &mut self.draft;
        for declared in to.outline.variables.iter().filter(|declared| !declared.is_hidden) {
            recorder.changed(0, &declared.id, declared.is_masked);
        }
        if state.migrations.len() >= limits::MIGRATIONS_MAX {
            state.migrations.remove(0);
        }
        let (at, from) = (state.journal_sequence, from.version_id().clone());
        let paths = mapping.paths();
        forget_renamed(&mut state.migrations, limits::ACTIVITIES_MAX.saturating_sub(paths.len()));
        let renamed = (!paths.is_empty()).then_some(Renamed { time: env.now, paths });
        state.migrations.push(Migrated { at, from, renamed });
        Ok(())
    }

    /// Carries the state over; the reasons why parts of it have no place in the other version.
    fn moved(&mut self, to: &'a Program, mapping: &mut Mapping<'a>) -> Result<(), Vec<Problem>> {
        let (old, new) = (mapping.old, mapping.new);
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
        let own = executions.values().map(|one| (&one.node, one.owner));
        let scheduled = work.iter().filter_map(|one| Some((one.node.as_ref()?, one.owner)));
        for (key, owner) in own.chain(scheduled) {
            let owner = owner.and_then(|owner| executions.get(&owner));
            problems.extend(placed(mapping, key, owner.map(|owner| owner.node.as_str())));
            problems.extend(mapping.hold(key));
        }
        if self.migrates_unchecked {
            problems.clear();
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        rekey_outputs(mapping, outputs);
        state.trigger = state.trigger.take().and_then(|key| mapping.key_of(&key));
        let (executions, work) = match &mut state.halted {
            Some(halted) => (&mut halted.executions, &mut halted.work),
            None => (&mut state.executions, &mut state.work),
        };
        let numbers: Vec<u64> = executions.keys().copied().collect();
        for number in numbers {
            problems.extend(remembered(to, mapping, number, executions, work));
        }
        for key in work.iter_mut().filter_map(|one| one.node.as_mut()) {
            rekey(mapping, key);
        }
        if !mapping.is_empty() {
            rename(mapping, state);
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
fn placed(mapping: &Mapping<'_>, key: &str, owner: Option<&str>) -> Option<Problem> {
    let new = mapping.new;
    let (node_ref, before) = mapping.old.keyed(key);
    let about = |message: String| Some(Problem::error(Some(&before.id), None, message));
    let Some(after) = mapping.place(node_ref) else {
        return about(format!(
            "the instance is at this activity, which is not there: map it to an activity of version \
             {}",
            new.version
        ));
    };
    let (was, is) = (before.type_name(), new.node(after).type_name());
    if was != is {
        return about(format!(
            "the instance is at this activity, which is {} there, not {}: map it to an activity of \
             its type",
            with_article(is),
            with_article(was)
        ));
    }
    let owner = owner?;
    let container = mapping.place_of(owner).map(|owner| new.node(owner));
    let is_inside = container.is_some_and(|container| {
        container.children.values().flatten().any(|child| *child == after)
    });
    if is_inside {
        return None;
    }
    about(format!("the instance is at this activity, which is not a part of {owner} there"))
}

/// Gives the activity with this key the one that it has in the other version.
fn rekey(mapping: &Mapping<'_>, key: &mut String) {
    if let Some(is) = mapping.key_of(key) {
        *key = is;
    }
}

/// Keeps the outputs of activities that are there. Where several activities become one, the newest
/// output of each name is left.
fn rekey_outputs(mapping: &Mapping<'_>, outputs: &mut Vec<Output>) {
    let kept = std::mem::take(outputs).into_iter().rev().filter_map(|output| {
        let node = mapping.key_of(&output.node)?;
        Some(Output { node, ..output })
    });
    let mut known = BTreeSet::new();
    *outputs =
        kept.filter(|output| known.insert((output.node.clone(), output.name.clone()))).collect();
    outputs.reverse();
}

/// Names the activities of bookmarks, calls and incidents as the other version does.
fn rename(mapping: &Mapping<'_>, state: &mut State) {
    let (executions, bookmarks, calls, paused) = match &mut state.halted {
        Some(held) => {
            let held = &mut **held;
            (&held.executions, &mut held.bookmarks, &mut held.calls, &mut held.paused_calls)
        }
        None => {
            let calls = (&mut state.calls, &mut state.paused_calls);
            (&state.executions, &mut state.bookmarks, calls.0, calls.1)
        }
    };
    let nodes: BTreeMap<&str, &Node> = executions
        .values()
        .filter_map(|one| Some((one.id.as_str(), mapping.new.node(mapping.new.find(&one.node)?))))
        .collect();
    for bookmark in bookmarks.values_mut() {
        if let Some(node) = nodes.get(bookmark.activity_instance_id.as_str()) {
            bookmark.activity_id.clone_from(&node.id);
            bookmark.activity_node_id.clone_from(&node.path);
        }
    }
    for (id, call) in calls.iter_mut().chain(paused) {
        if let Some(bookmark) = bookmarks.get(id) {
            call.activity_id.clone_from(&bookmark.activity_id);
        }
    }
    for incident in &mut state.incidents {
        let path = incident.activity_node_id.as_str();
        let Some(is) = mapping.path_of(path).filter(|is| is.type_name() == incident.activity_type)
        else {
            continue;
        };
        incident.activity_id.clone_from(&is.id);
        incident.activity_node_id.clone_from(&is.path);
    }
}

/// Forgets the node ids before migrations, those of the oldest first, until no more than these are
/// kept.
fn forget_renamed(migrations: &mut [Migrated], max: usize) {
    let mut left = Some(max);
    for migrated in migrations.iter_mut().rev() {
        let count = migrated.renamed.as_ref().map_or(0, |renamed| renamed.paths.len());
        left = left.and_then(|left| left.checked_sub(count));
        if left.is_none() {
            migrated.renamed = None;
        }
    }
}

/// Carries over the variables and the memory of one execution.
fn remembered(
    to: &Program,
    mapping: &Mapping<'_>,
    number: u64,
    executions: &mut BTreeMap<u64, Execution>,
    work: &mut VecDeque<Work>,
) -> Vec<Problem> {
    let Some(mut execution) = executions.remove(&number) else { return Vec::new() };
    let (_, before) = mapping.old.keyed(&execution.node);
    rekey(mapping, &mut execution.node);
    let (node_ref, after) = mapping.new.keyed(&execution.node);
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
    let mut moving =
        Moving { mapping, before, after, memory: &mut memory, tags: held.iter_mut().collect() };
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
