//! The activity types, expression languages and strategies that workflows are made of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use model::{ActivityType, Argument, Definition};
use serde_json::{Value, json};
use store::VersionOption;

use crate::body::Params;
use crate::present::{descriptor, shape};
use crate::problem::ProblemBody;
use crate::{App, Problem, publication, workers};

/// The activity types, and every version of the workflows that may be used as activities.
#[utoipa::path(get, path = "/descriptors/activities", tag = "descriptors",
    params(("refresh" = Option<bool>, Query, description = "Not needed: the answer is always current")),
    responses((status = 200, body = shape::Items<shape::descriptor::ActivityDescriptor>),
        (status = 400, body = ProblemBody)))]
pub(super) async fn activities(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.flag("refresh")?;
    let mut items: Vec<_> = built_in(&app).collect();
    items.extend(workflows(&app).await?);
    items.extend(of_workers(&app).await?);
    Ok(listed(items))
}

/// One activity type: its newest version, or the one that is asked for.
#[utoipa::path(get, path = "/descriptors/activities/{typeName}", tag = "descriptors",
    params(("typeName" = String, Path), ("version" = Option<u32>, Query)),
    responses((status = 200, body = shape::descriptor::ActivityDescriptor), (status = 400, body = ProblemBody),
        (status = 404, body = ProblemBody)))]
pub(super) async fn activity(
    State(app): State<Arc<App>>,
    Path(type_name): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let found = one(&app, &type_name, params.read("version")?).await?;
    Ok(Json(found))
}

/// The choices of an input that the server computes. No activity type has one.
#[utoipa::path(post, path = "/descriptors/activities/{activityTypeName}/options/{propertyName}", tag = "descriptors",
    params(("activityTypeName" = String, Path), ("propertyName" = String, Path)),
    request_body = Value,
    responses((status = 200, body = shape::descriptor::InputOptions),
        (status = 404, body = ProblemBody)))]
