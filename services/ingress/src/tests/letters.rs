//! The dead letters over HTTP.

use bus::Queue as _;
use model::CommandId;
use protocol::{Body, Cancel, Command, ContentType, Message, header, subject};
use serde_json::{Value, json};

use super::world::{World, json_request, waits_for};
use crate::{Auth, Config};

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
    let taken = subject::dead("staunch.message.orders.eu");
    world.bus.publish(Message { subject: taken, ..Message::default() }).await.unwrap();
    let unfit = world.post(&format!("{LETTERS}/5/replay"), &json!({})).await.problem(409);
    assert!(unfit.contains("dead letter 5 is a message on "), "{unfit}");
    assert_eq!(world.delete(&format!("{LETTERS}/5")).await.status, 204);
    assert_eq!(world.delete(&format!("{LETTERS}/2")).await.status, 204);
    for path in ["/2", "/nope", "/18446744073709551616"] {
        world.get(&format!("{LETTERS}{path}")).await.problem(404);
        world.delete(&format!("{LETTERS}{path}")).await.problem(404);
    }
    let left = world.get(LETTERS).await.expect(200);
    assert_eq!(left["totalCount"], 2);
}

#[tokio::test]
async fn a_letter_on_the_subject_of_no_command_cannot_be_replayed() {
    let world = World::without_executor(Config::default()).await;
    let nope = Message { subject: "staunch.cmd.nope.x".into(), ..Message::default() };
    letter(&world, Message { payload: b"{}".to_vec(), ..nope }).await;
    let garbled = Message { subject: "staunch.cmd.start.x".into(), ..Message::default() };
    letter(&world, Message { payload: b"{".to_vec(), ..garbled }).await;
    for (number, can_replay) in [(1, false), (2, true)] {
        for path in [format!("{LETTERS}/{number}"), format!("{LETTERS}/{number}/body")] {
            assert_eq!(world.get(&path).await.expect(200)["canReplay"], can_replay, "{path}");
        }
    }
    for body in [json!({}), json!({"body": {}})] {
        let refused = world.post(&format!("{LETTERS}/1/replay"), &body).await.problem(409);
        let expected = "dead letter 1 is a message on staunch.cmd.nope.x, which is the subject of \
                        no command";
        assert!(refused.starts_with(expected), "{refused}");
    }
    world.get(&format!("{LETTERS}/1")).await.expect(200);
}

#[tokio::test]
async fn without_dead_letters_the_list_is_empty() {
    let world = World::without_executor(Config::default()).await;
    let empty = json!({"items": [], "totalCount": 0});
    assert_eq!(world.get(LETTERS).await.expect(200), empty);
    assert_eq!(world.post(LETTERS, &json!({})).await.expect(200), empty);
}

#[tokio::test]
async fn a_letter_is_replayed_with_another_body() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let mut packed = cancel("c1", &id);
    assert_eq!(packed.content_type(), ContentType::MessagePack);
    packed.payload =
        protocol::encode_body(ContentType::MessagePack, &json!({"reason": 7})).unwrap();
    letter(&world, packed).await;
    let garbled = Message { subject: "staunch.cmd.cancel.x".into(), ..Message::default() };
    letter(&world, Message { payload: b"{ oh".to_vec(), ..garbled }).await;
    let body = world.get(&format!("{LETTERS}/1/body")).await.expect(200);
    assert_eq!(body["body"], json!({"reason": 7}));
    assert_eq!((&body["isReadable"], &body["text"]), (&json!(true), &json!(null)));
    assert_eq!(body["contentType"], "application/msgpack");
    let unread = world.get(&format!("{LETTERS}/2/body")).await.expect(200);
    assert_eq!((&unread["isReadable"], &unread["text"]), (&json!(false), &json!("{ oh")));
    assert_eq!((&unread["body"], &unread["bytes"]), (&json!(null), &json!(4)));
    world.get(&format!("{LETTERS}/9/body")).await.problem(404);
    let replay = format!("{LETTERS}/1/replay");
    let wrong = world.post(&replay, &json!({"body": {"reason": [1]}})).await.problem(400);
    assert!(wrong.contains("staunch.cmd.cancel."), "{wrong}");
    let mistyped = json!({"bdy": {"reason": "ordered twice"}});
    let wrong = world.post(&replay, &mistyped).await.problem(400);
    assert!(wrong.contains("unknown field `bdy`"), "{wrong}");
    world.get(&format!("{LETTERS}/1")).await.expect(200);
    world.post(&replay, &json!({"body": {"reason": "ordered twice"}})).await.expect(200);
    world.until(&id, "Cancelled").await;
    world.get(&format!("{LETTERS}/1")).await.problem(404);
    let audit = world.get("/elsa/api/audit").await.expect(200).to_string();
    assert!(audit.contains("\"isEdited\":true"), "{audit}");
}

#[tokio::test]
async fn an_edited_letter_needs_the_permission_of_its_command() {
    const KEY: &str = "a-bootstrap-key-of-length";
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..Config::default() };
    let world = World::with(config).await;
    letter(&world, cancel("c1", "i-1")).await;
    let send = async |path: &str, key: &str, body: &Value| {
        let key = format!("ApiKey {key}");
        world.send(json_request("POST", path, &[("authorization", &key)], body)).await
    };
    let grants = json!(["replay:bookmark-queue:dead-letters"]);
    let made = send("/api/api-keys", KEY, &json!({"name": "test", "permissions": grants})).await;
    let made = made.expect(201);
    let key = made["key"].as_str().unwrap();
    let replay = format!("{LETTERS}/1/replay");
    let refused = send(&replay, key, &json!({"body": {}})).await.problem(403);
    assert!(refused.contains("cancel:workflow-instances"), "{refused}");
    send(&replay, key, &json!({})).await.expect(200);
}
