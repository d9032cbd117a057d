//! One turn: takes scheduled work in order, until none is left or the budget is used up.

mod end;

use std::collections::VecDeque;

use model::{Entry, Map, SubStatus, What, limits};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::activity::{Child, Decision, Failure, Next, Resumed};
use crate::journal::Journal;
use crate::program::{Declared, Node, NodeRef, Program};
use crate::state::{Execution, State, Work};
use crate::{Bounds, Effect, Env, Languages, Rest, Resume, Start, Step};

/// The approximate size of a journal entry in bytes, without its message.
const ENTRY_BYTES: usize = 200;

/// One turn in progress.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Program,
    pub(crate) languages: &'a Languages,
    pub(crate) env: &'a Env,
    pub(crate) state: State,
    pub(crate) effects: Vec<Effect>,
    pub(crate) journal: Journal,
    pub(crate) bounds: Bounds,
    /// The turn continues an earlier one that used up its budget.
    pub(crate) is_continued: bool,
    /// Activity executions so far.
    pub(crate) steps: usize,
    /// Approximate number of bytes written so far.
    pub(crate) bytes: usize,
    /// The bytes of the journal among them.
    journal_bytes: usize,
    /// Children that are over, whose owners have not been informed yet.
    ended: VecDeque<Ended>,
    ids: u64,
    draws: u64,
    /// Set when a container scheduled more than an instance may hold.
    is_overfull: bool,
}

