//! A player that runs one instance in memory, with time as a number: for tests of activities and of
//! whole workflows. It keeps all results of the turns.

use std::sync::Arc;

use model::{
    Alteration, Bookmark, BookmarkId, CommandId, Definition, Entry, Map, SubStatus, Timestamp, What,
};
use serde_json::{Value, json};

use crate::{
    Alter, Bounds, Effect, Engine, Env, Input, Installation, Library, Problem, Program, Rest,
    Restart, Resume, Start, State, Turn,
};

/// Turns that one player takes before it reports an endless workflow.
const TURNS_MAX: usize = 10_000;

/// One instance, played.
pub struct Player<'e> {
    engine: &'e Engine,
    program: Arc<Program>,
    state: State,
    rest: Rest,
    env: Env,
    turns: usize,
    recodes: bool,
    bounds: Bounds,
    steps_max: u64,
    cut: u64,
    /// The whole journal.
    pub journal: Vec<Entry>,
    /// All effects.
    pub effects: Vec<Effect>,
}

impl<'e> Player<'e> {
    /// A player of a definition, which may be as short as its root.
    ///
    /// # Errors
    /// The problems of the definition.
    pub fn new(engine: &'e Engine, definition: Value) -> Result<Self, Vec<Problem>> {
        Self::using(engine, definition, &Library::default())
    }

    /// As [`Player::new`], with the definitions that the definition uses as activities.
    ///
    /// # Errors
    /// The problems of the definition.
    pub fn using(
        engine: &'e Engine,
        definition: Value,
        library: &Library,
    ) -> Result<Self, Vec<Problem>> {
        let definition = parsed(definition)?;
        let program = engine.compile(&definition, library)?;
        Ok(Self {
            engine,
            program: Arc::new(program),
            state: State::default(),
            rest: Rest::Suspended,
            env: env(0),
            turns: 0,
            recodes: false,
            bounds: Bounds::default(),
            steps_max: u64::MAX,
            cut: 0,
            journal: Vec::new(),
            effects: Vec::new(),
        })
    }

    /// Encodes and decodes the state after every turn, as a store does.
    #[must_use]
    pub fn recoding(mut self) -> Self {
        self.recodes = true;
        self
    }

    /// Runs at most this many activities in one turn.
    #[must_use]
    pub fn with_steps(mut self, steps: usize) -> Self {
        self.bounds.steps = steps;
        self
    }

    /// Ends a turn after this many steps of the instance, and no other one before its time.
    #[must_use]
    pub fn cut_after(mut self, steps: u64) -> Self {
        self.cut = steps;
        self
    }

    /// Does not continue out of budget after this many steps: for endless loops.
    pub fn stop_after(&mut self, steps: u64) -> &mut Self {
        self.steps_max = steps;
        self
    }

    /// The compiled definition.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The state after the newest turn.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// How the newest turn ended.
    #[must_use]
    pub fn rest(&self) -> Rest {
        self.rest
    }

    /// Starts with this workflow input, and continues as long as turns end out of budget.
    pub fn start(&mut self, input: Value) -> &mut Self {
        self.start_at(None, input)
    }

    /// Starts at a trigger, with the trigger's input.
    pub fn start_at(&mut self, trigger: Option<&str>, input: Value) -> &mut Self {
        let start = Start {
            instance_id: "instance-1".into(),
            trigger: trigger.map(Into::into),
            input: map(input),
            properties: Map::new(),
            correlation_id: None,
            name: None,
            parent: None,
            restart: None,
            responds: trigger.is_some(),
        };
        self.give(Input::Start(Box::new(start)))
    }

    /// Starts with these properties, and no input.
    pub fn start_with(&mut self, properties: Value) -> &mut Self {
        let start = Start {
            instance_id: "instance-1".into(),
            trigger: None,
            input: Map::new(),
            properties: map(properties),
            correlation_id: None,
            name: None,
            parent: None,
            restart: None,
            responds: false,
        };
        self.give(Input::Start(Box::new(start)))
    }

    /// Starts at an activity, with these variables of another instance.
    pub fn restart(&mut self, activity: Option<&str>, variables: Map) -> &mut Self {
        let start = Start {
            instance_id: "instance-2".into(),
            trigger: None,
            restart: Some(Restart { activity: activity.map(Into::into), variables }),
            input: Map::new(),
            properties: Map::new(),
            correlation_id: None,
            name: None,
            parent: None,
            responds: false,
        };
        self.give(Input::Start(Box::new(start)))
    }

