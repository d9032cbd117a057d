//! One evaluation's dealings with its scope.
//!
//! QuickJS cannot hold on to a borrowed scope, so a script works on copies: what its text mentions
//! is read beforehand, what it sets is written down here and carried over at its end. What it asks
//! for that could not be known beforehand ends the run; the scope answers, and the script runs
//! again with the answer. Scripts are deterministic, so it comes to the same place.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use engine::{Flaw, Identity, Scope};
use model::Timestamp;
use serde_json::Value;

use super::accessor::{self, Names, Target};
use super::plan::Plan;

/// Questions that one evaluation may ask while it runs.
const QUESTIONS_MAX: usize = 64;

/// Something only the scope can say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    /// `getOutputFrom(activity, output?)`
    Output(String, Option<String>),
    /// The nth `createEventTriggerUrl(event, lifetime?)` of the script.
    Url(usize, String, Option<Duration>),
}

/// What is read from the scope before the script runs; the same for every run of an evaluation.
pub(super) struct Facts {
    pub(super) variables: Vec<(String, Value)>,
    pub(super) inputs: Vec<(String, Value)>,
    pub(super) accessors: Vec<(String, Target)>,
    pub(super) accessor_values: BTreeMap<String, Value>,
    pub(super) identity: Identity,
    pub(super) last_result: Value,
    pub(super) now: Timestamp,
    pub(super) seed: [u8; 16],
}

impl Facts {
    /// Reads what the text mentions.
    pub(super) fn read(plan: &Plan, scope: &mut dyn Scope) -> Self {
        let draws = ["random", "Random", "newGuid", "newGuidString", "newShortGuid", "Guid"];
        let draws =
            plan.mentions_any(&draws) || plan.mentions_any(&["getGuidString", "getShortGuid"]);
        let seed = if draws { scope.random() } else { [0; 16] };
        let mut facts = Self {
            variables: Vec::new(),
            inputs: Vec::new(),
            accessors: Vec::new(),
            accessor_values: BTreeMap::new(),
            identity: scope.identity(),
            last_result: Value::Null,
            now: scope.now(),
            seed,
        };
        facts.read_variables(plan, scope);
        facts.read_inputs(plan, scope);
        facts.read_accessors(plan, scope);
        if plan.mentions("getLastResult") {
            facts.last_result = scope.last_result().unwrap_or_default();
        }
        facts
    }

    fn read_variables(&mut self, plan: &Plan, scope: &dyn Scope) {
        for name in &plan.variables {
            self.add_variable(name, scope);
        }
        if plan.all_variables {
            for name in scope.variable_names() {
                self.add_variable(&name, scope);
            }
        }
    }

    fn add_variable(&mut self, name: &str, scope: &dyn Scope) {
        if self.variables.iter().any(|(known, _)| known == name) {
            return;
        }
        if let Some(value) = scope.variable(name) {
            self.variables.push((name.to_owned(), value));
        }
    }

    fn read_inputs(&mut self, plan: &Plan, scope: &dyn Scope) {
        let all = if plan.all_inputs { scope.input_names() } else { Vec::new() };
        for name in plan.inputs.iter().chain(&all) {
            if self.inputs.iter().any(|(known, _)| known == name) {
                continue;
            }
            if let Some(value) = scope.input(name) {
                self.inputs.push((name.clone(), value));
            }
        }
    }

    fn read_accessors(&mut self, plan: &Plan, scope: &dyn Scope) {
        if plan.accessors.is_empty() {
            return;
        }
        let names = Names::of(scope);
        for word in &plan.accessors {
            let Some(target) = accessor::find(word, &names) else { continue };
            match &target {
                Target::Variable(name) | Target::SetVariable(name) => {
                    self.add_variable(name, scope);
                }
                Target::Input(_) | Target::Output(..) => {
                    let value = target.read(scope).unwrap_or_default();
                    self.accessor_values.insert(word.clone(), value);
                }
            }
            self.accessors.push((word.clone(), target));
        }
    }
}

