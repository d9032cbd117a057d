//! The activity types, expression languages and strategies that workflows are made of.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use crate::problem::ProblemBody;
use crate::{App, Problem};

/// The activity types.
#[utoipa::path(get, path = "/descriptors/activities", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{items, count}`")))]
pub(super) async fn activities(State(app): State<Arc<App>>) -> Json<Value> {
    let items: Vec<_> =
        app.cx.engine.descriptors().into_iter().map(|descriptor| json!(descriptor)).collect();
    listed(items)
}

/// One activity type.
#[utoipa::path(get, path = "/descriptors/activities/{typeName}", tag = "descriptors",
    params(("typeName" = String, Path)),
    responses((status = 200, body = Value), (status = 404, body = ProblemBody)))]
pub(super) async fn activity(
    State(app): State<Arc<App>>,
    Path(type_name): Path<String>,
) -> Result<Json<Value>, Problem> {
    let found = app.cx.engine.descriptors().into_iter().find(|found| found.type_name == type_name);
    match found {
        Some(descriptor) => Ok(Json(json!(descriptor))),
        None => Err(Problem::not_found(format!("there is no activity type {type_name:?}"))),
    }
}

/// The types that variables may have.
#[utoipa::path(get, path = "/descriptors/variables", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{items, count}`")))]
pub(super) async fn variables() -> Json<Value> {
    const TYPES: [(&str, &str); 15] = [
        ("Object", "Primitives"),
        ("String", "Primitives"),
        ("Boolean", "Primitives"),
        ("Int16", "Primitives"),
        ("Int32", "Primitives"),
        ("Int64", "Primitives"),
        ("Single", "Primitives"),
        ("Double", "Primitives"),
        ("Decimal", "Primitives"),
        ("Guid", "Primitives"),
        ("DateTime", "Date and time"),
        ("DateTimeOffset", "Date and time"),
        ("TimeSpan", "Date and time"),
        ("StringDictionary", "Lookups"),
        ("ObjectDictionary", "Lookups"),
    ];
    let item = |(name, category): (&str, &str)| json!({"typeName": name, "displayName": name, "category": category, "description": null});
    listed(TYPES.map(item).to_vec())
}

/// The stores of variables: always the instance.
#[utoipa::path(get, path = "/descriptors/storage-drivers", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{items}`")))]
pub(super) async fn storage_drivers() -> Json<Value> {
    let name = "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core";
    listed(vec![
        json!({"typeName": name, "displayName": "Workflow Instance", "priority": 5, "deprecated": false}),
    ])
}

/// The effects of an incident on its instance.
#[utoipa::path(get, path = "/descriptors/incident-strategies", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{items}`")))]
pub(super) async fn incident_strategies() -> Json<Value> {
    let item = |name: &str, description: &str| {
        let type_name =
            format!("Elsa.Workflows.IncidentStrategies.{name}Strategy, Elsa.Workflows.Core");
        json!({"displayName": name, "description": description, "typeName": type_name})
    };
    listed(vec![
        item("Fault", "The instance ends as faulted."),
        item("ContinueWithIncidents", "Other branches go on."),
    ])
}

/// The instances of a definition that may run at the same time.
#[utoipa::path(get, path = "/descriptors/workflow-activation-strategies", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{items}`")))]
pub(super) async fn activation_strategies() -> Json<Value> {
    let item = |name: &str, description: &str| {
        let type_name =
            format!("Elsa.Workflows.ActivationValidators.{name}Strategy, Elsa.Workflows.Core");
        json!({"displayName": name, "description": description, "typeName": type_name})
    };
    listed(vec![
        item("AllowAlways", "Any number."),
        item("Singleton", "One of this definition."),
        item("Correlation", "One of any definition with the same correlation id."),
        item("CorrelatedSingleton", "One of this definition with the same correlation id."),
    ])
}

/// The expression languages.
#[utoipa::path(get, path = "/descriptors/expression-descriptors", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{items, count}`")))]
pub(super) async fn expressions(State(app): State<Arc<App>>) -> Json<Value> {
    let item = |name: &'static str| {
        let is_browsable = !matches!(name, "Literal" | "Object");
        json!({"type": name, "displayName": name, "isSerializable": true, "isBrowsable": is_browsable, "properties": {}})
    };
    listed(app.cx.engine.expression_types().into_iter().map(item).collect())
}

/// The features of this server.
#[utoipa::path(get, path = "/features/installed", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{items, count}`")))]
pub(super) async fn features() -> Json<Value> {
    let item = |name: &str, display_name: &str| json!({"name": name, "namespace": "Elsa", "fullName": format!("Elsa.{name}"), "displayName": display_name, "description": ""});
    listed(vec![
        item("WorkflowManagement", "Workflow management"),
        item("WorkflowRuntime", "Workflow runtime"),
        item("Http", "HTTP"),
        item("Scheduling", "Scheduling"),
        item("JavaScript", "JavaScript"),
        item("Liquid", "Liquid"),
    ])
}

/// The version of this server.
#[utoipa::path(get, path = "/package/version", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{packageVersion}`")))]
pub(super) async fn version() -> Json<Value> {
    Json(json!({"packageVersion": chassis::version()}))
}

fn listed(items: Vec<Value>) -> Json<Value> {
    Json(json!({"count": items.len(), "items": items}))
}
