//! The dead letters over HTTP.

use bus::Queue as _;
use model::CommandId;
use protocol::{Body, Cancel, Command, Message, header, subject};
use serde_json::json;

use super::world::{World, waits_for};
use crate::Config;

const LETTERS: &str = "/elsa/api/bookmark-queue/dead-letters";

/// A dead letter of this command.
async fn letter(world: &World, message: Message) {
    let mut dead = message;
    dead.headers.insert(header::ORIGIN.to_owned(), dead.subject.clone());
    dead.headers.insert(header::REASON.to_owned(), "tried too often".to_owned());
    dead.headers.insert(header::ATTEMPTS.to_owned(), "20".to_owned());
    if let Some(id) = dead.headers.remove(header::MESSAGE_ID) {
        dead.headers.insert(header::COMMAND_ID.to_owned(), id);
    }
    dead.subject = subject::dead(&dead.subject);
    world.bus.publish(dead).await.unwrap();
}

fn cancel(id: &str, instance_id: &str) -> Message {
    let cancel = Cancel { instance_id: instance_id.into(), ..Cancel::default() };
    Command::new(CommandId::new(id), Body::Cancel(cancel)).encode().unwrap()
}

#[tokio::test]
async fn dead_letters_are_listed_shown_replayed_and_removed() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    letter(&world, cancel("c1", &id)).await;
    letter(&world, cancel("c2", "other")).await;
    let garbled = Message { subject: "staunch.cmd.start.x".into(), ..Message::default() };
    letter(&world, Message { payload: b"{".to_vec(), ..garbled }).await;
    let row = subject::dead("row.instances.i-9");
    world.bus.publish(Message { subject: row, ..Message::default() }).await.unwrap();
    let all = world.get(LETTERS).await.expect(200);
    assert_eq!(all["totalCount"], 4);
    let ids: Vec<_> = all["items"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["4", "3", "2", "1"]);
    let page = world.post(&format!("{LETTERS}?page=1&pageSize=3"), &json!({})).await.expect(200);
    assert_eq!((&page["items"][0]["id"], &page["totalCount"]), (&json!("1"), &json!(4)));
    // A page in the query is checked although the body names another one.
    let path = format!("{LETTERS}?page=1000001");
    world.post(&path, &json!({"page": 0})).await.problem(400);
    let of = json!({"workflowInstanceId": id, "pageSize": 5});
    let of = world.post(LETTERS, &of).await.expect(200);
    assert_eq!(of["totalCount"], 1, "{of:#}");
    let shown = world.get(&format!("{LETTERS}/1")).await.expect(200);
    assert_eq!(shown, of["items"][0]);
    assert_eq!(shown["workflowInstanceId"], json!(id));
    assert_eq!(shown["originalQueueItemId"], "c1");
    assert_eq!(
        (&shown["reason"], &shown["deliveryAttempts"]),
        (&json!("tried too often"), &json!(20))
    );
    assert_eq!((&shown["canReplay"], &shown["replayedAt"]), (&json!(true), &json!(null)));
    let replayed = world.post(&format!("{LETTERS}/1/replay"), &json!({})).await.expect(200);
    assert_eq!(replayed, json!({"replayed": true, "queueItemId": "c1", "reason": null}));
    world.until(&id, "Cancelled").await;
    world.post(&format!("{LETTERS}/1/replay"), &json!({})).await.problem(404);
    let unfit = world.post(&format!("{LETTERS}/4/replay"), &json!({})).await;
    assert!(unfit.problem(409).contains("row of the database"));
    assert_eq!(world.delete(&format!("{LETTERS}/2")).await.status, 204);
    for path in ["/2", "/nope", "/18446744073709551616"] {
        world.get(&format!("{LETTERS}{path}")).await.problem(404);
        world.delete(&format!("{LETTERS}{path}")).await.problem(404);
    }
    let left = world.get(LETTERS).await.expect(200);
    assert_eq!(left["totalCount"], 2);
}

#[tokio::test]
async fn without_dead_letters_the_list_is_empty() {
    let world = World::without_executor(Config::default()).await;
    let empty = json!({"items": [], "totalCount": 0});
    assert_eq!(world.get(LETTERS).await.expect(200), empty);
    assert_eq!(world.post(LETTERS, &json!({})).await.expect(200), empty);
}
