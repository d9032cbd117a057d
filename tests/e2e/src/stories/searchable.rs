//! Instances are found by the values of their variables, over HTTP and by the command line.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::eventually;

use crate::api::Api;
use crate::workflow::{event, line, sequence};
use crate::world::World;

const SOON: Duration = Duration::from_secs(30);

/// Takes an amount, waits, adds one to it, and ends.
fn order() -> Value {
    let script = |id: &str, text: &str| {
        let text = json!({"typeName": "String", "expression": {"type": "JavaScript", "value": text}});
        json!({"id": id, "type": "Elsa.RunJavaScript", "version": 1, "script": text})
    };
    let take = "variables.Amount = getInput('Amount'); variables.Customer = getInput('Customer')";
    let activities = [
        script("take", take),
        event("wait", "go"),
        script("add", "variables.Amount = variables.Amount + 1"),
        line("say", "'done'"),
    ];
    let mut definition = sequence("order", &activities);
    definition["variables"] = json!([
        {"id": "a", "name": "Amount", "typeName": "Double", "searchable": "number"},
        {"id": "c", "name": "Customer", "typeName": "String", "searchable": "text"}]);
    definition
}

/// Ten orders are found by their amounts, also after their next burst; a variable that is not
/// searchable is refused with the way to make it so.
pub(crate) async fn instances_are_found_by_the_values_of_their_variables(world: World) {
    let node = world.node("all", "all").await;
    let api = Api::new(&node.url());
    api.publish(&order()).await;
    let mut ids = Vec::new();
    for number in 0..10 {
        let customer = if number % 2 == 0 { "Muster & Söhne" } else { "Doe" };
        let input = json!({"Amount": number * 10, "Customer": customer});
        ids.push(api.start("order", input).await);
    }
    for id in &ids {
        api.reaches(id, "Suspended", SOON).await;
    }
    let url = node.url();
    let listed = async |conditions: &[&str]| {
        let mut arguments = vec!["instance", "ls", "-o", "json", "--server", &url];
        for condition in conditions {
            arguments.extend(["--where", condition]);
        }
        let said = world.cluster.command(&arguments).await.unwrap();
        let answer: Value = serde_json::from_str(&said).unwrap();
        answer["totalCount"].as_u64().unwrap()
    };
    let found = async |query: &str| {
        let answer = api.get(&format!("/workflow-instances?{query}")).await.ok();
        answer["totalCount"].as_u64().unwrap()
    };
    assert_eq!(listed(&["Amount>=50"]).await, 5);
    assert_eq!(listed(&["Amount >= 50", "Customer=Doe"]).await, 3);
    assert_eq!(listed(&["Customer^=Muster &"]).await, 5);
    assert_eq!(listed(&["Amount!=50"]).await, 9);
    assert_eq!(found("variable=Amount:lt:50&variable=Customer:eq:Doe").await, 2);
    for id in &ids {
        api.post(&format!("/workflow-instances/{id}/resume"), &json!({})).await.ok();
        api.reaches(id, "Finished", SOON).await;
    }
    assert_eq!(found("variable=Amount:eq:51").await, 1);
    assert_eq!(found("variable=Amount:eq:50").await, 0);
    let wrong = ["instance", "ls", "--server", &url, "--where", "Note=x"];
    let refused = world.cluster.command(&wrong).await.unwrap_err().to_string();
    assert!(refused.contains("searchable: text"), "{refused}");
    let plain = api.get("/workflow-instances?variable=Note:eq:x").await;
    assert_eq!(plain.status, 400, "{}", plain.body);
    let removed = json!({"ids": ids[..5]});
    api.post("/bulk-actions/delete/workflow-instances", &removed).await.ok();
    eventually("what is removed is not found", SOON, async || {
        found("variable=Amount:gte:0").await == 5
    })
    .await;
}
