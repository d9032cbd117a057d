//! The query of a list: what the document names is read, and anything else is refused.

use serde_json::Value;

use super::answers::CONTRACT;
use super::world::World;
use crate::Config;

/// Lists of what a server can do, and what is read by its id: clients of Elsa send more with these.
const OPEN: [&str; 3] = ["/descriptors/", "/features/", "/many-by-id"];
/// Lists whose answers call their items otherwise, or that are no whole answer, and counts.
const OTHERS: [&str; 8] = [
    "GET /elsa/api/activity-executions/count",
    "GET /elsa/api/alterations/{id}",
    "GET /elsa/api/identity/applications",
    "GET /elsa/api/identity/roles",
    "GET /elsa/api/identity/users",
    "GET /elsa/api/workflow-instances/counts",
    "POST /elsa/api/bookmark-queue/dead-letters",
    "POST /elsa/api/workflow-instances/{id}/journal",
];

/// Whether an answer is an array, or has its items in one.
fn is_list(operation: &Value) -> bool {
    let answer = operation.pointer("/responses/200/content/application~1json/schema");
    let Some(schema) = answer.map(|schema| CONTRACT.resolved(schema)) else { return false };
    schema["type"] == "array" || schema["properties"]["items"].is_object()
}

/// The lists, with their methods, their paths and the names that their queries may have.
fn lists() -> Vec<(String, String, Vec<String>)> {
    let paths = CONTRACT.document["paths"].as_object().unwrap();
    let mut found = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let method = method.to_uppercase();
            let is_open = OPEN.iter().any(|part| path.contains(part));
            let is_other = OTHERS.contains(&format!("{method} {path}").as_str());
            if is_other || (method == "GET" && is_list(operation) && !is_open) {
                let all = operation["parameters"].as_array().into_iter().flatten();
                let named = all.filter(|one| one["in"] == "query");
                let names = named.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
                found.push((method, path.replace(['{', '}'], ""), names));
            }
        }
    }
    found
}

#[tokio::test]
async fn a_list_refuses_what_its_query_may_not_have_and_reads_what_it_may() {
    let world = World::without_executor(Config::default()).await;
    let lists = lists();
    assert!(lists.len() > 25, "{lists:#?}");
    let send = async |method: &str, path: &str, query: &str| {
        let path = format!("{path}?{query}");
        match method {
            "GET" => world.get(&path).await,
            _ => world.post(&path, &serde_json::json!({})).await,
        }
    };
    for (method, path, names) in lists {
        let refused = send(&method, &path, "wohs=a").await.problem(400);
        let expected = "there is no query parameter \"wohs\" here: use ";
        assert!(refused.starts_with(expected), "{method} {path}: {refused}");
        for name in names {
            assert!(refused.contains(&name), "{name} of {method} {path}: {refused}");
            let answer = send(&method, &path, &format!("{name}=1")).await;
            let detail = answer.body["detail"].as_str().unwrap_or_default();
            assert!(!detail.contains("no query parameter"), "{method} {path}: {detail}");
        }
    }
}
