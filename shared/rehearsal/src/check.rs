//! Compares what happened with what was expected.

use engine::Effect;
use model::{ActivityId, What};
use serde_json::{Map, Value, json};
use shortform::Tree;

use crate::case::is_empty;
use crate::difference::difference;
use crate::play::Player;
use crate::suite::Expect;

/// The difference of every expectation that is not met.
pub(crate) fn differences(expect: &Expect, player: &Player<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for member in &expect.0 {
        let expected = member.value.value();
        let actual = actual(&member.name, &member.value, player);
        let (expected, actual) = if member.name == "took" {
            (expected.as_str().map_or(expected.clone(), span), actual)
        } else {
            (expected, actual)
        };
        if expected != actual {
            let text = |value: &Value| shortform::write(&json!({member.name.as_str(): value}));
            let text = difference(&text(&expected), &text(&actual));
            let body: Vec<&str> = text.lines().skip(1).collect();
            let head = format!(
                "line {}: {} differs (- expected, + happened)",
                member.mark.line, member.name
            );
            found.push(format!("{head}\n{}", body.join("\n")));
        }
    }
    found
}

/// What a test has to expect of this run to pass.
pub(crate) fn observed(player: &Player<'_>) -> Map<String, Value> {
    let nothing = Tree::of(&Value::Null);
    let members = ["status", "output", "lines", "waits", "incident"];
    let members = members.map(|name| (name.to_owned(), actual(name, &nothing, player)));
    members.into_iter().filter(|(_, value)| !is_empty(value)).collect()
}

/// What happened, in the form in which it is expected.
fn actual(name: &str, expected: &Tree, player: &Player<'_>) -> Value {
    match name {
        "status" => player.state.status.as_str().into(),
        "lines" => lines(player).into(),
        "path" => path(expected, player),
        "output" => match expected.members() {
            Some(members) => {
                let value = |name: &str| player.state.output.get(name).cloned().unwrap_or_default();
                let given = members.iter().map(|it| (it.name.clone(), value(&it.name)));
                Value::Object(given.collect())
            }
            None => Value::Object(player.state.output.clone()),
        },
        "incident" => match (player.state.incidents.last(), expected.as_text()) {
            (Some(incident), Some(part)) if incident.message.contains(part) => part.into(),
            (Some(incident), _) => incident.message.clone().into(),
            (None, _) => Value::Null,
        },
        "waits" => waits(expected, player),
        "took" => took(player),
        "calls" => alike(expected, calls(player), "call"),
        "responses" => alike(expected, effects(player, response), "status"),
        "tasks" => alike(expected, effects(player, task), "task"),
        "events" => alike(expected, effects(player, event), "event"),
        "workflows" => alike(expected, effects(player, child), "workflow"),
        _ => Value::Null,
    }
}

fn lines(player: &Player<'_>) -> Vec<Value> {
    let lines = player.journal.iter().filter(|entry| entry.what == What::Line);
    lines.filter_map(|entry| entry.message.clone()).map(Value::from).collect()
}

/// The activities in the order in which they began, without the root: each by its id, or by its
/// name where the name is expected.
fn path(expected: &Tree, player: &Player<'_>) -> Value {
    let items = expected.items().unwrap_or_default();
    let root = player.root();
    let started = player.journal.iter().filter(|entry| entry.what == What::Started);
    let ids = started.filter_map(|entry| {
        let id = entry.activity_id.as_ref().filter(|id| Some(*id) != root)?;
        Some((id, entry.activity_name.as_deref()))
    });
    let named = ids.enumerate().map(|(at, (id, name))| called(items.get(at), id, name));
    named.collect()
}

fn called(expected: Option<&Tree>, id: &ActivityId, name: Option<&str>) -> Value {
    match (expected.and_then(Tree::as_text), name) {
        (Some(expected), _) if expected == id.as_str() => expected.into(),
        (_, Some(name)) => name.into(),
        (_, None) => id.as_str().into(),
    }
}

fn waits(expected: &Tree, player: &Player<'_>) -> Value {
    let items = expected.items().unwrap_or_default();
    let mut ids: Vec<&ActivityId> =
        player.state.bookmarks.values().map(|bookmark| &bookmark.activity_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let name = |id: &ActivityId| {
        let entries = player.journal.iter();
        let mut own = entries.filter(move |entry| entry.activity_id.as_ref() == Some(id));
        own.find_map(|entry| entry.activity_name.clone())
    };
    let mut waits: Vec<String> = Vec::new();
    for id in ids {
        let named = name(id).filter(|_| !items.iter().any(|it| it.as_text() == Some(id.as_str())));
        waits.push(named.unwrap_or_else(|| id.to_string()));
    }
    // Their order means nothing: the expected one is kept.
    let place = |name: &str| items.iter().position(|it| it.as_text() == Some(name));
    waits.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    waits.into()
}

fn took(player: &Player<'_>) -> Value {
    model::span::text(player.took()).into()
}

/// A duration in one spelling, so that others compare with it.
fn span(text: &str) -> Value {
    model::span::parse(text).map_or_else(|_| text.to_owned(), model::span::text).into()
}

fn calls(player: &Player<'_>) -> Vec<Map<String, Value>> {
    let calls = player.calls.iter().map(|call| {
        object(json!({
            "call": call.call, "headers": call.headers, "body": call.body
        }))
    });
    calls.collect()
}

fn effects(
    player: &Player<'_>,
    shown: impl Fn(&Effect) -> Option<Value>,
) -> Vec<Map<String, Value>> {
    player.effects.iter().filter_map(shown).map(object).collect()
}

fn response(effect: &Effect) -> Option<Value> {
    let Effect::Respond(response) = effect else { return None };
    Some(json!({
        "status": response.status_code, "headers": response.headers,
        "contentType": response.content_type, "body": response.content
    }))
}

fn task(effect: &Effect) -> Option<Value> {
    let Effect::Task(task) = effect else { return None };
    Some(json!({"task": task.task_name, "payload": task.payload}))
}

fn event(effect: &Effect) -> Option<Value> {
    let Effect::Publish(event) = effect else { return None };
    let correlation = &event.correlation_id;
    Some(json!({"event": event.event_name, "payload": event.payload, "correlationId": correlation}))
}

fn child(effect: &Effect) -> Option<Value> {
    let Effect::Dispatch(child) = effect else { return None };
    let mut input = child.input.clone();
    input.remove("ParentInstanceId");
    Some(
        json!({"workflow": child.definition_id, "input": input, "correlationId": child.correlation_id}),
    )
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}

/// Each item in the form of the expected one: its first member alone, or the members that are
/// expected.
fn alike(expected: &Tree, actual: Vec<Map<String, Value>>, first: &str) -> Value {
    let items = expected.items().unwrap_or_default();
    let shown = actual.into_iter().enumerate().map(|(at, item)| {
        match items.get(at).and_then(Tree::members) {
            Some(members) => {
                let value = |name: &str| item.get(name).cloned().unwrap_or_default();
                members.iter().map(|it| (it.name.clone(), value(&it.name))).collect()
            }
            None => item.get(first).cloned().unwrap_or_default(),
        }
    });
    shown.collect()
}
