//! Flowcharts.

use std::collections::{BTreeMap, BTreeSet};

use model::Map;
use serde_json::{Value, json};

use super::Shortening;
use crate::expand::{ARROW, DONE};

/// A connection with an outcome: source, outcome, target.
type Link<'v> = (&'v str, &'v str, &'v str);

impl Shortening<'_> {
    /// A flowchart whose members are in the short form already.
    pub(super) fn charted(&self, mut chart: Map) -> Value {
        let Some(Value::Array(activities)) = chart.get("activities").cloned() else {
            return Value::Object(chart);
        };
        let Some(mut by_id) = by_id(&activities) else { return Value::Object(chart) };
        if let Some(Value::Array(connections)) = chart.get("connections") {
            let links: Option<Vec<Link<'_>>> = connections.iter().map(plain).collect();
            match links.filter(|links| !links.is_empty() && are_in_order(links, &by_id)) {
                Some(links) => {
                    follow(&mut by_id, &links);
                    chart.shift_remove("connections");
                }
                None => {
                    let links = connections.iter().map(|it| arrow(it, &by_id)).collect();
                    chart.insert("connections".to_owned(), links);
                }
            }
        }
        chart.shift_remove("type");
        let mut short = Map::new();
        for (name, value) in chart {
            match name.as_str() {
                "activities" => short.insert("flow".to_owned(), Value::Object(by_id.clone())),
                _ => short.insert(name, value),
            };
        }
        Value::Object(short)
    }
}

/// The activities by their ids; none if one has no id of its own.
fn by_id(activities: &[Value]) -> Option<Map> {
    let mut by_id = Map::new();
    for activity in activities {
        let mut members = activity.as_object()?.clone();
        let id = members.shift_remove("id")?;
        if by_id.insert(id.as_str()?.to_owned(), Value::Object(members)).is_some() {
            return None;
        }
    }
    Some(by_id)
}

/// A connection that has nothing but its ends.
fn plain(connection: &Value) -> Option<Link<'_>> {
    let text = |pointer: &str| connection.pointer(pointer).and_then(Value::as_str);
    let source = text("/source/activity")?;
    let outcome = text("/source/port")?;
    let target = text("/target/activity")?;
    let whole = json!({
        "source": {"activity": source, "port": outcome},
        "target": {"activity": target, "port": "In"},
    });
    (whole == *connection).then_some((source, outcome, target))
}

/// Whether the order of the connections is that in which `next` writes them.
fn are_in_order(links: &[Link<'_>], by_id: &Map) -> bool {
    let mut written: Vec<&Link<'_>> = Vec::new();
    let by_source = by_source(links);
    for id in by_id.keys() {
        let own = by_source.get(id.as_str()).map_or(&[][..], Vec::as_slice);
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, (_, outcome, _)) in own.iter().enumerate() {
            first.entry(outcome).or_insert(at);
        }
        let mut sorted = own.to_vec();
        sorted.sort_by_key(|(_, outcome, _)| first.get(outcome));
        written.extend(sorted);
    }
    let has_end = |(_, _, target): &Link<'_>| by_id.contains_key(*target);
    links.iter().all(has_end) && written.into_iter().eq(links.iter())
}

/// The connections of each activity that they lead from, in their order.
fn by_source<'l, 'v>(links: &'l [Link<'v>]) -> BTreeMap<&'v str, Vec<&'l Link<'v>>> {
    let mut by_source: BTreeMap<&str, Vec<&Link<'_>>> = BTreeMap::new();
    for link in links {
        by_source.entry(link.0).or_default().push(link);
    }
    by_source
}

/// Writes `next` into the activities.
fn follow(by_id: &mut Map, links: &[Link<'_>]) {
    let by_source = by_source(links);
    for (id, activity) in by_id.iter_mut() {
        let Some(own) = by_source.get(id.as_str()) else { continue };
        let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (_, outcome, target) in own {
            targets.entry(outcome).or_default().push(target);
        }
        let of = |outcome: &str| match targets.get(outcome).map(Vec::as_slice) {
            Some([one]) => json!(one),
            found => json!(found.unwrap_or_default()),
        };
        let next = if targets.len() == 1 && targets.contains_key(DONE) {
            of(DONE)
        } else {
            let mut seen = BTreeSet::new();
            let outcomes = own.iter().map(|(_, outcome, _)| *outcome);
            let outcomes = outcomes.filter(|outcome| seen.insert(*outcome));
            outcomes.map(|outcome| (outcome.to_owned(), of(outcome))).collect()
        };
        if let Some(members) = activity.as_object_mut() {
            members.insert("next".to_owned(), next);
        }
    }
}

/// A connection as a text, as `{from: …, to: …}` with its other members, or as it is.
fn arrow(connection: &Value, by_id: &Map) -> Value {
    let mut bare = connection.clone();
    let mut rest = Map::new();
    if let Some(members) = bare.as_object_mut() {
        let others: Vec<String> =
            members.keys().filter(|name| *name != "source" && *name != "target").cloned().collect();
        for name in others {
            rest.extend(members.shift_remove(&name).map(|value| (name, value)));
        }
    }
    let Some((source, outcome, target)) = plain(&bare) else { return connection.clone() };
    let has = |id: &str| by_id.contains_key(id);
    let is_safe =
        |text: &str| !text.contains(ARROW.trim()) && text.trim() == text && !text.is_empty();
    let from = if outcome == DONE { source.to_owned() } else { format!("{source}.{outcome}") };
    let is_clear = has(source)
        && has(target)
        && !source.contains('.')
        && (outcome == DONE || !has(&from))
        && [source, outcome, target].into_iter().all(is_safe);
    match (is_clear, rest.is_empty()) {
        (false, _) => connection.clone(),
        (true, true) => format!("{from}{ARROW}{target}").into(),
        (true, false) => {
            let mut short = Map::new();
            short.insert("from".to_owned(), from.into());
            short.insert("to".to_owned(), target.into());
            short.extend(rest);
            Value::Object(short)
        }
    }
}
