//! One instance that starts thousands of others and waits for all of them, while nodes are killed.

use std::time::Duration;

use model::SubStatus;
use serde_json::{Value, json};
use testkit::eventually;
use tokio::time::Instant;

use crate::callee::Callee;
use crate::ledger::Ledger;
use crate::scale::pick;
use crate::workflow::Names;
use crate::world::{World, all_roles, sql};

const PARENT: &str = "bulk-parent";
const CHILD: &str = "bulk-child";
/// Every child of this number faults.
const FAULTY: usize = 10;
const DONE_MAX: Duration = Duration::from_secs(120);

/// G1, G2, G7: kill -9 in the middle of a bulk dispatch: every child runs once, and each end counts
/// once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_dispatch_under_kills_starts_and_counts_every_child_once_g1_g2_g7() {
    let nodes = vec![all_roles("one"), all_roles("two"), all_roles("three")];
    let Some(mut world) = World::start(1, nodes).await else { return };
    let callee = Callee::start().await;
    let ledger = Ledger::new(&world, world.jetstream().await, &callee, Names::new("bulk"));
    let api = world.api(0);
    api.publish(&child()).await;
    api.publish(&parent()).await;
    let children = pick(500, 10_000);
    let began = Instant::now();
    api.start(PARENT, "the-parent", children).await.unwrap().ok();
    // One node is killed while the children are asked for, another one while they end.
    let database = world.cluster.database_url().to_owned();
    let mut killed = 0;
    for (victim, share) in [(1, 10), (2, 2)] {
        let statement = format!("select count(*) from instances where definition_id = '{CHILD}'");
        eventually("some children are there", DONE_MAX, async || {
            sql(&database, &statement).parse::<usize>().unwrap() >= children / share
        })
        .await;
        world.cluster.node_mut(victim).kill().unwrap();
        killed += 1;
    }
    world.cluster.node_mut(1).restart().await.unwrap();
    ledger.all_are(PARENT, SubStatus::Finished, 1).await;
    let faulty = children.div_ceil(FAULTY);
    ledger.all_are(CHILD, SubStatus::Finished, children - faulty).await;
    ledger.all_are(CHILD, SubStatus::Faulted, faulty).await;
    let took = began.elapsed();
    let path = "/elsa/api/workflow-instances/the-parent";
    let instance = api.send(reqwest::Method::GET, path, None, &Value::Null).await.unwrap().ok();
    let counted = &instance["workflowState"]["output"];
    assert_eq!(counted, &json!({"Good": children - faulty, "Bad": faulty}), "{instance}");
    ledger.nothing_left().await;
    println!(
        "G1 G2 G7: {killed} of 3 nodes killed in the middle of a bulk dispatch of {children}: \
         every child ran once, {} ends and {faulty} faults counted once, in {took:.1?}",
        children - faulty
    );
}

/// Ends, or faults for every tenth number.
fn child() -> Value {
    let is_faulty = format!("getInput('Item') % {FAULTY} === 0");
    json!({"definitionId": CHILD, "name": CHILD, "root": {
        "type": "Elsa.If", "id": "if", "condition": {"js": is_faulty},
        "then": {"type": "Elsa.Fault", "id": "fault", "message": "one of the faulty ones"}
    }})
}

/// Starts as many children as its input says, and counts their ends.
fn parent() -> Value {
    let count = |id: &str, name: &str| {
        json!({"type": "Elsa.SetOutput", "id": id, "outputName": name,
            "outputValue": {"js": format!("(setVariable('{name}', variables.{name} + 1), variables.{name})")}})
    };
    let number = |name: &str| json!({"id": name, "name": name, "typeName": "Int32", "value": 0});
    json!({"definitionId": PARENT, "name": PARENT,
        "inputs": [{"name": "Number", "type": "Int32"}],
        "outputs": [{"name": "Good", "type": "Int32"}, {"name": "Bad", "type": "Int32"}],
        "variables": [number("Good"), number("Bad")],
        "root": {"type": "Elsa.BulkDispatchWorkflows", "id": "bulk",
            "workflowDefinitionId": CHILD, "waitForCompletion": true,
            "items": {"js": "Array.from({length: getInput('Number')}, (_, n) => n)"},
            "childCompleted": count("good", "Good"), "childFaulted": count("bad", "Bad")}})
}
