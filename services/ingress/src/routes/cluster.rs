//! Figures of the cluster, for people who look after it: leases, what NATS holds, the database.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use bus::{Bucket, ConsumerFigures, Figures, Pool, StreamFigures};
use protocol::subject;
use serde_json::{Value, json};
use store::StatementFigures;
use tokio::time::Instant;

use crate::body::Params;
use crate::paging::Part;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, runtime};

/// The leases that nodes hold on instances, the oldest first, with the nodes that wait for each, as its holder
/// knows them.
#[utoipa::path(get, path = "/cluster/leases", tag = "cluster",
    params(("node" = Option<String>, Query), ("page" = Option<u64>, Query),
        ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = shape::cluster::HeldLeases), (status = 400, body = ProblemBody),
        (status = 503, body = ProblemBody)))]
pub(super) async fn leases(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let page = Part::of_list(&params, &["node"])?.page()?;
    let of = params.one("node").filter(|node| !node.is_empty());
    bounds::optional("node", of)?;
    let held = bus::look_at_all(&*app.cx.bus.kv(Bucket::Leases)).await.map_err(unavailable)?;
    // A lease names those who waited when it was handed on; its holder knows who has come since.
    let holders = held.iter().map(|(_, holding)| holding.owner.as_str()).collect();
    let wanted = runtime::wanted(&app, &holders).await;
    let live = app.cx.presence.live();
    let is_live = |owner: &str| live.iter().any(|member| member.node == owner);
    let mut stale = 0_u64;
    let mut contended = 0_u64;
    let mut found = Vec::with_capacity(held.len());
    for (instance, mut holding) in held {
        if let Some(nodes) = wanted.get(&(holding.owner.clone(), instance.clone())) {
            holding.joined_by(nodes);
        }
        if of.is_some_and(|node| node != holding.owner) {
            continue;
        }
        stale += u64::from(!is_live(&holding.owner));
        contended += u64::from(!holding.next.is_empty());
        // When its node asked for it, by that node's clock.
        found.push((chassis::drawn_at(&holding.acquisition), instance, holding));
    }
    found.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let shown = page.of(found.iter().map(|(since, instance, holding)| {
        json!({
            "workflowInstanceId": instance,
            "node": holding.owner,
            "isNodeLive": is_live(&holding.owner),
            "since": since,
            "wantedBy": holding.next,
        })
    }));
    Ok(Json(json!({
        "items": shown.items,
        "totalCount": shown.total,
        "stale": stale,
        "contended": contended,
    })))
}

/// What the streams, buckets, object stores and consumers of Staunch hold, with their limits. One that is missing or
/// does not answer says so in `trouble`. The consumers are those that last: that of the executors, and one
/// for each type and version of tasks.
#[utoipa::path(get, path = "/cluster/streams", tag = "cluster",
    responses((status = 200, body = shape::cluster::NatsFigures), (status = 503, body = ProblemBody)))]
pub(super) async fn streams(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    let (figures, pools) = tokio::join!(app.cx.bus.figures(), app.cx.bus.task_pools());
    let Figures { server, version, cluster, streams, mut consumers } =
        figures.map_err(unavailable)?;
    consumers.extend(of_tasks(pools));
    Ok(Json(json!({
        "server": server,
        "version": version,
        "cluster": cluster,
        "streams": streams.iter().map(stream).collect::<Vec<_>>(),
        "consumers": consumers.iter().map(consumer).collect::<Vec<_>>(),
    })))
}

/// The consumers of tasks; where they cannot be listed, one that says why.
fn of_tasks(pools: Result<Vec<Pool>, bus::Error>) -> Vec<ConsumerFigures> {
    let stream = || subject::TASKS_STREAM.to_owned();
    let mut pools = match pools {
        Ok(pools) => pools,
        Err(error) => {
            return vec![ConsumerFigures {
                name: "task-*".to_owned(),
                stream: stream(),
                trouble: Some(format!("the consumers of tasks cannot be listed: {error}")),
                ..ConsumerFigures::default()
            }];
        }
    };
    pools.sort_by(|a, b| a.consumer.cmp(&b.consumer));
    pools
        .into_iter()
        .map(|pool| ConsumerFigures {
            name: pool.consumer,
            stream: stream(),
            pending: pool.waiting,
            in_hand: pool.in_progress,
            redelivered: pool.redelivered,
            pulls: pool.asking,
            ..ConsumerFigures::default()
        })
        .collect()
}

