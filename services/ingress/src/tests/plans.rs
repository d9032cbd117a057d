//! Plans of alterations: the list of their jobs.

use serde_json::{Value, json};

use super::alterations::finished;
use super::world::{World, waits_for};

const API: &str = "/elsa/api";

#[tokio::test]
async fn the_jobs_of_a_plan_are_listed_by_their_state() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let (first, second) = (world.begin("w").await, world.begin("w").await);
    world.post(&format!("{API}/workflow-instances/{first}/resume"), &json!({})).await.expect(200);
    world.until(&first, "Finished").await;
    let plan = json!({"id": "plan-1", "alterations": [{"type": "Cancel"}],
        "filter": {"definitionIds": ["w"]}});
    world.post(&format!("{API}/alterations/submit"), &plan).await.expect(200);
    let progress = finished(&world, "plan-1").await["progress"].clone();
    let jobs = |listed: &Value| -> Vec<String> {
        let jobs = listed["jobs"].as_array().unwrap().iter();
        jobs.map(|job| job["workflowInstanceId"].as_str().unwrap().to_owned()).collect()
    };
    let path = format!("{API}/alterations/plan-1");
    for (query, expected) in [
        ("status=Failed", vec![&first]),
        ("status=failed&page=0&pageSize=1", vec![&first]),
        ("status=Completed", vec![&second]),
        ("status=Running", vec![]),
        ("status=Pending", vec![]),
    ] {
        let listed = world.get(&format!("{path}?{query}")).await.expect(200);
        assert_eq!(jobs(&listed).iter().collect::<Vec<_>>(), expected, "{query}: {listed:#}");
        assert_eq!(listed["totalCount"], expected.len(), "{query}");
        assert_eq!(listed["progress"], progress, "{query}: of all jobs");
    }
    let all = world.get(&format!("{path}?status=")).await.expect(200);
    assert_eq!(all["totalCount"], 2, "{all:#}");
    let refused = world.get(&format!("{path}?status=Faulted")).await.problem(400);
    let expected = "status is \"Faulted\": use one of Pending, Running, Completed, Failed";
    assert!(refused.contains(expected), "{refused}");
}
