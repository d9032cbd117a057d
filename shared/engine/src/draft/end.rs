//! The ends of executions: completed, cancelled or with an incident.

use std::collections::BTreeSet;

use model::{ActivityId, Incident, SubStatus, What, limits};
use serde_json::{Value, json};

use super::{Draft, Ended, cut};
use crate::Effect;
use crate::decision::{Child, Failure};
use crate::outline::{Node, NodeRef};
use crate::state::{EndedChild, Execution, Halted, Work};

impl Draft<'_> {
    /// Completes an execution: cancels what is open below it, and informs its owner.
    pub(crate) fn complete(&mut self, number: u64, outcomes: Vec<String>) {
        self.cancel_below(number);
        self.written_complete(number, &outcomes);
        let Some(execution) = self.take(number) else { return };
        match execution.owner {
            None => self.halt(SubStatus::Finished),
            Some(_) => {
                let (node, _) = self.outline.keyed(&execution.node);
                self.child_is_over(execution.owner, Some(node), execution.tag, outcomes);
            }
        }
    }

    pub(crate) fn written_complete(&mut self, number: u64, outcomes: &[String]) {
        let payload = json!({ "outcomes": outcomes });
        self.write(number, What::Completed, None, Some(payload));
    }

    /// Removes an execution without informing its owner.
    pub(crate) fn remove(&mut self, number: u64) {
        if let Some(execution) = self.take(number) {
            self.one_child_less(execution.owner);
        }
    }

    /// Notes that a child is over, for its owner.
    pub(crate) fn child_is_over(
        &mut self,
        owner: Option<u64>,
        node: Option<NodeRef>,
        tag: Option<Value>,
        outcomes: Vec<String>,
    ) {
        self.one_child_less(owner);
        if let Some(owner) = owner {
            self.ended.push_back(Ended { owner, child: Child { node, tag, outcomes } });
        }
    }

    /// Cancels an execution and everything below it, without informing its owner.
    pub(crate) fn cancel_execution(&mut self, number: u64) {
        self.cancel_below(number);
        self.write(number, What::Canceled, None, None);
        self.remove(number);
    }

    /// An activity failed: records the incident, and follows the incident strategy of the definition,
    /// or else of the configuration.
    pub(crate) fn fault(&mut self, number: u64, node: &Node, failure: &Failure) {
        self.cancel_below(number);
        self.burn(number);
        let payload =
            json!({"code": failure.code, "category": failure.category, "type": failure.kind});
        self.write(number, What::Faulted, Some(failure.message.clone()), Some(payload));
        self.incident(node, Some(number), failure);
        let by_default = self.env.installation.continues_with_incidents;
        if self.outline.continues_with_incidents.unwrap_or(by_default) {
            return;
        }
        self.halt(SubStatus::Faulted);
    }

    pub(crate) fn incident(&mut self, node: &Node, number: Option<u64>, failure: &Failure) {
        let execution = number.and_then(|number| self.state.executions.get_mut(&number));
        let activity_instance_id = execution.map(|execution| {
            execution.faulted = true;
            execution.id.clone()
        });
        self.state.incident_count = self.state.incident_count.saturating_add(1);
        if self.state.incidents.len() >= limits::INCIDENTS_MAX {
            self.state.incidents.remove(0);
        }
        self.state.incidents.push(Incident {
            activity_id: ActivityId::new(node.id.as_str()),
            activity_node_id: node.path.clone(),
            activity_type: node.type_name().to_owned(),
            code: failure.code.clone(),
            message: cut(failure.message.clone()),
            timestamp: self.env.now,
            activity_instance_id,
        });
    }

    /// Ends the instance: removes all bookmarks, calls and scheduled work. After an incident, they
    /// are kept aside for a retry.
    pub(crate) fn halt(&mut self, status: SubStatus) {
        if status == SubStatus::Faulted {
            self.keep();
        }
        let tasks = self.state.bookmarks.values();
        let tasks = tasks.filter_map(|open| self.state.task_at(open)).map(Effect::CancelTask);
        self.effects.extend(tasks);
        let state = &mut self.state;
        state.status = status;
        state.is_paused = false;
        state.bookmarks.clear();
        state.calls.clear();
        state.paused_calls.clear();
        state.work.clear();
        state.executions.clear();
        state.outputs.clear();
        state.last_result = Value::Null;
        state.steps_without_wait = 0;
        state.trigger_input = None;
        self.ended.clear();
    }

    /// Keeps aside what the instance holds.
    fn keep(&mut self) {
        let key = |node: NodeRef| self.outline.node(node).key.clone();
        let ended = self.ended.drain(..).map(|Ended { owner, child }| EndedChild {
            owner,
            node: child.node.map(key),
            tag: child.tag,
            outcomes: child.outcomes,
        });
        let ended = ended.collect();
        let state = &mut self.state;
        state.halted = Some(Box::new(Halted {
            bookmarks: std::mem::take(&mut state.bookmarks),
            calls: std::mem::take(&mut state.calls),
            paused_calls: std::mem::take(&mut state.paused_calls),
            executions: std::mem::take(&mut state.executions),
            work: std::mem::take(&mut state.work),
            outputs: std::mem::take(&mut state.outputs),
            last_result: std::mem::take(&mut state.last_result),
            ended,
        }));
    }

    /// Goes back to what the instance held when an incident ended it; false if nothing was kept.
    pub(crate) fn revive(&mut self) -> bool {
        let Some(halted) = self.state.halted.take() else { return false };
        let Halted {
            bookmarks,
            calls,
            paused_calls,
            executions,
            work,
            outputs,
            last_result,
            ended,
        } = *halted;
        self.is_revived = true;
        let state = &mut self.state;
        state.status = SubStatus::Executing;
        state.bookmarks = bookmarks;
        state.calls = calls;
        state.paused_calls = paused_calls;
        state.executions = executions;
        state.work = work;
        state.outputs = outputs;
        state.last_result = last_result;
        for EndedChild { owner, node, tag, outcomes } in ended {
            let node = node.and_then(|key| self.outline.find(&key));
            self.ended.push_back(Ended { owner, child: Child { node, tag, outcomes } });
        }
        true
    }

    /// Runs an execution again, from its start, in the place of the one that is there.
    pub(crate) fn rerun(&mut self, number: u64) {
        self.cancel_below(number);
        let Some(execution) = self.take(number) else { return };
        let Execution { node, owner, tag, given, .. } = execution;
        // The owner goes on counting one child: the execution was one, and the work is one.
        self.schedule(Work { node: Some(node), owner, tag, given });
    }

    /// Cancels an execution and everything below it. Its owner goes on, as after an end without an
    /// outcome.
    pub(crate) fn end_execution(&mut self, number: u64) {
        self.cancel_below(number);
        self.write(number, What::Canceled, None, None);
        let Some(execution) = self.take(number) else { return };
        if execution.owner.is_none() {
            self.halt(SubStatus::Cancelled);
            return;
        }
        let (node, _) = self.outline.keyed(&execution.node);
        self.child_is_over(execution.owner, Some(node), execution.tag, Vec::new());
    }

    /// Cancels everything below an execution, running or scheduled.
    pub(crate) fn cancel_below(&mut self, number: u64) {
        let open = self.state.executions.get(&number).is_some_and(|found| found.children > 0);
        if !open {
            return;
        }
        let mut below = BTreeSet::from([number]);
        for (child, execution) in self.state.executions.range(number + 1..) {
            if execution.owner.is_some_and(|owner| below.contains(&owner)) {
                below.insert(*child);
            }
        }
        self.state.work.retain(|work| work.owner.is_none_or(|owner| !below.contains(&owner)));
        self.ended.retain(|ended| !below.contains(&ended.owner));
        below.remove(&number);
        for child in below {
            if self.state.executions.get(&child).is_some_and(|found| !found.faulted) {
                self.write(child, What::Canceled, None, None);
            }
            drop(self.take(child));
        }
        if let Some(execution) = self.state.executions.get_mut(&number) {
            execution.children = 0;
        }
    }

    fn take(&mut self, number: u64) -> Option<Execution> {
        self.burn(number);
        self.state.executions.remove(&number)
    }

    /// Removes the bookmarks and calls of an execution.
    fn burn(&mut self, number: u64) {
        let Some(execution) = self.state.executions.get_mut(&number) else { return };
        if execution.bookmarks == 0 {
            return;
        }
        execution.bookmarks = 0;
        let id = execution.id.clone();
        let open = self.state.bookmarks.values();
        let open = open.filter(|bookmark| bookmark.activity_instance_id == id);
        let tasks = open.filter_map(|open| self.state.task_at(open)).map(Effect::CancelTask);
        self.effects.extend(tasks);
        self.state.bookmarks.retain(|_, bookmark| bookmark.activity_instance_id != id);
        let bookmarks = &self.state.bookmarks;
        self.state.calls.retain(|id, _| bookmarks.contains_key(id));
        self.state.paused_calls.retain(|id, _| bookmarks.contains_key(id));
    }

    fn one_child_less(&mut self, owner: Option<u64>) {
        let owner = owner.and_then(|owner| self.state.executions.get_mut(&owner));
        if let Some(owner) = owner {
            owner.children = owner.children.saturating_sub(1);
        }
    }
}
