//! The rules.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::imports;
use crate::tree::{self, File};

const CODE: [&str; 4] = ["schema", "services", "shared", "tests"];
const LINES_MAX: usize = 500;
/// The largest circle of files that import each other.
const CIRCLE_MAX: usize = 3;

#[derive(Deserialize)]
struct Exceptions {
    /// Files that may be longer, with the reason.
    long: BTreeMap<String, String>,
    /// Files that may spell a subject, with the reason.
    subjects: BTreeMap<String, String>,
    /// Files with a channel without a limit, and the limit that replaces it.
    unbounded: BTreeMap<String, String>,
}

fn exceptions() -> Exceptions {
    toml::from_str(&tree::read("tests/tidy/exceptions.toml")).unwrap()
}

fn code() -> Vec<File> {
    tree::files(&CODE, "rs")
}

fn check(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn files_are_short_enough_to_read() {
    let long = exceptions().long;
    let mut complaints = Vec::new();
    for file in code() {
        let lines = file.text.lines().count();
        let is_excused = long.contains_key(&file.path);
        if lines > LINES_MAX && !is_excused {
            complaints.push(format!(
                "{} has {lines} lines: divide it, or give a reason in exceptions.toml",
                file.path
            ));
        }
        if lines <= LINES_MAX && is_excused {
            complaints.push(format!("{} is short now: take it out of exceptions.toml", file.path));
        }
    }
    let paths: BTreeSet<_> = code().into_iter().map(|file| file.path).collect();
    for path in exceptions().long.keys().chain(exceptions().subjects.keys()) {
        if !paths.contains(path) {
            complaints.push(format!("{path} is gone: take it out of exceptions.toml"));
        }
    }
    check(complaints);
}

#[test]
fn no_circle_of_imports_is_longer_than_three_files() {
    let files = code();
    let mut complaints = Vec::new();
    for one in imports::crates(&files) {
        let circles = imports::circles(&one.imports());
        for circle in circles.iter().filter(|circle| circle.len() > CIRCLE_MAX) {
            let files: Vec<_> = circle.iter().copied().collect();
            complaints.push(format!(
                "{} files import each other: move what they share below them\n  {}",
                files.len(),
                files.join("\n  ")
            ));
        }
    }
    check(complaints);
}

#[test]
fn every_file_says_what_it_is() {
    let silent = code().into_iter().filter(|file| !file.is_test && !file.text.starts_with("//!"));
    check(silent.map(|file| format!("{}: begin with a //! line", file.path)).collect());
}

#[test]
fn nothing_is_left_for_later() {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];
    let mut files = code();
    for extension in ["toml", "md", "yaml", "yml", "sql", "js", "ts"] {
        files.extend(tree::files(&["."], extension));
    }
    let mut complaints = Vec::new();
    for file in &files {
        for (index, line) in file.text.lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark)) {
                complaints.push(format!("{}:{}: do it, or open an issue", file.path, index + 1));
            }
        }
    }
    check(complaints);
}

#[test]
fn no_test_is_switched_off() {
    let mark = concat!("#[ig", "nore");
    let off = code().into_iter().filter(|file| file.text.contains(mark));
    check(off.map(|file| format!("{}: mend the test or remove it", file.path)).collect());
}

/// Whether a file is the data of a running server: its folder, or a database anywhere.
fn is_data(path: &str) -> bool {
    let ends = [".db", ".db-shm", ".db-wal", ".key", ".log"];
    path.split('/').any(|part| part == ".staunch") || ends.iter().any(|end| path.ends_with(end))
}

#[test]
fn no_data_of_a_server_is_committed() {
    for data in ["tests/deploy/.staunch/lock", ".staunch/staunch.db", "shared/x/server.log"] {
        assert!(is_data(data), "{data}");
    }
    for source in ["shared/staunch/lock.rs", "services/staunch/src/main.rs"] {
        assert!(!is_data(source), "{source}");
    }
    let Some(files) = tree::committed() else { return };
    assert!(files.iter().any(|path| path == "tests/tidy/src/rules.rs"));
    let data = files.into_iter().filter(|path| is_data(path));
    check(data.map(|path| format!("{path}: git rm it; let a test write elsewhere")).collect());
}

/// A crate's manifest, with the parts that the rules need.
#[derive(Deserialize)]
struct Manifest {
    package: Package,
    #[serde(default)]
    dependencies: BTreeMap<String, toml::Value>,
    #[serde(default)]
    lints: BTreeMap<String, toml::Value>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    #[serde(default)]
    description: String,
}

