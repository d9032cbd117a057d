//! The functions and variables that a script needs in its context.
//!
//! Every evaluation pays for a fresh context, so a function of ours is put into it only if the text
//! contains the function's name. That is safe: a script reaches a global by its name, unless the
//! text contains one of the few ways to reach a name that it does not contain. If it does, the
//! script gets everything. The values that a script reads and changes are never determined from the
//! text.

use std::collections::BTreeSet;

use model::ScriptLibrary;

use super::accessor::Names;
use super::simple::Simple;
use super::words::{is_accessor, words};

/// Words by which a script can reach a name that its text does not contain: through the global
/// object, through code that is made from a text, or through the description of a property.
const REFLECTION: [&str; 10] = [
    "globalThis",
    "this",
    "eval",
    "Function",
    "constructor",
    "with",
    "Reflect",
    "getOwnPropertyDescriptor",
    "getOwnPropertyDescriptors",
    "__lookupGetter__",
];

/// Functions of arrays that QuickJS does not interrupt.
const WALKERS: [&str; 17] = [
    "concat",
    "copyWithin",
    "drop",
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
/// Functions of texts that QuickJS does not interrupt and whose time may grow faster than the text.
const SEARCHES: [&str; 7] =
    ["includes", "indexOf", "lastIndexOf", "normalize", "replace", "replaceAll", "split"];

/// The form in which the text is handed to QuickJS.
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

/// The facts about a text that are known before it runs.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) mode: Mode,
    /// Set when the script may have a value without QuickJS.
    pub(super) simple: Option<Simple>,
    /// True when the script may compute the name of a member, as in `a["x" + y]`.
    pub(super) computes_names: bool,
    words: BTreeSet<String>,
    everything: bool,
    loops: bool,
}

impl Plan {
    /// Reads the text, which can be parsed in this mode.
    pub(super) fn new(source: &str, mode: Mode, libraries: &[ScriptLibrary]) -> Self {
        let words = words(source);
        let mut globals = libraries.iter().flat_map(|library| library.globals());
        Self {
            mode,
            simple: Simple::parse(source),
            computes_names: computes_names(source),
            // An identifier may be written with `\\u0061`.
            everything: source.contains("\\u")
                || REFLECTION.iter().any(|word| words.contains(*word))
                || globals.any(|name| words.contains(*name)),
            loops: ["for", "while", "do"].iter().any(|word| words.contains(*word)),
            words,
        }
    }

    /// True when the script may use this name.
    pub(super) fn mentions(&self, word: &str) -> bool {
        self.everything || self.words.contains(word)
    }

    /// True when the script may use one of these names.
    pub(super) fn mentions_any(&self, words: &[&str]) -> bool {
        self.everything || words.iter().any(|word| self.words.contains(*word))
    }

    /// True when the script can reach every name, whatever its text says.
    pub(super) fn mentions_everything(&self) -> bool {
        self.everything
    }

    /// True when the script may ask for a random number or a new id.
    pub(super) fn draws(&self) -> bool {
        const DRAWS: [&str; 8] = [
            "random",
            "Random",
            "Guid",
            "newGuid",
            "newGuidString",
            "newShortGuid",
            "getGuidString",
            "getShortGuid",
        ];
        self.mentions_any(&DRAWS) || (self.computes_names && self.mentions("Math"))
    }

    /// True when the script may use accessors, such as `getCounter`.
    pub(super) fn has_accessors(&self) -> bool {
        self.everything || self.words.iter().any(|word| is_accessor(word))
    }

    /// The accessors that the script may use, if they have a target.
    pub(super) fn accessors(&self, names: &Names) -> Vec<String> {
        if self.everything {
            return names.words().into_iter().filter(|word| is_accessor(word)).collect();
        }
        self.words.iter().filter(|word| is_accessor(word)).cloned().collect()
    }

    /// The functions that QuickJS does not interrupt and that the script may call on a large value:
    /// those of arrays, and those of texts. The list saves work only; a script that gets past it is
    /// ended at its deadline like any other.
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
}

/// True when a `[` may begin a computed name, as in `a["x" + y]` and `({[x]: y})`; false where each
/// `[` certainly begins an array.
fn computes_names(source: &str) -> bool {
    // A comment hides the character before a bracket.
    let has_comments = ["//", "/*", "<!--", "-->"].iter().any(|mark| source.contains(mark));
    let begins_name = |at: usize| {
        let before = source.get(..at).unwrap_or_default().trim_end();
        let begins_array = before.is_empty()
            || before == "return"
            || before.ends_with(['(', '=', ':', ';', '[', '>']);
        !begins_array && !is_plain_index(source, at)
    };
    source.match_indices('[').any(|(at, _)| has_comments || begins_name(at))
}

/// True for `[0]` and the like: digits name no global.
fn is_plain_index(source: &str, at: usize) -> bool {
    let inside =
        source.get(at + 1..).and_then(|rest| rest.split_once(']')).map(|(inside, _)| inside);
    inside.is_some_and(|inside| {
        !inside.is_empty() && inside.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_names_are_told_from_arrays() {
        for source in [
            "(() => 1)['const' + 'ructor']('return 1')()",
            "const {['a' + 'b']: x} = y",
            "const {a, ['a' + 'b']: x} = y",
            "(x => x)?.['a' + 'b']",
            "a /* = */ ['x']",
            "a // =\n['x']",
            "f`x`['a' + 'b']",
            "'='['a' + 'b']",
            "/=/['a' + 'b']",
            "a\n['x' + y]",
            "variables[k]",
        ] {
            assert!(Plan::new(source, Mode::Script, &[]).computes_names, "{source}");
        }
        for source in [
            "variables.A.b === 2",
            "[1, 2].map(x => [x])",
            "const a = [1]; a.push([2])",
            "variables.Items[0].x",
            "return [1]",
            "({a: [1]})",
        ] {
            assert!(!Plan::new(source, Mode::Script, &[]).computes_names, "{source}");
        }
    }

    #[test]
    fn a_script_that_can_reach_unwritten_names_gets_everything() {
        for source in
            ["globalThis['vari' + 'ables']", "getV\\u0061riable('x')", "this.x", "eval('1')"]
        {
            assert!(Plan::new(source, Mode::Script, &[]).mentions_everything(), "{source}");
        }
        for source in ["variables[k]", "'a\\n'", "variables.Items[i].x"] {
            assert!(!Plan::new(source, Mode::Script, &[]).mentions_everything(), "{source}");
        }
    }

    #[test]
    fn accessors_are_words_that_are_no_function_of_ours() {
        let plan = Plan::new(
            "getInput(\"X\") + getCounter() + getCorrelationId() + setCounter(2)",
            Mode::Script,
            &[],
        );
        assert_eq!(plan.accessors(&Names::default()), ["getCounter", "setCounter"]);
        assert!(plan.has_accessors());
        assert!(!Plan::new("getInput('X')", Mode::Script, &[]).has_accessors());
    }
}
