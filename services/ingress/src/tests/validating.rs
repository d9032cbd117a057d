//! One validation of the cluster at a time.

use super::world::{BOUND, World};
use crate::validating::Validating;
use crate::{App, Config, Context};

async fn refused(app: &App, by: &str) {
    let problem = Validating::begin(app).await.err().unwrap();
    assert_eq!(problem.status().as_u16(), 409);
    let detail = problem.detail();
    assert!(detail.starts_with(&format!("node {by} makes a validation already")), "{detail}");
}

#[tokio::test]
async fn a_cluster_makes_one_validation_at_a_time() {
    let world = World::new().await;
    let presence = world.join("other", "ingress").await;
    let other = Context { presence, ..world.context() };
    let other = App::start(other, Config::default()).await.unwrap();
    testkit::eventually("the nodes know each other", BOUND, async || {
        [&world.app, &other].iter().all(|app| app.cx.presence.live().len() == 2)
    })
    .await;
    let first = Validating::begin(&world.app).await.unwrap();
    refused(&other, "node").await;
    first.end().await;
    drop(Validating::begin(&other).await.unwrap());
    refused(&world.app, "other").await;
    // The node itself knows that what it has not given back is over.
    Validating::begin(&other).await.unwrap().end().await;
    drop(Validating::begin(&other).await.unwrap());
    // So do the others once the node is gone.
    other.cx.presence.leave().await;
    testkit::eventually("the node is gone", BOUND, async || {
        world.app.cx.presence.live().len() == 1
    })
    .await;
    Validating::begin(&world.app).await.unwrap().end().await;
}
