//! Expressions that see a message alone: no instance, no variables. They decide which messages a source
//! takes, before anything waits for them or starts.

use std::time::Duration;

use model::{Map, Script, Timestamp};
use serde_json::Value;

use crate::decision::Failure;
use crate::outline::{Expression, Source};
use crate::{Engine, Flaw, Identity, Languages, Scope, Step, UrlOf};

/// The language of a value.
const LITERAL: &str = "Literal";

impl Engine {
    /// The value of an expression for a message, whose parts are its arguments.
    ///
    /// # Errors
    /// The reason why it has none.
    pub fn judge(&self, script: &Script, message: Map, now: Timestamp) -> Result<Value, String> {
        judge(self.languages(), script, message, now)
    }
}

fn judge(
    languages: &Languages,
    script: &Script,
    arguments: Map,
    now: Timestamp,
) -> Result<Value, String> {
    if script.language == LITERAL {
        return serde_json::from_str(&script.text).map_err(|error| error.to_string());
    }
    let Some(language) = languages.get(&script.language) else {
        return Err(format!("there is no expression type {}", script.language));
    };
    let mut alone = Alone { arguments, now };
    language.evaluate(&script.text, &mut alone).map_err(|flaw: Flaw| flaw.placed())
}

impl Step<'_, '_> {
    /// The expression of an input, which is not evaluated here: it sees a message alone. None where the
    /// input has no value.
    ///
    /// # Errors
    /// It names something else.
    pub fn lone_script(&self, input: &str) -> Result<Option<Script>, Failure> {
        let refused = |what: String| {
            let reason = format!("{what}: the expression sees the message alone, as `args`");
            Err(Failure::input(input, reason))
        };
        let Some(Expression(source)) = self.node.inputs.get(input) else { return Ok(None) };
        match source {
            Source::Literal(Value::Null) => Ok(None),
            Source::Literal(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Source::Literal(value) => {
                let (language, text) = (LITERAL.to_owned(), value.to_string());
                Ok(Some(Script { language, text }))
            }
            Source::Variable { name, .. } => refused(format!("there is no variable {name} here")),
            Source::Input(name) => refused(format!("there is no workflow input {name} here")),
            Source::Script { language, text } => {
                let known = self.draft.languages.get(language);
                let mentions = known.map(|known| known.mentions(text)).unwrap_or_default();
                if let Some(name) = mentions.variables.first() {
                    return refused(format!("there is no variable {name} here"));
                }
                if let Some(name) = mentions.inputs.first() {
                    return refused(format!("there is no workflow input {name} here"));
                }
                Ok(Some(Script { language: language.clone(), text: text.clone() }))
            }
        }
    }
}

/// What such an expression can use: its arguments, and the time.
struct Alone {
    arguments: Map,
    now: Timestamp,
}

impl Scope for Alone {
    fn variable(&self, _name: &str) -> Option<Value> {
        None
    }

    fn set_variable(&mut self, _name: &str, _value: Value) -> bool {
        false
    }

    fn variable_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn input(&self, _name: &str) -> Option<Value> {
        None
    }

    fn activity_input(&self, _name: &str) -> Option<Value> {
        None
    }

    fn input_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn output_from(&self, _activity: &str, _output: Option<&str>) -> Option<Value> {
        None
    }

    fn output_names(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn arguments(&self) -> &Map {
        &self.arguments
    }

    fn last_result(&self) -> Option<Value> {
        None
    }

    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn set_correlation_id(&mut self, _value: Option<String>) {}

    fn set_instance_name(&mut self, _value: Option<String>) {}

    fn set_outcomes(&mut self, _outcomes: Vec<String>) -> bool {
        false
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    /// The same message has the same value, wherever and however often it is judged.
    fn random(&mut self) -> [u8; 16] {
        [0; 16]
    }

    fn url(&mut self, _of: UrlOf<'_>, _lifetime: Option<Duration>) -> Result<String, String> {
        Ok(String::new())
    }
}
