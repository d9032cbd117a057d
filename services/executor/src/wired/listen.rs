//! Messages that workflows listen to.

use connectors::NatsConfig;
use model::SubStatus;
use serde_json::{Value, json};

use crate::Config;
use crate::wired::world::{Peculiar, World, line, sequence};

fn listens(can_start: bool) -> Value {
    json!({"type": "Staunch.MessageReceived", "id": "m", "canStartWorkflow": can_start,
        "subject": "orders.*", "result": {"memoryReference": {"id": "Got"}},
        "tokens": {"memoryReference": {"id": "Tokens"}}})
}

fn config() -> Config {
    let mut config = World::config();
    let subjects = [
        ("*".to_owned(), vec!["orders.>".to_owned()]),
        ("kept-out".to_owned(), vec!["public.>".to_owned()]),
    ];
    config.connectors.nats = NatsConfig { subjects: subjects.into(), ..NatsConfig::default() };
    config
}

async fn tell(world: &World, subject: &str, content: &Value) {
    let message = protocol::Message {
        subject: subject.to_owned(),
        payload: content.to_string().into_bytes(),
        ..protocol::Message::default()
    };
    bus::Wire::send(&world.bus, message).await.unwrap();
}

async fn of(world: &World, definition: &str) -> Vec<model::Instance> {
    let every = store::InstanceFilter::default();
    let page = store::Page::new(0, model::limits::PAGE_ITEMS_MAX);
    let all = store::Instances::list(&world.store, &every, page).await.unwrap();
    all.items.into_iter().filter(|one| one.definition_id.as_str() == definition).collect()
}

#[tokio::test(start_paused = true)]
async fn a_message_starts_a_workflow_once_and_resumes_those_that_wait() {
    let world = World::new();
    let outputs = json!({"outputs": [{"name": "Got"}, {"name": "Tokens"}]});
    world.publish("trigger", sequence(vec![listens(true)]), outputs.clone()).await;
    world.publish("wait", sequence(vec![listens(false), line("went on")]), outputs).await;
    let mut nodes = Vec::new();
    for name in ["a", "b", "c"] {
        let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
        nodes.push(world.peculiar(name, peculiar).await);
    }
    world.start("wait", "i", json!({})).await;
    world.until_status("i", SubStatus::Suspended).await;
    // What comes before an executor listens is heard by nobody: core messages come at most once.
    world
        .until("a message is heard", async || {
            tell(&world, "orders.probe", &json!({"id": 0})).await;
            !of(&world, "trigger").await.is_empty()
        })
        .await;
    world.until_status("i", SubStatus::Finished).await;
    for id in 1..=20 {
        tell(&world, "orders.eu", &json!({"id": id})).await;
    }
    let heard = async || {
        let mut heard = Vec::new();
        for instance in of(&world, "trigger").await {
            let output = world.record(instance.id.as_str()).await.state.output;
            if output.get("Tokens") == Some(&json!(["eu"])) {
                heard.push(output["Got"]["id"].as_u64().unwrap());
            }
        }
        heard.sort_unstable();
        heard
    };
    world.until("each starts one", async || heard().await.len() >= 20).await;
    world.until_quiet().await;
    // Of three executors one hears each message.
    assert_eq!(heard().await, (1..=20).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_subject_that_is_not_allowed_is_not_listened_to() {
    let world = World::new();
    let mut other = listens(true);
    other["subject"] = json!("payments.*");
    world.publish("other", sequence(vec![other]), json!({})).await;
    // It names a source that another definition may listen to.
    world.publish("kept-out", sequence(vec![listens(true)]), json!({})).await;
    world.publish("trigger", sequence(vec![listens(true)]), json!({})).await;
    let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
    let _node = world.peculiar("a", peculiar).await;
    world
        .until("a message is heard", async || {
            tell(&world, "payments.eu", &json!({})).await;
            tell(&world, "orders.eu", &json!({})).await;
            !of(&world, "trigger").await.is_empty()
        })
        .await;
    world.until_quiet().await;
    assert!(of(&world, "other").await.is_empty());
    assert!(of(&world, "kept-out").await.is_empty());
}
