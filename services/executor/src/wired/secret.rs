//! Secrets: calls have their values, and nothing that is kept or sent has.

use bus::Stream;
use connectors::CallEnd;
use engine::{Operation, SecretParts};
use model::{SubStatus, Timestamp};
use serde_json::{Value, json};
use store::{Instances as _, Outbox as _, Secret, Secrets as _};
use vault::{Keeper, Master};

use super::world::{Peculiar, World, event, sequence};
use crate::Config;

const URL: &str = "http://example.test/pay";
const VALUE: &str = "hunter2-is-never-kept";

fn master() -> Master {
    Master::parse(&"5a".repeat(32)).unwrap()
}

fn config() -> Config {
    Config { master: Some(master()), ..World::config() }
}

async fn keep(world: &World, name: &str, value: &str) {
    let now = Timestamp::from_millis(1);
    let about = Secret {
        name: name.to_owned(),
        id: name.to_owned(),
        display_name: name.to_owned(),
        description: None,
        type_name: "Text".to_owned(),
        scope: None,
        tags: Vec::new(),
        is_revoked: false,
        version: 1,
        created_at: now,
        updated_at: None,
        expires_at: None,
        wrapped_key: String::new(),
        ciphertext: String::new(),
    };
    let keeper = Keeper::new(std::sync::Arc::new(world.store.clone()), master());
    keeper.create(about, value).await.unwrap();
}

fn js(text: &str) -> Value {
    json!({"typeName": "String", "expression": {"type": "JavaScript", "value": text}})
}

fn secret(name: &str) -> Value {
    json!({"typeName": "String", "expression": {"type": "Secret", "value": {"name": name}}})
}

/// Everything that the database and the bus keep, as text.
async fn kept(world: &World, instance: &str) -> String {
    let loaded = world.store.load(&instance.into()).await.unwrap().unwrap();
    let record = world.record(instance).await;
    let state = serde_json::to_string(&record.state).unwrap();
    let bytes = String::from_utf8_lossy(&loaded.instance.state).into_owned();
    let journal = format!("{:?}", world.journal(instance).await);
    let rows =
        format!("{:?} {:?}", loaded, world.store.unpublished(world.now(), 1_000).await.unwrap());
    let secrets = format!("{:?}", world.store.secrets().await.unwrap());
    let mut messages = String::new();
    for stream in [Stream::Events, Stream::Tasks, Stream::Dead, Stream::Commands] {
        let found = world.bus.stored(stream);
        let texts = found.iter().map(|(_, one)| String::from_utf8_lossy(&one.payload).into_owned());
        messages.extend(texts);
    }
    [state, bytes, journal, rows, secrets, messages].join("\n")
}

