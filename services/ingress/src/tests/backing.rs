//! Callers who wait while NATS or the database does not answer.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::world::{Answer, World, json_request, waits_for, writes_line};
use crate::Config;

const API: &str = "/elsa/api";

/// A cluster whose executor gets no commands, one request of each kind that waits for an outcome, and
/// the instances that finish when these are carried out.
struct Waiting {
    world: World,
    requests: Vec<Request<Body>>,
    finish: Vec<String>,
}

async fn waiting() -> Waiting {
    let world = World::with(Config::default()).await;
    world.publish("line", writes_line()).await;
    world.publish("waits", waits_for("go")).await;
    let task = json!({"type": "Elsa.RunTask", "id": "t", "taskName": "approve"});
    world.publish("task", task).await;
    let endpoint = json!({"type": "Elsa.Sequence", "activities": [
        {"type": "Elsa.HttpEndpoint", "path": "/say", "supportedMethods": ["POST"],
            "canStartWorkflow": true},
        {"type": "Elsa.WriteHttpResponse", "content": "said"}]});
    world.publish("say", endpoint).await;
    let (resumed, cancelled) = (world.begin("waits").await, world.begin("waits").await);
    let (altered, approved) = (world.begin("waits").await, world.begin("task").await);
    let bookmarks = format!("{API}/workflow-instances/{approved}/bookmarks");
    let bookmarks = world.get(&bookmarks).await.expect(200);
    let task_id = bookmarks["items"][0]["payload"]["TaskId"].as_str().unwrap();
    let alterations = json!({"alterations": [{"type": "Pause"}]});
    let requests = [
        (format!("{API}/workflow-instances"), json!({"definitionId": "line"})),
        (
            format!("{API}/workflow-instances/start"),
            json!({"definitionId": "line", "instanceId": "mine"}),
        ),
        (format!("{API}/workflow-definitions/line/execute"), json!({})),
        (format!("{API}/workflow-instances/{resumed}/resume"), json!({})),
        (format!("{API}/workflow-instances/{altered}/alter"), alterations),
        (format!("{API}/cancel/workflow-instances/{cancelled}"), json!({})),
        (format!("{API}/tasks/{task_id}/complete"), json!({})),
        (format!("{API}/tasks/of-nobody/complete"), json!({})),
        (format!("{API}/events/nothing/trigger"), json!({"workflowExecutionMode": "Synchronous"})),
        ("/workflows/say".to_owned(), json!({})),
    ];
    let requests = requests.map(|(path, body)| json_request("POST", &path, &[], &body)).into();
    world.broken.stall(true);
    // The pulls that are under way end.
    tokio::time::sleep(Duration::from_secs(2)).await;
    Waiting { world, requests, finish: vec!["mine".to_owned(), resumed, approved] }
}

impl Waiting {
    /// Sends all requests, and breaks something while they wait; gives each answer with its time.
    async fn answers(
        &mut self,
        breaks: impl AsyncFnOnce(&World),
    ) -> Vec<(String, Answer, Duration)> {
        let world = &self.world;
        let sent = std::mem::take(&mut self.requests).into_iter().map(|request| async move {
            let (path, began) = (request.uri().path().to_owned(), Instant::now());
            let answer = world.send(request).await;
            (path, answer, began.elapsed())
        });
        let breaking = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            breaks(world).await;
        };
        let (answers, ()) = tokio::join!(futures::future::join_all(sent), breaking);
        answers
    }

    /// Waits until all that was accepted is carried out.
    async fn carried_out(&self) {
        self.world.broken.stall(false);
        for id in &self.finish {
            self.world.until(id, "Finished").await;
        }
    }
}

fn detail(answer: &Answer) -> &str {
    answer.header("x-staunch-detail").unwrap_or_default()
}

/// Every answer has come within this time, with 202, the place of its instance and why it waits.
fn are_told(answers: Vec<(String, Answer, Duration)>, why: &str, within: Duration) -> Vec<Value> {
    let told = answers.into_iter().map(|(path, answer, took)| {
        assert!(took <= within, "{path}: {took:?}");
        assert_eq!(answer.status, 202, "{path}: {answer:?}");
        assert!(detail(&answer).starts_with(why), "{path}: {answer:?}");
        let is_of_one = !path.contains("/events/") && !path.contains("of-nobody");
        assert_eq!(answer.header("location").is_some(), is_of_one, "{path}: {answer:?}");
        answer.body
    });
    told.collect()
}

#[tokio::test(start_paused = true)]
async fn callers_who_wait_are_told_soon_that_the_message_bus_does_not_answer() {
    let mut waiting = waiting().await;
    let answers = waiting.answers(async |world| world.broken.lose_bus(true)).await;
    assert!(answers.iter().all(|(.., took)| *took >= Duration::from_secs(8)), "{answers:?}");
    let why = "the message bus does not answer";
    let told = are_told(answers, why, Duration::from_secs(11));
    let visited = told.last().unwrap()["workflowInstanceId"].as_str().unwrap().to_owned();
    waiting.finish.push(visited);
    // What comes now is kept all the same.
    let body = json!({"definitionId": "line", "instanceId": "later"});
    let later = waiting.world.post(&format!("{API}/workflow-instances"), &body).await;
    assert!(detail(&later).starts_with(why), "{later:?}");
    later.expect(202);
    waiting.world.broken.lose_bus(false);
    waiting.carried_out().await;
}

#[tokio::test(start_paused = true)]
async fn callers_who_wait_are_told_soon_that_the_database_does_not_answer() {
    let mut waiting = waiting().await;
    let answers = waiting.answers(async |world| world.broken.lose_database(true)).await;
    let told = are_told(answers, "the database does not answer", Duration::from_secs(11));
    let visited = told.last().unwrap()["workflowInstanceId"].as_str().unwrap().to_owned();
    waiting.finish.push(visited);
    waiting.world.broken.lose_database(false);
    waiting.carried_out().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_bus_that_has_a_leader_again_in_time_still_brings_the_outcome() {
    let mut waiting = waiting().await;
    let restarts = async |world: &World| {
        world.broken.lose_bus(true);
        tokio::time::sleep(Duration::from_secs(3)).await;
        world.broken.lose_bus(false);
        world.broken.stall(false);
    };
    for (path, answer, _) in waiting.answers(restarts).await {
        assert_eq!(detail(&answer), "", "{path}: {answer:?}");
        // Nobody waits for this task: the report is kept.
        let expected = if path.contains("of-nobody") { 202 } else { 200 };
        assert_eq!(answer.status, expected, "{path}: {answer:?}");
    }
    waiting.carried_out().await;
}

#[tokio::test(start_paused = true)]
async fn a_start_waits_a_moment_for_a_node_that_is_cut_off() {
    let world = World::with(Config::default()).await;
    world.publish("line", writes_line()).await;
    world.broken.lose_bus(true);
    tokio::time::sleep(Duration::from_secs(45)).await;
    let began = Instant::now();
    let body = json!({"definitionId": "line"});
    let refused = world.post(&format!("{API}/workflow-instances"), &body).await.problem(503);
    assert!(refused.contains("cut off"), "{refused}");
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    // Asked directly: the paused clock runs on while a thread compiles a program.
    let returns = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        world.broken.lose_bus(false);
    };
    let (checked, ()) = tokio::join!(world.app.must_be_current(), returns);
    checked.unwrap();
}
