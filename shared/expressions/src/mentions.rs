//! The names of variables and inputs in a text, found without parsing it: a name that is computed is
//! missed.

use std::collections::BTreeSet;

use engine::Mentions;

/// The names that a script uses, as in `variables.X`, `getVariable("X")` and `getInput("X")`.
pub(crate) fn in_script(source: &str) -> Mentions {
    // What is behind `//` or in a comment may be no code. Without it some names are missed.
    let code: String = source
        .split("/*")
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once("*/").unwrap_or_default().1 })
        .flat_map(str::lines)
        .map(|line| line.split("//").next().unwrap_or(line))
        .fold(String::new(), |code, line| code + line + "\n");
    let mut mentions = Mentions { variables: members(&code, "variables"), inputs: BTreeSet::new() };
    mentions.variables.extend(arguments(&code, "getVariable"));
    mentions.variables.extend(arguments(&code, "setVariable"));
    mentions.inputs.extend(arguments(&code, "getInput"));
    mentions
}

/// The variables and inputs that a template shows or tests.
pub(crate) fn in_template(source: &str) -> Mentions {
    let mut mentions = Mentions::default();
    for (open, close) in [("{{", "}}"), ("{%", "%}")] {
        for part in source.split(open).skip(1) {
            let inside = part.split(close).next().unwrap_or(part);
            mentions.variables.extend(members(inside, "Variables"));
            mentions.inputs.extend(members(inside, "Input"));
        }
    }
    mentions.variables.remove("size");
    mentions.inputs.remove("size");
    mentions
}

/// `X` of every `<object>.X`.
fn members(text: &str, object: &str) -> BTreeSet<String> {
    let found = words(text, object).filter_map(|rest| {
        let rest = rest.trim_start().strip_prefix('.')?.trim_start();
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty()).map(str::to_owned)
    });
    found.collect()
}

/// `X` of every `<function>("X"`.
fn arguments(text: &str, function: &str) -> BTreeSet<String> {
    let found = words(text, function).filter_map(|rest| {
        let rest = rest.trim_start().strip_prefix('(')?.trim_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let (name, after) = rest.get(1..)?.split_once(quote)?;
        let is_whole = after.trim_start().starts_with([')', ',']);
        (is_whole && !name.contains('\\')).then(|| name.to_owned())
    });
    found.collect()
}

/// What follows each occurrence of a word that is not a member of something else.
fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(word).filter_map(move |(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        if before.is_some_and(|c| is_word(c) || c == '.') {
            return None;
        }
        text.get(at + word.len()..)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_are_written_out() {
        let found = |mentions: &BTreeSet<String>| {
            mentions.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
        };
        let script = "variables.A + getVariable('B') + getVariable(x) + getVariable('C' + d)
            // variables.No
            /* getVariable('Not') */ + this.variables.Neither; setVariable(\"E\", 1);
            getInput('In') + myvariables.X + getInput(`T`) + 'http://x' ";
        let mentions = in_script(script);
        assert_eq!(found(&mentions.variables), "A B E");
        assert_eq!(found(&mentions.inputs), "In");
        let template = "Variables.No {{ Variables.A.b }}{% if Variables.B %}{{ x.Variables.C }} \
            {{ Input.D | upcase }}{{ Input['E'] }}{{ Input.size }}{{ MyInput.F }}";
        let mentions = in_template(template);
        assert_eq!(found(&mentions.variables), "A B");
        assert_eq!(found(&mentions.inputs), "D");
    }
}
