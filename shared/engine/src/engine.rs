//! The engine: the activities and languages that it knows, and its verbs.

use std::collections::BTreeSet;

use model::{
    ActivityId, Definition, DefinitionId, Misread, Schedule, ScheduleId, SubStatus, Trigger,
};
use serde_json::Value;

use crate::compile::{Compiled, Oversights};
use crate::decision::Cause;
use crate::descriptor::Kind;
use crate::draft::Draft;
use crate::outline::{Expression, Node, NodeRef, Outline, Source, defaults};
use crate::program::Program;
use crate::run::Run;
use crate::state::State;
use crate::{
    Alter, Asked, Bounds, Descriptor, Env, Input, Languages, Library, Problem, Reference, Registry,
    Rest, Sites, Step, Surroundings, Turn, compile, invariant, library, misshapen, sites, spelling,
};

/// The input of activities that start another workflow: its definition id.
const CHILD: &str = "workflowDefinitionId";
/// The category of activities that use NATS, and their inputs that name a subject or a bucket.
const NATS: &str = "NATS";
const NAMES: [&str; 2] = ["subject", "bucket"];

/// Runs definitions. Pure: the same arguments give the same result.
pub struct Engine {
    activities: Registry,
    languages: Languages,
    /// A planted bug: see [`Engine::with_unchecked_migrations`].
    migrates_unchecked: bool,
}

/// The triggers of a definition: its stimuli and its times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triggers {
    /// Stimuli.
    pub stimuli: Vec<Trigger>,
    /// Times. The caller fills in `next_at`, `occurrence` and `shard`.
    pub schedules: Vec<Schedule>,
}

/// A definition that is to be published.
#[derive(Clone, Debug, Default)]
pub struct Examined {
    /// Its triggers, without those that have problems.
    pub triggers: Triggers,
    /// Errors and warnings.
    pub problems: Vec<Problem>,
    /// The workflows that its activities start, where their ids are written out.
    pub children: Vec<(ActivityId, DefinitionId)>,
    /// The names in NATS that its activities use, where they are written out. Those of triggers that
    /// start it are in the triggers.
    pub named: Vec<Named>,
}

/// The name of something in NATS that an activity uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The activity.
    pub activity_id: ActivityId,
    /// The input that names it: `subject` or `bucket`.
    pub input: &'static str,
    /// The name.
    pub name: String,
    /// The activity waits for messages there; else it makes a call.
    pub is_heard: bool,
}

impl Engine {
    /// An engine that knows these activities and languages.
    #[must_use]
    pub fn new(activities: Registry, languages: Languages) -> Self {
        Self { activities, languages, migrates_unchecked: false }
    }

