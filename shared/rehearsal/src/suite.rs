//! Reads the tests of a file, and runs without expectations.

use std::sync::Arc;
use std::time::Duration;

use engine::{Contents, Env, Installation, Pin};
use model::{CommandId, Map, Timestamp};
use serde_json::Value;
use shortform::{Flaw, Mark, Member, Tree};

use crate::form::{self, Field};
use crate::mock::Mocks;
use crate::pin;
use crate::reader::Reader;

/// The time of the start, unless a test gives one.
pub const BEGIN: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// The tests of one definition.
#[derive(Debug)]
pub struct Suite {
    /// The file of the definition, if the tests name one.
    pub definition: Option<String>,
    /// The files of the definitions that it uses as activities.
    pub uses: Vec<String>,
    /// The tests, in their order.
    pub tests: Vec<Test>,
}

/// One run, and what is expected of it.
#[derive(Debug)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// The place of its name.
    pub mark: Mark,
    /// What it does.
    pub run: Run,
    pub(crate) expect: Expect,
}

/// One run of a definition.
#[derive(Debug)]
pub struct Run {
    /// What happens to the instance.
    pub given: Given,
    /// The answers to what it asks for.
    pub mocks: Mocks,
    /// The activities that do nothing, and their results.
    pub pins: Vec<Pin>,
}

/// What happens to the instance.
#[derive(Debug)]
pub struct Given {
    /// The time of the start.
    pub now: Timestamp,
    /// Its input.
    pub input: Map,
    /// Its properties.
    pub properties: Map,
    /// Its correlation id.
    pub correlation_id: Option<String>,
    /// Values of variables at the start, by id or name.
    pub variables: Map,
    /// The trigger; none for a plain start.
    pub start: Option<Happening>,
    /// What happens afterwards, in order.
    pub steps: Vec<Step>,
    /// Timers that are due later than this after the start do not fire.
    pub time: Option<Duration>,
}

/// Something that happens while the instance waits.
#[derive(Debug)]
pub struct Step {
    pub(crate) mark: Mark,
    pub(crate) happening: Happening,
    /// The time since the start.
    pub(crate) after: Option<Duration>,
}

/// Something that happens.
#[derive(Debug)]
pub enum Happening {
    /// An event is published.
    Event {
        /// Its name.
        name: String,
        /// Its payload.
        payload: Value,
    },
    /// An HTTP request arrives.
    Http {
        /// In capitals.
        method: String,
        /// Its path.
        path: String,
        /// Its other members.
        request: Map,
    },
    /// An activity is resumed, or started at.
    Resume {
        /// Its id or name.
        activity: String,
        /// What it is given.
        input: Map,
    },
    /// The instance is cancelled.
    Cancel {
        /// The reason, if there is one.
        reason: Option<String>,
    },
}

/// What is expected; nothing is checked that is not here.
#[derive(Debug, Default)]
pub(crate) struct Expect(pub(crate) Vec<Member>);

impl Suite {
    /// Reads the tests of a file.
    ///
    /// # Errors
    /// Every mistake, with its place.
    pub fn read(tree: &Tree) -> Result<Self, Vec<Flaw>> {
        let mut reader = Reader::default();
        let suite = suite(&mut reader, tree);
        if reader.flaws.is_empty() { Ok(suite) } else { Err(reader.flaws) }
    }
}

impl Run {
    /// Reads a run from a JSON object, which has the members of a test but for its expectations.
    /// `now` is the time of its start, unless it names one.
    ///
    /// # Errors
    /// Every mistake, with the member that has it.
    pub fn read(members: &Map, now: Timestamp) -> Result<Self, Vec<String>> {
        let given = members.iter().filter(|(_, value)| !value.is_null());
        let given: Map = given.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut flaws = Vec::new();
        for (name, value) in &given {
            let mut reader = Reader::default();
            let one = Map::from_iter([(name.clone(), value.clone())]);
            drop(Self::of(&mut reader, &Tree::of(&Value::Object(one)), now));
            let found = reader.flaws.into_iter().map(|flaw| format!("{name}: {}", flaw.message));
            flaws.extend(found);
        }
        if !flaws.is_empty() {
            return Err(flaws);
        }
        Ok(Self::of(&mut Reader::default(), &Tree::of(&Value::Object(given)), now))
    }