pub(super) async fn options(
    State(app): State<Arc<App>>,
    Path((type_name, property)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let activity = one(&app, &type_name, None).await?;
    let is_it = |input: &&Value| {
        input["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(&property))
    };
    let input = activity["inputs"].as_array().and_then(|inputs| inputs.iter().find(is_it));
    let Some(input) = input else {
        return Err(Problem::not_found(format!("{type_name} has no input {property:?}")));
    };
    Ok(Json(json!({"items": input["uiSpecifications"]})))
}

/// The activity types that need no definition.
fn built_in(app: &App) -> impl Iterator<Item = Value> {
    let known = app.cx.engine.descriptors().into_iter().map(descriptor::activity);
    known.chain([descriptor::workflow_type()])
}

/// The activity type of this name: its newest version, or this one. Definitions are read only where
/// it is none of ours.
async fn one(app: &App, type_name: &str, version: Option<u32>) -> Result<Value, Problem> {
    let is_it = |one: &Value| {
        let is_version = version.is_none_or(|version| one["version"] == version);
        one["typeName"] == type_name && is_version
    };
    if let Some(found) = built_in(app).find(is_it) {
        return Ok(found);
    }
    let found = workflows(app).await?.into_iter().chain(of_workers(app).await?).filter(is_it);
    found.max_by_key(|one| one["version"].as_u64()).ok_or_else(|| {
        let version = version.map(|version| format!(" of version {version}")).unwrap_or_default();
        Problem::not_found(format!("there is no activity type {type_name:?}{version}"))
    })
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

/// The types that workers have registered.
async fn of_workers(app: &App) -> Result<Vec<Value>, Problem> {
    let mut types = workers::registered(app).await?.types;
    types.retain(|kind| {
        !app.cx.engine.descriptors().iter().any(|own| own.type_name == kind.type_name)
    });
    let newest: BTreeMap<_, _> =
        types.iter().map(|kind| (kind.type_name.clone(), kind.version)).collect();
    let is_newest = |kind: &ActivityType| newest.get(&kind.type_name) == Some(&kind.version);
    Ok(types.iter().map(|kind| of_worker(kind, is_newest(kind))).collect())
}

/// A type that workers perform. A designer offers its newest version.
fn of_worker(kind: &ActivityType, is_newest: bool) -> Value {
    let (namespace, name) = kind.type_name.rsplit_once('.').unwrap_or(("", &kind.type_name));
    let flow = |outcome: &String| json!({"name": outcome, "displayName": outcome, "type": "Flow", "isBrowsable": true});
    json!({
        "typeName": kind.type_name,
        "namespace": namespace,
        "name": name,
        "version": kind.version,
        "category": kind.category.as_deref().unwrap_or("Workers"),
        "displayName": kind.display_name.as_deref().unwrap_or(name),
        "description": kind.description,
        "kind": "Task",
        "runAsynchronously": false,
        "isContainer": false,
        "isBrowsable": is_newest,
        "isStart": false,
        "isTerminal": false,
        "inputs": kind.inputs().iter().enumerate().map(input).collect::<Vec<_>>(),
        "outputs": kind.outputs().iter().enumerate().map(output).collect::<Vec<_>>(),
        "ports": kind.outcomes().iter().map(flow).collect::<Vec<_>>(),
        "customProperties": {"Type": "WorkerActivity", "Mode": kind.mode, "Icon": kind.icon},
        "constructionProperties": {"Version": kind.version},
    })
}

/// A version of a workflow as an activity type.
fn workflow(definition: &Definition) -> Value {
    let Definition { id, definition_id, version, .. } = definition;
    let name = definition.name.as_deref().unwrap_or(definition_id.as_str());
    let type_name = definition.activity_type();
    let category = definition.options.extra.get("activityCategory").and_then(Value::as_str);
    let category = category.filter(|category| !category.is_empty()).unwrap_or("Workflows");
    let flow = |outcome: &String| json!({"name": outcome, "displayName": outcome, "type": "Flow", "isBrowsable": true});
    let root =
        json!({"name": "Root", "displayName": "Root", "type": "Embedded", "isBrowsable": false});
    let ports: Vec<_> = std::iter::once(root).chain(definition.outcomes.iter().map(flow)).collect();
    json!({
        "typeName": type_name,
        "namespace": "",
        "name": type_name,
        "version": version,
        "category": category,
        "displayName": name,
        "description": definition.description,
        "kind": "Action",
        "runAsynchronously": false,
        "isContainer": false,
        "isBrowsable": definition.is_published,
        "isStart": false,
        "isTerminal": false,
        "inputs": definition.inputs.iter().enumerate().map(input).collect::<Vec<_>>(),
        "outputs": definition.outputs.iter().enumerate().map(output).collect::<Vec<_>>(),
        "ports": ports,
        "customProperties": {"RootType": "WorkflowDefinitionActivity",
            "WorkflowDefinitionId": definition_id, "WorkflowDefinitionVersionId": id},
        "constructionProperties": {"WorkflowDefinitionId": definition_id,
            "WorkflowDefinitionVersionId": id, "Version": version},
    })
}

/// An input of a workflow. Its author may have written values of other types than designers read.
fn input((order, argument): (usize, &Argument)) -> Value {
    let text = |member: &str| match argument.extra.get(member) {
        Some(text @ Value::String(_)) => text.clone(),
        _ => Value::Null,
    };
    let alias = argument.type_name.as_deref().unwrap_or("Object");
    let type_name = if argument.is_array { format!("{alias}[]") } else { alias.to_owned() };
    let hint = match text("uiHint") {
        Value::Null if alias == "Boolean" => json!("checkbox"),
        Value::Null => json!("singleline"),
        hint => hint,
    };
    let display_name = match text("displayName") {
        Value::Null => json!(argument.name),
        name => name,
    };
    json!({"name": argument.name, "typeName": type_name, "isArray": argument.is_array,
        "displayName": display_name, "description": text("description"), "order": order,
        "isBrowsable": true, "isSerializable": true, "isSynthetic": true, "isWrapped": true,
        "uiHint": hint, "uiSpecifications": settings(argument), "category": text("category"),
        "defaultValue": argument.extra.get("defaultValue"), "defaultSyntax": "Literal",
        "isReadOnly": false,
        "isSensitive": false, "autoEvaluate": true, "storageDriverType": text("storageDriverType")})
}

/// The settings of an input's editor: its choices, or the type of a dictionary's values.
fn settings(argument: &Argument) -> Value {
    if let Some(kind @ Value::String(_)) = argument.extra.get("valueType") {
        return json!({"dictionary": {"valueType": kind}});
    }
    let Some(Value::Array(options)) = argument.extra.get("options") else { return json!({}) };
    let items: Vec<_> = options
        .iter()
        .map(|option| {
            json!({"text": option.as_str().map_or_else(|| option.to_string(), str::to_owned),
            "value": option})
        })
        .collect();
    json!({"dropdown": {"selectList": {"items": items, "isFlagsEnum": false}, "providerName": null}})
}

/// The types of variables: category, name and meaning.
const TYPES: [(&str, &str, &str); 30] = [
    ("Primitives", "Object", "Any value."),
    ("Primitives", "String", "Text."),
    ("Primitives", "Boolean", "True or false."),
    ("Primitives", "Int16", "A whole number of 16 bits."),
    ("Primitives", "Int32", "A whole number of 32 bits."),
    ("Primitives", "Int64", "A whole number of 64 bits."),
    ("Primitives", "Single", "A number with a fraction, of 32 bits."),
    ("Primitives", "Double", "A number with a fraction, of 64 bits."),
    ("Primitives", "Decimal", "A number with a fraction."),
    ("Primitives", "Guid", "A unique id, such as 0f8fad5b-d9cb-469f-a165-70867728950e."),
    ("Primitives", "DateTime", "A time, such as 2026-01-31T08:00:00Z."),
    ("Primitives", "DateTimeOffset", "A time with its distance from UTC."),
    ("Primitives", "TimeSpan", "A length of time, such as 00:01:00."),
    ("Lookups", "StringDictionary", "Texts by name."),
    ("Lookups", "ObjectDictionary", "Values by name."),
    ("Dynamic", "ExpandoObject", "An object with any members."),
    ("Dynamic", "JsonElement", "Any JSON."),
    ("Dynamic", "JsonNode", "Any JSON."),
    ("Dynamic", "JsonObject", "A JSON object."),
    ("Data", "ByteArray", "Bytes, as base64."),
    ("Data", "Stream", "Bytes, as base64."),
    ("System", "LogPersistenceMode", "What the journal keeps: Include, Exclude or Inherit."),
    ("HTTP", "RouteData", "The parameters in the path of a request."),
    ("HTTP", "HttpRequest", "A request."),
    ("HTTP", "HttpResponse", "An answer."),
    ("HTTP", "HttpResponseMessage", "The answer to a call."),
    ("HTTP", "HttpHeaders", "Headers by name."),
    ("HTTP", "IFormFile", "A file of a form."),
    ("HTTP", "HttpFile", "A file: its name, its type and its content."),
    ("HTTP", "Downloadable", "A file to download."),
];

/// An output of a workflow.
fn output(argument: (usize, &Argument)) -> Value {
    const MEMBERS: [&str; 8] = [
        "name",
        "typeName",
        "displayName",
        "description",
        "order",
        "isBrowsable",
        "isSerializable",
        "isSynthetic",
    ];
    let mut output = input(argument);
    if let Some(output) = output.as_object_mut() {
        output.retain(|name, _| MEMBERS.contains(&name.as_str()));
    }
    output
}

/// The types that variables may have.
#[utoipa::path(get, path = "/descriptors/variables", tag = "descriptors",
    responses((status = 200, body = shape::Items<shape::descriptor::VariableType>)))]
pub(super) async fn variables() -> Json<Value> {
    let items = TYPES.iter().map(|(category, name, description)| {
        json!({"typeName": name, "displayName": name, "category": category,
            "description": description})
    });
    listed(items.collect())
}

/// The stores of variables. All are the instance; a variable of `Memory` is never shown.
#[utoipa::path(get, path = "/descriptors/storage-drivers", tag = "descriptors",
    responses((status = 200, body = shape::Items<shape::descriptor::StorageDriver>)))]
