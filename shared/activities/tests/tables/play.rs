//! Plays a scenario, and tells what happened in a line.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use engine::testing::{Player, parsed};
use engine::{Call, Descriptor, Effect, Engine, Library, PortKind, Problem};
use model::{Bookmark, SubStatus, What};
use serde_json::{Map, Value, json};

/// The longest text of a value that a page shows.
const SHOWN_MAX: usize = 400;

/// The scenarios of one activity.
pub(crate) struct Table {
    /// Such as `Elsa.WriteLine`.
    pub(crate) name: &'static str,
    rows: Vec<Row>,
    /// Inputs without an effect, and outcomes that never come.
    idle: &'static [&'static str],
}

/// One scenario.
pub(crate) struct Row {
    shows: &'static str,
    given: Value,
    answers: Vec<Value>,
}

/// What became of a scenario.
#[derive(Default)]
struct End {
    told: String,
    outcomes: Vec<String>,
}

/// A scenario: members of the activity, or a whole definition with an activity `subject`.
pub(crate) fn row(shows: &'static str, given: Value) -> Row {
    Row { shows, given, answers: Vec::new() }
}

impl Row {
    /// With what comes back from outside next; null lets the time of a timer come. `$child` stands for
    /// the id of the first child.
    pub(crate) fn then(mut self, answer: Value) -> Self {
        self.answers.push(answer);
        self
    }
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(activities::all(), expressions::all()))
}

impl Table {
    pub(crate) fn new(name: &'static str, rows: Vec<Row>) -> Self {
        Self { name, rows, idle: &[] }
    }

    /// These inputs have no effect; these outcomes never come.
    pub(crate) fn idle(mut self, names: &'static [&'static str]) -> Self {
        self.idle = names;
        self
    }

    /// Its part of the page.
    pub(crate) fn page(&self) -> String {
        let mut page = format!("\n## {}\n\n| | given | happens |\n|---|---|---|\n", self.name);
        for row in &self.rows {
            let mut given = whole(&row.given);
            for answer in &row.answers {
                let shown =
                    if answer.is_null() { "its time comes".to_owned() } else { whole(answer) };
                given += &format!("; then {shown}");
            }
            page += &format!("| {} | {given} | {} |\n", row.shows, self.end(row).told);
        }
        page
    }

    /// Inputs, embedded activities and outcomes that no scenario has.
    pub(crate) fn missing(&self) -> Vec<String> {
        let descriptors = engine().descriptors();
        let Some(descriptor) = descriptors.into_iter().find(|known| known.type_name == self.name)
        else {
            return vec![format!("there is no activity {}", self.name)];
        };
        let (mut given, mut outcomes) = (BTreeSet::new(), BTreeSet::new());
        for row in &self.rows {
            if row.given.get("root").is_some() {
                members(&row.given, descriptor, &mut given);
            } else {
                given.extend(
                    row.given.as_object().into_iter().flatten().map(|(name, _)| name.clone()),
                );
            }
            outcomes.extend(self.end(row).outcomes);
        }
        let inputs = descriptor.inputs.iter().map(|input| input.name);
        let held = descriptor.ports.iter().filter(|port| port.kind != PortKind::Flow);
        let named = inputs.chain(held.map(|port| port.name)).filter(|name| !given.contains(*name));
        let flow = descriptor.ports.iter().filter(|port| port.kind == PortKind::Flow);
        let left = flow.map(|port| port.name).filter(|name| !outcomes.contains(*name));
        let missing = named.chain(left).filter(|name| !self.idle.contains(name));
        missing.map(|name| format!("{}: {name}", self.name)).collect()
    }

    fn end(&self, row: &Row) -> End {
        let document = self.document(&row.given);
        let refused = |problems: Vec<Problem>| End {
            told: format!(
                "is refused: {}",
                problems.iter().map(told).collect::<Vec<_>>().join("; ")
            ),
            ..End::default()
        };
        let definition = match parsed(document.clone()) {
            Ok(definition) => definition,
            Err(problems) => return refused(problems),
        };
        if let Err(problems) = engine().validate(&definition, &Library::default()) {
            return refused(problems);
        }
        match Player::new(engine(), document) {
            Ok(player) => ended(player.recoding(), &row.answers),
            Err(problems) => refused(problems),
        }
    }

    /// The activity alone, with its outputs as those of the workflow; or the definition itself.
    fn document(&self, given: &Value) -> Value {
        if given.get("root").is_some() {
            return given.clone();
        }
        let descriptors = engine().descriptors();
        let outputs = descriptors.into_iter().find(|known| known.type_name == self.name);
        let outputs: Vec<_> = outputs
            .into_iter()
            .flat_map(|known| &known.outputs)
            .map(|output| output.name)
            .collect();
        let mut subject = Map::from_iter([
            ("type".to_owned(), self.name.into()),
            ("id".to_owned(), "subject".into()),
        ]);
        for name in &outputs {
            subject.insert((*name).to_owned(), json!({"memoryReference": {"id": name}}));
        }
        subject.extend(given.as_object().cloned().unwrap_or_default());
        let outputs: Vec<_> = outputs.iter().map(|name| json!({ "name": name })).collect();
        json!({"root": subject, "outputs": outputs})
    }
}

