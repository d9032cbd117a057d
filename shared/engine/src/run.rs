//! One turn: takes scheduled work in order, until none is left or the budget is used up.

mod retry;

use model::{Bookmark, Map, SubStatus, What, limits};
use serde_json::{Value, json};

use crate::decision::{Decision, Failure, Next, Resumed};
use crate::draft::{Draft, Ended};
use crate::outline::{Node, NodeRef, Outline, defaults};
use crate::program::{Program, missing_outputs};
use crate::state::{Execution, Work};
use crate::{Bounds, Rest, Resume, Start, Step};

/// One turn in progress.
pub(crate) struct Run<'a> {
    pub(crate) draft: Draft<'a>,
    pub(crate) program: &'a Program,
    bounds: Bounds,
    /// A planted bug: a migration is not checked.
    pub(crate) migrates_unchecked: bool,
}

impl<'a> Run<'a> {
    /// Begins with a draft of this program.
    pub(crate) fn new(program: &'a Program, draft: Draft<'a>, bounds: Bounds) -> Self {
        Self { draft, program, bounds, migrates_unchecked: false }
    }

    /// Runs the first turn of an instance.
    pub(crate) fn start(&mut self, start: Start) -> Rest {
        let outline = &self.program.outline;
        start.input.values().for_each(|value| self.draft.spend(value));
        let state = &mut self.draft.state;
        state.turns += 1;
        state.instance_id = start.instance_id;
        state.correlation_id = start.correlation_id;
        state.name = start.name;
        state.parent = start.parent;
        state.responds = start.responds;
        state.properties = start.properties;
        state.variables = defaults(&outline.variables);
        self.draft.announce(SubStatus::Executing, None);
        if let Some(restart) = start.restart
            && let Err(failure) = self.restart(restart)
        {
            self.draft.incident(outline.root(), None, &failure);
            self.draft.halt(SubStatus::Faulted);
        }
        let trigger = start.trigger.map(|id| (id.clone(), trigger_key(outline, id.as_str())));
        match trigger {
            Some((id, None)) => {
                let message = format!("there is no activity {id} to start at");
                let failure = Failure::new("UnknownTrigger", message);
                self.draft.incident(outline.root(), None, &failure);
                self.draft.halt(SubStatus::Faulted);
            }
            Some((_, Some(key))) => {
                self.draft.state.trigger = Some(key);
                self.draft.state.trigger_input = Some(start.input.clone());
            }
            None => {}
        }
        let state = &mut self.draft.state;
        state.input = workflow_input(start.input);
        if !state.status.is_final() {
            let node = Some(outline.root().key.clone());
            state.work.push_back(Work { node, ..Work::default() });
        }
        self.go_on(SubStatus::Executing)
    }

    /// Resumes the activity that waits at a bookmark; none when there is no such bookmark.
    pub(crate) fn resume(&mut self, resume: Resume) -> Option<Rest> {
        let state = &mut self.draft.state;
        let bookmark = state.bookmarks.remove(&resume.bookmark_id)?;
        let before = state.status;
        state.turns += 1;
        let call = state.calls.remove(&resume.bookmark_id);
        let paused = state.paused_calls.remove(&resume.bookmark_id);
        state.responds |= resume.responds;
        let waiting = |execution: &&Execution| execution.id == bookmark.activity_instance_id;
        let number = state.executions.values().find(waiting).map(|found| found.number);
        assert!(number.is_some(), "INV-3: the execution of bookmark {} exists", bookmark.id);
        let number = number.unwrap_or_default();
        // An activity may handle a failure, and then nothing else tells the reason.
        let failed = call.is_some().then(|| resume.input.get("message")).flatten();
        let reason = failed.filter(|_| resume.input.contains_key("error")).and_then(Value::as_str);
        self.draft.write(number, What::Resumed, reason.map(str::to_owned), None);
        if let Some(execution) = self.draft.state.executions.get_mut(&number) {
            execution.bookmarks -= 1;
        }
        if let Some(call) = paused {
            self.call(number, bookmark, call, None);
        } else if let Some(again) = self.again(number, call, &resume.input) {
            self.pause(number, bookmark, again);
        } else {
            self.give(number, bookmark, resume.input);
        }
        Some(self.go_on(before))
    }

