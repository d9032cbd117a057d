//! Plays one instance: the engine's turns, the answers of the mocks, and time that is skipped.

use std::time::Duration;

use engine::{
    Call, Charted, Effect, Engine, Env, FlowMode, Input, Operation, Program, Rest, Restart, Resume,
    Start, State, Triggers,
};
use model::{ActivityId, BookmarkId, Definition, Entry, Map, Stimulus, Timestamp, What};
use serde_json::{Value, json};

use crate::happen::{asked, event, route, told};
use crate::limits::Limits;
use crate::mock::Mocks;
use crate::stop::{Reason, Stop};
use crate::suite::{Given, Happening, Step};

/// The instance of a run.
const INSTANCE: &str = "test-instance";

/// What a run needs beside what it says itself.
#[derive(Clone, Copy)]
pub struct Stage<'p> {
    /// The engine.
    pub engine: &'p Engine,
    /// The definition, compiled.
    pub program: &'p Program,
    /// The definition.
    pub definition: &'p Definition,
}

/// A call that was made.
pub struct Made {
    /// `GET https://…`, or what the operation says about itself.
    pub call: String,
    /// Its headers, if it is an HTTP request.
    pub headers: Value,
    /// Its body, if it is an HTTP request.
    pub body: Value,
}

/// One instance, in memory.
pub struct Player<'p> {
    engine: &'p Engine,
    program: &'p Program,
    definition: &'p Definition,
    mocks: &'p Mocks,
    limits: Limits<'p>,
    /// The paths of the activities after which the run ends.
    until: Vec<String>,
    env: Env,
    rest: Rest,
    turns: usize,
    timers: usize,
    /// Approximate bytes that its turns have written.
    bytes: usize,
    /// The number of calls that each mock has answered.
    answered: Vec<usize>,
    began: Timestamp,
    /// The instance.
    pub state: State,
    /// What its activities did.
    pub journal: Vec<Entry>,
    /// What it asked for, without calls.
    pub effects: Vec<Effect>,
    /// The calls that were answered.
    pub calls: Vec<Made>,
    /// The effects that were looked at already.
    seen: usize,
}

impl<'p> Player<'p> {
    /// An instance that has not begun.
    #[must_use]
    pub fn new(stage: Stage<'p>, mocks: &'p Mocks, env: Env) -> Self {
        let Stage { engine, program, definition } = stage;
        Self {
            engine,
            program,
            definition,
            mocks,
            limits: Limits::default(),
            until: Vec::new(),
            began: env.now,
            env,
            rest: Rest::Suspended,
            turns: 0,
            timers: 0,
            bytes: 0,
            answered: Vec::new(),
            state: State::default(),
            journal: Vec::new(),
            effects: Vec::new(),
            calls: Vec::new(),
            seen: 0,
        }
    }

    /// The same, within other limits.
    #[must_use]
    pub fn within(self, limits: Limits<'p>) -> Self {
        Self { limits, ..self }
    }

    /// The same, which ends once an activity with one of these paths is over.
    #[must_use]
    pub fn until(self, paths: Vec<String>) -> Self {
        Self { until: paths, ..self }
    }