pub(super) async fn storage_drivers() -> Json<Value> {
    let item = |name: &str, display_name: &str, priority: i32, deprecated: bool| {
        let type_name = format!("Elsa.Workflows.{name}StorageDriver, Elsa.Workflows.Core");
        json!({"typeName": type_name, "displayName": display_name, "priority": priority,
            "deprecated": deprecated})
    };
    listed(vec![
        item("WorkflowInstance", "Workflow Instance", 5, false),
        item("Memory", "Memory", 0, false),
        item("Workflow", "Workflow", -1, true),
    ])
}

/// The converters of outputs: none.
#[utoipa::path(get, path = "/descriptors/output-converters", tag = "descriptors",
    params(("sourceType" = String, Query), ("destinationType" = String, Query)),
    responses((status = 200, body = shape::descriptor::NoItems),
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
    responses((status = 200, body = shape::Items<shape::descriptor::Strategy>)))]
pub(super) async fn incident_strategies() -> Json<Value> {
    let item = |display_name: &str, type_name: &str, description: &str| json!({"displayName": display_name, "description": description, "typeName": type_name});
    listed(vec![
        item(
            "Continue with incidents",
            "ContinueWithIncidentsStrategy",
            "The failed branch ends; the others go on.",
        ),
        item("Fault", "FaultStrategy", "The instance ends as faulted."),
    ])
}