    /// Gives what arrived at a bookmark to the activity that waits there.
    fn give(&mut self, number: u64, bookmark: Bookmark, input: Map) {
        input.values().for_each(|value| self.draft.spend(value));
        let Some(execution) = self.draft.state.executions.get(&number) else { return };
        let (node_ref, node) = self.program.outline.keyed(&execution.node);
        let resumed = Resumed { stimulus: Some(bookmark.name.clone()), input };
        self.draft.resumed = Some(bookmark);
        let step = &mut Step::new(&mut self.draft, number, node_ref);
        let decision = self.program.activity(node_ref).resume(step, resumed);
        self.draft.resumed = None;
        self.apply(number, node, decision);
    }

    /// Goes on with scheduled work.
    pub(crate) fn proceed(&mut self) -> Rest {
        self.draft.state.turns += 1;
        self.go_on(self.draft.state.status)
    }

    /// Ends the instance.
    pub(crate) fn cancel(&mut self, reason: Option<String>) -> Rest {
        self.draft.state.turns += 1;
        let running: Vec<u64> = self.draft.state.executions.keys().copied().collect();
        for number in running {
            self.draft.write(number, What::Canceled, None, None);
        }
        self.draft.halt(SubStatus::Cancelled);
        self.draft.announce(SubStatus::Cancelled, reason.map(|reason| json!({ "reason": reason })));
        Rest::Finished
    }

    pub(crate) fn go_on(&mut self, before: SubStatus) -> Rest {
        let rest = self.work();
        // The client goes on waiting while the burst has more turns or calls to come.
        if rest != Rest::OutOfBudget && self.draft.state.calls.is_empty() {
            self.draft.state.responds = false;
        }
        let after = self.draft.state.status;
        // An instance that runs again and fails again ends a second time.
        if after != before || self.draft.is_revived {
            self.draft.announce(after, None);
        }
        rest
    }

    fn work(&mut self) -> Rest {
        loop {
            self.tell_owners();
            if self.draft.state.status.is_final() {
                return Rest::Finished;
            }
            if self.draft.state.work.is_empty() {
                return self.rest();
            }
            if self.draft.state.is_paused || self.is_out_of_budget() {
                let state = &mut self.draft.state;
                let waits = state.is_paused && state.calls.is_empty();
                state.status = if waits { SubStatus::Suspended } else { SubStatus::Executing };
                return Rest::OutOfBudget;
            }
            if let Some(work) = self.draft.state.work.pop_front() {
                self.execute(work);
            }
        }
    }

    fn is_out_of_budget(&self) -> bool {
        let is_large = self.draft.bytes >= self.bounds.bytes
            || self.draft.journal_bytes >= limits::JOURNAL_BYTES_PER_TURN_MAX
            || self.draft.effects.len() >= limits::EFFECTS_PER_TURN_MAX;
        self.draft.steps >= self.bounds.steps.max(1) || (self.draft.steps > 0 && is_large)
    }

    /// The rest of the turn when no work is left.
    fn rest(&mut self) -> Rest {
        let state = &mut self.draft.state;
        if state.bookmarks.is_empty() {
            let faulted = state.executions.values().any(|execution| execution.faulted);
            assert!(faulted, "INV-4: an instance that is not over waits for something");
            self.draft.halt(SubStatus::Faulted);
            return Rest::Finished;
        }
        state.steps_without_wait = 0;
        state.status =
            if state.calls.is_empty() { SubStatus::Suspended } else { SubStatus::Executing };
        Rest::Suspended
    }

