//! Reads a test file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Map, Timestamp};
use serde_json::Value;
use shortform::{Mark, Member, Tree};

use super::form::{self, Field};
use super::mock::Mocks;
use super::reader::Reader;
use crate::document::{self, TEST_ENDS};
use crate::{Failure, input};

/// The tests of one definition.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) definition: PathBuf,
    /// The definitions that it uses as activities.
    pub(super) uses: Vec<PathBuf>,
    pub(super) tests: Vec<Test>,
}

/// One run, and what it is to do.
#[derive(Debug)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) mark: Mark,
    pub(super) given: Given,
    pub(super) mocks: Mocks,
    pub(super) expect: Expect,
}

/// What happens to the instance.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) now: Timestamp,
    pub(super) input: Map,
    pub(super) properties: Map,
    pub(super) correlation_id: Option<String>,
    /// The trigger; none for a plain start.
    pub(super) start: Option<Happening>,
    pub(super) steps: Vec<Step>,
    /// Timers that are due later than this after the start do not fire.
    pub(super) time: Option<Duration>,
}

/// Something that happens while the instance waits.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) mark: Mark,
    pub(super) happening: Happening,
    /// The time since the start.
    pub(super) after: Option<Duration>,
}

/// Something that happens.
#[derive(Debug)]
pub(super) enum Happening {
    Event { name: String, payload: Value },
    Http { method: String, path: String, request: Map },
    Resume { activity: String, input: Map },
    Cancel { reason: Option<String> },
}

/// What is expected; nothing is checked that is not here.
#[derive(Debug, Default)]
pub(super) struct Expect(pub(super) Vec<Member>);

impl Suite {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or has mistakes: the details have every one with its place.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let tree = document::parsed(path, &input::file(path)?)?;
        let mut reader = Reader::default();
        let suite = suite(&mut reader, path, &tree);
        let Reader { flaws } = reader;
        if flaws.is_empty() { suite } else { Err(document::wrong(path, &flaws)) }
    }
}

fn suite(reader: &mut Reader, path: &Path, tree: &Tree) -> Result<Suite, Failure> {
    reader.members(tree, form::FILE);
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let named = reader.text(tree.get("definition"));
    let definition = match named {
        Some(name) => folder.join(name),
        None => beside(path).ok_or_else(|| {
            let path = path.display();
            Failure::usage(format!("there is no definition beside {path}: name one in definition"))
        })?,
    };
    let uses = reader.list(tree.get("uses"));
    let uses = uses.iter().filter_map(|used| reader.text(Some(used))).map(|it| folder.join(it));
    let uses = uses.collect();
    let mocks = Mocks::read(reader, tree, None);
    let mut tests = Vec::new();
    match tree.get("tests").map(|tests| (tests, tests.members())) {
        Some((_, Some(members))) if !members.is_empty() => {
            for member in members {
                tests.push(test(reader, member, &mocks));
            }
        }
        Some((tests, _)) => reader.flaw(tests.mark, "write an object: tests by their names"),
        None => reader.flaw(tree.mark, "there are no tests: write them by their names in tests"),
    }
    Ok(Suite { definition, uses, tests })
}

/// The definition with the same name: `order.yaml` beside `order.test.yaml`.
fn beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let stem = TEST_ENDS.iter().find_map(|end| name.strip_suffix(end))?;
    let candidates =
        ["yaml", "yml", "json"].map(|end| path.with_file_name(format!("{stem}.{end}")));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

fn test(reader: &mut Reader, member: &Member, around: &Mocks) -> Test {
    let tree = &member.value;
    reader.members(tree, form::TEST);
    let mut steps = Vec::new();
    for item in reader.list(tree.get("steps")) {
        if let Some(happening) = happening(reader, item, form::AFTER) {
            let after = reader.span(item.get("after"));
            steps.push(Step { mark: item.mark, happening, after });
        }
    }
    let expect = match tree.get("expect") {
        Some(expect) => expectations(reader, expect),
        None => {
            reader.flaw(member.mark, "the test expects nothing: write expect");
            Vec::new()
        }
    };
    Test {
        name: member.name.clone(),
        mark: member.mark,
        mocks: Mocks::read(reader, tree, Some(around)),
        given: Given {
            now: now(reader, tree.get("now")),
            input: reader.map(tree.get("input")),
            properties: reader.map(tree.get("properties")),
            correlation_id: reader.text(tree.get("correlationId")),
            start: tree.get("start").and_then(|start| happening(reader, start, &[])),
            steps,
            time: reader.span(tree.get("time")),
        },
        expect: Expect(expect),
    }
}

fn expectations(reader: &mut Reader, tree: &Tree) -> Vec<Member> {
    let members = reader.members(tree, form::EXPECT);
    for member in members {
        match (member.name.as_str(), form::words(&member.name)) {
            ("took", _) => drop(reader.span(Some(&member.value))),
            (_, Some(words)) => reader.word(&member.value, words),
            ("lines" | "path" | "waits", _) => drop(reader.list(Some(&member.value))),
            _ => {}
        }
        let Some(fields) = form::alike(&member.name) else { continue };
        for item in reader.list(Some(&member.value)) {
            if item.members().is_some() {
                reader.members(item, fields);
            }
        }
    }
    members.to_vec()
}

fn now(reader: &mut Reader, tree: Option<&Tree>) -> Timestamp {
    const BEGIN: i64 = 1_767_225_600_000;
    let Some(text) = reader.text(tree) else { return Timestamp::from_millis(BEGIN) };
    Timestamp::parse(&text).unwrap_or_else(|error| {
        let mark = tree.map(|tree| tree.mark).unwrap_or_default();
        reader.flaw(mark, format!("{error}: write 2026-01-31T08:00:00Z"));
        Timestamp::from_millis(BEGIN)
    })
}

fn happening(reader: &mut Reader, tree: &Tree, more: &'static [Field]) -> Option<Happening> {
    let has = |fields: &&'static [Field]| {
        fields.first().is_some_and(|first| tree.get(first.name).is_some())
    };
    let Some(fields) = form::HAPPENINGS.into_iter().find(has) else {
        reader.flaw(tree.mark, "write what happens: event, http, activity or cancel");
        return None;
    };
    reader.members(tree, fields.iter().chain(more));
    match fields.first()?.name {
        "event" => Some(Happening::Event {
            name: reader.text(tree.get("event"))?,
            payload: tree.get("payload").map(Tree::value).unwrap_or_default(),
        }),
        "http" => http(reader, tree.get("http")?),
        "activity" => Some(Happening::Resume {
            activity: reader.text(tree.get("activity"))?,
            input: reader.map(tree.get("input")),
        }),
        _ => {
            let reason = tree.get("cancel").filter(|reason| !reason.is_null());
            Some(Happening::Cancel { reason: reader.text(reason) })
        }
    }
}

fn http(reader: &mut Reader, tree: &Tree) -> Option<Happening> {
    reader.members(tree, form::HTTP);
    let method = reader.text(tree.get("method")).unwrap_or_else(|| "GET".to_owned());
    let path = reader.text(tree.get("path"));
    if path.is_none() {
        reader.flaw(tree.mark, "there is no path: write one, such as orders/7");
    }
    let mut request = Map::new();
    for (name, given) in
        [("routeData", "route"), ("query", "query"), ("headers", "headers"), ("form", "form")]
    {
        if let Some(value) = tree.get(given) {
            request.insert(name.to_owned(), Value::Object(reader.map(Some(value))));
        }
    }
    request.insert("body".to_owned(), tree.get("body").map(Tree::value).unwrap_or_default());
    Some(Happening::Http { method: method.to_uppercase(), path: path?, request })
}
