//! Sends definitions to the server, and reads its answers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{found, is_same};
use crate::client::{self, Client};
use crate::document::Document;
use crate::output::{self, Format};
use crate::{Failure, say};

/// The result of one file.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) definition_id: String,
    pub(crate) version: String,
    pub(crate) what: &'static str,
    pub(crate) everywhere: bool,
    pub(crate) missing: Vec<String>,
    /// Why it is not known which nodes have it; empty if that is known.
    pub(crate) unconfirmed: String,
    /// The workflows that use it and were published again for it.
    pub(crate) users: u64,
    /// What its author should know.
    pub(crate) warnings: Vec<Value>,
}

impl Applied {
    /// Reads the answer of the server to one definition.
    fn read(body: &Value, publish: bool) -> Self {
        let list =
            |name: &str| body.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let definition = body.get("workflowDefinition").unwrap_or(body);
        let is_unchanged = body.get("alreadyPublished").and_then(Value::as_bool) == Some(true);
        Self {
            definition_id: output::text(definition, "definitionId"),
            version: output::text(definition, "version"),
            what: match (publish, is_unchanged) {
                (false, _) => "draft",
                (true, true) => "unchanged",
                (true, false) => "published",
            },
            everywhere: body.get("everywhere").and_then(Value::as_bool).unwrap_or(true),
            missing: list("missing").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            unconfirmed: output::text(body, "unconfirmed"),
            users: body.get("consumingWorkflowCount").and_then(Value::as_u64).unwrap_or_default(),
            warnings: list("validationWarnings"),
        }
    }

    /// What is said where not every node has it.
    pub(crate) fn late(&self) -> Option<String> {
        if self.everywhere {
            return None;
        }
        let unknown = "it is not known whether all nodes have it";
        Some(match (self.missing.join(", ").as_str(), self.unconfirmed.as_str()) {
            ("", "") => unknown.to_owned(),
            ("", why) => format!("{unknown}: {why}"),
            (missing, "") => format!("not yet known to {missing}; see `staunch doctor`"),
            // Of a workflow that uses it, perhaps.
            (missing, why) => format!("not yet known to {missing}; {unknown}: {why}"),
        })
    }
}

/// What is said of the answer to a publication or retraction of which not every node knows.
pub(crate) fn late(body: &Value) -> Option<String> {
    Applied::read(body, true).late()
}

/// Imports one document and publishes it.
///
/// # Errors
/// When the server refuses it.
pub(crate) async fn apply(client: &Client, document: &Value) -> Result<Applied, Failure> {
    import(client, document, true).await
}

/// Imports one document; publishes it if that is asked for.
///
/// # Errors
/// When the server refuses it.
pub(super) async fn import(
    client: &Client,
    document: &Value,
    publish: bool,
) -> Result<Applied, Failure> {
    if let Some(applied) = unchanged(client, document).await? {
        return Ok(applied);
    }
    let path = format!("/workflow-definitions/import?publish={publish}");
    let answer = client.post(&path, document).await?;
    let body = &answer.body;
    let problems = client::problems(body);
    if !problems.is_empty() {
        let failure = Failure::failed("the definition has problems").with(problems);
        return Err(Failure { body: Some(Box::new(body.clone())), ..failure });
    }
    Ok(Applied::read(body, publish))
}

/// Publishes documents that use each other, all or none. A dry run publishes nothing, and is refused
/// for the same reasons.
///
/// # Errors
/// When the server refuses one of them.
pub(super) async fn together(
    client: &Client,
    documents: &[Document],
    dry_run: bool,
) -> Result<Vec<Applied>, Failure> {
    let bodies: Vec<_> = documents.iter().map(|document| &document.body).collect();
    let body = json!({"workflowDefinitions": bodies, "dryRun": dry_run});
    let answer = client.post("/bulk-actions/import/workflow-definitions", &body).await?;
    let saved = answer.body.get("workflowDefinitions").and_then(Value::as_array);
    Ok(saved.into_iter().flatten().map(|saved| Applied::read(saved, true)).collect())
}

