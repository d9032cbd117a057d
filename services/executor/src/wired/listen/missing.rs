//! A stream that does not exist.

use std::time::Duration;

use serde_json::json;
use testkit::Log;
use tracing::Level;

use super::{config, got, outputs, reads, store};
use crate::wired::world::{Peculiar, World, sequence};

const CANNOT: &str = "messages cannot be listened to now";
const AGAIN: &str = "messages are listened to again";

async fn minutes(count: u64) {
    tokio::time::sleep(Duration::from_secs(60 * count)).await;
}

#[tokio::test(start_paused = true)]
async fn a_missing_stream_is_logged_when_it_begins_rarely_afterwards_and_when_it_is_there() {
    let (log, _logging) = Log::begin(Level::INFO);

    let world = World::new();
    let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
    let _node = world.peculiar("a", peculiar).await;
    world.publish("trigger", sequence(vec![reads(true, json!({}))]), outputs()).await;
    world.until("it is logged", async || log.count(CANNOT) > 0).await;
    minutes(9).await;
    assert_eq!(log.count(CANNOT), 1);
    minutes(5).await;
    assert_eq!((log.count(CANNOT), log.count(AGAIN)), (2, 0));

    for times in 1..=2 {
        world.bus.make_stream("ORDERS", "orders.>");
        store(&world, "orders.eu", r#"{"id": 1}"#).await;
        world.until("the message", async || got(&world, "trigger").await.len() >= times).await;
        assert_eq!((log.count(CANNOT), log.count(AGAIN)), (1 + times, times));
        assert!(world.bus.remove_stream("ORDERS").len() <= 1);
        if times == 1 {
            // The next time is logged at once.
            world.until("it is logged again", async || log.count(CANNOT) == 3).await;
        }
    }
}