/// A child that is over.
struct Ended {
    owner: u64,
    child: Child,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        program: &'a Program,
        languages: &'a Languages,
        env: &'a Env,
        state: State,
    ) -> Self {
        Self {
            program,
            languages,
            env,
            state,
            effects: Vec::new(),
            journal: Journal::default(),
            bounds: Bounds::default(),
            is_continued: false,
            steps: 0,
            bytes: 0,
            journal_bytes: 0,
            ended: VecDeque::new(),
            ids: 0,
            draws: 0,
            is_overfull: false,
        }
    }

    /// Runs the first turn of an instance.
    pub(crate) fn start(&mut self, start: Start) -> Rest {
        let program = self.program;
        self.state.turns += 1;
        self.state.instance_id = start.instance_id;
        self.state.correlation_id = start.correlation_id;
        self.state.name = start.name;
        self.state.parent = start.parent;
        self.state.responds = start.responds;
        self.state.variables = defaults(&program.variables);
        self.announce(SubStatus::Executing, None);
        let trigger = start.trigger.map(|id| (id.clone(), trigger_key(program, id.as_str())));
        match trigger {
            Some((id, None)) => {
                let message = format!("there is no activity {id} to start at");
                self.incident(program.root(), None, &Failure::new("UnknownTrigger", message));
                self.halt(SubStatus::Faulted);
            }
            Some((_, Some(key))) => {
                self.state.trigger = Some(key);
                self.state.trigger_input = Some(start.input.clone());
            }
            None => {}
        }
        self.state.input = workflow_input(start.input);
        if !self.state.status.is_final() {
            let node = Some(program.root().key.clone());
            self.state.work.push_back(Work { node, ..Work::default() });
        }
        self.go_on(SubStatus::Executing)
    }

    /// Resumes the activity that waits at a bookmark; none when there is no such bookmark.
    pub(crate) fn resume(&mut self, resume: Resume) -> Option<Rest> {
        let bookmark = self.state.bookmarks.remove(&resume.bookmark_id)?;
        let before = self.state.status;
        self.state.turns += 1;
        self.state.calls.remove(&resume.bookmark_id);
        self.state.responds |= resume.responds;
        let waiting = |execution: &&Execution| execution.id == bookmark.activity_instance_id;
        let number = self.state.executions.values().find(waiting).map(|found| found.number);
        assert!(number.is_some(), "INV-3: the execution of bookmark {} exists", bookmark.id);
        let number = number.unwrap_or_default();
        self.write(number, What::Resumed, None, None);
        let resumed = Resumed { stimulus: Some(bookmark.name), input: resume.input };
        if let Some(execution) = self.state.executions.get_mut(&number) {
            execution.bookmarks -= 1;
            let (node_ref, node) = self.program.keyed(&execution.node);
            let decision =
                node.kind.activity.resume(&mut Step::new(self, number, node_ref), resumed);
            self.apply(number, node, decision);
        }
        Some(self.go_on(before))
    }

    /// Goes on with scheduled work.
    pub(crate) fn proceed(&mut self) -> Rest {
        self.state.turns += 1;
        self.go_on(self.state.status)
    }

    /// Ends the instance.
    pub(crate) fn cancel(&mut self, reason: Option<String>) -> Rest {
        self.state.turns += 1;
        let running: Vec<u64> = self.state.executions.keys().copied().collect();
        for number in running {
            self.write(number, What::Canceled, None, None);
        }
        self.halt(SubStatus::Cancelled);
        self.announce(SubStatus::Cancelled, reason.map(|reason| json!({ "reason": reason })));
        Rest::Finished
    }

    fn go_on(&mut self, before: SubStatus) -> Rest {
        let rest = self.work();
        // The client goes on waiting while the burst has more turns or calls to come.
        if rest != Rest::OutOfBudget && self.state.calls.is_empty() {
            self.state.responds = false;
        }
        let after = self.state.status;
        if after != before {
            self.announce(after, None);
        }
        rest
    }

    fn work(&mut self) -> Rest {
        loop {
            self.tell_owners();
            if self.state.status.is_final() {
                return Rest::Finished;
            }
            if self.state.work.is_empty() {
                return self.rest();
            }
            if self.is_out_of_budget() {
                self.state.status = SubStatus::Executing;
                return Rest::OutOfBudget;
            }
            if let Some(work) = self.state.work.pop_front() {
                self.execute(work);
            }
        }
    }

    fn is_out_of_budget(&self) -> bool {
        let is_large = self.bytes >= self.bounds.bytes
            || self.journal_bytes >= limits::JOURNAL_BYTES_PER_TURN_MAX;
        self.steps >= self.bounds.steps.max(1) || (self.steps > 0 && is_large)
    }

    /// The rest of the turn when no work is left.
    fn rest(&mut self) -> Rest {
        if self.state.bookmarks.is_empty() {
            let faulted = self.state.executions.values().any(|execution| execution.faulted);
            assert!(faulted, "INV-4: an instance that is not over waits for something");
            self.halt(SubStatus::Faulted);
            return Rest::Finished;
        }
        self.state.steps_without_wait = 0;
        self.state.status =
            if self.state.calls.is_empty() { SubStatus::Suspended } else { SubStatus::Executing };
        Rest::Suspended
    }

    fn execute(&mut self, work: Work) {
        self.steps += 1;
        self.state.steps += 1;
        self.state.steps_without_wait += 1;
        if self.state.steps_without_wait > self.bounds.steps_without_wait {
            self.stop_endless(&work);
            return;
        }
        let Some(key) = work.node else {
            self.child_is_over(work.owner, None, work.tag, Vec::new());
            return;
        };
        let (node_ref, node) = self.program.keyed(&key);
        self.state.last_number += 1;
        let number = self.state.last_number;
        let execution = Execution {
            number,
            id: self.id(),
            node: key,
            owner: work.owner,
            tag: work.tag,
            variables: defaults(&node.variables),
            given: work.given,
            ..Execution::default()
        };
        self.state.executions.insert(number, execution);
        self.write(number, What::Started, None, None);
        let decision = self.begin(number, node_ref, node);
        self.apply(number, node, decision);
    }

    /// The instance has run for too long without a wait: it is faulted, whatever its strategy.
    fn stop_endless(&mut self, work: &Work) {
        let program = self.program;
        let owner = work.owner.and_then(|owner| self.state.executions.get(&owner));
        let key = work.node.as_ref().or(owner.map(|owner| &owner.node));
        let node = key.map_or_else(|| program.root(), |key| program.keyed(key).1);
        let max = self.bounds.steps_without_wait;
        let message = format!(
            "the instance has run {max} activities without waiting for anything: is there an \
             endless loop? A loop that is to go on needs a wait, such as Delay"
        );
        let failure = Failure::new("TooManySteps", message.clone());
        self.write(work.owner.unwrap_or_default(), What::Faulted, Some(message), None);
        self.incident(node, None, &failure);
        self.halt(SubStatus::Faulted);
    }

    fn begin(&mut self, number: u64, node_ref: NodeRef, node: &Node) -> Decision {
        let is_trigger = self.state.trigger.as_ref() == Some(&node.key);
        let received = if is_trigger { self.state.trigger_input.take() } else { None };
        let step = &mut Step::new(self, number, node_ref);
        match received {
            Some(input) => node.kind.activity.resume(step, Resumed { stimulus: None, input }),
            None => node.kind.activity.start(step),
        }
    }

    fn tell_owners(&mut self) {
        while let Some(Ended { owner, child }) = self.ended.pop_front() {
            let Some(execution) = self.state.executions.get(&owner) else { continue };
            if execution.faulted {
                continue;
            }
            let (node_ref, node) = self.program.keyed(&execution.node);
            let decision =
                node.kind.activity.child_completed(&mut Step::new(self, owner, node_ref), child);
            self.apply(owner, node, decision);
        }
    }

    fn apply(&mut self, number: u64, node: &Node, decision: Decision) {
        let decision = if std::mem::take(&mut self.is_overfull) {
            let max = limits::SCHEDULED_MAX;
            Err(Failure::new("TooMuchWork", format!("more than {max} activities are scheduled")))
        } else {
            decision
        };
        match decision {
            Ok(Next::Wait) => {
                let waits = self.state.executions.get(&number).is_some_and(|e| e.bookmarks > 0);
                if waits {
                    self.write(number, What::Suspended, None, None);
                }
            }
            Ok(Next::Complete(outcomes)) => self.complete(number, outcomes),
            Ok(Next::Break) => {
                let target = self.nearest_loop(number);
                if let Some(target) = target {
                    self.written_complete(number, &["Done".to_owned()]);
                    self.remove(number);
                    self.complete(target, vec!["Done".to_owned()]);
                } else {
                    self.complete(number, vec!["Done".to_owned()]);
                }
            }
            Ok(Next::CompleteWorkflow(outcomes)) => {
                let root = self.root_of(number);
                if root != number {
                    self.written_complete(number, &outcomes);
                    self.remove(number);
                }
                self.complete(root, outcomes);
            }
            Ok(Next::Finish) => {
                self.written_complete(number, &["Done".to_owned()]);
                self.halt(SubStatus::Finished);
            }
            Err(failure) => self.fault(number, node, &failure),
        }
    }

    fn nearest_loop(&self, number: u64) -> Option<u64> {
        let mut at = self.state.executions.get(&number)?.owner;
        while let Some(owner) = at {
            let execution = self.state.executions.get(&owner)?;
            if self.program.keyed(&execution.node).1.descriptor().is_loop {
                return Some(owner);
            }
            at = execution.owner;
        }
        None
    }

    fn root_of(&self, number: u64) -> u64 {
        let mut at = number;
        while let Some(owner) = self.state.executions.get(&at).and_then(|found| found.owner) {
            at = owner;
        }
        at
    }

    /// An id, different on every call, and the same in a replay.
    pub(crate) fn id(&mut self) -> String {
        self.ids += 1;
        let parts =
            [self.state.instance_id.as_str(), &self.state.turns.to_string(), &self.ids.to_string()];
        model::derived(&parts)
    }

    /// 256 bits, different on every call, and the same in a replay.
    pub(crate) fn random(&mut self) -> [u8; 32] {
        self.draws += 1;
        let mut hasher = Sha256::new();
        hasher.update(self.env.seed);
        hasher.update(self.state.instance_id.as_str().as_bytes());
        hasher.update(self.state.turns.to_be_bytes());
        hasher.update(self.draws.to_be_bytes());
        hasher.finalize().into()
    }

    /// Schedules work behind all that is there.
    pub(crate) fn schedule(&mut self, work: Work) {
        self.is_overfull |= self.state.work.len() >= limits::SCHEDULED_MAX;
        if !self.is_overfull {
            self.state.work.push_back(work);
        }
    }

    /// Counts the bytes of a value that the turn writes.
    pub(crate) fn spend(&mut self, value: &Value) {
        self.bytes = self.bytes.saturating_add(weight(value));
    }

    /// Writes an entry about an execution into the journal.
    pub(crate) fn write(
        &mut self,
        number: u64,
        what: What,
        message: Option<String>,
        payload: Option<Value>,
    ) {
        let Some(execution) = self.state.executions.get(&number) else { return };
        let (node_ref, node) = self.program.keyed(&execution.node);
        let message = message.map(cut);
        let (said, with) = (message.as_ref(), payload.as_ref());
        if self.journal.folds(self.is_continued, node_ref, what, said, with) {
            return;
        }
        let bytes = ENTRY_BYTES + message.as_ref().map_or(0, String::len);
        self.bytes += bytes;
        self.journal_bytes += bytes;
        self.state.journal_sequence += 1;
        self.journal.push(Entry {
            sequence: self.state.journal_sequence,
            timestamp: self.env.now,
            activity_id: Some(node.id.clone()),
            activity_instance_id: Some(execution.id.clone()),
            activity_type: Some(node.descriptor().type_name.to_owned()),
            activity_name: node.name.clone(),
            what,
            message,
            payload,
            node: None,
        });
    }

    /// Sets the status of the instance, and writes it into the journal.
    fn announce(&mut self, status: SubStatus, payload: Option<Value>) {
        self.state.status = status;
        self.state.journal_sequence += 1;
        self.journal.push(Entry {
            sequence: self.state.journal_sequence,
            timestamp: self.env.now,
            activity_id: None,
            activity_instance_id: None,
            activity_type: None,
            activity_name: None,
            what: What::Workflow,
            message: Some(status.to_string()),
            payload,
            node: None,
        });
    }
}

