//! The description of the API is complete: every operation, parameter, body and answer has what a
//! reader needs.

use axum::http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};

use super::answers::{Asked, CONTRACT};
use super::world::Answer;
use crate::auth::permission::{self, Need};

/// Every operation, with its method and path.
fn operations() -> impl Iterator<Item = (String, String, &'static Value)> {
    let paths = CONTRACT.document["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation))
    })
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// Whether a schema says which members a value has.
fn is_named(schema: &Value) -> bool {
    let schema = CONTRACT.resolved(schema);
    let has_forms = schema["oneOf"].is_array() || schema["anyOf"].is_array();
    has_forms || schema["properties"].is_object() || schema.get("items").is_some_and(is_named)
}

#[test]
fn every_answer_says_what_it_is_and_every_json_answer_names_its_members() {
    for (method, path, operation) in operations() {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let response = CONTRACT.resolved(response);
            assert!(is_text(&response["description"]), "{status} of {method} {path}");
            let Some(media) = response.pointer("/content/application~1json") else { continue };
            let schema = &media["schema"];
            assert!(is_named(schema), "{status} of {method} {path}: {schema}");
        }
    }
}

#[test]
fn every_json_body_has_an_example_and_every_example_fits_its_schema() {
    let mut of_answers = 0;
    for (method, path, operation) in operations() {
        if let Some(body) = operation.get("requestBody") {
            for (kind, media) in body["content"].as_object().unwrap() {
                let has_example = media.get("example").is_some();
                assert!(has_example || kind != "application/json", "{method} {path}");
            }
        }
        let responses = operation["responses"].as_object().unwrap();
        let answers = responses.iter().map(|(status, response)| (status.as_str(), response));
        for (what, body) in answers.chain([("body", &operation["requestBody"])]) {
            let content = CONTRACT.resolved(body)["content"].as_object();
            for (kind, media) in content.into_iter().flatten() {
                let Some(example) = media.get("example") else {
                    assert!(!kind.ends_with("json"), "{what} of {method} {path} has no example");
                    continue;
                };
                let problem = &example["status"];
                let is_its_own = !kind.ends_with("problem+json")
                    || problem.as_u64().is_some_and(|status| what.parse() == Ok(status));
                assert!(is_its_own, "{what} of {method} {path} shows {problem}");
                of_answers += usize::from(what != "body");
                let flaws = CONTRACT.flaws(&media["schema"], example);
                assert!(flaws.is_empty(), "{what} of {method} {path}: {flaws:#?}");
            }
        }
    }
    assert!(of_answers > 1_000, "{of_answers} answers have an example");
}

#[test]
fn every_parameter_says_what_it_means() {
    for (method, path, operation) in operations() {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = &parameter["name"];
            assert!(is_text(&parameter["description"]), "{name} of {method} {path}");
            let media = parameter.pointer("/content/application~1json");
            let example = media.unwrap_or(parameter).get("example");
            let example = example.unwrap_or_else(|| panic!("{name} of {method} {path}"));
            let schema = media.unwrap_or(parameter).get("schema").unwrap();
            let flaws = CONTRACT.flaws(schema, example);
            assert!(flaws.is_empty(), "{name} of {method} {path}: {flaws:#?}");
        }
    }
}

/// Tools make an empty text out of a parameter that may be empty, and a list is no text.
#[test]
fn a_list_is_no_empty_text_and_no_text_of_a_uri_has_a_nul() {
    let (mut lists, mut texts) = (0, 0);
    for (method, path, operation) in operations() {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let (name, schema) = (&parameter["name"], &parameter["schema"]);
            let is_of = |kind: &str| schema["type"] == kind;
            let with_nul = match parameter["in"].as_str().unwrap() {
                "query" | "path" if is_of("array") => json!(["a\0"]),
                "query" | "path" if is_of("string") => json!("a\0"),
                _ => continue,
            };
            if is_of("array") {
                lists += 1;
                assert!(parameter.get("allowEmptyValue").is_none(), "{name} of {method} {path}");
            } else {
                texts += 1;
            }
            assert!(!CONTRACT.flaws(schema, &with_nul).is_empty(), "{name} of {method} {path}");
        }
    }
    assert!(lists > 10 && texts > 100, "{lists} lists and {texts} texts");
}

#[test]
fn every_operation_names_the_permissions_of_which_a_caller_needs_one() {
    for (method, path, operation) in operations() {
        let need = permission::of(&method.parse().unwrap(), &path);
        let permissions: Vec<&str> = match need {
            Need::Permission(permission) => vec![permission],
            Need::OneOf(permissions) | Need::Key(permissions) => permissions.to_vec(),
            Need::Public | Need::Inside => Vec::new(),
            Need::Unlisted => panic!("{method} {path} is not in the table"),
        };
        assert_eq!(operation["x-permissions"], json!(permissions), "{method} {path}");
        let is_public = operation["security"] == json!([]);
        assert_eq!(is_public, need == Need::Public, "{method} {path}");
    }
}

#[test]
fn a_change_can_be_named_and_what_reads_cannot() {
    let takes = |wanted: &str| {
        let found = operations().find(|(method, path, _)| format!("{method} {path}") == wanted);
        let (_, _, operation) = found.unwrap();
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        parameters.into_iter().any(|one| one["name"] == "Idempotency-Key")
    };
    for change in ["POST /elsa/api/workflow-instances/start", "DELETE /elsa/api/api-keys/{id}"] {
        assert!(takes(change), "{change}");
    }
    for other in [
        "GET /elsa/api/workflow-instances",
        "POST /elsa/api/workflow-instances/query",
        // Nothing of a request with a secret is kept, not even a hash.
        "POST /elsa/api/secrets",
        "POST /elsa/api/identity/login",
    ] {
        assert!(!takes(other), "{other}");
    }
}

#[test]
fn an_answer_that_is_not_in_the_document_is_found() {
    let page = || json!({"items": [], "totalCount": 0});
    let breaches = |uri: &str, status: u16, header: (&'static str, &str), body: Value| {
        let (method, uri) = (Method::GET, uri.parse().unwrap());
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "application/json".parse().unwrap());
        headers.insert(header.0, header.1.parse().unwrap());
        let answer = Answer { status: StatusCode::from_u16(status).unwrap(), headers, body };
        CONTRACT.breaches(&Asked { method, uri, headers: HeaderMap::new() }, &answer)
    };
    let (list, plain) = ("/api/workflow-instances?page=0", ("vary", "origin"));
    assert_eq!(breaches(list, 200, plain, page()), [""; 0]);
    for (uri, status, header, body, expected) in [
        (list, 200, plain, json!({"items": [], "totalCount": 0, "more": 1}), "more"),
        (list, 200, plain, json!({"items": []}), "totalCount"),
        (list, 200, plain, json!({"items": [{}], "totalCount": 1}), "definitionVersionId"),
        (list, 201, plain, page(), "201 Created"),
        (list, 200, ("x-new", "1"), page(), "x-new"),
        (list, 200, ("content-type", "text/plain"), page(), "text/plain"),
        ("/api/workflow-instances?colour=red", 200, plain, page(), "colour"),
    ] {
        let found = breaches(uri, status, header, body);
        assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:#?}");
    }
}
