//! What can be known of a script before it runs: what it mentions, and whether QuickJS is needed
//! at all.
//!
//! Only mentioned names are looked up and installed, because a fresh context is paid for by every
//! evaluation. Where the text does not tell what a script may reach for, it gets everything.

use std::collections::BTreeSet;

use super::simple::Simple;

/// Words by which a script can reach a name that does not stand in its text.
const REFLECTION: [&str; 5] = ["globalThis", "eval", "Function", "constructor", "this"];

/// Functions that walk an array without looking at the clock.
const WALKERS: [&str; 16] = [
    "concat",
    "copyWithin",
    "fill",
    "flat",
    "flatMap",
    "join",
    "reverse",
    "shift",
    "slice",
    "sort",
    "splice",
    "toReversed",
    "toSorted",
    "toSpliced",
    "unshift",
    "with",
];
/// Functions that search a text without looking at the clock.
const SEARCHES: [&str; 6] =
    ["includes", "indexOf", "lastIndexOf", "replace", "replaceAll", "split"];

/// How the text is handed to QuickJS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// As a script; its value is that of the last expression.
    Script,
    /// As a script with `await` at the top.
    AsyncScript,
    /// As the body of a function, because it has a `return` at the top.
    Body,
    /// As the body of an async function.
    AsyncBody,
}

/// What a text mentions, before anything runs.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) mode: Mode,
    /// Set when the value may be found without QuickJS.
    pub(super) simple: Option<Simple>,
    /// Variables named by `variables.X`, `getVariable("X")` or `setVariable("X", …)`.
    pub(super) variables: Vec<String>,
    /// True when variables may be reached by computed names.
    pub(super) all_variables: bool,
    /// Inputs named by `getInput("X")`.
    pub(super) inputs: Vec<String>,
    /// True when inputs may be reached by computed names.
    pub(super) all_inputs: bool,
    /// Activity and output of each `getOutputFrom("X", "Y")`.
    pub(super) outputs: Vec<(String, Option<String>)>,
    /// Words such as `getName` and `setName`, without those that are ours.
    pub(super) accessors: Vec<String>,
    /// True when the text has nothing by which it could change an object in place.
    pub(super) changes_nothing: bool,
    words: BTreeSet<String>,
    everything: bool,
    loops: bool,
}

impl Plan {
    /// Reads the text; says nothing about whether it can be parsed.
    pub(super) fn new(source: &str, mode: Mode) -> Self {
        let words = words(source);
        let everything = source.contains("\\u")
            || source.contains("\\x")
            || REFLECTION.iter().any(|word| words.contains(*word));
        let mut reads = Reads::default();
        reads.members(source);
        for name in ["getVariable", "setVariable"] {
            reads.calls(source, name);
        }
        let (mut inputs, all_inputs) = literals(source, "getInput");
        inputs.dedup();
        Self {
            mode,
            simple: Simple::parse(source),
            variables: reads.names,
            all_variables: reads.computed || everything,
            inputs,
            outputs: outputs(source),
            all_inputs: all_inputs || everything,
            accessors: words.iter().filter(|word| is_accessor(word)).cloned().collect(),
            changes_nothing: !everything && changes_nothing(source, &words),
            loops: ["for", "while", "do"].iter().any(|word| words.contains(*word)),
            words,
            everything,
        }
    }

    /// True when the script may use this name.
    pub(super) fn mentions(&self, word: &str) -> bool {
        self.everything || self.words.contains(word)
    }

    /// The functions without a clock that the script may call on something too long for them:
    /// those that walk arrays, and those that search texts.
    pub(super) fn guarded(&self) -> (Vec<&'static str>, Vec<&'static str>) {
        const SOURCES: [&str; 8] =
            ["length", "Array", "repeat", "padStart", "padEnd", "join", "concat", "from"];
        let has_source = self.mentions_any(&SOURCES)
            || self.loops
            || self.words.iter().any(|word| word.len() >= 7 && word.starts_with(char::is_numeric));
        if !has_source {
            return (Vec::new(), Vec::new());
        }
        let mentioned = |names: &[&'static str]| {
            names.iter().copied().filter(|name| self.mentions(name)).collect()
        };
        (mentioned(&WALKERS), mentioned(&SEARCHES))
    }

    /// True when the script may use one of these names.
    pub(super) fn mentions_any(&self, words: &[&str]) -> bool {
        self.everything || words.iter().any(|word| self.words.contains(*word))
    }
}

#[derive(Default)]
struct Reads {
    names: Vec<String>,
    computed: bool,
}

impl Reads {
    /// `variables.X`; anything else after `variables` is a computed name.
    fn members(&mut self, source: &str) {
        for rest in occurrences(source, "variables") {
            let rest = rest.trim_start();
            let rest = rest.strip_prefix('?').unwrap_or(rest);
            let member = rest.strip_prefix('.').map_or("", |rest| leading_word(rest.trim_start()));
            self.add(member);
        }
    }

    fn calls(&mut self, source: &str, function: &str) {
        let (names, computed) = literals(source, function);
        for name in names {
            self.add(&name);
        }
        self.computed |= computed;
    }