    fn of(reader: &mut Reader, tree: &Tree, now: Timestamp) -> Self {
        reader.members(tree, form::TEST.iter().filter(|field| field.name != "expect"));
        Self::within(reader, tree, None, now)
    }

    /// Reads a run whose members are known ones. What it does not say, the file around it may say.
    fn within(
        reader: &mut Reader,
        tree: &Tree,
        around: Option<(&Mocks, &[Pin])>,
        now: Timestamp,
    ) -> Self {
        let mut steps = Vec::new();
        for item in reader.list(tree.get("steps")) {
            if let Some(happening) = happening(reader, item, form::AFTER) {
                let after = reader.span(item.get("after"));
                steps.push(Step { mark: item.mark, happening, after });
            }
        }
        Self {
            mocks: Mocks::read(reader, tree, around.map(|(mocks, _)| mocks)),
            pins: pin::read(reader, tree, around.map(|(_, pins)| pins).unwrap_or_default()),
            given: Given {
                now: moment(reader, tree.get("now"), now),
                input: reader.map(tree.get("input")),
                properties: reader.map(tree.get("properties")),
                correlation_id: reader.text(tree.get("correlationId")),
                variables: reader.map(tree.get("variables")),
                start: tree.get("start").and_then(|start| happening(reader, start, &[])),
                steps,
                time: reader.span(tree.get("time")),
            },
        }
    }

    /// The surroundings in which it is played. Secrets have the values that the run gives.
    #[must_use]
    pub fn env(&self, installation: Installation, seed: [u8; 32], command: &str) -> Env {
        let installation = Installation { secrets: self.mocks.secrets(), ..installation };
        Env {
            now: self.given.now,
            seed,
            command_id: CommandId::new(command),
            installation: Arc::new(installation),
            contents: Contents::default(),
        }
    }
}

fn suite(reader: &mut Reader, tree: &Tree) -> Suite {
    reader.members(tree, form::FILE);
    let definition = reader.text(tree.get("definition"));
    let uses = reader.list(tree.get("uses"));
    let uses = uses.iter().filter_map(|used| reader.text(Some(used))).collect();
    let mocks = Mocks::read(reader, tree, None);
    let pins = pin::read(reader, tree, &[]);
    let mut tests = Vec::new();
    match tree.get("tests").map(|tests| (tests, tests.members())) {
        Some((_, Some(members))) if !members.is_empty() => {
            for member in members {
                tests.push(test(reader, member, (&mocks, &pins)));
            }
        }
        Some((tests, Some(_))) => {
            reader.flaw(tests.mark, "there are no tests in it: write one by its name");
        }
        Some((tests, None)) => reader.flaw(tests.mark, "write an object: tests by their names"),
        None => reader.flaw(tree.mark, "there are no tests: write them by their names in tests"),
    }
    Suite { definition, uses, tests }
}

fn test(reader: &mut Reader, member: &Member, around: (&Mocks, &[Pin])) -> Test {
    let tree = &member.value;
    reader.members(tree, form::TEST);
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
        run: Run::within(reader, tree, Some(around), BEGIN),
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

fn moment(reader: &mut Reader, tree: Option<&Tree>, otherwise: Timestamp) -> Timestamp {
    let Some(text) = reader.text(tree) else { return otherwise };
    Timestamp::parse(&text).unwrap_or_else(|error| {
        let mark = tree.map(|tree| tree.mark).unwrap_or_default();
        reader.flaw(mark, format!("{error}: write 2026-01-31T08:00:00Z"));
        otherwise
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
