//! What an operator is told about a broker that is not as it should be.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::Duration;

use bus::{Error, Queue as _, Stream, Wire as _};
use bus_nats::{Inspection, NatsBus, Options, Topology, connect};
use protocol::Message;
use testkit::{nats, nats_with};

const ROLES: [&str; 4] = ["ingress", "executor", "timer", "cache-notifier"];

async fn api(bus: &NatsBus, call: &str) {
    let subject = format!("$JS.API.{call}");
    let message = Message { subject, ..Message::default() };
    bus.request(message, Duration::from_secs(5)).await.unwrap();
}

fn missing(found: &Inspection) -> Vec<&str> {
    let streams = found.streams.iter().filter(|stream| !stream.is_there);
    streams.map(|stream| stream.name.as_str()).collect()
}

#[tokio::test]
async fn everything_that_is_missing_or_differs_is_named_and_nothing_is_changed() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let empty = bus.inspect(&ROLES).await.unwrap();
    assert_eq!(missing(&empty).len(), 12, "{empty:#?}");
    assert!(!empty.consumers[0].is_there);
    assert!(empty.has_jetstream);
    assert!(!empty.wants_login && empty.refused.is_none(), "{empty:#?}");
    assert_eq!(missing(&bus.inspect(&ROLES).await.unwrap()).len(), 12, "a look creates nothing");

    bus.provision(1).await.unwrap();
    for _ in 0..2 {
        let sound = bus.inspect(&ROLES).await.unwrap();
        assert_eq!(missing(&sound), Vec::<&str>::new());
        let is_sound =
            |it: &bus_nats::StreamSeen| it.faults.is_empty() && it.differences.is_empty();
        assert!(sound.streams.iter().all(is_sound), "{sound:#?}");
        assert!(sound.streams.iter().all(|stream| stream.messages == 0), "{sound:#?}");
        let consumer = &sound.consumers[0];
        assert!(consumer.is_there && consumer.faults.is_empty() && consumer.differences.is_empty());
        assert_eq!(sound.round_trips.len(), 5);
        assert!(sound.time.is_some());
    }
    let figures = bus.figures().await.unwrap();
    let shown: Vec<_> = figures.streams.iter().map(|one| one.name.clone()).collect();
    let sound = bus.inspect(&ROLES).await.unwrap();
    let known: Vec<_> = sound.streams.iter().map(|one| one.name.clone()).collect();
    assert_eq!(shown, known, "the figures have object stores, too");
    let text = include_str!("../../../nats/topology.toml");
    let larger = text.replacen("bytes_max = 1_073_741_824", "bytes_max = 2_073_741_824", 1);
    bus.provision_as(&Topology::parse(&larger).unwrap(), &1.into()).await.unwrap();
    api(&bus, "STREAM.DELETE.STAUNCH_TASKS").await;
    api(&bus, "STREAM.DELETE.OBJ_staunch_payloads").await;
    api(&bus, "CONSUMER.DELETE.STAUNCH_COMMANDS.executor").await;
    let changed = bus.inspect(&ROLES).await.unwrap();
    assert_eq!(missing(&changed), ["STAUNCH_TASKS", "OBJ_staunch_payloads"]);
    assert!(!changed.consumers[0].is_there);
    let differences = &changed.streams[0].differences;
    assert_eq!(differences.len(), 1, "{differences:?}");
    assert!(
        differences[0].starts_with("max_bytes is 2073741824, and 1073741824"),
        "{differences:?}"
    );
    assert_eq!(bus.span(Stream::Commands).await.unwrap().last, 0);
}

#[tokio::test]
async fn subjects_that_a_login_may_not_use_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.conf");
    let configuration = r#"
        authorization { users: [{ user: "app", password: "hush", permissions: {
            publish: { deny: ["staunch.dead.>"] },
            subscribe: { deny: ["staunch.timer.>"] } } }] }"#;
    std::fs::write(&path, configuration).unwrap();
    let server = nats_with(|options| options.config = Some(path)).await;
    let url = server.url().replace("nats://", "nats://app:hush@");
    let bus = connect(Options::new(url)).await.unwrap();
    let found = bus.inspect(&ROLES).await.unwrap();
    assert!(found.wants_login);
    let refused = found.refused.unwrap();
    assert!(refused.contains("staunch.dead.") && refused.contains("staunch.timer."), "{refused}");
    let found = bus.inspect(&["cache-notifier"]).await.unwrap();
    assert!(!found.refused.unwrap_or_default().contains("staunch.timer."));
}

#[tokio::test]
async fn a_node_that_pulls_is_not_well_while_there_is_no_consumer() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    bus.provision(1).await.unwrap();
    let wait = Duration::from_millis(100);
    assert!(bus.pull(1, wait).await.unwrap().is_empty());
    api(&bus, "CONSUMER.DELETE.STAUNCH_COMMANDS.executor").await;
    bus.ping().await.unwrap();
    let pulled = bus.pull(1, wait).await;
    assert!(matches!(pulled, Err(Error::NotProvisioned(_))), "{pulled:?}");
    let error = bus.ping().await.unwrap_err().to_string();
    for part in ["the consumer executor of STAUNCH_COMMANDS", "run `staunch provision`"] {
        assert!(error.contains(part), "{error}");
    }
    bus.provision(1).await.unwrap();
    assert!(bus.pull(1, wait).await.unwrap().is_empty());
    bus.ping().await.unwrap();
}