    /// The same engine with a bug: a migration is applied without a look at whether what waits
    /// exists in the other version. For the simulation, which has to find it.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn with_unchecked_migrations(self) -> Self {
        Self { migrates_unchecked: true, ..self }
    }

    /// The descriptions of all activity types, by type name.
    #[must_use]
    pub fn descriptors(&self) -> Vec<&Descriptor> {
        self.activities.descriptors().collect()
    }

    pub(crate) fn languages(&self) -> &Languages {
        &self.languages
    }

    /// The names of all expression types.
    #[must_use]
    pub fn expression_types(&self) -> Vec<&'static str> {
        ["Literal", "Object", "Variable", "Input"]
            .into_iter()
            .chain(self.languages.names())
            .collect()
    }

    /// Declarations of all that a script in this definition can use, at the place that is asked for;
    /// none if the language has no form for them.
    #[must_use]
    pub fn declarations(
        &self,
        language: &str,
        definition: &Definition,
        asked: &Asked,
    ) -> Option<String> {
        let around = Surroundings::of(definition, asked, &self.activities);
        self.languages.get(language)?.declarations(&around)
    }

    /// The places of the activities in a definition, as clients of Elsa know them. Activities that
    /// are workflows of the library hold their root activities.
    #[must_use]
    pub fn sites(&self, definition: &Definition, library: &Library) -> Sites {
        Sites::of(definition, library, &self.activities)
    }

    /// Gives every node id in a definition the value that [`Engine::sites`] has: one that was written is
    /// not read. An activity without one stays without one.
    pub fn place(&self, definition: &mut Definition) {
        sites::place(definition, &self.activities);
    }

    /// Gives the members of all activities of a definition the names that they have here: they are read
    /// in any case, and clients know one.
    pub fn spell(&self, definition: &mut Definition) {
        spelling::of(definition, &self.activities);
    }

    /// The parts of a definition that have another shape than a workflow has, with their places: in a
    /// draft, too. `is_compiled`: without those that are found when it is compiled.
    #[must_use]
    pub fn misshapen(&self, definition: &Definition, is_compiled: bool) -> Vec<Misread> {
        misshapen::of(definition, &self.activities, is_compiled)
    }

    /// Compiles a stored definition; the library has the definitions that it uses as activities. Parts that cannot have an effect, such as a connection to an
    /// activity that does not exist, are ignored.
    ///
    /// # Errors
    /// Every [`Problem`] there is, not only the first.
    pub fn compile(
        &self,
        definition: &Definition,
        library: &Library,
    ) -> Result<Program, Vec<Problem>> {
        self.compiled(definition, library, Oversights::Ignored).checked()
    }

    /// Compiles a definition that is to be published. Parts that cannot have an effect are
    /// problems too.
    ///
    /// # Errors
    /// Every [`Problem`] there is, not only the first.
    pub fn validate(
        &self,
        definition: &Definition,
        library: &Library,
    ) -> Result<Program, Vec<Problem>> {
        self.compiled(definition, library, Oversights::Refused).checked()
    }

    /// Reads a definition that is to be published: finds its triggers, and everything that is wrong
    /// with it, also where one mistake hides a part of it.
    #[must_use]
    pub fn examine(&self, definition: &Definition, library: &Library, env: &Env) -> Examined {
        let Compiled { program, mut problems } =
            self.compiled(definition, library, Oversights::Refused);
        let mut triggers = Triggers::default();
        let (mut children, mut named) = (Vec::new(), Vec::new());
        if let Some(program) = program {
            children = started(&program.outline);
            named = used_of_nats(&program.outline);
            let (found, failed) = self.found(&program, env);
            triggers = found;
            // The mistake may be known already, with its property.
            let known: BTreeSet<_> =
                problems.iter().filter(|known| known.is_error()).map(key_of).collect();
            let news = failed.into_iter().filter(|new| !known.contains(&key_of(new)));
            let news: Vec<_> = news.collect();
            problems.extend(news);
        }
        Examined { triggers, problems, children, named }
    }

    fn compiled(
        &self,
        definition: &Definition,
        library: &Library,
        oversights: Oversights,
    ) -> Compiled {
        compile::compile(definition, library, &self.activities, &self.languages, oversights)
    }

    /// The definitions that this one uses as activities, each once.
    #[must_use]
    pub fn references(&self, definition: &Definition) -> Vec<Reference> {
        library::references(&definition.root, &|name| self.is_type(name))
    }

    /// Writes into the definition which versions of the definitions in the library it uses, and the
    /// documents of the types of its activities that workers perform.
    pub fn pin(&self, definition: &mut Definition, library: &Library) {
        let is_type = |name: &str| self.is_type(name);
        definition.activity_types = library::types_in(definition, &is_type, library);
        library::pin(&mut definition.root, &is_type, library);
    }

    /// Whether an activity of the definition may have a type that workers perform.
    #[must_use]
    pub fn may_need_workers(&self, definition: &Definition) -> bool {
        library::has_other_types(&definition.root, &|name| self.is_type(name))
    }

    /// Ours is an activity or expression type of this name.
    fn is_type(&self, name: &str) -> bool {
        const EXPRESSIONS: [&str; 10] = [
            "Literal", "Object", "Json", "Variable", "Input", "Delegate", "CSharp", "Python",
            "Secret", "Sql",
        ];
        self.activities.has(name)
            || self.languages.get(name).is_some()
            || EXPRESSIONS.contains(&name)
    }

    /// The triggers of this definition, with their inputs evaluated without an instance.
    ///
    /// # Errors
    /// A [`Problem`] for every trigger whose inputs cannot be evaluated.
    pub fn triggers(&self, program: &Program, env: &Env) -> Result<Triggers, Vec<Problem>> {
        let (found, problems) = self.found(program, env);
        if problems.is_empty() { Ok(found) } else { Err(problems) }
    }

    /// The triggers, and the problems of those whose inputs cannot be evaluated.
    fn found(&self, program: &Program, env: &Env) -> (Triggers, Vec<Problem>) {
        let mut found = Triggers::default();
        let mut problems = Vec::new();
        let outline = &program.outline;
        for (at, node) in outline.nodes.iter().enumerate() {
            let is_trigger = node.can_start && node.descriptor.kind == Kind::Trigger;
            if !is_trigger || !outline.is_own(node) {
                continue;
            }
            let state = State { variables: defaults(&outline.variables), ..State::default() };
            let mut draft = Draft::new(outline, &self.languages, env, state);
            let node_ref = NodeRef(u32::try_from(at).unwrap_or(u32::MAX));
            let step = &mut Step::new(&mut draft, 0, node_ref);
            match program.activity(node_ref).triggers(step) {
                Ok(causes) => {
                    causes.into_iter().for_each(|cause| found.add(outline, node, cause));
                }
                Err(failure) => problems.push(failed(node, &failure.message)),
            }
        }
        (found, problems)
    }

    /// Moves an instance forward until it waits for something outside, within the bounds that every
    /// turn has. Input that does not fit the state, such as a bookmark it does not have, changes
    /// nothing.
    pub fn turn(&self, program: &Program, state: State, input: Input, env: &Env) -> Turn {
        self.turn_within(program, state, input, env, Bounds::default())
    }

    /// Whether [`Input::Alter`] fits this state. The program is the one with which the turn would
    /// run: the one to migrate to, if there is one.
    ///
    /// # Errors
    /// Everything that does not fit.
    pub fn admits(
        &self,
        program: &Program,
        state: &State,
        alter: &Alter,
        env: &Env,
    ) -> Result<(), Vec<Problem>> {
        let first = alter.from.as_deref().unwrap_or(program);
        let draft = Draft::new(&first.outline, &self.languages, env, state.clone());
        self.run(first, draft, Bounds::default()).change(&alter.alterations, program)
    }

    fn run<'a>(&self, program: &'a Program, draft: Draft<'a>, bounds: Bounds) -> Run<'a> {
        let mut run = Run::new(program, draft, bounds);
        run.draft.recorder.value_bytes_max = bounds.value_bytes;
        run.migrates_unchecked = self.migrates_unchecked;
        run
    }

    /// The parts of a state that have no place in the program: an activity that is not there.
    #[must_use]
    pub fn places(&self, program: &Program, state: &State) -> Vec<Problem> {
        state.strangers(&program.outline)
    }

    /// Does what [`Self::turn`] does, within these bounds.
    pub fn turn_within(
        &self,
        program: &Program,
        state: State,
        input: Input,
        env: &Env,
        bounds: Bounds,
    ) -> Turn {
        let unchanged = at_rest(&state);
        let over = state.status.is_final();
        let pending = state.status == SubStatus::Pending;
        let from = match &input {
            Input::Alter(alter) => alter.from.clone(),
            _ => None,
        };
        let first = from.as_deref().unwrap_or(program);
        let before = matches!(input, Input::Alter(_)).then(|| state.clone());
        let mut draft = Draft::new(&first.outline, &self.languages, env, state);
        draft.is_continued = input == Input::Continue;
        let mut run = self.run(first, draft, bounds);
        let rest = match input {
            Input::Start(start) if pending => Some(run.start(*start)),
            Input::Resume(resume) if !over => run.resume(resume),
            Input::Cancel { reason } if !over => Some(run.cancel(reason)),
            Input::Continue if unchanged == Rest::OutOfBudget => Some(run.proceed()),
            Input::Alter(alter) if !pending => {
                match (run.alter(&alter.alterations, program), before) {
                    (Err(_), Some(state)) => return Turn::of_nothing(state, unchanged),
                    (altered, _) => altered.ok(),
                }
            }
            _ => None,
        };
        let outline = &run.program.outline;
        let journal = run.draft.told();
        let Draft { state, effects, steps, bytes, wanted, .. } = run.draft;
        let wanted = wanted.into_inner();
        if let Some(rest) = rest.filter(|_| wanted.is_empty()) {
            invariant::check(outline, &state, rest);
        }
        Turn { state, effects, journal, rest: rest.unwrap_or(unchanged), steps, bytes, wanted }
    }
}

