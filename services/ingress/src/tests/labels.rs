//! Labels of definitions over the API.

use serde_json::{Value, json};

use super::world::{World, json_request, writes_line};
use crate::{Auth, Config};

const API: &str = "/elsa/api";
const KEY: &str = "a-bootstrap-key-of-length";

async fn made(world: &World, name: &str) -> String {
    let body = json!({"name": name, "color": "#1a7f37"});
    let label = world.post(&format!("{API}/labels"), &body).await.expect(201);
    label["id"].as_str().unwrap().to_owned()
}

fn names(listed: &Value) -> Vec<&str> {
    listed["items"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_label_is_made_changed_and_removed_as_elsa_does() {
    let world = World::without_executor(Config::default()).await;
    let all = format!("{API}/labels");
    let body = json!({"name": " Shop ", "description": "Of the shop", "color": "#1a7f37"});
    let answer = world.post(&all, &body).await;
    let location = answer.header("location").map(str::to_owned).unwrap();
    let shop = answer.expect(201);
    let id = shop["id"].as_str().unwrap();
    assert_eq!(location, format!("{all}/{id}"));
    let expected = json!({"id": id, "name": "Shop", "normalizedName": "shop",
        "description": "Of the shop", "color": "#1a7f37"});
    assert_eq!(shop, expected);
    let one = format!("{all}/{id}");
    assert_eq!(world.get(&one).await.expect(200), expected);

    made(&world, "archive").await;
    let listed = world.get(&all).await.expect(200);
    assert_eq!((names(&listed), &listed["totalCount"]), (vec!["archive", "Shop"], &json!(2)));
    let second = world.get(&format!("{all}?Page=1&PageSize=1")).await.expect(200);
    assert_eq!((names(&second), &second["totalCount"]), (vec!["Shop"], &json!(2)));

    let taken = world.post(&all, &json!({"name": "SHOP"})).await.problem(409);
    assert!(taken.contains("use another name"), "{taken}");
    let taken = world.post(&one, &json!({"name": "Archive"})).await.problem(409);
    assert!(taken.contains("use another name"), "{taken}");
    let changed = world.post(&one, &json!({"name": "SHOP", "color": ""})).await.expect(200);
    let expected = json!({"id": id, "name": "SHOP", "normalizedName": "shop",
        "description": null, "color": null});
    assert_eq!(changed, expected);

    let long = "x".repeat(101);
    for (body, part) in [
        (json!({}), "name is not that of a label"),
        (json!({"name": long}), "1 to 100 characters"),
        (json!({"name": "a\nb"}), "a character that nobody sees"),
        (json!({"name": "\u{200b}Shop"}), "a character that nobody sees"),
        (json!({"name": "Sh\u{202e}op"}), "a character that nobody sees"),
        (json!({"name": "a", "color": "green"}), "use #rrggbb"),
        (json!({"name": "a", "description": "x".repeat(501)}), "use at most 500"),
    ] {
        let refused = world.post(&all, &body).await.problem(400);
        assert!(refused.contains(part), "{refused}");
        let refused = world.post(&one, &body).await.problem(400);
        assert!(refused.contains(part), "{refused}");
    }

    world.send(json_request("DELETE", &one, &[], &json!({}))).await.expect(204);
    for method in ["GET", "POST", "DELETE"] {
        let request = json_request(method, &one, &[], &json!({"name": "Shop"}));
        let gone = world.send(request).await.problem(404);
        assert!(gone.contains("labels are named by their id"), "{method}: {gone}");
    }
    let audit = world.get(&format!("{API}/audit?pageSize=50&target={id}")).await.expect(200);
    let what = audit["items"].as_array().unwrap().iter().map(|entry| entry["what"].clone());
    assert_eq!(what.collect::<Vec<_>>(), ["label.delete", "label.update", "label.create"]);
    let feature = format!("{API}/features/installed/Elsa.Labels.ShellFeatures.Labels");
    world.get(&feature).await.expect(200);
}

#[tokio::test]
async fn versions_have_labels_and_are_found_by_them() {
    let world = World::new().await;
    let (shop, billing) = (made(&world, "Shop").await, made(&world, "Billing").await);
    let first = world.publish("order", writes_line()).await;
    world.publish("invoice", writes_line()).await;
    let first = first["workflowDefinition"]["id"].as_str().unwrap().to_owned();
    let of = |version: &str| format!("{API}/workflow-definitions/{version}/labels");
    assert_eq!(world.get(&of(&first)).await.expect(200), json!({"items": []}));

    let body = json!({"labelIds": [shop, "no-such-label", billing, shop]});
    let kept = world.post(&of(&first), &body).await.expect(200);
    let mut both = vec![shop.clone(), billing.clone()];
    both.sort_unstable();
    assert_eq!(kept, json!({"items": both}));
    assert_eq!(world.get(&of(&first)).await.expect(200), kept);
    let body = json!({"labelIds": [billing]});
    world.post(&of(&first), &body).await.expect(200);

    // A version that is made after it takes its labels along.
    let changed = json!({"definitionId": "order", "name": "order", "root": writes_line()});
    let draft = world.post(&format!("{API}/workflow-definitions/import"), &changed).await;
    let draft = draft.expect(200)["id"].as_str().unwrap().to_owned();
    assert_ne!(draft, first);
    assert_eq!(world.get(&of(&draft)).await.expect(200), json!({"items": [billing]}));
    world.post(&of(&draft), &json!({"labelIds": [shop]})).await.expect(200);

    for (query, found) in [
        (format!("versionOptions=Latest&label={shop}"), vec![&draft]),
        (format!("versionOptions=Published&label={billing}"), vec![&first]),
        (format!("label={shop}&label={billing}&orderBy=Version"), vec![&draft, &first]),
        ("label=no-such-label".to_owned(), vec![]),
    ] {
        let listed = world.get(&format!("{API}/workflow-definitions?{query}")).await.expect(200);
        let ids = listed["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap());
        assert_eq!(ids.collect::<Vec<_>>(), found, "{query}");
        assert_eq!(listed["totalCount"], found.len(), "{query}");
    }
    let listed = world.get(&format!("{API}/workflow-definitions?versionOptions=Latest")).await;
    let listed = listed.expect(200);
    let labels = listed["items"].as_array().unwrap().iter().map(|one| one["labels"].clone());
    assert_eq!(labels.collect::<Vec<_>>(), [json!([]), json!([shop])], "{listed:#}");
    let versions = world.get(&format!("{API}/workflow-definitions/order/versions")).await;
    let versions = versions.expect(200);
    assert_eq!(versions[0]["labels"], json!([shop]));
    assert_eq!(versions[1]["labels"], json!([billing]));

    let many: Vec<_> = (0..101).map(|number| format!("l{number}")).collect();
    let refused = world.post(&of(&first), &json!({"labelIds": many})).await.problem(400);
    assert!(refused.contains("at most 100 labels"), "{refused}");
    let none = world.post(&of("no-such-version"), &json!({"labelIds": []})).await.problem(404);
    assert!(none.contains("no workflow definition version"), "{none}");
    world.get(&of("no-such-version")).await.problem(404);

    let audit = world.get(&format!("{API}/audit?what=definition.label")).await.expect(200);
    let newest = &audit["items"][0];
    assert_eq!(
        (&newest["target"], &newest["details"]["labels"]),
        (&json!("order"), &json!([shop]))
    );
}

#[tokio::test]
async fn who_may_not_see_the_labels_of_versions_does_not_get_them_in_lists() {
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..Config::default() };
    let world = World::without_executor(config).await;
    let send = async |method: &str, path: &str, key: &str, body: &Value| {
        let key = format!("ApiKey {key}");
        let headers = [("authorization", key.as_str())];
        world.send(json_request(method, &format!("{API}{path}"), &headers, body)).await
    };
    let none = json!({});
    let model = json!({"definitionId": "order", "root": writes_line()});
    let model = json!({"model": model, "publish": false});
    send("POST", "/workflow-definitions", KEY, &model).await.expect(201);
    let body = json!({"name": "reader", "permissions": ["read:workflow-definitions"]});
    let reader = send("POST", "/api-keys", KEY, &body).await.expect(201);
    let reader = reader["key"].as_str().unwrap();
    for path in ["/workflow-definitions", "/workflow-definitions/order/versions"] {
        let seen = send("GET", path, reader, &none).await.expect(200);
        assert!(!seen.to_string().contains("\"labels\""), "{seen}");
        let all = send("GET", path, KEY, &none).await.expect(200);
        assert!(all.to_string().contains("\"labels\""), "{all}");
    }
    for (method, path) in [
        ("GET", "/labels"),
        ("POST", "/labels"),
        ("POST", "/labels/l"),
        ("DELETE", "/labels/l"),
        ("GET", "/workflow-definitions/v/labels"),
        ("POST", "/workflow-definitions/v/labels"),
    ] {
        send(method, path, reader, &none).await.problem(403);
    }
}
