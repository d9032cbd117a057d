//! A stream that does not exist.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::{config, got, outputs, reads, store};
use crate::wired::world::{Peculiar, World, sequence};

const CANNOT: &str = "messages cannot be listened to now";
const AGAIN: &str = "messages are listened to again";

/// Everything that is logged, from INFO on.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn count(&self, words: &str) -> usize {
        let bytes = self.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        text.lines().filter(|line| line.contains(words)).count()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn minutes(count: u64) {
    tokio::time::sleep(Duration::from_secs(60 * count)).await;
}

#[tokio::test(start_paused = true)]
async fn a_missing_stream_is_logged_when_it_begins_rarely_afterwards_and_when_it_is_there() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    // With a second one, places in the code that threads of other tests were first at are logged.
    let _second =
        tracing::Dispatch::new(tracing_subscriber::fmt().with_writer(std::io::sink).finish());
    let _logging = tracing::subscriber::set_default(subscriber);

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