    fn add(&mut self, name: &str) {
        if name.is_empty() {
            self.computed = true;
        } else if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }
}

/// The literal arguments of the calls of `getOutputFrom`.
fn outputs(source: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    for rest in occurrences(source, "getOutputFrom") {
        let Some(activity) = leading_literal(rest) else { continue };
        let after = rest.split_once(activity).map_or("", |(_, after)| after);
        let after = after.get(1..).unwrap_or("").trim_start();
        let output = match after.strip_prefix(',') {
            // A second argument is read like a first one.
            Some(second) => {
                leading_literal(&format!("({}", second.trim_start())).map(str::to_owned)
            }
            None => None,
        };
        if after.starts_with(')') || output.is_some() {
            found.push((activity.to_owned(), output));
        }
    }
    found
}

/// The literal first arguments of the calls of `function`, and whether there are computed ones.
fn literals(source: &str, function: &str) -> (Vec<String>, bool) {
    let mut names = Vec::new();
    let mut computed = false;
    for rest in occurrences(source, function) {
        match leading_literal(rest) {
            Some(name) => names.push(name.to_owned()),
            None => computed = true,
        }
    }
    (names, computed)
}

/// The text after each occurrence of a whole word.
fn occurrences<'a>(source: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    source.match_indices(word).filter_map(move |(at, _)| {
        let (before, rest) = (source.get(..at)?, source.get(at + word.len()..)?);
        let whole = !before.ends_with(is_word_char) && !rest.starts_with(is_word_char);
        whole.then_some(rest)
    })
}

/// `X` of a text that begins with `("X"`, followed by `,` or `)`.
fn leading_literal(rest: &str) -> Option<&str> {
    let rest = rest.trim_start().strip_prefix('(')?.trim_start();
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let rest = rest.get(1..)?;
    let (name, after) = rest.split_once(quote)?;
    let plain = !name.contains(['\\', '\n']);
    (plain && after.trim_start().starts_with([',', ')'])).then_some(name)
}

fn leading_word(text: &str) -> &str {
    let end = text.find(|c: char| !is_word_char(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// True for the characters of an identifier.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn words(source: &str) -> BTreeSet<String> {
    source
        .split(|c: char| !is_word_char(c))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_accessor(word: &str) -> bool {
    let name = word.strip_prefix("get").or_else(|| word.strip_prefix("set"));
    name.is_some_and(|name| name.starts_with(char::is_uppercase))
        && !super::host::FUNCTIONS.contains(&word)
}

/// True when the text has no assignment and calls nothing that changes an object in place.
fn changes_nothing(source: &str, words: &BTreeSet<String>) -> bool {
    const CHANGERS: [&str; 23] = [
        "push",
        "pop",
        "shift",
        "unshift",
        "splice",
        "sort",
        "reverse",
        "fill",
        "copyWithin",
        "delete",
        "assign",
        "defineProperty",
        "defineProperties",
        "setPrototypeOf",
        "Reflect",
        "set",
        "add",
        "clear",
        "call",
        "apply",
        "bind",
        "Object",
        "setVariable",
    ];
    let mut bare = source.to_owned();
    for operator in ["=>", "===", "!==", "==", "!=", "<=", ">="] {
        bare = bare.replace(operator, " ");
    }
    !bare.contains('=')
        && !bare.contains("++")
        && !bare.contains("--")
        // `for (x.y of …)` and `for (x.y in …)` assign without a sign.
        && !words.contains("for")
        // A computed call, `a["push"](1)`.
        && !bare.contains("](")
        && !CHANGERS.iter().any(|word| words.contains(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(source: &str) -> Plan {
        Plan::new(source, Mode::Script)
    }

    #[test]
    fn named_variables_are_found_and_computed_ones_ask_for_all() {
        let named =
            plan("variables.A + getVariable('B b') + myvariables.C + setVariable(\"D\", 1)");
        assert_eq!(named.variables, ["A", "B b", "D"]);
        assert!(!named.all_variables);
        for computed in ["variables[k]", "getVariable('a' + i)", "getVariable(n)", "f(variables)"] {
            assert!(plan(computed).all_variables, "{computed}");
        }
        assert!(plan("globalThis['vari' + 'ables']").all_variables);
    }

    #[test]
    fn inputs_and_accessors_are_found() {
        let plan = plan("getInput(\"X\") + getCounter() + getCorrelationId() + setCounter(2)");
        assert_eq!(plan.inputs, ["X"]);
        assert_eq!(plan.accessors, ["getCounter", "setCounter"]);
    }

    #[test]
    fn reading_texts_are_told_from_changing_ones() {
        for reads in ["variables.A.b === 2", "variables.L.map(x => x.y)", "a >= 1 && b != 2"] {
            assert!(plan(reads).changes_nothing, "{reads}");
        }
        for changes in
            ["variables.A.b = 2", "variables.L.push(1)", "variables.A.n++", "l[\"push\"](1)"]
        {
            assert!(!plan(changes).changes_nothing, "{changes}");
        }
    }
}