fn manifests() -> Vec<Manifest> {
    tree::files(&CODE, "toml")
        .into_iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"))
        .map(|file| toml::from_str(&file.text).unwrap())
        .collect()
}

/// The crate that users take without the workspace: it has the lints, and the rest, written out.
const ALONE: &str = "staunch-client";

#[test]
fn the_client_writes_out_the_values_of_the_workspace() {
    let table = |path: &str| toml::from_str::<toml::Table>(&tree::read(path)).unwrap();
    let (workspace, client) = (table("Cargo.toml"), table("shared/clients/rust/Cargo.toml"));
    let workspace = &workspace["workspace"];
    assert_eq!(client["package"]["name"].as_str(), Some(ALONE));
    let mut complaints = Vec::new();
    let mut compare = |what: &str, own: Option<&toml::Value>, shared: Option<&toml::Value>| {
        if own != shared {
            complaints.push(format!("{what}: {own:?} in {ALONE}, and {shared:?} in the workspace"));
        }
    };
    for (name, shared) in workspace["package"].as_table().unwrap() {
        compare(name, client["package"].get(name), Some(shared));
    }
    for (name, own) in client["dependencies"].as_table().unwrap() {
        compare(name, Some(own), workspace["dependencies"].get(name));
    }
    compare("lints", client.get("lints"), workspace.get("lints"));
    check(complaints);
}

#[test]
fn crates_import_only_what_they_may() {
    let table: BTreeMap<String, Vec<String>> =
        toml::from_str(&tree::read("tests/tidy/deps.toml")).unwrap();
    let manifests = manifests();
    let ours: BTreeSet<_> =
        manifests.iter().map(|manifest| manifest.package.name.as_str()).collect();
    let mut complaints = Vec::new();
    for manifest in &manifests {
        let name = &manifest.package.name;
        let Some(allowed) = table.get(name) else {
            complaints
                .push(format!("{name} is not in tests/tidy/deps.toml: say what it may import"));
            continue;
        };
        for dependency in manifest.dependencies.keys().filter(|key| ours.contains(key.as_str())) {
            if !allowed.contains(dependency) {
                complaints.push(format!("{name} may not import {dependency} (deps.toml)"));
            }
        }
        for unused in allowed.iter().filter(|name| !manifest.dependencies.contains_key(*name)) {
            complaints.push(format!("{name} does not import {unused}: take it out of deps.toml"));
        }
        if !manifest.lints.contains_key("workspace") && name != ALONE {
            complaints.push(format!("{name}: say [lints] workspace = true"));
        }
        if manifest.package.description.is_empty() {
            complaints.push(format!("{name}: say in its manifest what it is for"));
        }
    }
    for gone in table.keys().filter(|name| !ours.contains(name.as_str())) {
        complaints.push(format!("{gone} is no crate: take it out of deps.toml"));
    }
    check(complaints);
}

#[test]
fn adapters_are_named_where_processes_are_made_and_nowhere_else() {
    let mut complaints = Vec::new();
    for file in tree::files(&["services"], "rs") {
        // A migration is the only operation on a database that does not use the port.
        if file.path == "services/staunch/src/command/migrate.rs" {
            continue;
        }
        // The tools measure the adapters themselves.
        if file.path.starts_with("services/staunch/tools/") {
            continue;
        }
        for (number, line) in file.product_lines() {
            if ["bus_nats::", "store_sql::", "async_nats::", "sea_orm::"]
                .iter()
                .any(|adapter| line.contains(adapter))
            {
                complaints.push(format!("{}:{number}: use the port's traits", file.path));
            }
        }
    }
    check(complaints);
}

#[test]
fn the_database_and_the_broker_are_known_to_one_crate_each() {
    let only = [
        ("async-nats", &["bus-nats", "e2e", "load", "raw", "staunch-client"][..]),
        ("sea-orm", &["store-sql"]),
        ("sea-orm-migration", &["migration", "store-sql"]),
    ];
    let mut complaints = Vec::new();
    for manifest in manifests() {
        let name = manifest.package.name.as_str();
        for (dependency, allowed) in only {
            if manifest.dependencies.contains_key(dependency) && !allowed.contains(&name) {
                complaints.push(format!("{name} may not import {dependency}"));
            }
        }
    }
    check(complaints);
}

#[test]
fn pure_crates_neither_wait_nor_ask() {
    let pure = ["model", "protocol", "engine", "activities", "expressions", "rehearsal"];
    let impure = ["tokio", "tokio-util", "rand", "reqwest", "futures", "async-trait"];
    let mut complaints = Vec::new();
    for manifest in manifests() {
        if !pure.contains(&manifest.package.name.as_str()) {
            continue;
        }
        for dependency in impure.iter().filter(|name| manifest.dependencies.contains_key(**name)) {
            complaints.push(format!("{} may not import {dependency}", manifest.package.name));
        }
    }
    check(complaints);
}

