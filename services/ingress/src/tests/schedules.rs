//! Schedules over HTTP: their list, pauses, and starts between their times.

use std::time::Duration;

use serde_json::{Value, json};
use store::Timers as _;

use super::world::{World, json_request};
use crate::{Auth, Config};

const SCHEDULES: &str = "/elsa/api/schedules";

fn hourly() -> Value {
    json!({"type": "Elsa.Cron", "id": "hourly", "canStartWorkflow": true,
        "cronExpression": "0 * * * *"})
}

fn timer(interval: &str) -> Value {
    json!({"type": "Elsa.Timer", "id": "timer", "canStartWorkflow": true, "interval": interval})
}

impl World {
    async fn only_schedule(&self, definition_id: &str) -> Value {
        let path = format!("{SCHEDULES}?definitionId={definition_id}&upcoming=2");
        let listed = self.get(&path).await.expect(200);
        assert_eq!(listed["totalCount"], 1, "{listed:#}");
        listed["items"][0].clone()
    }

    async fn instances_of(&self, definition_id: &str) -> u64 {
        let path = format!("/elsa/api/workflow-instances?definitionId={definition_id}");
        self.get(&path).await.expect(200)["totalCount"].as_u64().unwrap()
    }
}

#[tokio::test]
async fn schedules_are_listed_with_their_next_times() {
    let world = World::new().await;
    assert_eq!(world.get(SCHEDULES).await.expect(200), json!({"items": [], "totalCount": 0}));
    world.publish("hourly", hourly()).await;
    world.publish("timer", timer("01:30:00")).await;
    let all = world.get(SCHEDULES).await.expect(200);
    assert_eq!(all["totalCount"], 2);
    let shown = world.only_schedule("hourly").await;
    assert_eq!(shown["kind"], "Cron");
    assert_eq!(shown["expression"], "0 * * * *");
    assert_eq!(shown["misfirePolicy"], "FireOnce");
    assert_eq!((&shown["lastAt"], &shown["missed"]), (&Value::Null, &json!(0)));
    assert_eq!((&shown["isPaused"], &shown["pausedAt"]), (&json!(false), &Value::Null));
    assert_eq!(shown["upcoming"][0], shown["nextAt"]);
    let times: Vec<_> = shown["upcoming"].as_array().unwrap().iter().map(time).collect();
    assert_eq!(times[1] - times[0], 3_600_000);
    let timed = world.only_schedule("timer").await;
    assert_eq!((&timed["kind"], &timed["expression"]), (&json!("Timer"), &json!("PT1H30M")));
    let one = format!("{SCHEDULES}/{}?upcoming=2", timed["id"].as_str().unwrap());
    assert_eq!(world.get(&one).await.expect(200), timed);
    world.get(&format!("{SCHEDULES}/nope")).await.problem(404);
    for bad in ["upcoming=101", "upcoming=x", "isPaused=perhaps", "page=1000001"] {
        world.get(&format!("{SCHEDULES}?{bad}")).await.problem(400);
    }
    let retract = "/elsa/api/workflow-definitions/timer/retract";
    world.post(retract, &json!({})).await.expect(200);
    world.get(&one).await.problem(404);
}

