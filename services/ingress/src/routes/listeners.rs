//! The sources of messages to which workflows listen: what listens to each, and how far behind it is.
//!
//! Nothing here is kept: the sources are those that published definitions and open bookmarks name, and
//! the figures those of the consumers that executors have made for them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use bus::{OutsideError, PlaceFigures};
use model::{Content, DefinitionId, MessageSource, Stimulus};
use protocol::subject;
use serde_json::{Value, json};
use store::Awaited;
use tokio::time::{Instant, timeout_at};

use super::side_by_side::side_by_side;
use crate::body::Params;
use crate::paging::Part;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// Sources that executors follow; the rest is left out there, too.
const SOURCES_MAX: usize = 10_000;
/// What one query lists of that for which bookmarks wait.
const PART: u64 = 1_000;
/// Definitions that are shown of one source.
const DEFINITIONS_MAX: usize = 20;
/// The longest time in which the consumers of one page are looked at.
const TIME_MAX: Duration = Duration::from_secs(4);
/// The role of the nodes that listen.
const ROLE: &str = "executor";
const NO_EXECUTOR: &str = "no node with the role executor lives: start one";
const NO_CONSUMER: &str = "its consumer is not made yet: executors look for new sources every 10 s, \
                           and their logs say why one cannot be made";

/// Said of a source that this node does not allow, and that has a consumer.
const OTHERS_LISTEN: &str = "; executors have made its consumer: if they take messages now, give this \
                             node the settings that they have";

/// A source, and what listens to it.
struct Wanted {
    /// The hash of its stimulus.
    hash: String,
    source: MessageSource,
    definitions: BTreeMap<DefinitionId, Listens>,
}

/// How a definition listens to a source.
#[derive(Default)]
struct Listens {
    /// Its published version starts with the messages.
    starts: bool,
    /// The number of bookmarks of its instances that wait for one.
    waiting: u64,
}

/// What NATS says about a source.
enum Seen {
    /// Nobody keeps its messages, so that there is no consumer.
    AsTheyCome,
    /// The consumer.
    Place(PlaceFigures),
    /// There is no consumer.
    Nothing,
    /// There is no stream.
    NoStream(String),
    /// The question was not answered, for this reason.
    Unknown(String),
}

impl Wanted {
    /// The order of the list: those without a stream first.
    fn order(&self) -> (Option<&str>, &str, &str) {
        (self.source.stream.as_deref(), &self.source.subject, &self.hash)
    }

    fn kind(&self) -> &'static str {
        match (&self.source.stream, &self.source.content) {
            (None, _) => "subject",
            (Some(_), Content::Message) => "stream",
            (Some(_), Content::Key(_)) => "bucket",
            (Some(_), Content::Object) => "objectStore",
        }
    }

    /// The subject; of a bucket the pattern of its keys, of an object store every object.
    fn filter(&self) -> &str {
        let subject = self.source.subject.as_str();
        match (&self.source.content, self.source.bucket()) {
            (Content::Key(_), Some(bucket)) => {
                let keys = subject.strip_prefix("$KV.").and_then(|rest| rest.strip_prefix(bucket));
                keys.and_then(|rest| rest.strip_prefix('.')).unwrap_or(subject)
            }
            (Content::Object, Some(_)) => ">",
            _ => subject,
        }
    }

    /// The reason why the configuration of this node lets none of the definitions listen; none where it
    /// lets one.
    fn refusal(&self, app: &App) -> Option<String> {
        let refusal = |id: &DefinitionId| app.config.nats.allow_source(id, &self.source).err();
        let refusals: Option<Vec<String>> = self.definitions.keys().map(refusal).collect();
        refusals.and_then(|all| all.into_iter().next())
    }
}

