//! What a flowchart remembers, carried over to another version of its definition. Activities and
//! connections are remembered by their places, which may be other ones there.

use engine::{Moving, NodeRef};
use model::Map;
use serde_json::{Value, json};

use super::{Chart, Link};

/// Gives every activity and connection that the memory names its place in the other version. What
/// is not there is forgotten; a new connection has been passed as often as its source was visited.
pub(super) fn migrate(moving: &mut Moving<'_>) {
    let Some((before, after)) = moving.plans::<Chart>() else { return };
    let places: Vec<_> = before.children.iter().map(|child| moving.place(*child)).collect();
    let memory = std::mem::take(&mut *moving.memory);
    let moved = match memory.get("tokens") {
        Some(tokens) => tokens_of(tokens, &|link| place_of(&places, before, after, link)),
        None => counts_of(&places, before, after, &memory),
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

fn counts_of(places: &[Option<NodeRef>], before: &Chart, after: &Chart, memory: &Value) -> Value {
    if memory.is_null() {
        return Value::Null;
    }
    let (mut visits, mut links, mut followed) = (Map::new(), Map::new(), Map::new());
    let visited = |at: usize| memory["visits"][at.to_string()].as_u64().unwrap_or_default();
    let sources = sources(places, after, &visited);
    let visits_of = |at: usize| sources[at].map_or(0, visited);
    for at in 0..after.children.len() {
        let count = visits_of(at);
        if count > 0 {
            visits.insert(at.to_string(), count.into());
        }
    }
    let is_same = |was: &Link, is: &Link| {
        let same = |was: usize, is: usize| sources[is] == Some(was);
        was.port == is.port && same(was.source, is.source) && same(was.target, is.target)
    };
    for (at, link) in after.links.iter().enumerate() {
        let was = before.links.iter().position(|other| is_same(other, link));
        let count = match was {
            Some(was) => memory["links"][was.to_string()].as_u64().unwrap_or_default(),
            None => visits_of(link.source),
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

/// What each activity of the other version was. Of several that become one, it is the one that has come
/// the least far: what is to come is not skipped.
fn sources(
    places: &[Option<NodeRef>],
    after: &Chart,
    visited: &dyn Fn(usize) -> u64,
) -> Vec<Option<usize>> {
    let mut sources: Vec<Option<usize>> = vec![None; after.children.len()];
    for (was, place) in places.iter().enumerate() {
        let at = place.and_then(|place| after.places.get(&place).copied());
        let Some(source) = at.and_then(|at| sources.get_mut(at)) else { continue };
        if source.is_none_or(|other| visited(was) < visited(other)) {
            *source = Some(was);
        }
    }
    sources
}

fn place_of(
    places: &[Option<NodeRef>],
    before: &Chart,
    after: &Chart,
    link: usize,
) -> Option<usize> {
    let link = before.links.get(link)?;
    let place = |was: usize| after.places.get(&places[was]?).copied();
    let (source, target) = (place(link.source)?, place(link.target)?);
    let is_it = |is: &Link| is.port == link.port && is.source == source && is.target == target;
    after.links.iter().position(is_it)
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}