    /// Takes one turn, and continues as long as turns end out of budget.
    pub fn give(&mut self, input: Input) -> &mut Self {
        let mut next = Some(input);
        while let Some(input) = next.take() {
            self.turns += 1;
            assert!(self.turns <= TURNS_MAX, "more than {TURNS_MAX} turns: this never ends");
            let bounds = match self.cut.saturating_sub(self.state.steps) {
                0 => self.bounds,
                left => {
                    Bounds { steps: usize::try_from(left).unwrap_or(usize::MAX), ..self.bounds }
                }
            };
            let state = std::mem::take(&mut self.state);
            let turn = self.engine.turn_within(&self.program, state, input, &self.env, bounds);
            self.keep(turn);
            let goes_on = self.rest == Rest::OutOfBudget && !self.state.is_paused;
            if goes_on && self.state.steps < self.steps_max {
                next = Some(Input::Continue);
            }
        }
        self
    }

    fn keep(&mut self, turn: Turn) {
        self.state = if self.recodes { recoded(turn.state) } else { turn.state };
        self.rest = turn.rest;
        self.journal.extend(turn.journal);
        self.effects.extend(turn.effects);
    }

    /// Resumes the first open bookmark of this name; false when there is none.
    pub fn resume(&mut self, name: &str, input: Value) -> bool {
        let found = self.state.bookmarks.values().find(|bookmark| bookmark.name == name);
        let Some(id) = found.map(|bookmark| bookmark.id.clone()) else { return false };
        self.resume_at(id, input);
        true
    }

    /// Resumes this bookmark, with an HTTP client waiting.
    pub fn resume_at(&mut self, bookmark_id: BookmarkId, input: Value) -> &mut Self {
        self.give(Input::Resume(Resume { bookmark_id, input: map(input), responds: true }))
    }

    /// Fires the timer that is due first, at its time; false when there is none.
    pub fn fire_timer(&mut self) -> bool {
        let timers = self.state.bookmarks.values();
        let first = timers.filter_map(|timer| Some((timer.due_at?, timer.id.clone()))).min();
        let Some((due, id)) = first else { return false };
        self.env.now = self.env.now.max(due);
        self.resume_at(id, json!({}));
        true
    }

    /// Answers its bookmarks one at a time, until it is over or `answer` returns none.
    pub fn play(&mut self, answer: impl Fn(&Bookmark) -> Option<Value>) -> &mut Self {
        while self.rest == Rest::Suspended {
            let open = self.state.bookmarks.values();
            let found = open.filter_map(|bookmark| Some((bookmark.id.clone(), answer(bookmark)?)));
            let Some((id, input)) = found.into_iter().next() else { break };
            self.resume_at(id, input);
        }
        self
    }

    /// Fires timers until it is over or waits for something else.
    pub fn play_timers(&mut self) -> &mut Self {
        while self.fire_timer() {}
        self
    }

    /// Alters the instance, and continues as long as turns end out of budget.
    ///
    /// # Errors
    /// The reasons why the alterations do not fit; the state is the same then.
    pub fn alter(&mut self, alterations: Vec<Alteration>) -> Result<(), String> {
        self.altered(alterations, None)
    }

