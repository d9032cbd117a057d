//! The broker loses all its data.

use std::time::Duration;

use serde_json::json;

use super::waiting::open_bookmark;
use crate::api::Api;
use crate::workflow;
use crate::world::World;

const INSTANCES: usize = 20;

/// G4: a wiped JetStream store loses no committed instance.
pub(crate) async fn suspended_instances_go_on_after_the_broker_lost_everything_g4(
    mut world: World,
) {
    let node = world.node("all", "all").await;
    let api = Api::new(&node.url());
    api.publish(&workflow::waiting("events")).await;
    api.publish(&workflow::delayed("timers", 8)).await;
    let (mut waiting, mut timed) = (Vec::new(), Vec::new());
    for number in 0..INSTANCES {
        waiting.push(api.start("events", json!({"Number": number})).await);
        timed.push(api.start("timers", json!({"Number": number})).await);
    }
    for id in &waiting {
        open_bookmark(&api, id, "Elsa.Event").await;
    }
    for id in &timed {
        api.reaches(id, "Suspended", Duration::from_secs(20)).await;
    }

    world.cluster.brokers_mut().wipe().await.unwrap();
    world.cluster.provision().await.unwrap();

    for id in &waiting {
        let path = format!("/workflow-instances/{id}/resume");
        testkit::eventually(&format!("{id} takes a resume"), Duration::from_secs(40), async || {
            let answer = api.post(&path, &json!({"input": {}})).await;
            matches!(answer.status, 200 | 202 | 409)
        })
        .await;
        api.reaches(id, "Finished", Duration::from_secs(60)).await;
    }
    for id in &timed {
        api.reaches(id, "Finished", Duration::from_secs(60)).await;
    }
    // New instances work as before.
    let id = api.start("timers", json!({})).await;
    api.reaches(&id, "Finished", Duration::from_secs(60)).await;
    println!("G4: {} instances suspended, store wiped, all finished", 2 * INSTANCES);
}
