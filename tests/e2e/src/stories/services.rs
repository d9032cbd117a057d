//! Each service as a process of its own binary.

use std::time::Duration;

use serde_json::json;

use super::waiting::open_bookmark;
use crate::api::Api;
use crate::workflow;
use crate::world::World;

/// The four binaries form one cluster.
pub(crate) async fn separate_binaries_make_a_cluster(world: World) {
    let ingress = world.service("ingress").await;
    let _executor = world.service("executor").await;
    let _timer = world.service("timer").await;
    let _notifier = world.service("cache-notifier").await;
    let api = Api::new(&ingress.url());
    let activities = [workflow::delay("pause", 1), workflow::event("wait", "go")];
    let answer = api.publish(&workflow::sequence("apart", &activities)).await;
    assert_eq!(answer["everywhere"], true, "{answer}");
    let id = api.start("apart", json!({})).await;
    let bookmark = open_bookmark(&api, &id, "Elsa.Event").await;
    let body = json!({"bookmarkId": bookmark, "input": {}});
    api.post(&format!("/workflow-instances/{id}/resume"), &body).await.ok();
    api.reaches(&id, "Finished", Duration::from_secs(20)).await;
}