fn stream(figures: &StreamFigures) -> Value {
    let bucket = figures.name.strip_prefix("KV_");
    let store = figures.name.strip_prefix("OBJ_");
    json!({
        "name": bucket.or(store).unwrap_or(&figures.name),
        "isBucket": bucket.is_some(),
        "isObjectStore": store.is_some(),
        "messages": figures.messages,
        "bytes": figures.bytes,
        "bytesMax": figures.bytes_max,
        "replicas": figures.replicas,
        "replicasBehind": figures.behind,
        "trouble": figures.trouble,
    })
}

fn consumer(figures: &ConsumerFigures) -> Value {
    json!({
        "name": figures.name,
        "stream": figures.stream,
        "pending": figures.pending,
        "inHand": figures.in_hand,
        "redelivered": figures.redelivered,
        "waitingPulls": figures.pulls,
        "trouble": figures.trouble,
    })
}

/// The database as the node that answers uses it, and the time of one question and its answer.
#[utoipa::path(get, path = "/cluster/database", tag = "cluster",
    responses((status = 200, body = shape::cluster::DatabaseFigures),
        (status = 503, body = ProblemBody)))]
pub(super) async fn database(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    let asked = Instant::now();
    let time = app.cx.store.clock().await?;
    let latency = asked.elapsed();
    let figures = app.cx.store.figures();
    let pools = figures.pools.iter().map(
        |pool| json!({"name": pool.name, "open": pool.open, "idle": pool.idle, "max": pool.max}),
    );
    Ok(Json(json!({
        "node": app.cx.presence.node(),
        "backend": figures.backend,
        "time": time,
        "latencyMs": latency.as_secs_f64() * 1_000.0,
        "queued": figures.queued,
        "pools": pools.collect::<Vec<_>>(),
    })))
}

/// What each statement of the database took since the start of the node that answers: the longest in
/// all first, or those with the longest mean, the longest run or the most runs. Texts have no
/// parameters.
#[utoipa::path(get, path = "/cluster/statements", tag = "cluster",
    params(("orderBy" = Option<String>, Query, description = "Total (default), Mean, Max or Count"),
        ("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = shape::cluster::Statements),
        (status = 400, body = ProblemBody)))]
pub(super) async fn statements(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let page = Part::of_list(&params, &["orderBy"])?.page()?;
    let mut found = app.cx.store.statements();
    let order: fn(&StatementFigures) -> Duration = match params.one("orderBy").unwrap_or("Total") {
        "" | "Total" => |one| one.total,
        "Mean" => mean,
        "Max" => |one| one.max,
        "Count" => |one| Duration::from_nanos(one.count),
        other => {
            return Err(Problem::bad_request(format!(
                "query parameter orderBy is {other:?}: use Total, Mean, Max or Count"
            )));
        }
    };
    found.sort_by(|a, b| order(b).cmp(&order(a)).then_with(|| a.text.cmp(&b.text)));
    let shown = page.of(found.iter().map(statement));
    Ok(Json(json!({
        "node": app.cx.presence.node(),
        "items": shown.items,
        "totalCount": shown.total,
    })))
}

fn statement(figures: &StatementFigures) -> Value {
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    json!({
        "text": figures.text,
        "count": figures.count,
        "totalMs": ms(figures.total),
        "meanMs": ms(mean(figures)),
        "maxMs": ms(figures.max),
        "rows": figures.rows,
    })
}

fn mean(figures: &StatementFigures) -> Duration {
    figures.total.div_f64(figures.count.max(1) as f64)
}

fn unavailable(error: bus::Error) -> Problem {
    tracing::warn!(%error, "the message bus does not answer");
    Problem::unavailable("the message bus does not answer: try again in a moment")
}
