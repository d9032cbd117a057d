//! Parts of a workflow's graph, for designers that draw one level at a time.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{Library, Site, Sites, WORKFLOW_ID, WORKFLOW_TYPE, pascal};
use model::{Definition, VersionId};
use serde_json::{Value, json};

use super::definitions::no_version;
use crate::body::Params;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, workers};

/// Activities that a designer draws as a part of what is around them.
const DRAWN_WITHIN: [&str; 2] = [WORKFLOW_TYPE, "Elsa.Flowchart"];

/// An activity with everything in it: the one with this node id, otherwise the whole workflow.
#[utoipa::path(get, path = "/workflow-definitions/subgraph/{id}", tag = "definitions",
    params(("id" = String, Path, description = "Version id"),
        ("parentNodeId" = Option<String>, Query, description = "Such as Workflow1:Flowchart1:If1")),
    responses((status = 200, body = shape::definition::GraphNode),
        (status = 404, body = ProblemBody)))]
pub(super) async fn subgraph(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let (definition, sites) = read(&app, &id).await?;
    let found = params.one("parentNodeId").and_then(|node_id| sites.find(node_id));
    Ok(Json(match found.and_then(|at| sites.list.get(at)) {
        Some(site) => node(&sites, site),
        None => whole(&definition, &sites),
    }))
}

/// The way from a designer's canvas to an activity: the activity, the container to draw, and what is
/// opened on the way from the outside in.
#[utoipa::path(get, path = "/workflow-definitions/subgraph/segments/{id}", tag = "definitions",
    params(("id" = String, Path, description = "Version id"),
        ("childNodeId" = String, Query, description = "Such as Workflow1:Flowchart1:If1")),
    responses((status = 200, body = shape::definition::GraphPath),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn segments(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let Some(node_id) = params.one("childNodeId") else {
        return Err(Problem::bad_request("query parameter childNodeId is missing"));
    };
    let (definition, sites) = read(&app, &id).await?;
    let at = sites.find(node_id);
    let Some((at, child)) = at.and_then(|at| Some((at, sites.list.get(at)?))) else {
        return Err(Problem::bad_request(format!(
            "there is no activity with the node id {node_id:?} in this version"
        )));
    };
    let (mut segments, mut container, mut inner) = (Vec::new(), None, child);
    for around in sites.around(at) {
        let is_opened = !DRAWN_WITHIN.contains(&around.type_name.as_str());
        if is_opened {
            // What is in the port is drawn; the activity itself is too where it is all there is.
            let drawn = if inner == child { around } else { inner };
            container = container.or(Some(drawn));
            segments.push(json!({"activityNodeId": around.node_id, "activityId": around.id,
                "activityType": around.type_name, "portName": pascal(&inner.port),
                "activityName": around.name}));
        }
        inner = around;
    }
    segments.reverse();
    let container = container.or_else(|| Some(inner).filter(|outermost| *outermost != child));
    let container = container.map(|site| node(&sites, site));
    Ok(Json(json!({
        "childNode": node(&sites, child),
        "container": container.unwrap_or_else(|| whole(&definition, &sites)),
        "pathSegments": segments,
    })))
}

async fn read(app: &App, id: &str) -> Result<(Definition, Sites), Problem> {
    let found = app.cx.store.version(&VersionId::new(id)).await?;
    let definition = found.ok_or_else(|| no_version(id))?;
    let (store, engine) = (&*app.cx.store, &app.cx.engine);
    let known = workers::known(app, &definition, Library::default()).await?;
    let library = catalog::library(store, engine, &definition, known).await?;
    let sites = engine.sites(&definition, &library);
    Ok((definition, sites))
}

fn node(sites: &Sites, site: &Site) -> Value {
    json!({"nodeId": site.node_id, "port": pascal(&site.port), "activity": sites.activity(site)})
}

/// The workflow as the outermost activity.
fn whole(definition: &Definition, sites: &Sites) -> Value {
    json!({"nodeId": WORKFLOW_ID, "port": "", "activity": {
        "id": WORKFLOW_ID, "nodeId": WORKFLOW_ID, "type": WORKFLOW_TYPE, "version": 1,
        "name": definition.name, "customProperties": {}, "metadata": {}, "root": sites.root,
    }})
}
