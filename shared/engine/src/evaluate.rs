//! The port for expression languages: a language evaluates a text against a scope.

use std::collections::BTreeSet;
use std::time::Duration;

use model::{Map, Timestamp};
use serde_json::Value;

use crate::Type;

/// One expression language, such as JavaScript. Pure: same text, same scope, same value.
pub trait Language: Send + Sync {
    /// Its `expression.type`, such as `JavaScript`.
    fn name(&self) -> &'static str;

    /// Checks that the text can be parsed, without running it.
    ///
    /// # Errors
    /// [`Flaw`] says what is wrong, with line and column where the parser knows them.
    fn check(&self, source: &str) -> Result<(), Flaw>;

    /// The variables and inputs that the text names; some may be missed, none is made up.
    fn mentions(&self, source: &str) -> Mentions {
        let _ = source;
        Mentions::default()
    }

    /// Declarations of all that a text can use, in the form that editors read; none if there is no
    /// such form.
    fn declarations(&self, around: &Surroundings) -> Option<String> {
        let _ = around;
        None
    }

    /// Sealed texts that it reads stay sealed: it computes nothing with them.
    fn keeps_sealed(&self) -> bool {
        false
    }

    /// Evaluates the text, within the limits of `model::limits`.
    ///
    /// # Errors
    /// [`Flaw`] when the script throws, or uses more time, memory or stack than it may.
    fn evaluate(&self, source: &str, scope: &mut dyn Scope) -> Result<Value, Flaw>;
}

/// What a script of a definition can use, for editors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Variables, and their types.
    pub variables: Vec<(String, Type)>,
    /// Workflow inputs, and their types.
    pub inputs: Vec<(String, Type)>,
    /// Outputs: activity, output and type.
    pub outputs: Vec<(String, String, Type)>,
    /// The arguments of this evaluation; none if they are not known.
    pub arguments: Option<Vec<String>>,
    /// A script must not set outcomes here.
    pub refuses_outcomes: bool,
}

/// The place of a script in a definition; anywhere, where nothing is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The activity that has the script.
    pub activity_id: Option<String>,
    /// Its type, where the activity is not known.
    pub activity_type: Option<String>,
    /// The input.
    pub property: Option<String>,
}

/// The names in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Variables.
    pub variables: BTreeSet<String>,
    /// Workflow inputs.
    pub inputs: BTreeSet<String>,
}

/// The reason why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Flaw {
    /// The reason, for the author of the workflow.
    pub message: String,
    /// 1, 2, 3 …
    pub line: Option<u32>,
    /// 1, 2, 3 …
    pub column: Option<u32>,
}

impl Flaw {
    /// The message, with line and column if they are known.
    pub(crate) fn placed(&self) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("line {line}, column {column}: {}", self.message),
            (Some(line), None) => format!("line {line}: {}", self.message),
            _ => self.message.clone(),
        }
    }
}

/// The values that an expression may read and change. Names are looked up from the innermost scope
/// outwards.
pub trait Scope {
    /// The variable of this name.
    fn variable(&self, name: &str) -> Option<Value>;
    /// Sets the nearest variable of this name; false when there is none.
    fn set_variable(&mut self, name: &str, value: Value) -> bool;
    /// Names of the visible variables, the nearest first, each once.
    fn variable_names(&self) -> Vec<String>;
    /// The workflow input of this name.
    fn input(&self, name: &str) -> Option<Value>;
    /// The value of another input of the activity, if it needs no script.
    fn activity_input(&self, name: &str) -> Option<Value>;
    /// Names of the workflow inputs.
    fn input_names(&self) -> Vec<String>;
    /// An output of an activity, found by its id or name; its `result` when no output is named.
    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value>;
    /// (activity name or id, output name) of every recorded output.
    fn output_names(&self) -> Vec<(String, String)>;
    /// The arguments that the activity gives to this evaluation alone: `args` in JavaScript.
    fn arguments(&self) -> &Map;
    /// The result of the activity that completed last.
    fn last_result(&self) -> Option<Value>;
    /// The value of a secret, in clear. Whatever the evaluation ends with is sealed then.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn secret(&mut self, name: &str) -> Result<String, String> {
        Err(format!("the secret {name:?} cannot be read here"))
    }
    /// A secret in its sealed form, which is opened when a call is made with it.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn sealed_secret(&mut self, name: &str) -> Result<String, String> {
        Err(format!("the secret {name:?} cannot be read here"))
    }
    /// Ids of the definition and the instance, correlation id and name.
    fn identity(&self) -> Identity;
    /// Sets the correlation id.
    fn set_correlation_id(&mut self, value: Option<String>);
    /// Sets the instance's name.
    fn set_instance_name(&mut self, value: Option<String>);
    /// Sets the outcomes of the running activity; false if this expression must not set them.
    fn set_outcomes(&mut self, outcomes: Vec<String>) -> bool;
    /// Whether a value that is bytes becomes a file, `{size, content}`, and not the text that its
    /// bytes are in base64.
    fn takes_files(&self) -> bool {
        false
    }
    /// The time of the turn.
    fn now(&self) -> Timestamp;
    /// 128 bits, different on every call.
    fn random(&mut self) -> [u8; 16];
    /// A single-use URL that raises an event for this instance, or resumes what one of its activities
    /// waits for; valid for 7 days when no lifetime is given. An error says why there is none.
    fn url(&mut self, of: UrlOf<'_>, lifetime: Option<Duration>) -> Result<String, String>;
}

/// The effect of a URL that a script makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlOf<'a> {
    /// Raises the event of this name.
    Event(&'a str),
    /// Resumes the activity of this id or name.
    Activity(&'a str),
}

/// The ids and names of the running instance and its definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// `getWorkflowDefinitionId()`
    pub definition_id: String,
    /// `getWorkflowDefinitionVersionId()`
    pub version_id: String,
    /// `getWorkflowDefinitionVersion()`
    pub version: u32,
    /// `getWorkflowInstanceId()`
    pub instance_id: String,
    /// `getCorrelationId()`
    pub correlation_id: Option<String>,
    /// `getWorkflowInstanceName()`
    pub instance_name: Option<String>,
}