/// The workflows that activities of this definition start, where their ids are written out.
fn started(outline: &Outline) -> Vec<(ActivityId, DefinitionId)> {
    let own = outline.nodes.iter().filter(|node| node.workflow().is_none() && outline.is_own(node));
    let named = own.filter_map(|node| match node.inputs.get(CHILD)? {
        Expression(Source::Literal(Value::String(id))) if !id.is_empty() => {
            Some((node.id.clone(), DefinitionId::new(id.as_str())))
        }
        _ => None,
    });
    named.collect()
}

/// The names in NATS that activities of this definition use, where they are written out.
fn used_of_nats(outline: &Outline) -> Vec<Named> {
    let is_of_nats = |node: &&Node| node.descriptor.category == NATS && outline.is_own(node);
    let mut found = Vec::new();
    for node in outline.nodes.iter().filter(is_of_nats) {
        let is_heard = node.descriptor.kind == Kind::Trigger;
        if is_heard && node.can_start {
            continue;
        }
        found.extend(NAMES.into_iter().filter_map(|input| match node.inputs.get(input)? {
            Expression(Source::Literal(Value::String(name))) if !name.trim().is_empty() => {
                let (activity_id, name) = (node.id.clone(), name.clone());
                Some(Named { activity_id, input, name, is_heard })
            }
            _ => None,
        }));
    }
    found
}

