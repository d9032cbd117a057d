//! The activity types, expression languages and strategies that workflows are made of.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use model::{Argument, Definition};
use serde_json::{Value, json};
use store::VersionOption;

use crate::body::Params;
use crate::problem::ProblemBody;
use crate::{App, Problem, publication};

/// The activity types, and every version of the workflows that may be used as activities.
#[utoipa::path(get, path = "/descriptors/activities", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{items, count}`")))]
pub(super) async fn activities(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    let descriptors = app.cx.engine.descriptors().into_iter();
    let mut items: Vec<_> = descriptors.map(|descriptor| json!(descriptor)).collect();
    items.extend(workflows(&app).await?);
    Ok(listed(items))
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
    if let Some(descriptor) = found {
        return Ok(Json(json!(descriptor)));
    }
    let mut workflows = workflows(&app).await?;
    workflows.retain(|workflow| workflow["typeName"] == type_name.as_str());
    let newest = workflows.into_iter().max_by_key(|workflow| workflow["version"].as_u64());
    newest
        .map(Json)
        .ok_or_else(|| Problem::not_found(format!("there is no activity type {type_name:?}")))
}

async fn workflows(app: &App) -> Result<Vec<Value>, Problem> {
    let mut versions = publication::all(app, VersionOption::All).await?;
    versions.retain(|version| version.is_immutable() && version.is_usable_as_activity());
    let mut workflows: Vec<_> = versions.iter().map(workflow).collect();
    // A designer finds a type by its name and version.
    let mut seen = BTreeSet::new();
    workflows.retain(|one| seen.insert((one["typeName"].to_string(), one["version"].to_string())));
    Ok(workflows)
}

/// A version of a workflow as an activity type.
fn workflow(definition: &Definition) -> Value {
    let Definition { id, definition_id, version, .. } = definition;
    let name = definition.name.as_deref().unwrap_or(definition_id.as_str());
    let type_name = definition.activity_type();
    let category = definition.options.extra.get("activityCategory").and_then(Value::as_str);
    let category = category.filter(|category| !category.is_empty()).unwrap_or("Workflows");
    let flow = |outcome: &String| json!({"name": outcome, "displayName": outcome, "type": "Flow", "isBrowsable": true});
    json!({
        "typeName": type_name,
        "namespace": "",
        "name": type_name,
        "version": version,
        "category": category,
        "displayName": name,
        "description": definition.description,
        "kind": "Action",
        "isContainer": false,
        "isBrowsable": definition.is_published,
        "isStart": false,
        "isTerminal": false,
        "inputs": definition.inputs.iter().map(argument).collect::<Vec<_>>(),
        "outputs": definition.outputs.iter().map(argument).collect::<Vec<_>>(),
        "ports": definition.outcomes.iter().map(flow).collect::<Vec<_>>(),
        "customProperties": {"RootType": "WorkflowDefinitionActivity",
            "WorkflowDefinitionId": definition_id, "WorkflowDefinitionVersionId": id},
        "constructionProperties": {"WorkflowDefinitionId": definition_id,
            "WorkflowDefinitionVersionId": id, "Version": version},
    })
}

fn argument(argument: &Argument) -> Value {
    let text = |member: &str| argument.extra.get(member).cloned().unwrap_or_default();
    json!({"name": argument.name, "typeName": argument.type_name, "isArray": argument.is_array,
        "displayName": text("displayName"), "description": text("description"),
        "category": text("category"), "uiHint": text("uiHint"),
        "defaultValue": text("defaultValue"), "isWrapped": true, "isSynthetic": true})
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

/// The stores of variables. Both are the instance; a variable of the second is never shown.
#[utoipa::path(get, path = "/descriptors/storage-drivers", tag = "descriptors",
    responses((status = 200, body = Value, description = "`{items}`")))]
pub(super) async fn storage_drivers() -> Json<Value> {
    let item = |name: &str, display_name: &str, priority: u32| {
        let type_name = format!("Elsa.Workflows.{name}StorageDriver, Elsa.Workflows.Core");
        json!({"typeName": type_name, "displayName": display_name, "priority": priority,
            "deprecated": false})
    };
    listed(vec![item("WorkflowInstance", "Workflow Instance", 5), item("Memory", "Memory", 0)])
}

/// The converters of outputs: none.
#[utoipa::path(get, path = "/descriptors/output-converters", tag = "descriptors",
    params(("sourceType" = String, Query), ("destinationType" = String, Query)),
    responses((status = 200, body = Value, description = "`{items, count}`"),
        (status = 400, body = ProblemBody)))]
pub(super) async fn output_converters(params: Params) -> Result<Json<Value>, Problem> {
    for name in ["sourceType", "destinationType"] {
        if params.one(name).is_none() {
            return Err(Problem::bad_request(format!("the query parameter {name} is missing")));
        }
    }
    Ok(listed(Vec::new()))
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
