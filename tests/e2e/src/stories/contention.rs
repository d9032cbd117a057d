//! Many callers resume the same instance at the same time.

use std::time::Duration;

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;

use super::waiting::open_bookmark;
use crate::api::Api;
use crate::workflow;
use crate::world::World;

const CALLERS: usize = 30;

/// G3: of thirty simultaneous resumes over three nodes exactly one applies.
pub(crate) async fn thirty_resumes_over_three_nodes_and_one_wins_g3(world: World) {
    let nodes = [
        world.node("one", "all").await,
        world.node("two", "all").await,
        world.node("three", "all").await,
    ];
    let apis: Vec<Api> = nodes.iter().map(|node| Api::new(&node.url())).collect();
    apis[0].publish(&workflow::waiting("contended")).await;
    for round in 0..5 {
        let id = apis[round % 3].start("contended", json!({})).await;
        open_bookmark(&apis[0], &id, "Elsa.Event").await;
        let calls = (0..CALLERS).map(|caller| {
            let (api, id) = (apis[caller % 3].clone(), id.clone());
            async move {
                let path = format!("/elsa/api/workflow-instances/{id}/resume");
                // In every other round the calls have no body.
                let body = json!({"input": {"Caller": caller}});
                let body = (round % 2 == 0).then(|| body.to_string());
                api.raw(Method::POST, &path, body).await.status
            }
        });
        let answers = join_all(calls).await;
        let won = answers.iter().filter(|status| **status == 200).count();
        // Too late, or refused because the instance still runs: in both cases not applied.
        let refused = answers.iter().filter(|status| matches!(**status, 409 | 202)).count();
        println!("G3: round {round}: {CALLERS} resumes, {won} applied, {refused} refused");
        assert_eq!((won, refused), (1, CALLERS - 1), "{answers:?}");
        apis[1].reaches(&id, "Finished", Duration::from_secs(20)).await;
        let journal = apis[2].journal(&id).await;
        let resumed = journal.iter().filter(|entry| entry["eventName"] == "Resumed").count();
        assert_eq!(resumed, 1, "{journal:#?}");
    }
}
