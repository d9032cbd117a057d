//! Retries of calls, in Elsa's form: the strategies that a configuration has, and the attempts that
//! the journal has.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use model::{Entry, InstanceId, Retry, What, instance_of, span};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::body::Params;
use crate::history::Lines;
use crate::paging::Part;
use crate::present::{Paged, shape};
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, record};

/// The strategies that activities may name: those of the setting `retry-strategies`.
#[utoipa::path(get, path = "/resilience/strategies", tag = "resilience",
    params(("category" = Option<String>, Query,
        description = "Every strategy fits every category")),
    responses((status = 200, body = shape::Items<shape::descriptor::RetryStrategy>)))]
pub(super) async fn strategies(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&["category"])?;
    let items: Vec<_> = app.config.retries.iter().map(|(id, retry)| strategy(id, retry)).collect();
    Ok(Json(json!({"count": items.len(), "items": items})))
}

fn strategy(id: &str, retry: &Retry) -> Value {
    json!({
        "$type": "HttpResilienceStrategy",
        "id": id,
        "displayName": id,
        // Elsa does not count the first attempt.
        "maxRetryAttempts": retry.attempts.saturating_sub(1),
        "useJitter": retry.jitter,
        "delay": span::text(retry.delay),
        "backoffType": format!("{:?}", retry.backoff),
    })
}

/// A failed attempt of a call that was made again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RetryAttempt {
    id: String,
    activity_instance_id: String,
    activity_id: String,
    workflow_instance_id: String,
    /// From 0, as with Elsa.
    attempt_number: u64,
    /// The pause after it, such as `00:00:02`.
    retry_delay: String,
    /// `Reason`.
    #[schema(value_type = Object)]
    details: Value,
}

/// The failed attempts of the call of an execution, in order. An execution that is not there has none.
#[utoipa::path(get, path = "/resilience/retries/{activityInstanceId}", tag = "resilience",
    params(("activityInstanceId" = String, Path), ("skip" = Option<u64>, Query),
        ("take" = Option<u64>, Query), ("workflowInstanceId" = Option<String>, Query,
            description = "Only for an execution whose id does not name its instance")),
    responses((status = 200, body = Paged<RetryAttempt>), (status = 400, body = ProblemBody)))]
pub(super) async fn retries(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<Paged<RetryAttempt>>, Problem> {
    bounds::name("activityInstanceId", &id)?;
    let page = Part::of_list(&params, &["workflowInstanceId"])?.page()?;
    let named = params.one("workflowInstanceId").map(record::id).transpose()?;
    let instance = named.or_else(|| instance_of(&id).map(|(instance, _)| instance));
    let seen = match &instance {
        Some(instance) => record::find(&app, instance).await?,
        None => None,
    };
    let Some(seen) = seen else {
        return Ok(Json(Paged { items: Vec::new(), total_count: 0 }));
    };
    let Lines { entries, .. } = Lines::newest(&app, &seen).await?;
    let is_own = |entry: &&Entry| {
        entry.what == What::Retrying && entry.activity_instance_id.as_deref() == Some(id.as_str())
    };
    let attempts = entries.iter().filter(is_own);
    let attempts: Vec<_> = attempts.map(|entry| attempt(&seen.instance.id, &id, entry)).collect();
    let found = page.of(attempts.into_iter());
    Ok(Json(Paged { items: found.items, total_count: found.total }))
}

fn attempt(instance: &InstanceId, execution: &str, entry: &Entry) -> RetryAttempt {
    let number = |name: &str| {
        let payload = entry.payload.as_ref();
        payload.and_then(|payload| payload.get(name)).and_then(Value::as_u64).unwrap_or_default()
    };
    let pause = std::time::Duration::from_millis(number("pauseMilliseconds"));
    RetryAttempt {
        id: format!("{instance}-{}", entry.sequence),
        activity_instance_id: execution.to_owned(),
        activity_id: entry.activity_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        workflow_instance_id: instance.to_string(),
        attempt_number: number("attempt").saturating_sub(1),
        retry_delay: span::text(pause),
        details: json!({"Reason": entry.message}),
    }
}