#[tokio::test(start_paused = true)]
async fn calls_have_the_values_of_secrets_and_nothing_that_is_kept_has() {
    let world = World::new();
    // The other side sends the secret back.
    let content = json!({"echo": format!("Bearer {VALUE}"), "list": [VALUE]});
    world.calls.respond(URL, 200, content);
    world.calls.answer("sql", CallEnd::Done(model::Map::new()));
    keep(&world, "pay.key", VALUE).await;
    let root = sequence(vec![
        json!({"type": "SetVariable", "id": "sets", "variable": {"id": "k", "name": "Key"},
            "value": secret("PAY.key")}),
        json!({"type": "RunJavaScript", "id": "script",
            "script": "setVariable('Basic', stringToBase64('u:' + await getSecret('pay.key'))); \
                variables.Key.length"}),
        json!({"type": "SendHttpRequest", "id": "call", "url": URL, "method": "POST",
            "authorization": js("'Bearer ' + await getSecret('pay.key')"),
            "content": js("variables.Basic"),
            "expectedStatusCodes": [{"statusCode": 200, "activity":
                {"type": "WriteLine", "id": "line", "text": js("'key ' + variables.Key")}}]}),
        json!({"type": "SqlQuery", "id": "sql", "connectionString": "orders",
            "query": {"typeName": "Object", "expression":
                {"type": "Sql", "value": "select 1 where {{Variable.Key}} = {{Secret.pay.key}}"}}}),
    ]);
    let variables = json!({"variables": [
        {"id": "k", "name": "Key", "typeName": "String"},
        {"id": "b", "name": "Basic", "typeName": "String"}]});
    world.publish("pay", root, variables).await;
    let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
    let _node = world.peculiar("a", peculiar).await;
    let outcome = world.start("pay", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished), "{outcome:?}");
    let asked = world.calls.asked();
    let Operation::Http(request) = &asked[0].operation else { panic!("{asked:?}") };
    assert_eq!(request.headers["Authorization"], format!("Bearer {VALUE}"));
    let basic = "dTpodW50ZXIyLWlzLW5ldmVyLWtlcHQ=";
    assert_eq!(request.content, json!(basic), "computed values reach the call, too");
    // The client keeps these parts from other origins.
    let secret = SecretParts { headers: ["Authorization".to_owned()].into(), body: true };
    assert_eq!(request.secret, secret);
    let Operation::Sql(statement) = &asked[1].operation else { panic!("{asked:?}") };
    assert_eq!(statement.values, [json!(VALUE), json!(VALUE)]);
    world.until_quiet().await;
    let kept = kept(&world, "i").await;
    for value in [VALUE, basic] {
        let found = kept.find(value).map(|at| kept[at.saturating_sub(200)..at + 40].to_owned());
        assert_eq!(found, None, "{value}");
    }
    assert!(kept.contains("{sealed:") && kept.contains("***"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn what_a_script_says_after_it_has_read_a_secret_is_not_kept() {
    let world = World::new();
    keep(&world, "pay.key", VALUE).await;
    let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
    let _node = world.peculiar("a", peculiar).await;
    for (id, script, reason) in [
        ("throws", "throw new Error(await getSecret('pay.key'))", "message is not kept"),
        ("names", "({[await getSecret('pay.key')]: 1})", "name of a member"),
        ("correlates", "setCorrelationId(await getSecret('pay.key')); 1", "correlation id"),
        ("misses", "await getSecret('nobody')", "there is no secret \"nobody\""),
    ] {
        let root = json!({"type": "RunJavaScript", "id": "script", "script": script});
        world.publish(id, root, json!({})).await;
        let outcome = world.start(id, id, json!({})).await;
        assert_eq!(outcome.sub_status, Some(SubStatus::Faulted), "{id}");
        let kept = kept(&world, id).await;
        assert!(!kept.contains(VALUE), "{id}");
        assert!(kept.replace('\\', "").contains(reason), "{id}: {kept}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_was_just_made_is_there_for_the_next_run() {
    let world = World::new();
    let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
    let _node = world.peculiar("a", peculiar).await;
    let root = json!({"type": "RunJavaScript", "id": "script",
        "script": "(await getSecret('pay.key')).length"});
    world.publish("pay", root, json!({})).await;
    let outcome = world.start("pay", "before", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Faulted), "{outcome:?}");
    keep(&world, "pay.key", VALUE).await;
    let outcome = world.start("pay", "after", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished), "{outcome:?}");
    // The run that did not find it has left nothing.
    let journal = format!("{:?}", world.journal("after").await);
    assert!(!journal.contains("there is no secret"), "{journal}");
}

#[tokio::test(start_paused = true)]
async fn without_a_master_key_no_secret_is_read() {
    let world = World::new();
    let root = json!({"type": "RunJavaScript", "id": "script", "script": "getSecret('pay.key')"});
    world.publish("pay", root, json!({})).await;
    let _node = world.node("a").await;
    let outcome = world.start("pay", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Faulted));
    assert!(kept(&world, "i").await.contains("secrets-key-file"));
}

#[tokio::test(start_paused = true)]
async fn with_a_wrong_master_key_only_what_uses_secrets_faults() {
    let world = World::new();
    let wrong = Master::parse(&"6b".repeat(32)).unwrap();
    let config = Config { master: Some(wrong), ..World::config() };
    let _node = world.peculiar("a", Peculiar { config: Some(config), ..Peculiar::default() }).await;
    for (id, script, status) in [
        ("before", "1 + 1", SubStatus::Finished),
        ("uses", "await getSecret('pay.key')", SubStatus::Faulted),
        ("plain", "1 + 1", SubStatus::Finished),
    ] {
        if id == "uses" {
            // With the secret there, the node would not have started; it looks once a second.
            keep(&world, "pay.key", VALUE).await;
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        }
        let root = json!({"type": "RunJavaScript", "id": "script", "script": script});
        world.publish(id, root, json!({})).await;
        assert_eq!(world.start(id, id, json!({})).await.sub_status, Some(status), "{id}");
    }
    assert!(kept(&world, "uses").await.contains("no master key decrypts"));
}

/// An instance seals a secret, and waits; then it sends what an event brings, and its own key.
async fn waiting_with_a_secret(world: &World) {
    let root = sequence(vec![
        json!({"type": "SetVariable", "id": "sets", "variable": {"id": "k", "name": "Key"},
            "value": secret("pay.key")}),
        json!({"type": "Event", "id": "wait", "eventName": "go"}),
        json!({"type": "SendHttpRequest", "id": "call", "url": URL, "method": "POST",
            "authorization": js("'Bearer ' + variables.Key"),
            "content": js("getOutputFrom('wait')")}),
    ]);
    let variables = json!({"variables": [{"id": "k", "name": "Key", "typeName": "String"}]});
    world.publish("waits", root, variables).await;
    let outcome = world.start("waits", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Suspended), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_sealed_text_from_outside_is_not_opened() {
    let world = World::new();
    world.calls.respond(URL, 200, json!(null));
    keep(&world, "pay.key", VALUE).await;
    let _node =
        world.peculiar("a", Peculiar { config: Some(config()), ..Peculiar::default() }).await;
    waiting_with_a_secret(&world).await;
    // Whoever reads the instance sends back what it has sealed.
    let state = serde_json::to_string(&world.record("i").await.state).unwrap();
    let begin = state.find("{sealed:").unwrap();
    let sealed = &state[begin..=begin + state[begin..].find('}').unwrap()];
    world.send(&event("e", "go", json!(sealed))).await;
    world.until_status("i", SubStatus::Finished).await;
    let asked = world.calls.asked();
    let Operation::Http(request) = &asked[0].operation else { panic!("{asked:?}") };
    assert_eq!(request.headers["Authorization"], format!("Bearer {VALUE}"), "its own is opened");
    let text = request.content.to_string();
    assert!(text.contains("sealed elsewhere") && !text.contains(VALUE), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_call_with_a_secret_is_not_made_by_a_node_without_the_key() {
    let world = World::new();
    world.calls.respond(URL, 200, json!(null));
    keep(&world, "pay.key", VALUE).await;
    let node =
        world.peculiar("a", Peculiar { config: Some(config()), ..Peculiar::default() }).await;
    waiting_with_a_secret(&world).await;
    node.stop().await;
    // With the secret there, the other one would not start.
    for row in world.store.secrets().await.unwrap() {
        assert!(world.store.delete_secret(&row.name).await.unwrap());
    }
    let _without = world.node("b").await;
    world.send(&event("e", "go", json!(1))).await;
    world.until_status("i", SubStatus::Faulted).await;
    assert!(world.calls.asked().is_empty());
    assert!(kept(&world, "i").await.contains("this node has no master key"));
}