/// The sources of messages to which workflows listen: subjects, streams, buckets and object stores. Each
/// says which definitions and how many instances want it, and how far behind its consumer is. Messages
/// on a subject that no stream keeps are heard at most once, and have no lag.
#[utoipa::path(get, path = "/cluster/listeners", tag = "cluster",
    params(("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = shape::cluster::Listeners), (status = 400, body = ProblemBody),
        (status = 503, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let page = Part::of_list(&params, &[])?.page()?;
    let (wanted, is_cut_short) = wanted(&app).await?;
    let shown = page.of(wanted.into_iter());
    let until = Instant::now() + TIME_MAX;
    let work = shown.items.into_iter().map(|one| present(&app, one, until));
    let items = side_by_side(work).await;
    Ok(Json(json!({"items": items, "totalCount": shown.total, "isCutShort": is_cut_short})))
}

/// What published definitions and open bookmarks name, and whether there is more than that.
async fn wanted(app: &App) -> Result<(Vec<Wanted>, bool), Problem> {
    let triggers = app.cx.store.triggers_named(Stimulus::MESSAGE).await?;
    let mut awaited: Vec<Awaited> = Vec::new();
    let mut is_cut_short = false;
    loop {
        let part = app.cx.store.awaited(Stimulus::MESSAGE, awaited.last(), PART).await?;
        if part.is_empty() {
            break;
        }
        if awaited.len() >= SOURCES_MAX {
            is_cut_short = true;
            break;
        }
        awaited.extend(part);
    }
    let triggers =
        triggers.into_iter().map(|it| (it.definition_id, it.hash, it.payload, 0_u64, true));
    let awaited =
        awaited.into_iter().map(|it| (it.definition_id, it.hash, it.payload, it.waiting, false));
    let mut found: BTreeMap<String, Wanted> = BTreeMap::new();
    for (definition, hash, payload, waiting, starts) in triggers.chain(awaited) {
        let Some(source) = MessageSource::of(&payload) else { continue };
        if found.len() >= SOURCES_MAX && !found.contains_key(&hash) {
            is_cut_short = true;
            continue;
        }
        let new = || Wanted { hash: hash.clone(), source, definitions: BTreeMap::new() };
        let one = found.entry(hash.clone()).or_insert_with(new);
        let listens = one.definitions.entry(definition).or_default();
        listens.starts |= starts;
        listens.waiting += waiting;
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by(|a, b| a.order().cmp(&b.order()));
    Ok((found, is_cut_short))
}

async fn present(app: &App, wanted: Wanted, until: Instant) -> Value {
    let consumer = subject::listener_consumer(&wanted.hash);
    let seen = look(app, &wanted, &consumer, until).await;
    let (state, reason) = state(app, &wanted, &seen);
    let figures = match &seen {
        Seen::Place(figures) => Some(figures),
        _ => None,
    };
    let number = |of: fn(&PlaceFigures) -> u64| figures.map(of);
    let Wanted { hash, source, definitions } = &wanted;
    let waiting: u64 = definitions.values().map(|one| one.waiting).sum();
    let shown = definitions.iter().take(DEFINITIONS_MAX).map(|(id, one)| {
        json!({
            "definitionId": id,
            "starts": one.starts,
            "waiting": one.waiting,
            "isAllowed": app.config.nats.allow_source(id, source).is_ok(),
        })
    });
    json!({
        "hash": hash,
        "kind": wanted.kind(),
        "name": source.bucket().or(source.stream.as_deref()),
        "filter": wanted.filter(),
        "stream": source.stream,
        "consumer": source.stream.is_some().then_some(consumer),
        "begins": source.from.as_deref().unwrap_or("new"),
        "isKept": source.stream.is_some(),
        "isInOrder": source.in_order,
        "hasPredicate": source.predicate.is_some(),
        "state": state,
        "reason": reason,
        "lag": number(|it| it.pending),
        "inHand": number(|it| it.in_hand),
        "redelivered": number(|it| it.redelivered),
        "delivered": number(|it| it.delivered),
        "deliveredAt": figures.and_then(|it| it.delivered_at),
        "createdAt": figures.and_then(|it| it.created_at),
        "waiting": waiting,
        "definitions": shown.collect::<Vec<_>>(),
        "definitionCount": definitions.len(),
    })
}

async fn look(app: &App, wanted: &Wanted, consumer: &str, until: Instant) -> Seen {
    let Some(stream) = &wanted.source.stream else { return Seen::AsTheyCome };
    let outside = app.cx.bus.outside();
    match timeout_at(until, outside.place_figures(stream, consumer)).await {
        Ok(Ok(Some(figures))) => Seen::Place(figures),
        Ok(Ok(None)) => Seen::Nothing,
        Ok(Err(OutsideError::Absent(reason))) => Seen::NoStream(reason),
        Ok(Err(error)) => Seen::Unknown(error.to_string()),
        Err(_late) => Seen::Unknown(format!(
            "NATS did not say within {} s how far the consumer {consumer} is",
            TIME_MAX.as_secs()
        )),
    }
}

/// What becomes of the messages of a source now, and why it is not taken.
fn state(app: &App, wanted: &Wanted, seen: &Seen) -> (&'static str, Option<String>) {
    if let Some(refusal) = wanted.refusal(app) {
        let mut says =
            format!("by the configuration of this node, which executors usually share: {refusal}");
        if let Seen::Place(figures) = seen {
            says.push_str(OTHERS_LISTEN);
            if let Some(at) = figures.delivered_at {
                says.push_str(&format!(" (the last at {at})"));
            }
        }
        return ("notAllowed", Some(says));
    }
    let live = app.cx.presence.live();
    let has_executor = live.iter().any(|node| node.roles.iter().any(|role| role == ROLE));
    let says = |text: &str| Some(text.to_owned());
    match seen {
        Seen::NoStream(reason) => ("noStream", says(reason)),
        _ if !has_executor => ("noExecutor", says(NO_EXECUTOR)),
        Seen::Unknown(reason) => ("unknown", says(reason)),
        Seen::Nothing => ("notYet", says(NO_CONSUMER)),
        Seen::AsTheyCome | Seen::Place(_) => ("listening", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(source: MessageSource) -> Wanted {
        Wanted { hash: "h".to_owned(), source, definitions: BTreeMap::new() }
    }

    #[test]
    fn a_source_says_what_it_is() {
        let core = MessageSource { subject: "orders.*".to_owned(), ..MessageSource::default() };
        let stream = MessageSource { stream: Some("ORDERS".to_owned()), ..core.clone() };
        let keys = MessageSource::keys("config", "prices.*", Vec::new());
        let objects = MessageSource::objects("files");
        for (source, kind, filter) in [
            (core, "subject", "orders.*"),
            (stream, "stream", "orders.*"),
            (keys, "bucket", "prices.*"),
            (objects, "objectStore", ">"),
        ] {
            let wanted = wanted(source);
            assert_eq!((wanted.kind(), wanted.filter()), (kind, filter));
        }
    }

    #[test]
    fn sources_are_in_the_order_of_their_streams_and_subjects() {
        let of = |stream: Option<&str>, subject: &str| {
            let (stream, subject) = (stream.map(str::to_owned), subject.to_owned());
            wanted(MessageSource { stream, subject, ..MessageSource::default() })
        };
        let sorted = [of(None, "z"), of(Some("A"), "b"), of(Some("A"), "c"), of(Some("B"), "a")];
        assert!(sorted.is_sorted_by(|a, b| a.order() < b.order()));
    }
}
