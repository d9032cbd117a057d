//! What is wrong with a route template: ingress takes a part that is no parameter as it is written, so
//! that a mistake in its braces would be a path that nobody asks for.

use std::collections::BTreeSet;

/// The constraints of parameters, as ingress checks them.
const CONSTRAINTS: [&str; 8] =
    ["int", "long", "decimal", "double", "float", "bool", "guid", "alpha"];

/// What is wrong, and what has no effect.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) flaws: Vec<String>,
    pub(super) warnings: Vec<String>,
}

pub(super) fn examine(path: &str) -> Findings {
    let mut findings = Findings::default();
    let mut names = BTreeSet::new();
    let mut parts = path.trim_matches('/').split('/').peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        if part.contains(['{', '}']) {
            examine_part(part, is_last, &mut names, &mut findings);
        }
    }
    findings
}

fn examine_part(part: &str, is_last: bool, names: &mut BTreeSet<String>, findings: &mut Findings) {
    let inner = part.split_once('{').and_then(|(before, rest)| {
        let (inner, after) = rest.split_once('}')?;
        let has_more = [before, inner, after].iter().any(|text| text.contains(['{', '}']));
        (!has_more).then_some(inner)
    });
    let named = inner.map(|inner| {
        let bare = inner.trim_start_matches('*');
        (inner, bare.split([':', '=', '?']).next().unwrap_or_default())
    });
    let Some((inner, name)) = named.filter(|(_, name)| !name.is_empty()) else {
        findings.flaws.push(format!(
            "{part} is no parameter: write {{name}}, and at most one between two slashes"
        ));
        return;
    };
    if !names.insert(name.to_lowercase()) {
        findings.flaws.push(format!("the parameter {name} is there twice: rename one of them"));
    }
    if inner.starts_with('*') && !is_last {
        findings.flaws.push(format!("{{{inner}}} takes the rest of the path: write it at the end"));
    }
    let spoken = inner.split('=').next().unwrap_or_default().trim_end_matches('?');
    if let Some((_, constraint)) = spoken.split_once(':')
        && !CONSTRAINTS.contains(&constraint.to_lowercase().as_str())
    {
        findings.warnings.push(format!(
            "the constraint {constraint} has no effect: use one of {}",
            CONSTRAINTS.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_braces_are_named() {
        let check = |path: &str, flaw: &str, warning: &str| {
            let Findings { flaws, warnings } = examine(path);
            for (found, expected) in [(flaws, flaw), (warnings, warning)] {
                let is_expected = match expected {
                    "" => found.is_empty(),
                    part => found.len() == 1 && found[0].contains(part),
                };
                assert!(is_expected, "{path}: {found:?}, not {expected:?}");
            }
        };
        for good in [
            "orders",
            "",
            "/orders/{id}/lines/{line?}",
            "{id:int}",
            "{id:GUID}",
            "{year:int=2026}",
            "report-{year}.pdf",
            "files/{*rest}",
            "files/{**rest}/",
        ] {
            check(good, "", "");
        }
        check("a/{b", "{b is no parameter: write {name}", "");
        check("a/b}", "b} is no parameter", "");
        check("a/{}", "{} is no parameter", "");
        check("a/{b}{c}", "{b}{c} is no parameter", "");
        check("a/{b}/{B:int}", "the parameter B is there twice", "");
        check("{*all}/x", "{*all} takes the rest of the path", "");
        check(
            "{id:int:min(1)}",
            "",
            "the constraint int:min(1) has no effect: use one of int, long",
        );
    }
}
