//! The requests of an activity: children to run, bookmarks to wait at, effects, outputs.

use std::time::Duration;

use model::{Bookmark, BookmarkId, Map, Retry, Stimulus, Timestamp, What, limits};
use serde_json::{Value, json};

use super::{ChildExecution, Step};
use crate::decision::Failure;
use crate::keeping::MASKED;
use crate::outline::{Binding, NodeRef, RetryPolicy, fit};
use crate::program::type_of;
use crate::state::{Output, Work};
use crate::{Call, Effect, Operation, Response, Tries, Type};

impl Step<'_, '_> {
    /// Schedules a child behind everything that is scheduled already. When the child is over, the
    /// owner's `child_completed` is called with `tag`; an empty port counts as a child that does
    /// nothing.
    pub fn schedule(&mut self, child: Option<NodeRef>, tag: Option<Value>) {
        self.schedule_with(child, tag, Map::new());
    }

    /// As [`Step::schedule`], with variables that only it and everything below it can see.
    pub fn schedule_with(&mut self, child: Option<NodeRef>, tag: Option<Value>, given: Map) {
        let Some(execution) = self.draft.state.executions.get_mut(&self.number) else { return };
        execution.children += 1;
        let node = child.map(|child| self.draft.outline.node(child).key.clone());
        self.draft.schedule(Work { node, owner: Some(self.number), tag, given });
    }

    /// Cancels an execution of a child; `child_completed` is not called.
    pub fn cancel(&mut self, child: ChildExecution) {
        self.draft.cancel_execution(child.number);
    }

    /// Takes back a child that is scheduled and has not begun; `child_completed` is not called.
    pub fn unschedule(&mut self, child: NodeRef) {
        let (owner, key) = (Some(self.number), &self.draft.outline.node(child).key);
        let work = &mut self.draft.state.work;
        let before = work.len();
        work.retain(|work| work.owner != owner || work.node.as_ref() != Some(key));
        let taken = u64::try_from(before - work.len()).unwrap_or(u64::MAX);
        if let Some(execution) = self.draft.state.executions.get_mut(&self.number) {
            execution.children = execution.children.saturating_sub(taken);
        }
    }

    /// Cancels all children, running or scheduled; `child_completed` is not called.
    pub fn cancel_children(&mut self) {
        self.draft.cancel_below(self.number);
    }

    /// Waits at a bookmark for a stimulus, or until it is due.
    ///
    /// # Errors
    /// [`Failure`] when the instance waits at too many already.
    pub fn wait(
        &mut self,
        stimulus: &Stimulus,
        payload: Value,
        due_at: Option<Timestamp>,
    ) -> Result<BookmarkId, Failure> {
        if self.draft.state.bookmarks.len() >= limits::BOOKMARKS_MAX {
            let max = limits::BOOKMARKS_MAX;
            let message = format!("the instance waits at {max} bookmarks already");
            return Err(Failure::new("TooManyBookmarks", message));
        }
        let hash = stimulus.hash();
        let id = BookmarkId::new(self.draft.id());
        let state = &mut self.draft.state;
        let Some(execution) = state.executions.get_mut(&self.number) else { return Ok(id) };
        let same = |bookmark: &&Bookmark| {
            bookmark.activity_instance_id == execution.id && bookmark.hash == hash
        };
        if execution.bookmarks > 0
            && let Some(same) = state.bookmarks.values().find(same)
        {
            return Ok(same.id.clone());
        }
        execution.bookmarks += 1;
        let bookmark = Bookmark {
            id: id.clone(),
            name: stimulus.name.clone(),
            hash,
            activity_id: self.node.id.clone(),
            activity_node_id: self.node.path.clone(),
            activity_instance_id: execution.id.clone(),
            payload,
            created_at: self.draft.env.now,
            due_at,
        };
        state.bookmarks.insert(id.clone(), bookmark);
        Ok(id)
    }

    /// Waits again at the bookmark at which the activity is being resumed, for more of the same.
    pub fn wait_again(&mut self) {
        let Some(bookmark) = self.draft.resumed.take() else { return };
        let state = &mut self.draft.state;
        let Some(execution) = state.executions.get_mut(&self.number) else { return };
        execution.bookmarks += 1;
        state.bookmarks.insert(bookmark.id.clone(), bookmark);
    }

