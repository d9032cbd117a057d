//! Plays one instance: the engine's turns, the answers of the mocks, and time that is skipped.

use engine::{
    Call, Effect, Engine, Env, FlowMode, Input, Operation, Program, Rest, Resume, Start, State,
    Triggers,
};
use model::{ActivityId, BookmarkId, Definition, Entry, Map, Stimulus, Timestamp};
use serde_json::{Value, json};

use super::mock::Mocks;
use super::suite::{Given, Happening, Step};

/// The instance of a test.
const INSTANCE: &str = "test-instance";
/// Turns of one test.
const TURNS_MAX: usize = 10_000;
/// Timers that fire in one test.
const TIMERS_MAX: usize = 1_000;

/// A call that was made.
pub(super) struct Made {
    /// `GET https://…`, or what the operation says about itself.
    pub(super) call: String,
    pub(super) headers: Value,
    pub(super) body: Value,
}

/// One instance, in memory.
pub(super) struct Player<'p> {
    engine: &'p Engine,
    program: &'p Program,
    definition: &'p Definition,
    mocks: &'p Mocks,
    env: Env,
    rest: Rest,
    turns: usize,
    timers: usize,
    /// The number of calls that each mock has answered.
    answered: Vec<usize>,
    pub(super) began: Timestamp,
    pub(super) state: State,
    pub(super) journal: Vec<Entry>,
    pub(super) effects: Vec<Effect>,
    pub(super) calls: Vec<Made>,
    /// The effects that were looked at already.
    seen: usize,
}

impl<'p> Player<'p> {
    pub(super) fn new(
        engine: &'p Engine,
        program: &'p Program,
        definition: &'p Definition,
        mocks: &'p Mocks,
        env: Env,
    ) -> Self {
        Self {
            engine,
            program,
            definition,
            mocks,
            began: env.now,
            env,
            rest: Rest::Suspended,
            turns: 0,
            timers: 0,
            answered: Vec::new(),
            state: State::default(),
            journal: Vec::new(),
            effects: Vec::new(),
            calls: Vec::new(),
            seen: 0,
        }
    }

    /// The time of the newest turn.
    pub(super) fn now(&self) -> Timestamp {
        self.env.now
    }

    /// Starts the instance and plays it until it is over, or waits for something that the test does
    /// not say.
    ///
    /// # Errors
    /// When something happens that the test does not expect, such as a call without an answer.
    pub(super) fn play(&mut self, given: &Given) -> Result<(), String> {
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

    fn start(&mut self, given: &Given) -> Result<(), String> {
        let mode = given.properties.get(FlowMode::PROPERTY).map(FlowMode::named);
        if let Some(Err(reason)) = mode {
            return Err(format!("a server refuses this start: properties: {reason}"));
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
            restart: None,
            input,
            properties: given.properties.clone(),
            correlation_id: given.correlation_id.clone(),
            name: None,
            parent: None,
        };
        self.turn(Input::Start(Box::new(start)))
    }

    /// Refuses an input that a server would refuse. A trigger gets its own input, not the workflow's.
    fn admits(&self, input: &Map) -> Result<(), String> {
        let flaws = self.program.input_flaws(input);
        let named: Vec<_> = flaws.iter().map(|(name, flaw)| format!("{name}: {flaw}")).collect();
        if named.is_empty() {
            return Ok(());
        }
        Err(format!("a server refuses this start: the input does not fit: {}", named.join("; ")))
    }

    /// The trigger that a happening starts, and its input.
    fn trigger(&self, happening: &Happening) -> Result<(ActivityId, Map), String> {
        let found = self.engine.triggers(self.program, &self.env);
        let Triggers { stimuli, schedules } = found.map_err(|problems| {
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        })?;
        let none = || format!("{} starts no instance of this definition", told(happening));
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
            Happening::Cancel { .. } => Err("cancel starts no instance".to_owned()),
        }
    }

    /// Whether an activity has this id or this name.
    fn is_named(&self, id: &ActivityId, wanted: &str) -> bool {
        let mut all = self.program.activities();
        id.as_str() == wanted || all.any(|(other, _, name)| other == id && name == Some(wanted))
    }

