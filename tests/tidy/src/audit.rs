//! The audit log has the changes of one list, and its page has the same.

use std::collections::BTreeSet;

use crate::tree::{self, File};

/// What writes an entry; the name of the change is the first text among the arguments.
const WRITES: [&str; 5] = ["audit(", "audit_later(", "audit_refusal(", "audit_draft(", "note("];
const LIST: &str = "shared/store/src/keys.rs";
const PAGE: &str = "docs/identity.md";
const CONSTRAINTS: &str = "services/ingress/src/description/constraints.json";

#[test]
fn every_change_in_the_audit_log_is_listed_and_described() {
    let listed = listed();
    let files = tree::files(&["services"], "rs");
    let mut complaints = Vec::new();
    let (mut written, mut spelled) = (0, BTreeSet::new());
    for file in &files {
        for name in changes(file) {
            written += 1;
            if !listed.contains(&name) {
                complaints.push(format!("{}: add {name:?} to {LIST}", file.path));
            }
        }
        spelled.extend(file.product_lines().flat_map(|(_, line)| texts(line)));
    }
    let (page, constraints) = (tree::read(PAGE), tree::read(CONSTRAINTS));
    for name in &listed {
        if !spelled.contains(name) {
            complaints.push(format!("{LIST}: nothing writes {name:?}: take it away"));
        }
        if !page.contains(&format!("`{name}`")) {
            complaints.push(format!("{PAGE}: name the change `{name}`"));
        }
        if !constraints.contains(&format!("\"{name}\"")) {
            complaints.push(format!("{CONSTRAINTS}: add {name:?} to those of GET /audit"));
        }
    }
    assert!(written >= 40, "the rule finds {written} entries only");
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// The names in the list.
fn listed() -> BTreeSet<String> {
    let text = tree::read(LIST);
    let (_, list) = text.split_once("pub const AUDITED").unwrap();
    let (list, _) = list.split_once("];").unwrap();
    texts(list).into_iter().collect()
}

/// The changes that a file writes by name. A note of another kind has no dot in its first text.
fn changes(file: &File) -> Vec<String> {
    let code: Vec<_> = file.product_lines().map(|(_, line)| line).collect();
    let code = code.join("\n");
    let mut names = Vec::new();
    for start in WRITES {
        for (at, _) in code.match_indices(start) {
            let arguments = code[at + start.len()..].split(';').next().unwrap_or_default();
            names.extend(texts(arguments).into_iter().next().filter(|name| is_change(name)));
        }
    }
    names
}

/// `definition.publish`: words with dots between them.
fn is_change(text: &str) -> bool {
    let is_letter = |one: char| one.is_ascii_lowercase() || one == '-' || one == '.';
    text.contains('.') && text.chars().all(is_letter)
}

/// The texts in a piece of code.
fn texts(code: &str) -> Vec<String> {
    code.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}
