//! Figures of the cluster.

use serde_json::json;

use super::world::{World, waits_for};
use crate::Config;

#[tokio::test]
async fn the_cluster_shows_what_nats_and_the_database_hold() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    world.begin("waits").await;
    let nats = world.get("/elsa/api/cluster/streams").await.expect(200);
    let streams = nats["streams"].as_array().unwrap();
    let of = |name: &str| streams.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(of("STAUNCH_DEAD")["messages"], 0);
    assert_eq!(
        (&of("staunch_nodes")["messages"], &of("staunch_nodes")["isBucket"]),
        (&json!(1), &json!(true))
    );
    assert!(of("staunch_nodes")["bytes"].as_u64().unwrap() > 0);
    assert_eq!(nats["consumers"][0]["stream"], "STAUNCH_COMMANDS");
    let database = world.get("/elsa/api/cluster/database").await.expect(200);
    assert_eq!((&database["backend"], &database["node"]), (&json!("memory"), &json!("node")));
    assert!(database["latencyMs"].as_f64().unwrap() >= 0.0);
    // The twin has no statements; `store-sql` tests what a database has.
    let statements = world.get("/elsa/api/cluster/statements?orderBy=Mean").await.expect(200);
    assert_eq!(statements, json!({"node": "node", "items": [], "totalCount": 0}));
    let refused = world.get("/elsa/api/cluster/statements?orderBy=Text").await.problem(400);
    assert!(refused.contains("use Total, Mean, Max or Count"), "{refused}");
}

#[tokio::test]
async fn leases_are_listed_with_their_nodes() {
    let world = World::without_executor(Config::default()).await;
    let path = "/elsa/api/cluster/leases";
    assert_eq!(world.get(path).await.expect(200)["totalCount"], 0);
    let terms = bus::Terms { ttl: std::time::Duration::from_secs(30), ..bus::Terms::default() };
    let kv = bus::Bus::kv(&world.bus, bus::Bucket::Leases);
    let here = bus::Leases::start(std::sync::Arc::clone(&kv), "node", terms, testkit::nonces());
    let gone = bus::Leases::start(kv, "gone", terms, testkit::nonces());
    let first = here.acquire("i-1").await.unwrap();
    let second = gone.acquire("i-2").await.unwrap();
    let held = world.get(path).await.expect(200);
    assert_eq!(
        (&held["totalCount"], &held["stale"], &held["contended"]),
        (&json!(2), &json!(1), &json!(0))
    );
    let of = world.get(&format!("{path}?node=gone")).await.expect(200);
    assert_eq!(of["totalCount"], 1);
    assert_eq!(of["items"][0]["workflowInstanceId"], "i-2");
    assert_eq!(of["items"][0]["isNodeLive"], false);
    drop((first, second));
    here.close().await;
    gone.close().await;
}