    fn step(&mut self, step: &Step, given: &Given) -> Result<(), String> {
        let mark = step.mark;
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
                return Err(format!(
                    "line {}: {what} comes too late: the instance is {status}{}",
                    mark.line,
                    why.unwrap_or_default()
                ));
            }
            if let Some((bookmark_id, input)) = self.awaited(&step.happening) {
                let responds = matches!(step.happening, Happening::Http { .. });
                self.turn(Input::Resume(Resume { bookmark_id, input, responds }))?;
                return self.settle();
            }
            if step.after.is_some() || !self.fire(self.limit(given))? {
                let what = told(&step.happening);
                return Err(format!(
                    "line {}: nothing waits for {what}; {}",
                    mark.line,
                    self.waits()
                ));
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
    fn settle(&mut self) -> Result<(), String> {
        loop {
            let Some((bookmark_id, input)) = self.answer()? else { return Ok(()) };
            self.turn(Input::Resume(Resume { bookmark_id, input, responds: false }))?;
        }
    }

    /// The call as it would be made: with the values of secrets.
    fn opened(&self, call: &Call) -> Result<Call, String> {
        let sealed = serde_json::to_value(call).map_err(|error| error.to_string())?;
        let open = self.env.installation.secrets.opened(sealed, INSTANCE, &mut Vec::new());
        serde_json::from_value(open).map_err(|error| error.to_string())
    }

    fn answer(&mut self) -> Result<Option<(BookmarkId, Map)>, String> {
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
    fn fire(&mut self, until: Option<Timestamp>) -> Result<bool, String> {
        let timers = self.state.bookmarks.values();
        let first = timers.filter_map(|timer| Some((timer.due_at?, timer.id.clone()))).min();
        let Some((due, bookmark_id)) = first else { return Ok(false) };
        if until.is_some_and(|until| due > until) {
            return Ok(false);
        }
        self.timers += 1;
        if self.timers > TIMERS_MAX {
            return Err(format!(
                "more than {TIMERS_MAX} timers fired: set a limit with time, such as 1h"
            ));
        }
        self.env.now = self.env.now.max(due);
        self.turn(Input::Resume(Resume { bookmark_id, input: Map::new(), responds: false }))?;
        self.settle()?;
        Ok(true)
    }

    fn turn(&mut self, input: Input) -> Result<(), String> {
        let mut next = Some(input);
        while let Some(input) = next.take() {
            self.turns += 1;
            if self.turns > TURNS_MAX {
                return Err(format!("the instance is not over after {TURNS_MAX} turns"));
            }
            let state = std::mem::take(&mut self.state);
            let turn = self.engine.turn(self.program, state, input, &self.env);
            self.state = turn.state;
            self.rest = turn.rest;
            self.journal.extend(turn.journal);
            self.effects.extend(turn.effects);
            if self.rest == Rest::OutOfBudget {
                next = Some(Input::Continue);
            }
        }
        Ok(())
    }

    /// The id of the definition's root activity; it is no part of a path.
    pub(super) fn root(&self) -> Option<&ActivityId> {
        let all = self.program.activities();
        let own = self.definition.root.get("id").and_then(Value::as_str);
        let last = all.last().map(|(id, _, _)| id);
        last.filter(|id| own.is_none_or(|own| id.as_str() == own))
    }
}

fn told(happening: &Happening) -> String {
    match happening {
        Happening::Event { name, .. } => format!("the event {name}"),
        Happening::Http { method, path, .. } => format!("the request {method} {path}"),
        Happening::Resume { activity, .. } => format!("activity {activity}"),
        Happening::Cancel { .. } => "the cancellation".to_owned(),
    }
}

fn event(payload: &Value) -> Map {
    let payload = json!({"payload": payload});
    Map::from_iter([("__EventPayloadWorkflowInput".to_owned(), payload)])
}

/// The values of the route, if an endpoint of this name and payload fits the request.
fn route(name: &str, payload: &Value, method: &str, path: &str) -> Option<Map> {
    let text = |member: &str| payload.get(member).and_then(Value::as_str).unwrap_or_default();
    if name != "Elsa.HttpEndpoint" || !text("Method").eq_ignore_ascii_case(method) {
        return None;
    }
    let template: Vec<&str> = text("Path").trim_matches('/').split('/').collect();
    let given: Vec<&str> = path.trim_matches('/').split('/').collect();
    if template.len() != given.len() {
        return None;
    }
    let mut values = Map::new();
    for (part, value) in template.into_iter().zip(given) {
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => {
                values.insert(name.to_owned(), value.into());
            }
            None if part.eq_ignore_ascii_case(value) => {}
            None => return None,
        }
    }
    Some(values)
}

/// A request as the input of a workflow.
fn asked(method: &str, path: &str, given: &Map, route: &Map) -> Map {
    let path = format!("/{}", path.trim_matches('/'));
    let mut request = json!({
        "method": method, "path": path, "routeData": route, "query": {}, "headers": {},
        "form": {}, "files": []
    });
    if let Some(request) = request.as_object_mut() {
        request.extend(given.clone());
    }
    Map::from_iter([
        ("__HttpRequest".to_owned(), request),
        ("HttpContext".to_owned(), Value::Bool(true)),
        ("Path".to_owned(), path.into()),
    ])
}
