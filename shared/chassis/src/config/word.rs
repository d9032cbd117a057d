//! The kinds of values that are one of a few words.

use super::form::{Form, one_of};
use super::value::Parse;

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// How flowcharts run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowchartMode {
    /// An activity runs once all paths to it are done.
    Counter,
    /// An activity runs by its merge mode.
    Token,
}

/// What an incident does to its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncidentStrategy {
    /// The instance ends as faulted.
    Fault,
    /// Other branches go on.
    ContinueWithIncidents,
}

/// Whether the journal keeps values of inputs and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPersistence {
    /// It keeps them.
    Include,
    /// It leaves them out.
    Exclude,
}

/// Whether a client must show a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuth {
    /// A connection without one is refused.
    Required,
    /// A client may have none; one that it has must be good.
    Optional,
}

/// Reads a word; the refusal names all.
fn read<T: Copy>(text: &str, words: [(&'static str, T); 2]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| one_of(&words.map(|(word, _)| word)))
}

/// The form of one of these words.
fn form<T: Copy>(words: [(&'static str, T); 2]) -> Form {
    Form::word(&words.map(|(word, _)| word))
}

/// Each with its words: both the reading and the form come from them.
macro_rules! words {
    ($($type:ty: $($word:literal = $value:ident),+;)+) => {$(
        impl Parse for $type {
            fn parse(text: &str) -> Result<Self, String> {
                read(text, [$(($word, Self::$value)),+])
            }

            fn form() -> Form {
                form([$(($word, Self::$value)),+])
            }
        }
    )+};
}

words! {
    LogFormat: "text" = Text, "json" = Json;
    FlowchartMode: "counter" = Counter, "token" = Token;
    IncidentStrategy: "fault" = Fault, "continue-with-incidents" = ContinueWithIncidents;
    LogPersistence: "include" = Include, "exclude" = Exclude;
    ClientAuth: "required" = Required, "optional" = Optional;
}

/// The texts of true, and those of false.
const TRUE: [&str; 4] = ["true", "1", "yes", "on"];
const FALSE: [&str; 4] = ["false", "0", "no", "off"];

impl Parse for bool {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            text if TRUE.contains(&text) => Ok(true),
            text if FALSE.contains(&text) => Ok(false),
            _ => Err("must be true or false".to_owned()),
        }
    }

    fn form() -> Form {
        let words = [TRUE, FALSE].concat();
        Form::of("must be true or false", &words.join("|"))
    }
}
