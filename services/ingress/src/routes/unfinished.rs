//! What runs now: the instances that have not ended, by definition.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use model::{DefinitionId, Timestamp};
use serde_json::{Value, json};
use store::Unfinished;
use tokio::time::Instant;

use crate::body::Params;
use crate::bounds;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// The definitions of one answer.
const DEFINITIONS_MAX: usize = 20;
/// Of each state, the instances that changed last are counted, up to this number: each is a row that
/// is read, for its definition.
const COUNTED_MAX: u64 = 5_000;
/// The time before now in which faulted instances are counted.
const FAULTED_IN: Duration = Duration::from_secs(24 * 60 * 60);
/// How long an answer is given again, and how many times the duration of its counting it is at least:
/// however many people look, a node counts for a small part of the time.
const KEPT: Duration = Duration::from_secs(5);
const KEPT_SHARE: u32 = 20;

/// The definitions with instances that have not ended: those of `definitionIds`, or the 20 with the most
/// such instances. For those of `definitionIds`, `faulted` has the number of their faulted instances that
/// changed in the last 24 hours.
///
/// Of each state, the 5000 instances that changed last are counted: `isCutShort` and `isFaultedCutShort`
/// say that there may be more. An answer may be 5 seconds old, and 20 times as old as its counting took:
/// `countedAt` is the time of its counting.
#[utoipa::path(get, path = "/workflow-instances/counts/by-definition", tag = "instances",
    params(("definitionIds" = Option<Vec<String>>, Query)),
    responses((status = 200, body = shape::instance::UnfinishedInstances),
        (status = 400, body = ProblemBody)))]
pub(super) async fn by_definition(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&["definitionIds"])?;
    let wanted = params.many("definitionIds");
    bounds::list("definitionIds", &wanted)?;
    let mut kept = app.unfinished.lock().await;
    if let Some((until, answer)) = &*kept
        && Instant::now() < *until
    {
        return Ok(Json(part(answer, &wanted)));
    }
    let began = Instant::now();
    let since = app.now().before(FAULTED_IN);
    let found = app.cx.store.unfinished_by_definition(COUNTED_MAX).await?;
    let faulted = app.cx.store.faulted_by_definition(since, COUNTED_MAX).await?;
    let answer = answer(&app, found, since, &faulted);
    let until = Instant::now() + KEPT.max(began.elapsed() * KEPT_SHARE);
    let shown = part(&answer, &wanted);
    *kept = Some((until, answer));
    Ok(Json(shown))
}

/// The answer with the definitions that are wanted: these, or the first of all.
fn part(answer: &Value, wanted: &[String]) -> Value {
    let is_wanted =
        |item: &&Value| wanted.iter().any(|id| item["definitionId"].as_str() == Some(id.as_str()));
    let items = answer["items"].as_array().into_iter().flatten();
    let items: Vec<_> = if wanted.is_empty() {
        items.take(DEFINITIONS_MAX).collect()
    } else {
        items.filter(is_wanted).collect()
    };
    let faulted = answer["faulted"].as_array().into_iter().flatten();
    let faulted: Vec<_> = faulted.filter(is_wanted).collect();
    json!({
        "countedAt": answer["countedAt"],
        "items": items,
        "totalCount": answer["totalCount"],
        "countedMax": answer["countedMax"],
        "isCutShort": answer["isCutShort"],
        "faultedSince": answer["faultedSince"],
        "faulted": faulted,
        "isFaultedCutShort": answer["isFaultedCutShort"],
    })
}

/// All definitions that have such instances, those with the most first.
fn answer(
    app: &App,
    mut found: Vec<Unfinished>,
    since: Timestamp,
    faulted: &[(DefinitionId, u64)],
) -> Value {
    let states: [fn(&Unfinished) -> u64; 3] =
        [|one| one.pending, |one| one.executing, |one| one.suspended];
    let is_cut_short = states.iter().any(|of| found.iter().map(of).sum::<u64>() >= COUNTED_MAX);
    // Of the same number, in the order of the ids.
    found.sort_by_key(|one| Reverse(one.sum()));
    let items: Vec<_> = found
        .iter()
        .map(|one| {
            json!({
                "definitionId": one.definition_id,
                "pending": one.pending,
                "executing": one.executing,
                "suspended": one.suspended,
                "count": one.sum(),
            })
        })
        .collect();
    let faulted_of: Vec<_> =
        faulted.iter().map(|(id, count)| json!({"definitionId": id, "count": count})).collect();
    json!({
        "countedAt": app.now(),
        "items": items,
        "totalCount": found.len(),
        "countedMax": COUNTED_MAX,
        "isCutShort": is_cut_short,
        "faultedSince": since,
        "faulted": faulted_of,
        "isFaultedCutShort": faulted.iter().map(|(_, count)| count).sum::<u64>() >= COUNTED_MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_that_are_wanted_are_there_however_few_instances_they_have() {
        let items: Vec<_> = (0..30).map(|id| json!({"definitionId": id.to_string()})).collect();
        let answer = json!({"items": items, "totalCount": 30, "isCutShort": false});
        assert_eq!(part(&answer, &[])["items"].as_array().map(Vec::len), Some(DEFINITIONS_MAX));
        let one = part(&answer, &["29".to_owned(), "none".to_owned()]);
        assert_eq!(one["items"], json!([{"definitionId": "29"}]));
        assert_eq!(one["totalCount"], 30);
        let faulted =
            json!({"items": [], "faulted": [{"definitionId": "a"}, {"definitionId": "b"}]});
        assert_eq!(part(&faulted, &["b".to_owned()])["faulted"], json!([{"definitionId": "b"}]));
    }
}
