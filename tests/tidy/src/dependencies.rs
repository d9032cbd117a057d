//! The rules of `deny.toml`: licences, sources, and crates that only some may use.
//!
//! `cargo deny check` reads the same file and checks more (advisories); these rules need no tool
//! and no network, so that they fail together with the other tests.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::tree;

#[derive(Deserialize)]
struct Deny {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

/// A crate that only these may use.
#[derive(Deserialize)]
struct Ban {
    name: String,
    #[serde(default)]
    wrappers: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    unknown_registry: String,
    unknown_git: String,
    #[serde(default)]
    allow_registry: BTreeSet<String>,
    #[serde(default)]
    allow_git: BTreeSet<String>,
}

/// The source that `cargo deny` allows if `allow-registry` is not given.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn deny() -> Deny {
    toml::from_str(&tree::read("deny.toml")).unwrap()
}

/// Every crate that is compiled on this machine, ours and others, with all features; what no build
/// wanted yet is downloaded. Crates for other systems are left to `cargo deny`.
fn packages() -> Vec<Value> {
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = ["metadata", "--format-version", "1", "--locked"];
    let metadata = [&metadata[..], &["--all-features", "--filter-platform", host]].concat();
    let metadata: Value = serde_json::from_str(&cargo(&metadata)).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn cargo(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(tree::root()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {}: {error}", arguments.join(" "));
    String::from_utf8(output.stdout).unwrap()
}

fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or_default()
}

fn shown(package: &Value) -> String {
    format!("{} {}", text(package, "name"), text(package, "version"))
}

fn check(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Whether an SPDX expression can be satisfied with allowed licences. `None` if it cannot be read.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> Option<bool> {
    // Old manifests write `MIT/Apache-2.0`.
    let expression = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<_> = expression.split_whitespace().collect();
    let mut words = words.as_slice();
    let is_allowed = either(&mut words, allowed)?;
    words.is_empty().then_some(is_allowed)
}

fn either(words: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut is_allowed = all(words, allowed)?;
    while let ["OR", rest @ ..] = words {
        *words = rest;
        is_allowed |= all(words, allowed)?;
    }
    Some(is_allowed)
}

fn all(words: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut is_allowed = one(words, allowed)?;
    while let ["AND", rest @ ..] = words {
        *words = rest;
        is_allowed &= one(words, allowed)?;
    }
    Some(is_allowed)
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let is_allowed = either(words, allowed)?;
            let [")", rest @ ..] = words else { return None };
            *words = rest;
            Some(is_allowed)
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            Some(allowed.contains(&format!("{name} WITH {exception}")))
        }
        [name, rest @ ..] => {
            *words = rest;
            Some(allowed.contains(*name))
        }
        [] => None,
    }
}

#[test]
fn every_licence_is_allowed() {
    let allowed = deny().licenses.allow;
    let mut complaints = Vec::new();
    for package in packages() {
        let licence = text(&package, "license");
        match is_allowed(licence, &allowed) {
            Some(true) => {}
            Some(false) => complaints.push(format!(
                "{} has the licence {licence:?}: deny.toml does not allow it",
                shown(&package)
            )),
            None => complaints.push(format!(
                "{} has the licence {licence:?}, which cannot be read",
                shown(&package)
            )),
        }
    }
    check(complaints);
}

#[test]
fn licence_expressions_are_read() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    for (expression, expected) in [
        ("MIT", Some(true)),
        ("GPL-3.0", Some(false)),
        ("GPL-3.0 OR MIT", Some(true)),
        ("MIT/Apache-2.0", Some(true)),
        ("MIT AND GPL-3.0", Some(false)),
        ("(GPL-3.0 OR MIT) AND Apache-2.0", Some(true)),
        ("GPL-3.0 AND MIT OR Apache-2.0", Some(true)),
        ("Apache-2.0 WITH LLVM-exception", Some(true)),
        ("MIT WITH LLVM-exception", Some(false)),
        ("", None),
        ("MIT AND", None),
        ("(MIT", None),
        ("MIT MIT", None),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression:?}");
    }
}

#[test]
fn every_crate_comes_from_a_known_place() {
    let sources = deny().sources;
    assert_eq!((sources.unknown_registry.as_str(), sources.unknown_git.as_str()), ("deny", "deny"));
    let is_known = |source: &str| match source.split_once('+') {
        _ if source.is_empty() => true,
        Some(("git", url)) => sources.allow_git.iter().any(|allowed| url.starts_with(allowed)),
        _ if sources.allow_registry.is_empty() => source == CRATES_IO,
        _ => sources.allow_registry.iter().any(|allowed| source.ends_with(allowed)),
    };
    let unknown = packages().into_iter().filter(|package| !is_known(text(package, "source")));
    let complain = |package: Value| {
        format!("{} comes from {}: deny.toml does not allow it", shown(&package), package["source"])
    };
    check(unknown.map(complain).collect());
}

#[test]
fn banned_crates_are_used_by_nobody_else() {
    let bans: BTreeMap<_, _> =
        deny().bans.deny.into_iter().map(|ban| (ban.name, ban.wrappers)).collect();
    let packages = packages();
    let mut complaints = Vec::new();
    for package in &packages {
        let name = text(package, "name");
        if bans.get(name).is_some_and(BTreeSet::is_empty) {
            complaints.push(format!("{} is banned by deny.toml", shown(package)));
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let used = text(dependency, "name");
            // A dependency that is optional or for another target may be named; it is banned once
            // it is used.
            let is_used = packages.iter().any(|package| text(package, "name") == used);
            let wrappers = bans.get(used).filter(|wrappers| !wrappers.is_empty());
            if is_used && wrappers.is_some_and(|wrappers| !wrappers.contains(name)) {
                complaints.push(format!("{name} may not use {used} (deny.toml)"));
            }
        }
    }
    check(complaints);
}

#[test]
fn dependencies_have_a_version() {
    let mut complaints = Vec::new();
    for package in packages().iter().filter(|package| package["source"].is_null()) {
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            if text(dependency, "req") == "*" && dependency["path"].is_null() {
                let (name, used) = (text(package, "name"), text(dependency, "name"));
                complaints.push(format!("{name} takes any version of {used}: name one"));
            }
        }
    }
    check(complaints);
}