    /// The time from the start to the newest turn.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.env.now.since(self.began)
    }

    /// Starts the instance and plays it until it is over, or waits for something that the test does
    /// not say.
    ///
    /// # Errors
    /// When it ends before that, such as at a call without an answer.
    pub fn play(&mut self, given: &Given) -> Result<(), Stop> {
        self.start(given)?;
        self.settle()?;
        for step in &given.steps {
            self.step(step, given)?;
        }
        while self.rest == Rest::Suspended && self.fire(self.limit(given))? {}
        Ok(())
    }

    fn limit(&self, given: &Given) -> Option<Timestamp> {
        given.time.map(|time| self.began.after(time))
    }

    fn start(&mut self, given: &Given) -> Result<(), Stop> {
        let mode = given.properties.get(FlowMode::PROPERTY).map(FlowMode::named);
        if let Some(Err(reason)) = mode {
            return Err(refused(format!("a server refuses this start: properties: {reason}")));
        }
        let mut input = given.input.clone();
        let trigger = match &given.start {
            None => {
                self.admits(&input)?;
                None
            }
            Some(happening) => {
                let (trigger, more) = self.trigger(happening)?;
                input.extend(more);
                Some(trigger)
            }
        };
        let start = Start {
            instance_id: INSTANCE.into(),
            responds: matches!(given.start, Some(Happening::Http { .. })),
            trigger,
            restart: self.restart(given)?,
            input,
            properties: given.properties.clone(),
            correlation_id: given.correlation_id.clone(),
            name: None,
            parent: None,
        };
        self.turn(Input::Start(Box::new(start)))
    }

    /// The values of variables at the start.
    fn restart(&self, given: &Given) -> Result<Option<Restart>, Stop> {
        if given.variables.is_empty() {
            return Ok(None);
        }
        let restart = Restart { activity: None, variables: given.variables.clone() };
        let fits = self.program.can_begin(None, Some(&restart));
        fits.map_err(|failure| refused(format!("variables: {}", failure.message)))?;
        Ok(Some(restart))
    }

    /// Refuses an input that a server would refuse. A trigger gets its own input, not the workflow's.
    fn admits(&self, input: &Map) -> Result<(), Stop> {
        let flaws = self.program.input_flaws(input);
        let named: Vec<_> = flaws.iter().map(|(name, flaw)| format!("{name}: {flaw}")).collect();
        if named.is_empty() {
            return Ok(());
        }
        let flaws = named.join("; ");
        Err(refused(format!("a server refuses this start: the input does not fit: {flaws}")))
    }

    /// The trigger that a happening starts, and its input.
    fn trigger(&self, happening: &Happening) -> Result<(ActivityId, Map), Stop> {
        let found = self.engine.triggers(self.program, &self.env);
        let Triggers { stimuli, schedules } = found.map_err(|problems| {
            refused(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        let none = || refused(format!("{} starts no instance of this definition", told(happening)));
        match happening {
            Happening::Resume { activity, input } => {
                let timed = schedules.iter().map(|schedule| &schedule.activity_id);
                let mut all = stimuli.iter().map(|trigger| &trigger.activity_id).chain(timed);
                let found = all.find(|id| self.is_named(id, activity));
                found.map(|id| (id.clone(), input.clone())).ok_or_else(none)
            }
            Happening::Event { name, payload } => {
                let hash = Stimulus::event(name).hash();
                let found = stimuli.iter().find(|trigger| trigger.hash == hash).ok_or_else(none)?;
                Ok((found.activity_id.clone(), event(payload)))
            }
            Happening::Http { method, path, request } => {
                let fits = stimuli.iter().find_map(|trigger| {
                    Some((trigger, route(&trigger.name, &trigger.payload, method, path)?))
                });
                let (trigger, found) = fits.ok_or_else(none)?;
                Ok((trigger.activity_id.clone(), asked(method, path, request, &found)))
            }
            Happening::Cancel { .. } => Err(refused("cancel starts no instance")),
        }
    }

    /// Whether an activity has this id or this name.
    fn is_named(&self, id: &ActivityId, wanted: &str) -> bool {
        let mut all = self.program.activities();
        id.as_str() == wanted || all.any(|(other, _, name)| other == id && name == Some(wanted))
    }

    fn step(&mut self, step: &Step, given: &Given) -> Result<(), Stop> {
        if let Some(after) = step.after {
            let at = self.began.after(after);
            while self.rest == Rest::Suspended && self.fire(Some(at))? {}
            self.env.now = self.env.now.max(at);
        }
        if let Happening::Cancel { reason } = &step.happening {
            self.turn(Input::Cancel { reason: reason.clone() })?;
            return self.settle();
        }
        loop {
            if self.rest == Rest::Finished {
                let what = told(&step.happening);
                let status = self.state.status;
                let incident = self.state.incidents.last();
                let why =
                    incident.map(|it| format!(": activity {}: {}", it.activity_id, it.message));
                return Err(unawaited(
                    step,
                    &format!(
                        "{what} comes too late: the instance is {status}{}",
                        why.unwrap_or_default()
                    ),
                ));
            }
            if let Some((bookmark_id, input)) = self.awaited(&step.happening) {
                let responds = matches!(step.happening, Happening::Http { .. });
                self.turn(Input::Resume(Resume { bookmark_id, input, responds }))?;
                return self.settle();
            }
            if step.after.is_some() || !self.fire(self.limit(given))? {
                let what = told(&step.happening);
                let waits = self.waits();
                return Err(unawaited(step, &format!("nothing waits for {what}; {waits}")));
            }
        }
    }

    fn waits(&self) -> String {
        let all: Vec<_> = self
            .state
            .bookmarks
            .values()
            .map(|bookmark| format!("{} waits for {}", bookmark.activity_id, bookmark.payload))
            .collect();
        if all.is_empty() { "nothing waits".to_owned() } else { all.join(", ") }
    }

    /// The bookmark that waits for it, and the input of its resume.
    fn awaited(&self, happening: &Happening) -> Option<(BookmarkId, Map)> {
        let mut open = self.state.bookmarks.values();
        match happening {
            Happening::Event { name, payload } => {
                let hash = Stimulus::event(name).hash();
                let found = open.find(|bookmark| bookmark.hash == hash)?;
                Some((found.id.clone(), event(payload)))
            }
            Happening::Http { method, path, request } => open.find_map(|bookmark| {
                let found = route(&bookmark.name, &bookmark.payload, method, path)?;
                Some((bookmark.id.clone(), asked(method, path, request, &found)))
            }),
            Happening::Resume { activity, input } => {
                let found = open.find(|bookmark| self.is_named(&bookmark.activity_id, activity))?;
                Some((found.id.clone(), input.clone()))
            }
            Happening::Cancel { .. } => None,
        }
    }

    /// Answers calls, tasks and children until there are no more of them.
    fn settle(&mut self) -> Result<(), Stop> {
        loop {
            let Some((bookmark_id, input)) = self.answer()? else { return Ok(()) };
            self.turn(Input::Resume(Resume { bookmark_id, input, responds: false }))?;
        }
    }

    /// The call as it would be made: with the values of secrets.
    fn opened(&self, call: &Call) -> Result<Call, Stop> {
        let unread = |error: serde_json::Error| {
            Stop::new(Reason::Unanswered, error.to_string()).at(&call.activity_id)
        };
        let sealed = serde_json::to_value(call).map_err(unread)?;
        let open = self.env.installation.secrets.opened(sealed, INSTANCE, &mut Vec::new());
        serde_json::from_value(open).map_err(unread)
    }

    fn answer(&mut self) -> Result<Option<(BookmarkId, Map)>, Stop> {
        if let Some((bookmark_id, call)) = self.state.calls.iter().next() {
            let not_before = call.tries.as_ref().and_then(|tries| tries.not_before);
            self.env.now = not_before.unwrap_or(self.env.now).max(self.env.now);
            let call = &self.opened(call)?;
            let input = self.mocks.call(call, &mut self.answered)?;
            let (headers, body) = match &call.operation {
                Operation::Http(request) => (json!(request.headers), request.content.clone()),
                _ => (Value::Null, Value::Null),
            };
            let call = call.operation.summary();
            self.calls.push(Made { call, headers, body });
            return Ok(Some((bookmark_id.clone(), input)));
        }
        while let Some(effect) = self.effects.get(self.seen) {
            self.seen += 1;
            let found = match effect {
                Effect::Task(task) => {
                    let hash = Stimulus::task(&task.task_id).hash();
                    let open = self.state.bookmarks.values().find(|it| it.hash == hash);
                    let result = self.mocks.task(&task.task_name);
                    open.zip(result).map(|(open, result)| {
                        (
                            open.id.clone(),
                            Map::from_iter([("RunTaskInput".to_owned(), result.clone())]),
                        )
                    })
                }
                Effect::Dispatch(child) => {
                    let waits = child.bookmark_id.clone();
                    let waits = waits.filter(|id| self.state.bookmarks.contains_key(id));
                    waits.zip(self.mocks.workflow(child))
                }
                Effect::Publish(_)
                | Effect::Respond(_)
                | Effect::Grant(_)
                | Effect::Log(_)
                | Effect::CancelTask(_) => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Fires the timer that is due first, at its time, unless that is later than `until`.
    fn fire(&mut self, until: Option<Timestamp>) -> Result<bool, Stop> {
        let timers = self.state.bookmarks.values();
        let first = timers.filter_map(|timer| Some((timer.due_at?, timer.id.clone()))).min();
        let Some((due, bookmark_id)) = first else { return Ok(false) };
        if until.is_some_and(|until| due > until) {
            return Ok(false);
        }
        self.timers += 1;
        let max = self.limits.timers;
        if self.timers > max {
            let message =
                format!("more than {max} timers fired: set a limit with time, such as 1h");
            return Err(Stop::new(Reason::Limit, message));
        }
        self.env.now = self.env.now.max(due);
        self.turn(Input::Resume(Resume { bookmark_id, input: Map::new(), responds: false }))?;
        self.settle()?;
        Ok(true)
    }

    fn turn(&mut self, input: Input) -> Result<(), Stop> {
        let mut next = Some(input);
        while let Some(input) = next.take() {
            self.turns += 1;
            let max = self.limits.turns;
            if self.turns > max {
                let message = format!("the instance is not over after {max} turns");
                return Err(Stop::new(Reason::Limit, message));
            }
            let state = std::mem::take(&mut self.state);
            let bounds = self.limits.bounds;
            let turn = self.engine.turn_within(self.program, state, input, &self.env, bounds);
            self.state = turn.state;
            self.rest = turn.rest;
            self.bytes = self.bytes.saturating_add(turn.bytes);
            let before = self.journal.len();
            self.journal.extend(turn.journal);
            self.effects.extend(turn.effects);
            self.ends_here(before)?;
            if self.rest == Rest::OutOfBudget {
                next = Some(Input::Continue);
            }
        }
        Ok(())
    }

    /// Ends the run where it was asked to end, or where a limit is reached that is looked at after
    /// each turn. The lines of the newest turn begin at `from`.
    fn ends_here(&self, from: usize) -> Result<(), Stop> {
        let entries = self.journal.get(from..).unwrap_or_default();
        if let Some(id) = entries.iter().find_map(|entry| self.ended(entry)) {
            let message = format!("the run was asked to end after activity {id}");
            return Err(Stop::new(Reason::Asked, message).at(id));
        }
        if self.rest == Rest::Finished {
            return Ok(());
        }
        let Limits { executions, bytes, is_late, .. } = self.limits;
        if is_late() {
            return Err(Stop::new(Reason::Limit, "the time of the run is up, and it is not over"));
        }
        if self.state.steps >= executions {
            let message = format!("the instance is not over after {executions} activities");
            return Err(Stop::new(Reason::Limit, message));
        }
        if self.bytes >= bytes {
            let message = format!("the instance has written {bytes} bytes, and is not over");
            return Err(Stop::new(Reason::Limit, message));
        }
        Ok(())
    }

    /// The activity whose end an entry tells, if the run ends after it.
    fn ended<'e>(&self, entry: &'e Entry) -> Option<&'e ActivityId> {
        let is_end = matches!(entry.what, What::Completed | What::Faulted | What::Canceled);
        if self.until.is_empty() || !is_end {
            return None;
        }
        let path = charted(self.program, entry)?.node_id();
        let id = entry.activity_id.as_ref()?;
        self.until.iter().any(|until| until == path).then_some(id)
    }

    /// The id of the definition's root activity; it is no part of a path.
    pub(crate) fn root(&self) -> Option<&ActivityId> {
        let all = self.program.activities();
        let own = self.definition.root.get("id").and_then(Value::as_str);
        let last = all.last().map(|(id, _, _)| id);
        last.filter(|id| own.is_none_or(|own| id.as_str() == own))
    }
}

/// The activity that an entry is about.
pub(crate) fn charted<'p>(program: &'p Program, entry: &Entry) -> Option<Charted<'p>> {
    let node_id = entry.recorded.as_ref().and_then(|recorded| recorded.node_id.as_deref());
    program.charted(entry.activity_id.as_ref()?.as_str(), node_id)
}

fn refused(message: impl Into<String>) -> Stop {
    Stop::new(Reason::Refused, message)
}

/// A step that cannot happen. One that was not read from a file has no line.
fn unawaited(step: &Step, message: &str) -> Stop {
    let message = match step.mark.line {
        0 => message.to_owned(),
        line => format!("line {line}: {message}"),
    };
    Stop::new(Reason::Unawaited, message)
}
