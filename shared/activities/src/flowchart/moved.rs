//! What a flowchart remembers, carried over to another version of its definition. Activities and
//! connections are remembered by their places, which may be other ones there.

use engine::Moving;
use model::Map;
use serde_json::{Value, json};

use super::{Chart, Link};

/// Gives every activity and connection that the memory names its place in the other version. What
/// is not there is forgotten; a new connection has been passed as often as its source was visited.
pub(super) fn migrate(moving: &mut Moving<'_>) {
    let Some((before, after)) = moving.plans::<Chart>() else { return };
    let memory = std::mem::take(&mut *moving.memory);
    let moved = match memory.get("tokens") {
        Some(tokens) => tokens_of(tokens, &|link| place_of(moving, before, after, link)),
        None => counts_of(moving, before, after, &memory),
    };
    *moving.memory = moved;
}

fn tokens_of(tokens: &Value, place: &dyn Fn(usize) -> Option<usize>) -> Value {
    let moved = tokens.as_array().into_iter().flatten().filter_map(|token| {
        let mut token = token.clone();
        token["link"] = place(index(token.get("link")?)?)?.into();
        Some(token)
    });
    json!({ "tokens": moved.collect::<Vec<_>>() })
}

fn counts_of(moving: &Moving<'_>, before: &Chart, after: &Chart, memory: &Value) -> Value {
    if memory.is_null() {
        return Value::Null;
    }
    let (mut visits, mut links, mut followed) = (Map::new(), Map::new(), Map::new());
    let visited = |at: usize| memory["visits"][at.to_string()].as_u64().unwrap_or_default();
    let mut visits_of = vec![0; after.children.len()];
    for (at, child) in after.children.iter().enumerate() {
        let was = before.children.iter().position(|other| moving.is_same(*other, *child));
        visits_of[at] = was.map_or(0, visited);
        if visits_of[at] > 0 {
            visits.insert(at.to_string(), visits_of[at].into());
        }
    }
    for (at, link) in after.links.iter().enumerate() {
        let was = before.links.iter().position(|other| is_same(moving, before, after, other, link));
        let count = match was {
            Some(was) => memory["links"][was.to_string()].as_u64().unwrap_or_default(),
            None => visits_of[link.source],
        };
        if count > 0 {
            links.insert(at.to_string(), count.into());
        }
        if let Some(Value::Bool(is)) = was.map(|was| &memory["followed"][was.to_string()]) {
            followed.insert(at.to_string(), (*is).into());
        }
    }
    json!({"visits": visits, "links": links, "followed": followed})
}

fn place_of(moving: &Moving<'_>, before: &Chart, after: &Chart, link: usize) -> Option<usize> {
    let link = before.links.get(link)?;
    after.links.iter().position(|other| is_same(moving, before, after, link, other))
}

fn is_same(moving: &Moving<'_>, before: &Chart, after: &Chart, was: &Link, is: &Link) -> bool {
    let same = |was: usize, is: usize| moving.is_same(before.children[was], after.children[is]);
    was.port == is.port && same(was.source, is.source) && same(was.target, is.target)
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}
