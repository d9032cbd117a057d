//! The table of Elsa's routes in docs/elsa-api.md against the router.

use std::collections::BTreeMap;

use axum::http::Method;

use crate::auth::permission::{self, MOUNTS, Need};

const TABLE: &str = include_str!("../../../../docs/elsa-api.md");

/// A row: the methods and the path of a route of Elsa, its permission here, and what it is here.
struct Row {
    methods: Vec<String>,
    path: String,
    permission: String,
    status: String,
}

fn rows() -> Vec<Row> {
    let lines = TABLE.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    let rows = lines.filter_map(|line| {
        let cells: Vec<_> = line.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        let [methods, path, permission, status, ..] = cells.as_slice() else { return None };
        path.starts_with('/').then(|| Row {
            methods: methods.split(", ").map(str::to_owned).collect(),
            path: path.clone(),
            permission: permission.clone(),
            status: status.clone(),
        })
    });
    rows.collect()
}

/// A path with parameters that have no names, since those are no part of a request.
fn unnamed(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

fn written(need: Need) -> String {
    match need {
        Need::Public => "none".to_owned(),
        Need::Key(_) => "any".to_owned(),
        Need::Permission(name) => name.to_owned(),
        Need::OneOf(names) => names.join(" or "),
        Need::Inside | Need::Unlisted => format!("{need:?}"),
    }
}

#[test]
fn the_table_of_elsas_routes_is_true() {
    let mut mounted: BTreeMap<(String, String), String> = BTreeMap::new();
    for (method, path) in permission::listed() {
        let need = permission::of(&Method::from_bytes(method.as_bytes()).unwrap(), &path);
        let below = path.strip_prefix(MOUNTS[0]).unwrap_or(&path);
        mounted.insert((method, unnamed(below)), written(need));
    }
    let rows = rows();
    assert!(rows.len() > 100, "the table has {} rows", rows.len());
    for row in &rows {
        for method in &row.methods {
            let found = mounted.get(&(method.clone(), unnamed(&row.path)));
            let route = format!("{method} {}", row.path);
            match row.status.as_str() {
                "same" | "differs" => {
                    assert_eq!(found, Some(&row.permission), "{route}");
                }
                "none" => assert_eq!(found, None, "{route} is here: say so in docs/elsa-api.md"),
                other => panic!("{route} is {other:?}: write same, differs or none"),
            }
        }
    }
}
