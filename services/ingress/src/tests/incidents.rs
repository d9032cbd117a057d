//! Incidents by cause.

use serde_json::{Value, json};

use super::world::World;

const GROUPS: &str = "/elsa/api/incidents/groups";

/// A workflow that fails with this message, which has the id of its order.
fn fails(message: &str) -> Value {
    json!({"type": "Elsa.Fault", "id": "fails", "code": "Declined", "message": {
        "typeName": "String",
        "expression": {"type": "JavaScript", "value": format!("`{message} ${{getInput('Order')}}`")}}})
}

impl World {
    async fn fail(&self, definition_id: &str, order: &str) -> String {
        let start = json!({"definitionId": definition_id, "input": {"Order": order}});
        let started = self.post("/elsa/api/workflow-instances", &start).await.expect(200);
        let id = started["workflowInstanceId"].as_str().unwrap().to_owned();
        self.until(&id, "Faulted").await;
        id
    }
}

#[tokio::test]
async fn incidents_are_grouped_by_their_cause() {
    let world = World::new().await;
    let empty = world.get(GROUPS).await.expect(200);
    assert_eq!((&empty["totalCount"], &empty["isCutShort"]), (&json!(0), &json!(false)));
    world.publish("card", fails("card declined for order")).await;
    world.publish("stock", fails("out of stock:")).await;
    let first = world.fail("card", "1001").await;
    world.fail("card", "order-17").await;
    let newest = world.fail("card", "1003").await;
    world.fail("stock", "7").await;
    let all = world.get(GROUPS).await.expect(200);
    assert_eq!((&all["totalCount"], &all["instancesRead"]), (&json!(2), &json!(4)), "{all:#}");
    let group = &all["items"][0];
    assert_eq!(group["cause"], "card declined for order #");
    assert_eq!(group["message"], "card declined for order 1003");
    assert_eq!((&group["count"], &group["instanceCount"]), (&json!(3), &json!(3)));
    assert_eq!((&group["definitionId"], &group["activityId"]), (&json!("card"), &json!("fails")));
    assert_eq!(
        (&group["activityType"], &group["code"]),
        (&json!("Elsa.Fault"), &json!("Declined"))
    );
    assert_eq!(group["newestInstanceId"], json!(newest));
    assert_eq!(group["workflowInstanceIds"].as_array().unwrap().len(), 3);
    assert!(group["firstAt"].as_str().unwrap() <= group["lastAt"].as_str().unwrap());
    let parts: Vec<u64> = serde_json::from_value(group["lastHourParts"].clone()).unwrap();
    assert_eq!((parts.len(), parts[10] + parts[11]), (12, 3), "{parts:?}");
    let second = world.get(&format!("{GROUPS}?page=1&pageSize=1")).await.expect(200);
    assert_eq!(second["items"][0]["definitionId"], "stock");
    let of = world.get(&format!("{GROUPS}?definitionId=stock")).await.expect(200);
    assert_eq!((&of["totalCount"], &of["instancesWithIncidents"]), (&json!(1), &json!(1)));
    let later = world.get(&format!("{GROUPS}?since=2999-01-01T00:00:00Z")).await.expect(200);
    assert_eq!(later["totalCount"], 0);
    world.get(&format!("{GROUPS}?since=soon")).await.problem(400);
    // An incident that is resolved is none any more: the activity runs again, and fails anew.
    world.delete(&format!("/elsa/api/workflow-instances/{first}")).await;
    let left = world.get(GROUPS).await.expect(200);
    assert_eq!(left["items"][0]["count"], 2);
    assert_eq!(left["items"][0]["id"], group["id"]);
}