/// The instances of a definition that may run at the same time.
#[utoipa::path(get, path = "/descriptors/workflow-activation-strategies", tag = "descriptors",
    responses((status = 200, body = shape::Items<shape::descriptor::Strategy>)))]
pub(super) async fn activation_strategies() -> Json<Value> {
    let item = |name: &str, display_name: &str, module: &str, description: &str| {
        let of = if module == "Core" { "Elsa.Workflows" } else { "Elsa.Workflows.Runtime" };
        let type_name =
            format!("{of}.ActivationValidators.{name}Strategy, Elsa.Workflows.{module}");
        json!({"displayName": display_name, "description": description, "typeName": type_name})
    };
    listed(vec![
        item("AllowAlways", "Always", "Core", "Any number."),
        item(
            "CorrelatedSingleton",
            "Correlated singleton",
            "Runtime",
            "One of this definition with the same correlation id.",
        ),
        item(
            "Correlation",
            "Correlation",
            "Runtime",
            "One of any definition with the same correlation id.",
        ),
        item("Singleton", "Singleton", "Runtime", "One of this definition."),
    ])
}

/// What of an activity's values the journal keeps.
#[utoipa::path(get, path = "/descriptors/log-persistence-strategies", tag = "descriptors",
    responses((status = 200, body = shape::Items<shape::descriptor::Strategy>)))]
pub(super) async fn log_persistence_strategies() -> Json<Value> {
    let item = |name: &str, description: &str| {
        let type_name =
            format!("Elsa.Workflows.LogPersistence.Strategies.{name}, Elsa.Workflows.Core");
        json!({"displayName": name, "description": description, "typeName": type_name})
    };
    listed(vec![
        item("Configuration", "What the configuration says."),
        item("Exclude", "No value is kept."),
        item("Include", "Values are kept."),
        item("Inherit", "What the activity or the workflow around it says."),
    ])
}

/// When a workflow is committed: none can be chosen, since every burst is committed before anything
/// leaves it.
#[utoipa::path(get, path = "/descriptors/commit-strategies/workflows", tag = "descriptors",
    responses((status = 200, body = shape::descriptor::NoItems)))]
pub(super) async fn workflow_commit_strategies() -> Json<Value> {
    listed(Vec::new())
}

/// When an activity is committed: none can be chosen, since every burst is committed before anything
/// leaves it.
#[utoipa::path(get, path = "/descriptors/commit-strategies/activities", tag = "descriptors",
    responses((status = 200, body = shape::descriptor::NoItems)))]
pub(super) async fn activity_commit_strategies() -> Json<Value> {
    listed(Vec::new())
}