    /// Waits until an instant. The bookmark is named for the activity's type.
    ///
    /// # Errors
    /// As [`Step::wait`].
    pub fn wait_until(&mut self, due_at: Timestamp, payload: Value) -> Result<(), Failure> {
        let stimulus = Stimulus { name: self.type_name().to_owned(), payload: payload.clone() };
        self.wait(&stimulus, payload, Some(due_at)).map(drop)
    }

    /// Asks for work outside of the engine, and waits for its result, which comes after the last of
    /// its attempts, if the definition asks for retries.
    ///
    /// # Errors
    /// As [`Step::wait`].
    pub fn call(
        &mut self,
        operation: impl Into<Operation>,
        timeout: Option<Duration>,
    ) -> Result<(), Failure> {
        let retry = self.retries()?;
        let operation = operation.into();
        let key = self.draft.id();
        let payload = call_payload(&operation, &key);
        let stimulus = Stimulus { name: "Call".to_owned(), payload: json!({ "Key": key }) };
        let bookmark_id = self.wait(&stimulus, payload, None)?;
        self.draft.spend_bytes(operation.bytes());
        let call = Call {
            key,
            bookmark_id: bookmark_id.clone(),
            activity_id: self.node.id.clone(),
            timeout,
            tries: retry.map(|retry| Box::new(Tries { retry, attempt: 1, not_before: None })),
            operation,
        };
        self.draft.state.calls.insert(bookmark_id, call);
        Ok(())
    }

    /// The retries of this activity.
    ///
    /// # Errors
    /// [`Failure`] when they are computed, and the result is not a strategy.
    pub fn retries(&mut self) -> Result<Option<Retry>, Failure> {
        const PROPERTY: &str = "resilienceStrategy";
        match &self.node.retry {
            None => Ok(None),
            Some(RetryPolicy::Fixed(retry)) => Ok(Some(retry.as_ref().clone())),
            Some(RetryPolicy::Named(name)) => Ok(self.named_retry(name)),
            Some(RetryPolicy::Computed(expression)) => {
                match self.evaluate(PROPERTY, expression, &Type::Object)? {
                    Value::Null => Ok(None),
                    Value::String(name) => Ok(self.named_retry(&name)),
                    value => {
                        let retry = Retry::read(&value);
                        retry.map(Some).map_err(|reason| Failure::input(PROPERTY, reason))
                    }
                }
            }
        }
    }

    /// The retries of this name in the configuration. Without them the call is made once, and the
    /// journal says so.
    fn named_retry(&mut self, name: &str) -> Option<Retry> {
        let found = self.draft.env.installation.retries.get(name).cloned();
        if found.is_none() {
            self.note(format!(
                "there is no resilience strategy {name} here, so the call is made once: add it to \
                 the setting retry-strategies"
            ));
        }
        found
    }

    /// Asks for an effect, to be carried out once the turn is committed.
    pub fn emit(&mut self, effect: Effect) {
        match &effect {
            Effect::Publish(publish) => self.draft.spend(&publish.payload),
            Effect::Task(task) => self.draft.spend(&task.payload),
            Effect::Dispatch(dispatch) => {
                dispatch.input.values().for_each(|value| self.draft.spend(value));
            }
            Effect::Respond(response) => self.draft.spend(&response.content),
            Effect::Grant(_) | Effect::CancelTask(_) => {}
            Effect::Log(line) => line.attributes.values().for_each(|one| self.draft.spend(one)),
        }
        self.draft.effects.push(effect);
    }

    /// Answers the HTTP client; false when none waits for an answer.
    pub fn respond(&mut self, response: Response) -> bool {
        let waits = std::mem::take(&mut self.draft.state.responds);
        if waits {
            self.emit(Effect::Respond(response));
        }
        waits
    }

    /// Writes a line into the journal, which is made of this input: without its text if values of that
    /// input are not kept, or if it is computed from a hidden variable.
    pub fn line(&mut self, input: &str, text: String) {
        let is_kept = self.node.keeping.keeps_input(input, true);
        let text = if is_kept { self.shown(text) } else { MASKED.to_owned() };
        self.note(text);
    }

    /// The text, or `***` if the activity has read a hidden variable so far: for what everyone sees.
    #[must_use]
    pub fn shown(&self, text: String) -> String {
        if self.hidden_reads.get() == 0 { text } else { MASKED.to_owned() }
    }