    /// As [`Player::alter`], with the definition that the instance migrates to.
    ///
    /// # Errors
    /// As [`Player::alter`]; and the problems of the definition.
    pub fn alter_to(
        &mut self,
        alterations: Vec<Alteration>,
        definition: Value,
    ) -> Result<(), String> {
        let told = |problems: Vec<Problem>| {
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        let definition = parsed(definition).map_err(told)?;
        let target = self.engine.compile(&definition, &Library::default()).map_err(told)?;
        self.altered(alterations, Some(Arc::new(target)))
    }

    fn altered(
        &mut self,
        alterations: Vec<Alteration>,
        target: Option<Arc<Program>>,
    ) -> Result<(), String> {
        let from = target.as_ref().map(|_| Arc::clone(&self.program));
        let program = target.unwrap_or_else(|| Arc::clone(&self.program));
        let alter = Alter { alterations, from };
        let admitted = self.engine.admits(&program, &self.state, &alter, &self.env);
        let input = Input::Alter(alter);
        let state = std::mem::take(&mut self.state);
        let before = state.clone();
        let turn = self.engine.turn(&program, state, input, &self.env);
        if let Err(problems) = admitted {
            assert!(turn.state == before, "what is refused changes nothing");
            assert!(turn.journal.is_empty() && turn.effects.is_empty(), "nor does it tell");
            self.state = before;
            let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
            return Err(problems.join("; "));
        }
        self.program = program;
        self.keep(turn);
        if self.rest == Rest::OutOfBudget && !self.state.is_paused {
            self.give(Input::Continue);
        }
        Ok(())
    }

    /// Sets the time of the next turns.
    pub fn at(&mut self, millis: i64) -> &mut Self {
        self.env.now = Timestamp::from_millis(millis);
        self
    }

    /// Changes what the configuration says.
    pub fn configure(&mut self, change: impl FnOnce(&mut Installation)) -> &mut Self {
        change(Arc::make_mut(&mut self.env.installation));
        self
    }

    /// The lines that were written.
    #[must_use]
    pub fn lines(&self) -> Vec<&str> {
        let written = self.journal.iter().filter(|entry| entry.what == What::Line);
        written.filter_map(|entry| entry.message.as_deref()).collect()
    }

    /// `Completed a: Done`, `Workflow: Finished` … for every journal entry.
    #[must_use]
    pub fn story(&self) -> Vec<String> {
        self.journal.iter().map(told).collect()
    }

    /// The outcomes of the newest completion of an activity.
    #[must_use]
    pub fn outcomes(&self, activity: &str) -> Vec<String> {
        let mut newest = self.journal.iter().rev();
        let found = newest.find(|entry| {
            let is_it = entry.activity_id.as_ref().is_some_and(|id| id.as_str() == activity);
            is_it && entry.what == What::Completed
        });
        found.map(outcomes).unwrap_or_default()
    }

    /// The newest status.
    #[must_use]
    pub fn status(&self) -> SubStatus {
        self.state.status
    }

    /// The message of the newest incident.
    #[must_use]
    pub fn incident(&self) -> Option<&str> {
        self.state.incidents.last().map(|incident| incident.message.as_str())
    }
}

/// A fixed environment at this many milliseconds since 2026-01-01.
#[must_use]
pub fn env(millis: i64) -> Env {
    const BEGIN: i64 = 1_767_225_600_000;
    Env {
        now: Timestamp::from_millis(BEGIN + millis),
        seed: [7; 32],
        command_id: CommandId::new("command-1"),
        installation: Arc::new(Installation {
            base_url: "http://127.0.0.1:5001".to_owned(),
            ..Installation::default()
        }),
        contents: crate::Contents::default(),
    }
}

/// A definition from a whole document, or from a root activity only.
///
/// # Errors
/// A problem that says why the document is no definition.
pub fn parsed(document: Value) -> Result<Definition, Vec<Problem>> {
    let document = if document.get("root").is_some() {
        document
    } else {
        json!({"id": "version-1", "definitionId": "definition-1", "version": 1, "root": document})
    };
    serde_json::from_value(document)
        .map_err(|error| vec![Problem::error(None, None, error.to_string())])
}

fn map(input: Value) -> Map {
    match input {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn recoded(state: State) -> State {
    let bytes = rmp_serde::to_vec_named(&state);
    let back = bytes.ok().and_then(|bytes| rmp_serde::from_slice(&bytes).ok());
    assert!(back.as_ref() == Some(&state), "the state survives its encoding: {state:?}");
    back.unwrap_or(state)
}

fn told(entry: &Entry) -> String {
    let mut told = format!("{:?}", entry.what);
    if let Some(activity) = &entry.activity_id {
        told.push_str(&format!(" {activity}"));
    }
    let outcomes = outcomes(entry);
    if entry.what == What::Completed && outcomes != ["Done"] {
        told.push_str(&format!(": {}", outcomes.join(", ")));
    }
    if let Some(message) = &entry.message {
        told.push_str(&format!(": {message}"));
    }
    told
}

fn outcomes(entry: &Entry) -> Vec<String> {
    let outcomes = entry.payload.as_ref().and_then(|payload| payload.get("outcomes"));
    let outcomes = outcomes.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    outcomes.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