/// The expression languages.
#[utoipa::path(get, path = "/descriptors/expression-descriptors", tag = "descriptors",
    responses((status = 200, body = shape::Items<shape::descriptor::ExpressionDescriptor>)))]
pub(super) async fn expressions(State(app): State<Arc<App>>) -> Json<Value> {
    let item = |name: &'static str| {
        let is_browsable = !matches!(name, "Literal" | "Object");
        let language = match name {
            "JavaScript" => Some("javascript"),
            "Liquid" => Some("liquid"),
            "Sql" => Some("sql"),
            "Object" => Some("json"),
            _ => None,
        };
        let properties = language.map_or_else(|| json!({}), |id| json!({"MonacoLanguage": id}));
        json!({"type": name, "displayName": name, "isSerializable": true,
            "isBrowsable": is_browsable, "properties": properties})
    };
    listed(app.cx.engine.expression_types().into_iter().map(item).collect())
}

/// The features of every server, by the names that Elsa has for them.
const FEATURES: [(&str, &str, &str); 13] = [
    ("Elsa", "RealTimeWorkflowUpdates", "Real-time workflow updates"),
    ("Elsa", "WorkflowManagement", "Workflow management"),
    ("Elsa", "WorkflowRuntime", "Workflow runtime"),
    ("Elsa", "WorkflowInstances", "Workflow instances"),
    ("Elsa", "WorkflowDefinitions", "Workflow definitions"),
    ("Elsa", "WorkflowsApi", "Workflows API"),
    ("Elsa", "Http", "HTTP"),
    ("Elsa", "Scheduling", "Scheduling"),
    ("Elsa", "JavaScript", "JavaScript"),
    ("Elsa", "Liquid", "Liquid"),
    ("Elsa", "Resilience", "Resilience"),
    ("Elsa.Alterations.ShellFeatures", "Alterations", "Alterations"),
    ("Elsa.Labels.ShellFeatures", "Labels", "Labels"),
];

/// The features of this server: those of every server, and those that its configuration switches on.
fn known_features(app: &App) -> impl Iterator<Item = Value> {
    let identity = ("Elsa", "Identity", "Identity");
    let secrets = ("Elsa.Secrets.ShellFeatures", "Secrets", "Secrets");
    let switched_on = app.config.auth.identity.then_some(identity);
    let switched_on = switched_on.into_iter().chain(app.keeper.is_some().then_some(secrets));
    FEATURES.into_iter().chain(switched_on).map(feature)
}

fn feature((namespace, name, display_name): (&str, &str, &str)) -> Value {
    json!({"name": name, "namespace": namespace, "fullName": format!("{namespace}.{name}"),
        "displayName": display_name, "description": ""})
}

/// The features of this server.
#[utoipa::path(get, path = "/features/installed", tag = "descriptors",
    responses((status = 200, body = shape::Items<shape::descriptor::Feature>)))]
pub(super) async fn features(State(app): State<Arc<App>>) -> Json<Value> {
    listed(known_features(&app).collect())
}

/// One feature of this server; 404 if it does not have it.
#[utoipa::path(get, path = "/features/installed/{fullName}", tag = "descriptors",
    params(("fullName" = String, Path)),
    responses((status = 200, body = shape::descriptor::Feature), (status = 404, body = ProblemBody)))]
pub(super) async fn installed(
    State(app): State<Arc<App>>,
    Path(full_name): Path<String>,
) -> Result<Json<Value>, Problem> {
    let found = known_features(&app).find(|one| one["fullName"] == full_name.as_str());
    found.map(Json).ok_or_else(|| {
        Problem::not_found(format!("this server does not have the feature {full_name:?}"))
    })
}

/// The version of this server.
#[utoipa::path(get, path = "/package/version", tag = "descriptors",
    responses((status = 200, body = shape::descriptor::PackageVersion)))]
pub(super) async fn version() -> Json<Value> {
    Json(json!({"packageVersion": chassis::version()}))
}

fn listed(items: Vec<Value>) -> Json<Value> {
    Json(json!({"count": items.len(), "items": items}))
}
