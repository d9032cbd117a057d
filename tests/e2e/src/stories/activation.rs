//! Many starts at the same time, of workflows of which one instance may run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_nats::Client;
use futures::future::join_all;
use serde_json::{Value, json};
use testkit::eventually;
use tokio::time::Instant;

use crate::api::Api;
use crate::workflow;
use crate::world::World;

const STARTS: usize = 1_000;
/// The number of different correlation ids.
const CORRELATIONS: usize = 10;

/// What became of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Started,
    Refused,
}

/// Of a thousand simultaneous starts over three nodes, by three ways in, as many instances run as
/// the activation strategy allows; the others are refused.
pub(crate) async fn of_a_thousand_simultaneous_starts_one_runs(world: World) {
    let nodes = [
        world.node("one", "all").await,
        world.node("two", "all").await,
        world.node("three", "all").await,
    ];
    let apis: Vec<Api> = nodes.iter().map(|node| Api::new(&node.url())).collect();
    let client = world.client().await;
    for (strategy, definitions, expected) in [
        ("Singleton", 1, 1),
        ("Correlation", 2, CORRELATIONS),
        ("CorrelatedSingleton", 2, 2 * CORRELATIONS),
    ] {
        let names: Vec<_> = (0..definitions).map(|n| format!("{strategy}-{n}")).collect();
        for name in &names {
            let mut definition = workflow::waiting(name);
            definition["options"] = json!({ "activationStrategyType": format!("{strategy}Strategy") });
            apis[0].publish(&definition).await;
        }
        let began = Instant::now();
        let starts = (0..STARTS).map(|number| {
            let (api, client) = (apis[number % apis.len()].clone(), client.clone());
            let name = names[number % names.len()].clone();
            async move { start(&api, &client, &name, number).await }
        });
        let mut counts = BTreeMap::new();
        for answer in join_all(starts).await {
            *counts.entry(answer).or_insert(0) += 1;
        }
        println!(
            "{strategy}: {STARTS} simultaneous starts over 3 nodes in {:.1?}: {counts:?}",
            began.elapsed()
        );
        let refused = STARTS - expected;
        let all = BTreeMap::from([(Answer::Started, expected), (Answer::Refused, refused)]);
        assert_eq!(counts, all, "{strategy}");
        only_these_run(&apis[2], strategy, &names, expected).await;
    }
}

/// Starts an instance by one of the three ways in.
async fn start(api: &Api, client: &Client, name: &str, number: usize) -> Answer {
    let correlation_id = format!("c{}", number / 2 % CORRELATIONS);
    let body = json!({ "correlationId": correlation_id });
    let way = match number % 7 % 3 {
        0 => "dispatch",
        1 => "execute",
        _ => return by_nats(client, name, &body).await,
    };
    let answer = api.post(&format!("/workflow-definitions/{name}/{way}"), &body).await;
    match (answer.status, &answer.body["type"]) {
        (200, _) => Answer::Started,
        (409, kind) if *kind == "urn:staunch:problem:not-allowed" => Answer::Refused,
        _ => panic!("{way}: {answer:?}"),
    }
}

async fn by_nats(client: &Client, name: &str, body: &Value) -> Answer {
    let subject = format!("staunch.api.start.{name}");
    let request = async_nats::Request::new()
        .payload(body.to_string().into())
        .timeout(Some(Duration::from_secs(60)));
    let answer = client.send_request(subject, request).await.unwrap();
    let outcome: Value = serde_json::from_slice(&answer.payload).unwrap();
    match outcome["refusal"].as_str() {
        None if outcome["workflowInstanceId"].is_string() => Answer::Started,
        Some("notAllowed") => Answer::Refused,
        _ => panic!("NATS: {outcome}"),
    }
}

/// This number of instances run, and no two of them share a key.
async fn only_these_run(api: &Api, strategy: &str, names: &[String], expected: usize) {
    let list = async || {
        let query = format!("definitionIds={}&pageSize=1000", names.join(","));
        let found = api.get(&format!("/workflow-instances?{query}")).await.ok();
        let all = found["items"].as_array().unwrap().clone();
        all.into_iter().filter(|one| one["status"] == "Running").collect::<Vec<_>>()
    };
    eventually("every instance that runs waits", Duration::from_secs(20), async || {
        list().await.iter().all(|one| one["subStatus"] == "Suspended")
    })
    .await;
    let running = list().await;
    let keys: BTreeSet<_> = running.iter().map(|one| key(strategy, one)).collect();
    assert_eq!((running.len(), keys.len()), (expected, expected), "{strategy}: {keys:?}");
}

/// What no two instances that are not over may share.
fn key(strategy: &str, instance: &Value) -> String {
    let (definition, correlation) = (&instance["definitionId"], &instance["correlationId"]);
    match strategy {
        "Singleton" => definition.to_string(),
        "Correlation" => correlation.to_string(),
        _ => format!("{definition} {correlation}"),
    }
}
