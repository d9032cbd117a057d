//! The data that passes between a script and its scope.
//!
//! The script runs on its own thread, and only the caller has the scope. [`Facts`] are read before
//! the script starts. If it needs more, the script asks for it while it runs ([`Question`]). Its
//! changes come back at its end ([`Changes`]).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::{Flaw, Identity, Scope, UrlOf};
use model::{Map, ScriptLibrary, Timestamp};
use serde_json::{Value, json};

use super::accessor::{self, Names, Target};
use super::plan::Plan;
use crate::config::Config;
use crate::flaw::flaw;
use crate::threads::Line;

/// URLs that one script may create; each is a token in the database.
pub(super) const URLS_MAX: usize = 64;

/// A variable as it is before the script runs.
pub(super) struct Variable {
    pub(super) name: String,
    /// None: the script asks for the value when it first uses the variable.
    pub(super) value: Option<Value>,
}

/// What the installation gives to every script.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    /// The configuration that scripts may read.
    pub(super) config: Arc<Config>,
    /// The libraries that are global.
    pub(super) libraries: Arc<[ScriptLibrary]>,
}

/// The values that are read from the scope before the script runs.
pub(super) struct Facts {
    pub(super) variables: Vec<Variable>,
    pub(super) accessors: Vec<(String, Target)>,
    pub(super) arguments: Map,
    pub(super) config: Arc<Config>,
    pub(super) libraries: Arc<[ScriptLibrary]>,
    pub(super) identity: Identity,
    pub(super) now: Timestamp,
    pub(super) seed: [u8; 16],
    /// Bytes become a file.
    pub(super) takes_files: bool,
}

impl Facts {
    /// Reads the values that the text mentions.
    pub(super) fn read(source: &str, plan: &Plan, scope: &mut dyn Scope, given: &Given) -> Self {
        let seed = if plan.draws() { scope.random() } else { [0; 16] };
        let accessors = if plan.has_accessors() { accessors(plan, scope) } else { Vec::new() };
        let variables = if !accessors.is_empty()
            || plan.mentions_any(&["variables", "getVariable", "setVariable"])
        {
            variables(source, &accessors, scope)
        } else {
            Vec::new()
        };
        let takes_arguments = plan.mentions("args") || !accessors.is_empty();
        let arguments = if takes_arguments { scope.arguments().clone() } else { Map::new() };
        Self {
            variables,
            accessors,
            arguments,
            config: Arc::clone(&given.config),
            libraries: Arc::clone(&given.libraries),
            identity: scope.identity(),
            now: scope.now(),
            seed,
            takes_files: scope.takes_files(),
        }
    }
}

fn accessors(plan: &Plan, scope: &dyn Scope) -> Vec<(String, Target)> {
    let names = Names::of(scope);
    let words = plan.accessors(&names).into_iter();
    words.filter_map(|word| accessor::find(&word, &names).map(|target| (word, target))).collect()
}

/// Every variable; those whose names occur in the text with their values.
fn variables(source: &str, accessors: &[(String, Target)], scope: &dyn Scope) -> Vec<Variable> {
    let is_accessed = |name: &str| {
        accessors.iter().any(|(_, target)| {
            matches!(target, Target::Variable(known) | Target::SetVariable(known) if known == name)
        })
    };
    let mut found = Vec::new();
    for name in scope.variable_names() {
        if !source.contains(&name) && !is_accessed(&name) {
            found.push(Variable { name, value: None });
        } else if let Some(value) = scope.variable(&name) {
            found.push(Variable { name, value: Some(value) });
        }
    }
    found
}

/// A question of a running script to its scope.
#[derive(Debug)]
pub(super) enum Question {
    /// The variable of this name.
    Variable(String),
    /// The input of this name.
    Input(String),
    /// The activity, then its output.
    Output(String, Option<String>),
    /// The result of the previous activity.
    LastResult,
    /// The secret of this name.
    Secret(String),
    /// A URL for the event, with its lifetime.
    EventUrl(String, Option<Duration>),
    /// A URL that resumes the activity, with its lifetime.
    ActivityUrl(String, Option<Duration>),
}

/// Answers a question; None if the scope has nothing of this name.
pub(super) fn answer(question: Question, scope: &mut dyn Scope) -> Option<Value> {
    match question {
        Question::Variable(name) => scope.variable(&name),
        Question::Input(name) => scope.input(&name),
        Question::Output(activity, output) => scope.output_from(&activity, output.as_deref()),
        Question::LastResult => scope.last_result(),
        Question::Secret(name) => Some(text_or_reason(scope.secret(&name))),
        Question::EventUrl(event, lifetime) => {
            Some(text_or_reason(scope.url(UrlOf::Event(&event), lifetime)))
        }
        Question::ActivityUrl(activity, lifetime) => {
            Some(text_or_reason(scope.url(UrlOf::Activity(&activity), lifetime)))
        }
    }
}

fn text_or_reason(answer: Result<String, String>) -> Value {
    match answer {
        Ok(text) => Value::String(text),
        Err(reason) => json!({"refused": reason}),
    }
}

/// The changes made by a script that ended without an error.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) variables: Vec<(String, Value)>,
    pub(super) correlation_id: Option<Option<String>>,
    pub(super) instance_name: Option<Option<String>>,
    pub(super) outcomes: Option<Vec<String>>,
}

/// The value of a script, and its changes.
pub(super) type End = Result<(Value, Changes), Flaw>;

/// The channel from a script to its scope.
pub(super) type ScopeLine = Line<Question, Option<Value>, End>;

/// The state of a run, shared by the functions that the script calls.
pub(super) struct Session {
    line: ScopeLine,
    /// The values, before the run, of the variables that the script asked for.
    pub(super) asked: BTreeMap<String, Value>,
    pub(super) changes: Changes,
    pub(super) urls: usize,
    pub(super) guids: u64,
}

/// A session, shared by the script's functions.
pub(super) type Shared = Rc<RefCell<Session>>;

impl Session {
    /// The session of a run that begins.
    pub(super) fn new(line: ScopeLine) -> Self {
        Self { line, asked: BTreeMap::new(), changes: Changes::default(), urls: 0, guids: 0 }
    }

    /// Asks the scope; None if the caller has stopped waiting for this script.
    pub(super) fn ask(&self, question: Question) -> Option<Option<Value>> {
        self.line.ask(question)
    }
}

/// Writes the script's changes to the scope.
///
/// # Errors
/// [`Flaw`] when it set a variable that does not exist; changes written before that stay.
pub(super) fn carry_over(changes: Changes, scope: &mut dyn Scope) -> Result<(), Flaw> {
    if let Some(outcomes) = changes.outcomes
        && !scope.set_outcomes(outcomes)
    {
        return Err(flaw("setOutcome works only in the activity RunJavaScript"));
    }
    for (name, value) in changes.variables {
        if !scope.set_variable(&name, value) {
            return Err(flaw(format!(
                "there is no variable named {name:?} to set; add it to the workflow's variables"
            )));
        }
    }
    if let Some(value) = changes.correlation_id {
        scope.set_correlation_id(value);
    }
    if let Some(value) = changes.instance_name {
        scope.set_instance_name(value);
    }
    Ok(())
}