/// The approximate size of a value in bytes, counted without recursion.
fn weight(value: &Value) -> usize {
    const EACH: usize = 8;
    let mut bytes = 0;
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        bytes += EACH;
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => {
                bytes += map.keys().map(String::len).sum::<usize>();
                rest.extend(map.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    bytes
}

/// The defaults of declared variables, by id.
pub(crate) fn defaults(declared: &[Declared]) -> Map {
    declared.iter().map(|variable| (variable.id.clone(), variable.default.clone())).collect()
}

/// The workflow input without the input of the trigger, which only the trigger gets.
fn workflow_input(input: Map) -> Map {
    input.into_iter().filter(|(name, _)| !name.starts_with("__")).collect()
}

fn trigger_key(program: &Program, id: &str) -> Option<String> {
    let node = program.nodes.iter().find(|node| node.id.as_str() == id && node.can_start);
    let node = node.or_else(|| program.nodes.iter().find(|node| node.id.as_str() == id));
    node.map(|node| node.key.clone())
}

/// A message, cut to the length that the journal keeps.
fn cut(mut message: String) -> String {
    if message.len() > limits::JOURNAL_MESSAGE_BYTES_MAX {
        let mut end = limits::JOURNAL_MESSAGE_BYTES_MAX - '…'.len_utf8();
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push('…');
    }
    message
}