    /// Writes a line of the activity itself into the journal.
    pub fn note(&mut self, text: String) {
        self.draft.write(self.number, What::Line, Some(text), None);
    }

    /// Writes into the journal that an attempt has failed and another one follows.
    pub fn retrying(&mut self, text: String, details: Value) {
        self.draft.write(self.number, What::Retrying, Some(text), Some(details));
    }

    /// A random number from 0 to 1, the same in a replay.
    pub fn chance(&mut self) -> f64 {
        self.draft.chance()
    }

    /// An id, different on every call, and the same in a replay.
    pub fn new_id(&mut self) -> String {
        self.draft.id()
    }

    /// Sets the instance's name.
    pub fn set_name(&mut self, name: Option<String>) {
        self.draft.state.name = name;
    }

    /// Sets the instance's correlation id.
    pub fn correlate(&mut self, correlation_id: Option<String>) {
        self.draft.state.correlation_id = correlation_id;
    }

    /// Sets a variable by id, or by name where no variable has that id; converts the value.
    ///
    /// # Errors
    /// [`Failure`] when there is no such variable here, or the value does not fit its type.
    pub fn assign(&mut self, id: &str, name: &str, value: Value) -> Result<(), Failure> {
        match self.place_by_id(id).or_else(|| self.place_by_name(name)) {
            Some(place) => self.put(&place, value),
            None => {
                let name = if name.is_empty() { id } else { name };
                let message = format!("there is no variable {name} here: declare it");
                Err(Failure::new("UnknownVariable", message))
            }
        }
    }

    /// Sets an output of the innermost workflow; converts the value to its declared type.
    ///
    /// # Errors
    /// [`Failure`] when the value does not fit the type.
    pub fn set_workflow_output(&mut self, name: &str, value: Value) -> Result<(), Failure> {
        let composite = self.composite();
        let declared = composite.map_or(&self.draft.outline.outputs, |(_, inner)| &inner.outputs);
        let value = match declared.iter().find(|output| output.name == name) {
            Some(output) => {
                let ty = type_of(output);
                fit(value, &ty, self.hidden_reads.get() > 0).map_err(|error| {
                    Failure::new(
                        "InvalidValue",
                        format!("output {name} is {}: {error}", ty.alias()),
                    )
                })?
            }
            None => value,
        };
        self.draft.spend(&value);
        let state = &mut self.draft.state;
        let output = match composite {
            None => Some(&mut state.output),
            Some((number, _)) => state.executions.get_mut(&number).map(|found| &mut found.output),
        };
        if let Some(output) = output {
            output.insert(name.to_owned(), value);
        }
        Ok(())
    }

    /// Sets an output of the activity: remembers it for scripts, and puts it into the variable
    /// and the workflow output that are bound to it.
    ///
    /// # Errors
    /// [`Failure`] when the value does not fit the type of the variable or the workflow output.
    pub fn set_output(&mut self, name: &str, value: Value) -> Result<(), Failure> {
        let node = self.node;
        self.keep_output(name, &value);
        for Binding { target, .. } in node.bindings.iter().filter(|bound| bound.output == name) {
            if let Some(place) = self.place_by_id(target).or_else(|| self.place_by_name(target)) {
                self.put(&place, value.clone())?;
            }
            let outputs = match self.composite() {
                Some((_, composite)) => &composite.outputs,
                None => &self.draft.outline.outputs,
            };
            if outputs.iter().any(|output| output.name == *target) {
                self.set_workflow_output(target, value.clone())?;
            }
        }
        if self.draft.outline.has_scripts {
            self.draft.spend(&value);
            if name == "result" {
                self.draft.state.last_result = value.clone();
            }
            self.record(name, value);
        }
        Ok(())
    }

    fn record(&mut self, name: &str, value: Value) {
        let outputs = &mut self.draft.state.outputs;
        let key = &self.node.key;
        outputs.retain(|output| output.node != *key || output.name != name);
        if outputs.len() >= limits::OUTPUTS_MAX {
            outputs.remove(0);
        }
        outputs.push(Output { node: key.clone(), name: name.to_owned(), value });
    }
}

/// The payload of the bookmark of a call: what it is about, for people.
fn call_payload(operation: &Operation, key: &str) -> Value {
    match operation {
        Operation::Http(request) => {
            json!({"Method": request.method, "Url": request.url, "Key": key})
        }
        other => json!({"Summary": other.summary(), "Key": key}),
    }
}
