//! Every background task of a role is among those that the chaos tests make panic.

use std::collections::BTreeSet;

use crate::tree::{self, File};

/// What starts a background task; its name is the first text among the arguments.
const STARTS: [&str; 8] = [
    "spawn(",
    "supervise(",
    "supervised(",
    "blocking(",
    "caught(",
    "run_apart(",
    "beside(",
    "stopping_if_it_panics(",
];
/// The list of the chaos test.
const LIST: &str = "tests/chaos/src/panics.rs";
/// Tasks of the means itself, and of commands that end by themselves.
const EXCUSED: [&str; 4] = [
    "shared/tasks/",
    "services/staunch/src/child.rs",
    "services/staunch/src/command/",
    "services/staunch/tools/",
];

#[test]
fn every_background_task_is_made_to_panic_by_a_test() {
    let listed = listed();
    let mut files = tree::files(&["services", "shared"], "rs");
    files.retain(|file| !EXCUSED.iter().any(|path| file.path.starts_with(path)));
    let (mut complaints, mut found) = (Vec::new(), 0);
    for file in &files {
        for name in names(file) {
            found += 1;
            if !listed.contains(&name) {
                complaints.push(format!("{}: add the task {name:?} to {LIST}", file.path));
            }
        }
    }
    assert!(found >= 40, "the rule finds {found} tasks only");
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// The names in the list.
fn listed() -> BTreeSet<String> {
    let text = tree::read(LIST);
    let (_, list) = text.split_once("const TASKS:").unwrap();
    let (list, _) = list.split_once("];").unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The names of the tasks that a file starts.
fn names(file: &File) -> Vec<String> {
    let code: Vec<_> = file.product_lines().map(|(_, line)| line).collect();
    let code = code.join("\n");
    let mut names = Vec::new();
    for start in STARTS {
        for (at, _) in code.match_indices(start) {
            let arguments = code[at + start.len()..].trim_start();
            let arguments = match start {
                "beside(" => arguments.split_once(',').map_or("", |(_, rest)| rest.trim_start()),
                _ => arguments,
            };
            names.extend(name(&code, arguments));
        }
    }
    names
}

/// The name at the beginning of the arguments: a text, or a constant of the same file.
fn name(code: &str, arguments: &str) -> Option<String> {
    if let Some(text) = arguments.strip_prefix('"') {
        return text.split('"').next().map(str::to_owned);
    }
    let (constant, _) = arguments.split_once(',')?;
    let is_constant = constant.chars().all(|one| one.is_ascii_uppercase() || one == '_');
    let (_, value) = code.split_once(&format!("const {constant}: &str = \""))?;
    is_constant.then(|| value.split('"').next().map(str::to_owned))?
}
