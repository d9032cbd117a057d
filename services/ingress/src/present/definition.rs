//! Definitions as Elsa's clients read them. Elsa Studio shows as read-only what has no link to
//! `publish`, and finds an activity's description by its type and `version`.

use engine::{Engine, Library};
use model::Definition;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::shape::definition::FullDefinition;
use super::starter::{Starter, starters};
use crate::publication::{Changed, Told};
use crate::respond::segment;

/// What a client may do next.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Link {
    /// The path below the mount of the API.
    href: String,
    /// The name of the action.
    rel: &'static str,
    /// The HTTP method.
    method: &'static str,
}

impl Link {
    fn new(rel: &'static str, method: &'static str, href: impl Into<String>) -> Self {
        Self { href: href.into(), rel, method }
    }
}

/// One page of definitions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefinitionPage {
    /// The page's definitions.
    pub(crate) items: Vec<DefinitionSummary>,
    /// Definitions in the whole list.
    pub(crate) total_count: u64,
    /// What can be done with definitions.
    links: Vec<Link>,
}

impl DefinitionPage {
    pub(crate) fn new(items: Vec<DefinitionSummary>, total_count: u64) -> Self {
        Self { items, total_count, links: list_links() }
    }
}

/// A definition in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefinitionSummary {
    /// Id of this version.
    id: String,
    /// Id across versions.
    definition_id: String,
    name: Option<String>,
    description: Option<String>,
    version: u32,
    tool_version: Option<String>,
    is_latest: bool,
    is_published: bool,
    is_readonly: bool,
    is_system: bool,
    /// Always null.
    provider_name: Option<String>,
    /// Always `Json`.
    materializer_name: &'static str,
    /// Always true.
    is_materializer_available: bool,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    /// RFC 3339: the time of the last save that changed this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    saved_at: Option<String>,
    /// The activities that start its instances, the first 8; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    starters: Vec<Starter>,
    /// Ids of its labels, in lists and for callers who may see them; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<String>>,
    links: Vec<Link>,
}

impl DefinitionSummary {
    pub(crate) fn with_labels(self, labels: Vec<String>) -> Self {
        Self { labels: Some(labels), ..self }
    }
}

impl From<&Definition> for DefinitionSummary {
    fn from(definition: &Definition) -> Self {
        Self {
            id: definition.id.to_string(),
            definition_id: definition.definition_id.to_string(),
            name: definition.name.clone(),
            description: definition.description.clone(),
            version: definition.version,
            tool_version: definition
                .extra
                .get("toolVersion")
                .and_then(Value::as_str)
                .map(str::to_owned),
            is_latest: definition.is_latest,
            is_published: definition.is_published,
            is_readonly: definition.is_readonly,
            is_system: definition.is_system,
            provider_name: None,
            materializer_name: "Json",
            is_materializer_available: true,
            created_at: definition.created_at.map(|at| at.to_string()),
            saved_at: definition.saved_at.or(definition.created_at).map(|at| at.to_string()),
            starters: starters(definition),
            labels: None,
            links: links(definition),
        }
    }
}

/// The answer to a save or publication.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedDefinition {
    /// The definition as it is stored now.
    #[schema(value_type = FullDefinition)]
    workflow_definition: Value,
    /// It was published before, with this content.
    already_published: bool,
    /// The workflows that use this one as an activity and that were published anew with it.
    consuming_workflow_count: usize,
    /// Always empty: with a problem, the answer is 400.
    #[schema(value_type = Vec<Object>)]
    validation_errors: Vec<Value>,
    /// What its author should know, though it runs: each with `message`, `activityId`, `property`.
    #[schema(value_type = Vec<Object>)]
    validation_warnings: Vec<Value>,
    /// Every live node has the new version. Absent for a draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    everywhere: Option<bool>,
    /// Nodes that have not confirmed it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<String>>,
    /// Why it is not known which nodes have it: no cache-notifier has answered. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<String>,
    /// Revision of the published pointer; 0 if the cluster could not be reached yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

impl SavedDefinition {
    pub(crate) fn of(engine: &Engine, saved: &Changed) -> Self {
        let noticed = saved.noticed.as_ref();
        Self {
            workflow_definition: definition(engine, &saved.definition),
            already_published: saved.already_published,
            consuming_workflow_count: saved.consumers.len(),
            validation_errors: Vec::new(),
            validation_warnings: saved.warnings.clone(),
            everywhere: noticed.map(|noticed| noticed.everywhere),
            missing: noticed.map(|noticed| noticed.missing.clone()),
            unconfirmed: noticed.and_then(|noticed| noticed.unconfirmed.clone()),
            revision: noticed.map(|noticed| noticed.revision),
        }
    }
}