    fn execute(&mut self, work: Work) {
        self.draft.steps += 1;
        self.draft.state.steps += 1;
        self.draft.state.steps_without_wait += 1;
        if self.draft.state.steps_without_wait > self.bounds.steps_without_wait {
            self.stop_endless(work);
            return;
        }
        let Some(key) = work.node else {
            self.draft.child_is_over(work.owner, None, work.tag, Vec::new());
            return;
        };
        let (node_ref, node) = self.program.outline.keyed(&key);
        self.draft.state.last_number += 1;
        let number = self.draft.state.last_number;
        let execution = Execution {
            number,
            id: self.draft.execution_id(number),
            started_at: Some(self.draft.env.now),
            node: key,
            owner: work.owner,
            tag: work.tag,
            variables: defaults(&node.variables),
            given: work.given,
            ..Execution::default()
        };
        self.draft.state.executions.insert(number, execution);
        self.draft.write(number, What::Started, None, None);
        let decision = self.begin(number, node_ref, node);
        self.apply(number, node, decision);
    }

    /// The instance has run for too long without a wait: it is faulted, whatever its strategy.
    fn stop_endless(&mut self, work: Work) {
        let outline = &self.program.outline;
        let owner = work.owner.and_then(|owner| self.draft.state.executions.get(&owner));
        let key = work.node.as_ref().or(owner.map(|owner| &owner.node));
        let node = key.map_or_else(|| outline.root(), |key| outline.keyed(key).1);
        let max = self.bounds.steps_without_wait;
        let message = format!(
            "the instance has run {max} activities without waiting for anything: is there an \
             endless loop? A loop that is to go on needs a wait, such as Delay"
        );
        let failure = Failure::new("TooManySteps", message.clone());
        self.draft.write(work.owner.unwrap_or_default(), What::Faulted, Some(message), None);
        self.draft.incident(node, None, &failure);
        // A retry goes on here.
        self.draft.state.work.push_front(work);
        self.draft.halt(SubStatus::Faulted);
    }

    fn begin(&mut self, number: u64, node_ref: NodeRef, node: &Node) -> Decision {
        let is_trigger = self.draft.state.trigger.as_ref() == Some(&node.key);
        let received = if is_trigger { self.draft.state.trigger_input.take() } else { None };
        let activity = self.program.activity(node_ref);
        let step = &mut Step::new(&mut self.draft, number, node_ref);
        match received {
            Some(input) => activity.resume(step, Resumed { stimulus: None, input }),
            None => activity.start(step),
        }
    }

    fn tell_owners(&mut self) {
        while let Some(Ended { owner, child }) = self.draft.ended.pop_front() {
            let Some(execution) = self.draft.state.executions.get(&owner) else { continue };
            if execution.faulted {
                continue;
            }
            let (node_ref, node) = self.program.outline.keyed(&execution.node);
            let step = &mut Step::new(&mut self.draft, owner, node_ref);
            let decision = self.program.activity(node_ref).child_completed(step, child);
            self.apply(owner, node, decision);
        }
    }

