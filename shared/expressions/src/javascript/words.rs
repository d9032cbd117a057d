//! The words of a script's text, and the names of our functions.

use std::collections::BTreeSet;

/// Every function of ours that begins with `get` or `set` and therefore is no accessor.
pub(super) const FUNCTIONS: [&str; 20] = [
    "getWorkflowDefinitionId",
    "getWorkflowDefinitionVersionId",
    "getWorkflowDefinitionVersion",
    "getWorkflowInstanceId",
    "getWorkflowInstanceName",
    "setWorkflowInstanceName",
    "getCorrelationId",
    "setCorrelationId",
    "getVariable",
    "setVariable",
    "getInput",
    "getOutputFrom",
    "getLastResult",
    "getGuidString",
    "getShortGuid",
    "setOutcome",
    "setOutcomes",
    "getConfig",
    "getSecret",
    "getTime",
];

/// True for the characters of an identifier.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Every word of the text, including those in strings and comments.
pub(super) fn words(source: &str) -> BTreeSet<String> {
    source
        .split(|c: char| !is_word_char(c))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// True for a word such as `getCounter` that is no function of ours.
pub(super) fn is_accessor(word: &str) -> bool {
    let name = word.strip_prefix("get").or_else(|| word.strip_prefix("set"));
    // A name may begin with a digit or a letter that has no upper case.
    name.is_some_and(|name| !name.is_empty() && !name.starts_with(char::is_lowercase))
        && !FUNCTIONS.contains(&word)
}