impl SavedDefinition {
    /// The definition itself, with the other members beside its own.
    pub(crate) fn flat(self) -> Value {
        let mut whole = json!(self);
        let definition = whole.get_mut("workflowDefinition").map(Value::take).unwrap_or_default();
        let (Value::Object(mut whole), Value::Object(mut flat)) = (whole, definition) else {
            return Value::Null;
        };
        whole.remove("workflowDefinition");
        flat.append(&mut whole);
        Value::Object(flat)
    }
}

/// A definition in full: with its links, and at each activity with all members that Elsa writes at each.
pub(crate) fn definition(engine: &Engine, definition: &Definition) -> Value {
    let mut value = json!(definition);
    if let Some(value) = value.as_object_mut() {
        value.insert("root".to_owned(), engine.sites(definition, &Library::default()).root);
        value.insert("links".to_owned(), json!(links(definition)));
    }
    value
}

/// Adds the nodes that have the new version to a definition in full.
pub(crate) fn with_news(mut value: Value, noticed: Option<&Told>) -> Value {
    if let (Some(value), Some(noticed)) = (value.as_object_mut(), noticed) {
        value.insert("everywhere".to_owned(), json!(noticed.everywhere));
        value.insert("missing".to_owned(), json!(noticed.missing));
        if let Some(unconfirmed) = &noticed.unconfirmed {
            value.insert("unconfirmed".to_owned(), json!(unconfirmed));
        }
    }
    value
}

fn links(definition: &Definition) -> Vec<Link> {
    let id = segment(definition.definition_id.as_str());
    let path = |rest: &str| format!("/workflow-definitions/{id}{rest}");
    let by_id = format!("/workflow-definitions/by-id/{}", segment(definition.id.as_str()));
    let mut links = vec![
        Link::new("self", "GET", path("")),
        Link::new("self", "GET", by_id),
        Link::new("versions", "GET", path("/versions")),
        Link::new("bulk-dispatch", "POST", path("/bulk-dispatch")),
        Link::new("dispatch", "POST", path("/dispatch")),
        Link::new("execute", "POST", path("/execute")),
        Link::new("export", "POST", path("/export")),
    ];
    if !definition.is_readonly {
        links.extend([
            Link::new("publish", "POST", path("/publish")),
            Link::new("retract", "POST", path("/retract")),
            Link::new("delete", "DELETE", path("")),
            Link::new("import", "PUT", path("/import")),
            Link::new("update-references", "POST", path("/update-references")),
        ]);
    }
    links
}

fn list_links() -> Vec<Link> {
    let all = "/workflow-definitions";
    let bulk = |rest: &str| format!("/bulk-actions/{rest}");
    vec![
        Link::new("self", "GET", all),
        Link::new("is-name-unique", "GET", format!("{all}/validation/is-name-unique")),
        Link::new("count", "GET", format!("{all}/query/count")),
        Link::new("many-by-id", "GET", format!("{all}/many-by-id")),
        Link::new(
            "bulk-delete-by-definition-id",
            "POST",
            bulk("delete/workflow-definitions/by-definition-id"),
        ),
        Link::new("bulk-delete-by-id", "POST", bulk("delete/workflow-definitions/by-id")),
        Link::new("bulk-publish", "POST", bulk("publish/workflow-definitions/by-definition-ids")),
        Link::new("bulk-retract", "POST", bulk("retract/workflow-definitions/by-definition-ids")),
        Link::new("import", "POST", format!("{all}/import")),
        Link::new("import-files", "POST", format!("{all}/import-files")),
        Link::new("create", "POST", all),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retraction_says_why_nobody_knows_which_nodes_have_it() {
        let told = Told { everywhere: true, ..Told::default() };
        let said = with_news(json!({}), Some(&told));
        assert_eq!(said, json!({"everywhere": true, "missing": []}));
        let told = Told { unconfirmed: Some("no answer".to_owned()), ..Told::default() };
        let said = with_news(json!({}), Some(&told));
        assert_eq!(said, json!({"everywhere": false, "missing": [], "unconfirmed": "no answer"}));
    }
}