/// The problem of a trigger whose inputs cannot be evaluated. The message of such a failure begins
/// with the input's name.
fn failed(node: &Node, message: &str) -> Problem {
    let named = message
        .split_once(": ")
        .filter(|(property, _)| node.descriptor.inputs.iter().any(|input| input.name == *property));
    let (property, message) = match named {
        Some((property, message)) => (Some(property), message),
        None => (None, message),
    };
    Problem::error(Some(&node.id), property, message)
}

/// The activity and the property of a problem.
fn key_of(problem: &Problem) -> (Option<ActivityId>, Option<String>) {
    (problem.activity_id.clone(), problem.property.clone())
}

/// The rest of a state to which nothing happens.
fn at_rest(state: &State) -> Rest {
    if state.status.is_final() {
        Rest::Finished
    } else if state.work.is_empty() {
        Rest::Suspended
    } else {
        Rest::OutOfBudget
    }
}

impl Triggers {
    fn add(&mut self, outline: &Outline, node: &Node, cause: Cause) {
        match cause {
            Cause::Stimulus { stimulus, payload } => self.stimuli.push(Trigger {
                definition_id: outline.definition_id.clone(),
                version_id: outline.version_id.clone(),
                activity_id: node.id.clone(),
                hash: stimulus.hash(),
                name: stimulus.name,
                payload,
            }),
            Cause::Schedule { recurrence, misfire } => {
                let parts = ["schedule", outline.definition_id.as_str(), node.key.as_str()];
                self.schedules.push(Schedule {
                    id: ScheduleId::new(model::derived(&parts)),
                    definition_id: outline.definition_id.clone(),
                    version_id: outline.version_id.clone(),
                    activity_id: node.id.clone(),
                    recurrence,
                    misfire,
                    next_at: None,
                    occurrence: 0,
                    shard: 0,
                });
            }
        }
    }
}