#[test]
fn subjects_are_spelled_once() {
    let excused = exceptions().subjects;
    let prefixes = ["cmd", "event", "task", "dead", "api", "timer", "cache"];
    let mut complaints = Vec::new();
    for file in code() {
        if file.path.starts_with("shared/protocol/") || excused.contains_key(&file.path) {
            continue;
        }
        for (number, line) in file.product_lines() {
            let is_subject = |prefix: &&str| {
                line.contains(&format!("\"staunch.{prefix}."))
                    || line.contains(&format!("\"staunch.{prefix}\""))
            };
            if prefixes.iter().any(is_subject) {
                complaints.push(format!("{}:{number}: use protocol::subject", file.path));
            }
        }
    }
    check(complaints);
}

#[test]
fn every_channel_has_a_limit() {
    let mut excused = exceptions().unbounded;
    let mut complaints = Vec::new();
    for file in code() {
        // The word in two parts, so that this file does not break the rule itself.
        let mark = concat!("un", "bounded");
        let lines = file.product_lines().filter(|(_, line)| line.contains(mark));
        let lines: Vec<_> = lines.map(|(number, _)| number).collect();
        if !lines.is_empty() && excused.remove(&file.path).is_none() {
            complaints.push(format!(
                "{}:{}: give the channel a capacity, or say in exceptions.toml what limits it",
                file.path, lines[0]
            ));
        }
    }
    let unused = excused.keys();
    complaints.extend(unused.map(|path| {
        format!("{path} has no channel without a limit any more: take it out of exceptions.toml")
    }));
    check(complaints);
}

#[test]
fn examples_in_the_documentation_are_compiled() {
    let mut complaints = Vec::new();
    for manifest in tree::files(&CODE, "toml") {
        let Some(folder) = manifest.path.strip_suffix("Cargo.toml") else { continue };
        if !manifest.text.contains("doctest = false") {
            continue;
        }
        for file in tree::files(&[&format!("{folder}src")], "rs") {
            let docs = file.text.lines().map(str::trim_start);
            let mut fences = docs.filter_map(|line| {
                let doc = line.strip_prefix("//!").or(line.strip_prefix("///"))?;
                doc.trim_start().strip_prefix("```")
            });
            let is_rust = |fence: &str| ["", "rust", "no_run", "should_panic"].contains(&fence);
            // Fences come in pairs; the first of each names the language.
            let mut is_open = false;
            let found = fences.any(|fence| {
                is_open = !is_open;
                is_open && is_rust(fence.trim())
            });
            if found {
                complaints.push(format!(
                    "{} has an example, and {} says doctest = false",
                    file.path, manifest.path
                ));
            }
        }
    }
    check(complaints);
}

#[test]
fn the_topology_has_what_the_protocol_names() {
    let topology = tree::read("nats/topology.toml");
    let subjects = tree::read("shared/protocol/src/subject.rs");
    let mut complaints = Vec::new();
    for line in subjects.lines().filter(|line| line.starts_with("pub const ")) {
        let name = line.split_whitespace().nth(2).unwrap_or_default();
        let is_kept = ["_STREAM:", "_BUCKET:"].iter().any(|end| name.ends_with(end));
        let value = line.split('"').nth(1).unwrap_or_default();
        if is_kept && !topology.contains(&format!("\"{value}\"")) {
            complaints.push(format!("nats/topology.toml has no {value}"));
        }
    }
    check(complaints);
}

#[test]
fn the_map_shows_every_crate() {
    let map = tree::read("ARCHITECTURE.md");
    let names = manifests().into_iter().map(|manifest| manifest.package.name);
    let missing = names
        .filter(|name| !map.contains(&format!("`{name}`")) && !map.contains(&format!("/{name}")));
    check(missing.map(|name| format!("ARCHITECTURE.md does not name {name}")).collect());
}

#[test]
fn the_readme_shows_the_two_commands() {
    let readme = tree::read("README.md");
    let commands = ["cargo run -- demo", "cargo run -- dev"];
    let missing = commands.into_iter().filter(|command| !readme.contains(command));
    check(missing.map(|command| format!("README.md does not show {command:?}")).collect());
}

#[test]
fn this_crate_is_among_the_rules_it_checks() {
    assert!(code().iter().any(|file| file.path == "tests/tidy/src/rules.rs"));
    assert!(manifests().len() >= 20);
}