/// The published version, if it has the same content: then no new version is needed.
async fn unchanged(client: &Client, document: &Value) -> Result<Option<Applied>, Failure> {
    let definition_id = output::text(document, "definitionId");
    if definition_id.is_empty() {
        return Ok(None);
    }
    let Some(published) = found(client, &definition_id, "Published").await? else {
        return Ok(None);
    };
    if !is_same(&published, document) {
        return Ok(None);
    }
    Ok(Some(Applied {
        definition_id,
        version: output::text(&published, "version"),
        what: "unchanged",
        everywhere: true,
        missing: Vec::new(),
        unconfirmed: String::new(),
        users: 0,
        warnings: Vec::new(),
    }))
}

/// Leaves out the warnings of workflows that are not there, where these are among the applied ones.
pub(super) fn leave_out_warnings_of_each_other(applied: &mut [Applied]) {
    let ids: BTreeSet<_> = applied.iter().map(|one| one.definition_id.clone()).collect();
    let is_there = |warning: &Value| {
        let child = warning.get("workflowDefinitionId").and_then(Value::as_str);
        child.is_some_and(|child| ids.contains(child))
    };
    for one in applied {
        one.warnings.retain(|warning| !is_there(warning));
    }
}

/// Prints what was applied.
///
/// # Errors
/// When standard output is closed.
pub(super) fn print(applied: &[Applied], format: Format) -> Result<(), Failure> {
    for (one, late) in applied.iter().filter_map(|one| Some((one, one.late()?))) {
        say::message(&format!("{}: {late}", one.definition_id));
    }
    for used in applied.iter().filter(|applied| applied.users > 0) {
        say::message(&format!("{}: {}", used.definition_id, published_again(used.users)));
    }
    if format == Format::Json {
        let items: Vec<Value> = applied.iter().map(as_json).collect();
        return output::json(&Value::Array(items));
    }
    let rows: Vec<Vec<String>> = applied
        .iter()
        .map(|one| vec![one.definition_id.clone(), one.version.clone(), one.what.to_owned()])
        .collect();
    if rows.is_empty() { Ok(()) } else { output::table(&["DEFINITION", "VERSION", "STATE"], &rows) }
}

/// What is said of workflows that use one which was published.
pub(crate) fn published_again(users: u64) -> String {
    match users {
        1 => "1 workflow that uses it was published again".to_owned(),
        count => format!("{count} workflows that use it were published again"),
    }
}

fn as_json(applied: &Applied) -> Value {
    let Applied { definition_id, version, what, everywhere, missing, users, warnings, .. } =
        applied;
    let mut shown = json!({
        "definitionId": definition_id, "version": version.parse::<u32>().ok(), "state": what,
        "everywhere": everywhere, "missing": missing,
        "consumingWorkflowCount": users, "warnings": warnings
    });
    if !applied.unconfirmed.is_empty() {
        shown["unconfirmed"] = json!(applied.unconfirmed);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_everywhere_names_nodes_only_where_they_were_asked() {
        let of = |body: Value| late(&body);
        assert_eq!(of(json!({"everywhere": true, "missing": []})), None);
        assert_eq!(of(json!({"workflowDefinition": {}})), None, "a draft");
        let slow = of(json!({"everywhere": false, "missing": ["n1", "n2"]})).unwrap();
        assert_eq!(slow, "not yet known to n1, n2; see `staunch doctor`");
        let why = "no cache-notifier has answered within 12 s";
        let body = json!({"everywhere": false, "missing": [], "unconfirmed": why});
        let unknown = of(body.clone()).unwrap();
        assert_eq!(unknown, format!("it is not known whether all nodes have it: {why}"));
        let both = of(json!({"everywhere": false, "missing": ["n1"], "unconfirmed": why})).unwrap();
        assert!(both.starts_with("not yet known to n1; ") && both.ends_with(why), "{both}");
        let applied = Applied::read(&body, true);
        assert_eq!(as_json(&applied)["unconfirmed"], why);
    }
}