/// Adds the members of every activity of this type.
fn members(value: &Value, descriptor: &Descriptor, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| members(item, descriptor, found)),
        Value::Object(map) => {
            let ty = map.get("type").and_then(Value::as_str);
            if ty.is_some_and(|ty| ty == descriptor.name || ty == descriptor.type_name) {
                found.extend(map.keys().cloned());
            }
            map.values().for_each(|value| members(value, descriptor, found));
        }
        _ => {}
    }
}

fn ended(mut player: Player<'_>, answers: &[Value]) -> End {
    player.stop_after(1_000).start(json!({}));
    for answer in answers {
        let open = player.state().bookmarks.keys().next().cloned();
        match (answer, open) {
            (Value::Null, _) => _ = player.fire_timer(),
            (answer, Some(id)) => {
                let answer = addressed(answer, &player.effects);
                _ = player.resume_at(id, answer);
            }
            (_, None) => {}
        }
    }
    let outcomes = player.outcomes("subject");
    let mut parts = vec![match player.status() {
        SubStatus::Finished if outcomes.is_empty() => "finished".to_owned(),
        SubStatus::Finished => format!("leaves by {}", listed(&outcomes)),
        SubStatus::Faulted => faults(&player),
        status if player.state().bookmarks.is_empty() => status.to_string(),
        _ => player.state().bookmarks.values().map(waits).collect::<Vec<_>>().join(", "),
    }];
    parts.extend(player.state().calls.values().map(calls));
    let view = player.state().view(player.program());
    for (what, values) in [("gives", &view["output"]), ("variable", &view["variables"])] {
        let values = values.as_object().into_iter().flatten();
        parts.extend(values.map(|(name, value)| format!("{what} `{name}` {}", code(value))));
    }
    for (what, value) in [("correlation id", &view["correlationId"]), ("name", &view["name"])] {
        parts.extend(value.as_str().map(|text| format!("{what} `{text}`")));
    }
    let lines: Vec<String> = player.lines().into_iter().map(str::to_owned).collect();
    if !lines.is_empty() {
        parts.push(format!("writes {}", listed(&lines)));
    }
    parts.extend(player.effects.iter().map(caused));
    End { told: without_ids(&parts.join("; ")), outcomes }
}

fn faults(player: &Player<'_>) -> String {
    let failures = player.journal.iter().filter(|entry| entry.what == What::Faulted);
    let told = failures.map(|entry| {
        let message = entry.message.as_deref().unwrap_or_default();
        let message = if message.is_empty() { "no message" } else { message };
        let payload = entry.payload.clone().unwrap_or_default();
        let text = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
        let (code, category, kind) = (text("code"), text("category"), text("type"));
        format!("fails with `{code}` ({category}, {kind}): {}", escaped(message))
    });
    told.collect::<Vec<_>>().join(", ")
}

fn waits(bookmark: &Bookmark) -> String {
    match bookmark.due_at {
        Some(due) => {
            let millis = due.as_millis() - bookmark.created_at.as_millis();
            format!("waits for {} s", millis as f64 / 1_000.0)
        }
        None if bookmark.name == "Call" => "waits for its call".to_owned(),
        None => format!("waits at `{}` {}", bookmark.name, code(&lasting(&bookmark.payload))),
    }
}

fn caused(effect: &Effect) -> String {
    let (what, value) = match effect {
        Effect::Publish(publish) => ("raises", json!(publish)),
        Effect::Task(task) => ("hands out", json!(task)),
        Effect::Dispatch(dispatch) => ("starts", json!(dispatch)),
        Effect::Respond(response) => ("answers", json!(response)),
        Effect::Grant(_) => ("makes", json!("a URL")),
        Effect::Log(line) => ("logs", json!(line)),
        Effect::CancelTask(cancel) => ("cancels", json!(cancel)),
    };
    format!("{what} {}", code(&lasting(&value)))
}

fn calls(call: &Call) -> String {
    format!("calls {}", code(&lasting(&json!(call))))
}

/// The answer, with the id of the first child.
fn addressed(answer: &Value, effects: &[Effect]) -> Value {
    let mut ids = effects.iter().filter_map(|effect| match effect {
        Effect::Dispatch(dispatch) => Some(dispatch.instance_id.as_str()),
        _ => None,
    });
    let text = answer.to_string().replace("$child", ids.next().unwrap_or_default());
    serde_json::from_str(&text).unwrap_or_default()
}

/// The value without members that are null.
fn lasting(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            kept.map(|(name, value)| (name.clone(), lasting(value))).collect()
        }
        other => other.clone(),
    }
}

/// The text with `<id>` for each id that is made up.
fn without_ids(text: &str) -> String {
    const LENGTH: usize = 32;
    let mut out = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        let step = end.max(next.len_utf8());
        let (word, after) = rest.split_at(step);
        out += if end == LENGTH { "<id>" } else { word };
        rest = after;
    }
    out
}

fn told(problem: &Problem) -> String {
    let text = problem.to_string();
    escaped(text.strip_prefix("activity subject: ").unwrap_or(&text))
}

fn listed(texts: &[String]) -> String {
    texts
        .iter()
        .map(|text| match text.is_empty() {
            true => "an empty one".to_owned(),
            false => format!("`{}`", escaped(text)),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn code(value: &Value) -> String {
    let text = value.to_string();
    let shown: String = text.chars().take(SHOWN_MAX).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    format!("`{}{rest}`", escaped(&shown))
}

fn whole(value: &Value) -> String {
    format!("`{}`", escaped(&value.to_string()))
}

/// A bar would end the cell of the table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