/// What a run did and asked; shared with the functions that the script calls.
#[derive(Default)]
pub(super) struct Session {
    /// What the scope has answered, over all runs of this evaluation.
    answers: BTreeMap<Question, Value>,
    asked: Option<Question>,
    urls: usize,
    pub(super) correlation_id: Option<Option<String>>,
    pub(super) instance_name: Option<Option<String>>,
    pub(super) outcomes: Option<Vec<String>>,
    pub(super) guids: u64,
}

/// A session, as the script's functions hold it.
pub(super) type Shared = Rc<RefCell<Session>>;

impl Session {
    /// Asks beforehand for outputs that the script names: activity, then output.
    pub(super) fn prepare(&mut self, outputs: &[(String, Option<String>)], scope: &dyn Scope) {
        for (activity, output) in outputs.iter().take(QUESTIONS_MAX) {
            let value = scope.output_from(activity, output.as_deref()).unwrap_or_default();
            self.answers.insert(Question::Output(activity.clone(), output.clone()), value);
        }
    }

    /// Begins another run: forgets what the last one did, keeps what the scope answered.
    pub(super) fn rerun(&mut self) {
        let answers = std::mem::take(&mut self.answers);
        *self = Self { answers, ..Self::default() };
    }

    /// The answer to a question; None when the run has to end so that the scope can be asked.
    pub(super) fn output(&mut self, activity: &str, output: Option<&str>) -> Option<Value> {
        self.ask(Question::Output(activity.to_owned(), output.map(str::to_owned)))
    }

    /// The URL of the next call; None when the run has to end so that the scope can be asked.
    pub(super) fn url(&mut self, event: &str, lifetime: Option<Duration>) -> Option<Value> {
        let number = self.urls;
        self.urls += 1;
        self.ask(Question::Url(number, event.to_owned(), lifetime))
    }

    fn ask(&mut self, question: Question) -> Option<Value> {
        if self.asked.is_some() {
            return None;
        }
        let answer = self.answers.get(&question).cloned();
        if answer.is_none() {
            self.asked = Some(question);
        }
        answer
    }

    /// True when the run ended because of a question.
    pub(super) fn has_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Puts the open question to the scope; false when there is none.
    ///
    /// # Errors
    /// [`Flaw`] when the script asks too much.
    pub(super) fn answer(&mut self, scope: &mut dyn Scope) -> Result<bool, Flaw> {
        let Some(question) = self.asked.take() else { return Ok(false) };
        if self.answers.len() >= QUESTIONS_MAX {
            return Err(super::flaw(format!(
                "the script asks for more than {QUESTIONS_MAX} outputs and event URLs"
            )));
        }
        let answer = match &question {
            Question::Output(activity, output) => {
                scope.output_from(activity, output.as_deref()).unwrap_or_default()
            }
            Question::Url(_, event, lifetime) => Value::String(scope.event_url(event, *lifetime)),
        };
        self.answers.insert(question, answer);
        Ok(true)
    }
}

/// What a script that came to its end changes.
pub(super) struct Changes {
    pub(super) variables: Vec<(String, Value)>,
}

/// Carries over what the script set.
///
/// # Errors
/// [`Flaw`] when it set what is not there; then nothing before it is taken back.
pub(super) fn carry_over(
    session: &mut Session,
    changes: Changes,
    scope: &mut dyn Scope,
) -> Result<(), Flaw> {
    if let Some(outcomes) = session.outcomes.take()
        && !scope.set_outcomes(outcomes)
    {
        return Err(super::flaw("setOutcome works only in the activity RunJavaScript".to_owned()));
    }
    for (name, value) in changes.variables {
        if !scope.set_variable(&name, value) {
            return Err(super::flaw(format!(
                "there is no variable named {name:?} to set; add it to the workflow's variables"
            )));
        }
    }
    if let Some(value) = session.correlation_id.take() {
        scope.set_correlation_id(value);
    }
    if let Some(value) = session.instance_name.take() {
        scope.set_instance_name(value);
    }
    Ok(())
}
