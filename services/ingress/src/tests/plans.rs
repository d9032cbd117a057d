//! Plans of alterations: the list of their jobs.

use serde_json::{Value, json};

use super::alterations::finished;
use super::world::{BOUND, World, waits_for};

const API: &str = "/elsa/api";

/// More jobs than one round begins: those that are left when it is stopped are never begun.
#[tokio::test]
async fn a_plan_that_is_stopped_begins_no_more_jobs() {
    const INSTANCES: usize = 200;
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    for _ in 0..INSTANCES {
        world.begin("w").await;
    }
    // Nobody carries out the commands: the first jobs stay in hand.
    world.broken.stall(true);
    let plan = json!({"id": "plan-1", "alterations": [{"type": "Cancel"}],
        "filter": {"definitionIds": ["w"]}});
    world.post(&format!("{API}/alterations/submit"), &plan).await.expect(200);
    let seen = async || world.get(&format!("{API}/alterations/plan-1")).await.expect(200);
    testkit::eventually("the first jobs are begun", BOUND, async || {
        seen().await["progress"]["running"].as_u64() > Some(0)
    })
    .await;
    let stop = format!("{API}/alterations/plan-1/stop");
    let stopped = world.post(&stop, &json!({})).await.expect(200);
    assert_eq!((&stopped["stopped"], &stopped["status"]), (&json!(true), &json!("Completed")));
    world.broken.stall(false);
    testkit::eventually("what is in hand is done", BOUND, async || {
        let progress = seen().await["progress"].clone();
        progress["running"] == 0 || progress["completed"].as_u64() > Some(0)
    })
    .await;
    let again = world.post(&stop, &json!({})).await.expect(200);
    assert_eq!(
        (&again["stopped"], &again["completedAt"]),
        (&json!(false), &stopped["completedAt"])
    );
    let left = seen().await;
    assert!(left["progress"]["pending"].as_u64() > Some(0), "{:#}", left["progress"]);
    world.post(&format!("{API}/alterations/nope/stop"), &json!({})).await.problem(404);
    let audit = world.get(&format!("{API}/audit?what=alterations.stop")).await.expect(200);
    assert_eq!((&audit["totalCount"], &audit["items"][0]["target"]), (&json!(1), &json!("plan-1")));
}

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
