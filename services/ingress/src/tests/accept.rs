use std::time::Duration;

use model::Timestamp;
use serde_json::json;
use store::{Inbox as _, Instances as _};

use super::world::{World, waits_for, writes_line};
use bus::Queue as _;

const API: &str = "/elsa/api";

#[tokio::test]
async fn a_start_that_cannot_be_published_is_accepted_all_the_same() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    world.broken.set(true);
    let body = json!({"definitionId": "line"});
    let answer = world.post(&format!("{API}/workflow-instances"), &body).await;
    let location = answer.header("location").unwrap().to_owned();
    answer.expect(202);
    assert_eq!(world.get(&location).await.expect(200)["subStatus"], "Pending");
    world.broken.set(false);
    // The starts that the sweep finds and publishes.
    let left = world.store.unstarted(Timestamp::from_millis(i64::MAX), 10).await.unwrap();
    assert_eq!(left.len(), 1);
    world.bus.publish(left[0].clone()).await.unwrap();
    let id = location.rsplit('/').next().unwrap();
    world.until(id, "Finished").await;
}

#[tokio::test]
async fn a_resume_that_cannot_be_published_is_accepted_all_the_same() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    world.broken.set(true);
    world.post(&format!("{API}/workflow-instances/{id}/resume"), &json!({})).await.expect(202);
    world.broken.set(false);
    let left = world.store.unapplied(Timestamp::from_millis(i64::MAX), 10).await.unwrap();
    world.bus.publish(left[0].clone()).await.unwrap();
    world.until(&id, "Finished").await;
    testkit::eventually("its row is gone", super::world::BOUND, async || {
        world.store.sizes().pending == 0
    })
    .await;
}

#[tokio::test]
async fn a_server_with_a_life_answers_over_the_network_and_drains() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let world = World::new().await;
    let life = chassis::Life::new(Duration::from_secs(5));
    let config =
        crate::Config { listen: "127.0.0.1:0".parse().unwrap(), ..crate::Config::default() };
    let address = crate::start(world.app.cx.clone(), config, &life).await.unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request =
        format!("GET /health/ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    let question =
        protocol::Message { subject: "staunch.api.ingress.status".into(), ..Default::default() };
    let answer = bus::Wire::request(&world.bus, question, super::world::BOUND).await.unwrap();
    let status: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap();
    assert_eq!(status["address"], address.to_string());
    life.begin_stop();
    assert!(testkit::within("the drain", super::world::BOUND, life.finished()).await);
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_full_stream_pushes_back_before_anything_is_accepted() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    world.app.backlog.is_full();
    let body = json!({"definitionId": "line"});
    let answer = world.post(&format!("{API}/workflow-instances"), &body).await;
    assert_eq!(answer.header("retry-after"), Some("1"));
    answer.problem(503);
    assert_eq!(world.store.sizes().instances, 0);
}

#[tokio::test]
async fn a_long_backlog_pushes_back_until_it_is_worked_off() {
    let config = crate::Config { backlog_max: 3, ..crate::Config::default() };
    let world = World::without_executor(config).await;
    world.publish("line", writes_line()).await;
    let start = async || {
        let body = json!({"definitionId": "line"});
        let path = format!("{API}/workflow-instances");
        world.post_with(&path, &[("prefer", "respond-async")], &body).await
    };
    let mut accepted = 0;
    testkit::eventually("a start is refused", super::world::BOUND, async || {
        let answer = start().await;
        accepted += usize::from(answer.status == 202);
        answer.status == 503 && answer.header("retry-after") == Some("1")
    })
    .await;
    assert_eq!(world.store.sizes().instances, accepted);
    assert!(accepted > 3, "{accepted}");
    world.start_executor().await;
    testkit::eventually("starts are taken again", super::world::BOUND, async || {
        start().await.status == 202
    })
    .await;
}

#[tokio::test]
async fn a_start_whose_caller_waits_has_a_row_also_where_nobody_takes_it() {
    let world = World::without_executor(crate::Config::default()).await;
    world.publish("line", writes_line()).await;
    let body = json!({"definitionId": "line"});
    let path = format!("{API}/workflow-instances");
    let waiting = world.post(&path, &body);
    let kept = async {
        testkit::eventually("its row is there", super::world::BOUND, async || {
            world.store.sizes().instances == 1
        })
        .await;
        world.start_executor().await;
    };
    let (answer, ()) = tokio::join!(waiting, kept);
    let told = answer.expect(200);
    assert_eq!(told["subStatus"], "Finished", "{told}");
    assert_eq!(world.store.sizes().instances, 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_is_told_soon_that_no_executor_is_running() {
    let world = World::without_the_role(crate::Config::default()).await;
    world.publish("line", writes_line()).await;
    let path = format!("{API}/workflow-instances");
    let timed = async |body: serde_json::Value| {
        let begun = tokio::time::Instant::now();
        (world.post(&path, &body).await, begun.elapsed())
    };
    let start = || json!({"definitionId": "line"});
    let none_runs = |answer: &super::world::Answer| {
        let detail = answer.header("x-staunch-detail").unwrap_or_default();
        detail.starts_with("no executor is running")
    };
    // Nobody has been there for longer than a restart takes.
    tokio::time::sleep(Duration::from_secs(6)).await;
    for body in [start(), json!({"definitionId": "line", "instanceId": "mine"})] {
        let (answer, took) = timed(body).await;
        assert!(took < Duration::from_secs(3), "{took:?}");
        assert!(none_runs(&answer), "{answer:?}");
        assert_eq!(answer.expect(202)["subStatus"], "Pending");
    }
    assert_eq!(world.store.sizes().instances, 2);
    // An executor that has just gone may come back.
    let other = world.join("other", "executor").await;
    let gone = async {
        tokio::time::sleep(Duration::from_secs(8)).await;
        other.leave().await;
    };
    let ((answer, took), ()) = tokio::join!(timed(start()), gone);
    assert!((12..16).contains(&took.as_secs()), "{took:?}");
    assert!(none_runs(&answer), "{answer:?}");
    answer.expect(202);
    // One that comes back within the time of a restart answers the caller who waits.
    let other = world.join("other", "executor").await;
    let restarted = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        other.leave().await;
        tokio::time::sleep(Duration::from_secs(4)).await;
        let back = world.join("other", "executor").await;
        world.start_executor().await;
        back
    };
    let ((answer, _), back) = tokio::join!(timed(start()), restarted);
    assert_eq!(answer.header("x-staunch-detail"), None);
    assert_eq!(answer.expect(200)["subStatus"], "Finished");
    // What was answered with 202 is carried out.
    world.until("mine", "Finished").await;
    drop(back);
}

#[tokio::test]
async fn ids_that_are_made_up_sort_by_time() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(world.begin("line").await);
    }
    assert!(ids.is_sorted(), "{ids:?}");
}