    fn apply(&mut self, number: u64, node: &Node, decision: Decision) {
        let decision = if std::mem::take(&mut self.draft.is_overfull) {
            let max = limits::SCHEDULED_MAX;
            Err(Failure::new("TooMuchWork", format!("more than {max} activities are scheduled")))
        } else {
            decision
        };
        match decision {
            Ok(Next::Wait) => {
                let execution = self.draft.state.executions.get(&number);
                if execution.is_some_and(|execution| execution.bookmarks > 0) {
                    self.draft.write(number, What::Suspended, None, None);
                }
            }
            Ok(Next::Complete(outcomes)) => self.complete(number, outcomes),
            Ok(Next::Break) => {
                let target = self.nearest_loop(number);
                if let Some(target) = target {
                    self.draft.written_complete(number, &["Done".to_owned()]);
                    self.draft.remove(number);
                    self.complete(target, vec!["Done".to_owned()]);
                } else {
                    self.tell_broken(number);
                    self.complete(number, vec!["Done".to_owned()]);
                }
            }
            Ok(Next::CompleteWorkflow(outcomes)) => {
                let workflow = self.workflow_of(number);
                if workflow != number {
                    self.draft.written_complete(number, &outcomes);
                    self.draft.remove(number);
                }
                self.complete(workflow, outcomes);
            }
            Ok(Next::Finish) => match self.has_outputs() {
                Ok(()) => {
                    self.draft.written_complete(number, &["Done".to_owned()]);
                    self.draft.halt(SubStatus::Finished);
                }
                Err(failure) => self.draft.fault(number, node, &failure),
            },
            Err(failure) => self.draft.fault(number, node, &failure),
        }
    }

    fn nearest_loop(&self, number: u64) -> Option<u64> {
        let mut at = self.draft.state.executions.get(&number)?.owner;
        while let Some(owner) = at {
            let execution = self.draft.state.executions.get(&owner)?;
            if self.program.outline.keyed(&execution.node).1.descriptor.is_loop {
                return Some(owner);
            }
            at = execution.owner;
        }
        None
    }

    /// Tells all executions around one that it ends a loop which is not there.
    fn tell_broken(&mut self, number: u64) {
        let owner_of = |run: &Self, number| run.draft.state.executions.get(&number)?.owner;
        let mut at = owner_of(self, number);
        while let Some(owner) = at {
            let Some(execution) = self.draft.state.executions.get(&owner) else { break };
            let (node_ref, _) = self.program.outline.keyed(&execution.node);
            self.program.activity(node_ref).broken(&mut Step::new(
                &mut self.draft,
                owner,
                node_ref,
            ));
            at = owner_of(self, owner);
        }
    }

    /// Completes an execution; a workflow used as an activity hands out its outputs first, and no
    /// workflow ends without those that are required.
    pub(crate) fn complete(&mut self, number: u64, outcomes: Vec<String>) {
        if let Some(execution) = self.draft.state.executions.get(&number) {
            let (is_root, key) = (execution.owner.is_none(), &execution.node);
            let (node_ref, node) = self.program.outline.keyed(key);
            let left = match node.workflow() {
                Some(_) => Step::new(&mut self.draft, number, node_ref).leave(),
                None => Ok(()),
            };
            let left = left.and_then(|()| if is_root { self.has_outputs() } else { Ok(()) });
            if let Err(failure) = left {
                self.draft.fault(number, node, &failure);
                return;
            }
        }
        self.draft.complete(number, outcomes);
    }

    /// The workflow of the instance has its required outputs.
    fn has_outputs(&self) -> Result<(), Failure> {
        missing_outputs(&self.program.outline.outputs, &self.draft.state.output)
    }

    /// The execution of the innermost workflow around an execution: of one that is used as an
    /// activity, or of the root.
    fn workflow_of(&self, number: u64) -> u64 {
        let mut at = number;
        while let Some(execution) = self.draft.state.executions.get(&at) {
            let is_composite = self.program.outline.keyed(&execution.node).1.workflow().is_some();
            match execution.owner {
                Some(owner) if !is_composite => at = owner,
                _ => break,
            }
        }
        at
    }
}

/// The workflow input without the input of the trigger, which only the trigger gets.
fn workflow_input(input: Map) -> Map {
    input.into_iter().filter(|(name, _)| !name.starts_with("__")).collect()
}

pub(crate) fn trigger_key(outline: &Outline, id: &str) -> Option<String> {
    let of_this_id =
        || outline.nodes.iter().filter(|node| node.id.as_str() == id && outline.is_own(node));
    let node = of_this_id().find(|node| node.can_start).or_else(|| of_this_id().next());
    node.map(|node| node.key.clone())
}