fn time(value: &Value) -> i64 {
    model::Timestamp::parse(value.as_str().unwrap()).unwrap().as_millis()
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_until_it_is_ended() {
    let world = World::new().await;
    world.publish("timer", timer("00:10:00")).await;
    let before = world.only_schedule("timer").await;
    let path = format!("{SCHEDULES}/{}", before["id"].as_str().unwrap());
    let paused = world.post(&format!("{path}/pause"), &json!({})).await.expect(200);
    assert_eq!((&paused["isPaused"], &paused["pausedBy"]), (&json!(true), &json!("local")));
    assert_eq!(paused["nextAt"], Value::Null);
    let again = world.post(&format!("{path}/pause"), &json!({})).await.expect(200);
    assert_eq!(again, paused);
    // A restart has the database alone.
    let all: Vec<i32> = (0..model::limits::TIMER_SHARDS).collect();
    let far = model::Timestamp::from_millis(i64::from(i32::MAX) * 1_000);
    assert_eq!(world.store.due_schedules(&all, far, 10).await.unwrap(), []);
    world.publish("timer", timer("00:20:00")).await;
    let republished = world.only_schedule("timer").await;
    assert_eq!(
        (&republished["isPaused"], &republished["expression"]),
        (&json!(true), &json!("PT20M"))
    );
    let of_paused = world.get(&format!("{SCHEDULES}?isPaused=true")).await.expect(200);
    assert_eq!(of_paused["totalCount"], 1);
    // Three regular times pass.
    tokio::time::sleep(Duration::from_secs(3_601)).await;
    let resumed = world.post(&format!("{path}/resume"), &json!({})).await.expect(200);
    assert_eq!((&resumed["isPaused"], &resumed["pausedBy"]), (&json!(false), &Value::Null));
    let now = world.app.now().as_millis();
    let next = time(&resumed["nextAt"]);
    assert!((now + 1..=now + 1_200_000).contains(&next), "{now} {resumed:#}");
    assert_eq!(world.post(&format!("{path}/resume"), &json!({})).await.expect(200), resumed);
    // Missed times are made up for if that is asked for: the time stays where it was.
    world.post(&format!("{path}/pause"), &json!({})).await.expect(200);
    tokio::time::sleep(Duration::from_secs(3_601)).await;
    let catch_up = json!({"catchUp": true});
    let caught = world.post(&format!("{path}/resume"), &catch_up).await.expect(200);
    assert_eq!(time(&caught["nextAt"]), next);
    let audit = world.get("/elsa/api/audit").await.expect(200).to_string();
    assert_eq!(audit.matches("schedule.pause").count(), 2, "{audit}");
    assert_eq!(audit.matches("schedule.resume").count(), 2, "{audit}");
    for what in ["pause", "resume", "trigger"] {
        world.post(&format!("{SCHEDULES}/nope/{what}"), &json!({})).await.problem(404);
    }
}

#[tokio::test]
async fn a_trigger_starts_once_and_leaves_the_regular_times() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        hourly(), {"type": "Elsa.WriteLine", "id": "line", "text": "hello"}]});
    world.publish("hourly", root).await;
    let before = world.only_schedule("hourly").await;
    let path = format!("{SCHEDULES}/{}", before["id"].as_str().unwrap());
    world.post(&format!("{path}/pause"), &json!({})).await.expect(200);
    let trigger = format!("{path}/trigger");
    let key = [("idempotency-key", "once")];
    let started = world.post_with(&trigger, &key, &json!({})).await.expect(200);
    let id = started["workflowInstanceId"].as_str().unwrap();
    world.until(id, "Finished").await;
    let repeated = world.post_with(&trigger, &key, &json!({})).await.expect(200);
    assert_eq!(repeated["workflowInstanceId"], started["workflowInstanceId"]);
    assert_eq!(world.instances_of("hourly").await, 1);
    let resumed = world.post(&format!("{path}/resume"), &json!({})).await.expect(200);
    assert_eq!(resumed["nextAt"], before["nextAt"]);
    world.post(&trigger, &json!({})).await.expect(200);
    assert_eq!(world.instances_of("hourly").await, 2);
    let audit = world.get("/elsa/api/audit").await.expect(200).to_string();
    assert!(audit.contains("schedule.trigger"), "{audit}");
}

#[tokio::test]
async fn who_may_look_may_not_pause() {
    const KEY: &str = "a-bootstrap-key-of-length";
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..Config::default() };
    let world = World::with(config).await;
    let send = async |method: &str, path: &str, key: &str, body: &Value| {
        let key = format!("ApiKey {key}");
        world.send(json_request(method, path, &[("authorization", &key)], body)).await
    };
    let body = json!({"name": "test", "permissions": ["read:schedules"]});
    let made = send("POST", "/api/api-keys", KEY, &body).await.expect(201);
    let reads = made["key"].as_str().unwrap();
    send("GET", SCHEDULES, reads, &json!({})).await.expect(200);
    for what in ["pause", "resume", "trigger"] {
        let answer = send("POST", &format!("{SCHEDULES}/x/{what}"), reads, &json!({})).await;
        answer.problem(403);
    }
}
