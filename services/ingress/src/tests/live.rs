//! Server-sent events: what was missed, what comes, and readers that are slow or too many.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use bus::{Stream, Wire as _};
use futures::StreamExt as _;
use model::limits;
use protocol::{Message, subject};
use serde_json::{Value, json};
use store::{AuditFilter, Keys as _, Page};
use tower::ServiceExt as _;

use super::world::{BOUND, World, waits_for, writes_line};
use crate::Config;

/// A reader of one stream.
pub(super) struct Reader {
    body: BodyDataStream,
    text: String,
}

/// One event.
#[derive(Debug)]
pub(super) struct Got {
    pub(super) id: Option<u64>,
    pub(super) name: String,
    pub(super) data: Value,
}

impl Reader {
    pub(super) async fn open(router: &Router, path: &str, last_id: Option<u64>) -> Self {
        let id = last_id.map(|id| id.to_string());
        Self::opened(router, path, id.as_ref().map(|id| ("last-event-id", id.as_str()))).await
    }

    /// A reader with these credentials.
    pub(super) async fn open_as(router: &Router, path: &str, authorization: &str) -> Self {
        Self::opened(router, path, Some(("authorization", authorization))).await
    }

    async fn opened(router: &Router, path: &str, header: Option<(&str, &str)>) -> Self {
        let mut request = Request::get(path).header("host", "127.0.0.1:5001");
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let request = request.body(Body::empty()).unwrap();
        let answer = testkit::within("an answer", BOUND, router.clone().oneshot(request)).await;
        let answer = answer.unwrap();
        assert_eq!(answer.status(), 200);
        for (name, value) in [
            ("content-type", "text/event-stream"),
            ("cache-control", "no-cache, no-transform"),
            ("x-accel-buffering", "no"),
        ] {
            assert_eq!(answer.headers()[name], value);
        }
        let mut reader = Self { body: answer.into_body().into_data_stream(), text: String::new() };
        assert!(reader.block().await.unwrap().starts_with("retry: "));
        reader
    }

    /// The next lines up to an empty one; none at the end.
    pub(super) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let bytes = testkit::within("an event", BOUND, self.body.next()).await?;
            self.text.push_str(std::str::from_utf8(&bytes.unwrap()).unwrap());
        }
    }

    /// The next event; none at the end.
    pub(super) async fn next(&mut self) -> Option<Got> {
        loop {
            let block = self.block().await?;
            let member = |name: &str| {
                let line = block.lines().find_map(|line| line.strip_prefix(name));
                line.map(str::to_owned)
            };
            let Some(name) = member("event: ") else { continue };
            let id = member("id: ").map(|id| id.parse().unwrap());
            let data = serde_json::from_str(&member("data: ").unwrap()).unwrap();
            return Some(Got { id, name, data });
        }
    }

    /// The next event, which has this name.
    #[track_caller]
    pub(super) fn expect(&mut self, name: &str) -> impl Future<Output = Got> {
        let name = name.to_owned();
        async move {
            let got = self.next().await.unwrap();
            assert_eq!(got.name, name, "{got:?}");
            got
        }
    }
}

#[tokio::test]
async fn lifecycle_events_come_as_they_happen_and_by_filter() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    world.publish("waits", waits_for("go")).await;
    let mut all = Reader::open(world.router(), "/elsa/api/events", None).await;
    let mut ends = Reader::open(world.router(), "/api/events?type=Finished,faulted", None).await;
    let path = "/elsa/api/events?definitionId=waits";
    let mut waits = Reader::open(world.router(), path, None).await;
    let line = world.begin("line").await;
    let waiting = world.begin("waits").await;
    let started = all.expect("started").await;
    assert_eq!(started.data["workflowInstanceId"], json!(line));
    assert_eq!(started.data["definitionId"], "line");
    assert_eq!(started.data["type"], "started");
    let finished = all.expect("finished").await;
    assert!(finished.id > started.id);
    assert_eq!(all.expect("started").await.data["workflowInstanceId"], json!(waiting));
    all.expect("suspended").await;
    let end = ends.expect("finished").await;
    assert_eq!((end.id, &end.data), (finished.id, &finished.data));
    assert_eq!(waits.expect("started").await.data["workflowInstanceId"], json!(waiting));
    waits.expect("suspended").await;
}

#[tokio::test]
async fn any_slice_of_the_past_can_be_read_and_ends() {
    let world = World::new().await;
    with_line(&world).await;
    let first = world.begin("line").await;
    world.until(&first, "Finished").await;
    testkit::eventually("the end is stored", BOUND, async || {
        world.bus.stored(Stream::Events).iter().any(|(_, one)| one.subject.ends_with(".finished"))
    })
    .await;
    let ended = world.app.now();
    testkit::eventually("a later time", BOUND, async || world.app.now() > ended).await;
    let between = world.app.now();
    let start = json!({"definitionId": "line", "correlationId": "order 7, again"});
    let second = world.post("/elsa/api/workflow-instances", &start).await.expect(200);
    let second = second["workflowInstanceId"].as_str().unwrap().to_owned();
    world.until(&second, "Finished").await;
    let names = async |query: String| {
        let path = format!("/elsa/api/events?until=now&{query}");
        let mut reader = Reader::open(world.router(), &path, None).await;
        let mut names = Vec::new();
        loop {
            let got = reader.next().await.unwrap();
            if got.name == "end" {
                assert_eq!(got.data["isComplete"], true, "{:?}", got.data);
                return names;
            }
            names.push((got.data["workflowInstanceId"].clone(), got.name));
        }
    };
    let of = |id: &str| ["started", "finished"].map(|name| (json!(id), name.to_owned())).to_vec();
    let all = [of(&first), of(&second)].concat();
    testkit::eventually("all are stored", BOUND, async || names(String::new()).await.len() == 4)
        .await;
    assert_eq!(names(String::new()).await, all);
    assert_eq!(names(format!("instanceId={first}")).await, of(&first));
    assert_eq!(names(format!("instanceId={first}&instanceId={second}")).await, all);
    assert_eq!(names("correlationId=order%207%2C%20again".to_owned()).await, of(&second));
    assert_eq!(names("definitionId=line&definitionId=other".to_owned()).await, all);
    assert_eq!(names("definitionId=other,line".to_owned()).await, all);
    assert_eq!(names(format!("after={between}")).await, of(&second));
    assert_eq!(names("after=2000-01-01T00:00:00Z".to_owned()).await, all);
    assert_eq!(names("after=2100-01-01T00:00:00Z".to_owned()).await, []);
    assert_eq!(names("type=faulted".to_owned()).await, []);
    assert_eq!(names("after=now".to_owned()).await, []);
    let beyond = world.get("/elsa/api/events?after=9999-12-31T23:59:59Z").await.problem(400);
    assert!(beyond.contains("the latest time is 9999-12-30T22:00:00.999Z"), "{beyond}");
}

/// Publishes the definition `line`; returns the number of the last event then, one of the audit log.
async fn with_line(world: &World) -> u64 {
    world.publish("line", writes_line()).await;
    let entries = world.store.audits(&AuditFilter::default(), Page::first()).await.unwrap().total;
    let sent = async || world.bus.stored(Stream::Events).len() as u64 == entries;
    testkit::eventually("the audit log is sent", BOUND, sent).await;
    entries
}

#[tokio::test]
async fn a_reader_goes_on_at_another_node_with_what_it_missed() {
    let world = World::new().await;
    let before = with_line(&world).await;
    let mut reader = Reader::open(world.router(), "/elsa/api/events", None).await;
    world.begin("line").await;
    reader.expect("started").await;
    let last = reader.expect("finished").await.id;
    drop(reader);
    let missed = world.begin("line").await;
    world.until(&missed, "Finished").await;
    let other = world.another().await;
    let mut reader = Reader::open(&other, "/elsa/api/events", last).await;
    let started = reader.expect("started").await;
    assert_eq!(started.data["workflowInstanceId"], json!(missed));
    assert_eq!(started.id, last.map(|last| last + 1));
    reader.expect("finished").await;
    let later = world.begin("line").await;
    let started = reader.expect("started").await;
    assert_eq!(started.data["workflowInstanceId"], json!(later));
    // The query is for the first connection of a browser; its header counts afterwards.
    let mut reader = Reader::open(&other, "/elsa/api/events?after=start", last).await;
    assert_eq!(reader.expect("started").await.id, last.map(|last| last + 1));
    let mut reader = Reader::open(&other, "/elsa/api/events?after=start", None).await;
    assert_eq!(reader.expect("started").await.id, Some(before + 1), "the audit log is not read");
}

#[tokio::test]
async fn a_reader_is_told_of_events_that_are_not_kept_any_more() {
    let world = World::new().await;
    let before = with_line(&world).await;
    let id = world.begin("line").await;
    world.until(&id, "Finished").await;
    world.begin("line").await;
    let stored = async || world.bus.stored(Stream::Events).len() as u64 == before + 4;
    testkit::eventually("four events", BOUND, stored).await;
    for number in 1..=before + 2 {
        assert!(bus::Queue::remove(&world.bus, Stream::Events, number).await.unwrap());
    }
    let mut reader = Reader::open(world.router(), "/elsa/api/events?after=0", None).await;
    let gap = reader.expect("gap").await;
    assert_eq!((&gap.data["from"], &gap.data["to"]), (&json!(1), &json!(before + 2)));
    assert_eq!(reader.expect("started").await.id, Some(before + 3));
    let mut reader = Reader::open(world.router(), "/elsa/api/events", Some(70)).await;
    let beyond = reader.expect("gap").await.data;
    assert_eq!(beyond["to"], Value::Null);
    assert!(beyond["last"].as_u64() >= Some(before + 4), "{beyond}");
    let reason = beyond["reason"].as_str().unwrap();
    assert!(reason.starts_with("there is no event 70 yet, the last is "), "{reason}");
    assert_eq!(reader.expect("started").await.id, Some(before + 3));
}

#[tokio::test]
async fn an_event_that_was_announced_before_it_was_stored_is_not_lost() {
    let world = World::without_executor(Config::default()).await;
    let mut reader = Reader::open(world.router(), "/elsa/api/events", None).await;
    let (definition, instance) = ("d".into(), "i".into());
    let subject = subject::lifecycle(&definition, &instance, "started");
    let event = protocol::LifecycleEvent {
        id: "i.1.0.started".to_owned(),
        time: world.app.now(),
        definition_id: definition,
        definition_version: 1,
        workflow_instance_id: instance,
        correlation_id: None,
        sub_status: model::SubStatus::Executing,
        version: 1,
        output: None,
        is_cut: false,
        incidents: Vec::new(),
    };
    let payload = serde_json::to_vec(&event).unwrap();
    let message = Message { subject, payload, ..Message::default() };
    let garbled = Message { payload: b"{".to_vec(), ..message.clone() };
    world.bus.send(garbled).await.unwrap();
    world.bus.send(message).await.unwrap();
    assert_eq!(reader.expect("started").await.id, Some(2));
}

#[tokio::test]
async fn a_journal_is_replayed_and_followed_at_any_node() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let path = format!("/elsa/api/workflow-instances/{id}/events");
    let journal = format!("/elsa/api/workflow-instances/{id}/journal");
    let before = world.get(&journal).await.expect(200)["items"].as_array().unwrap().clone();
    let mut reader = Reader::open(world.router(), &path, None).await;
    for (at, line) in before.iter().enumerate() {
        let got = reader.next().await.unwrap();
        assert_eq!(got.id, Some(at as u64 + 1));
        assert_eq!(&got.data, line);
        assert_eq!(json!(got.name), line["eventName"]);
    }
    drop(reader);
    let mut live = Reader::open(world.router(), &format!("{path}?after=now"), None).await;
    world.post("/elsa/api/events/go/trigger", &json!({})).await.expect(200);
    world.until(&id, "Finished").await;
    let after = world.get(&journal).await.expect(200)["items"].as_array().unwrap().clone();
    assert!(after.len() > before.len());
    let unknown = world.get(&format!("{path}?after=yesterday")).await.problem(400);
    assert!(
        unknown.contains("use the number of a line of this journal, start or now"),
        "{unknown}"
    );
    let other = world.another().await;
    let mut resumed = Reader::open(&other, &path, Some(before.len() as u64)).await;
    for line in &after[before.len()..] {
        for reader in [&mut live, &mut resumed] {
            let got = reader.next().await.unwrap();
            for member in ["id", "sequence", "eventName", "nodeId", "message", "payload", "outputs"]
            {
                assert_eq!(got.data[member], line[member], "{member}");
            }
        }
    }
    let mut wrong = Reader::open(&other, &path, Some(1_000)).await;
    let gap = wrong.expect("gap").await.data;
    let last = after.len();
    assert_eq!(
        (&gap["from"], &gap["to"], &gap["last"]),
        (&json!(1_001), &json!(null), &json!(last))
    );
    let expected = format!("there is no line 1000 yet, the last is {last}: ");
    assert!(gap["reason"].as_str().unwrap().starts_with(&expected), "{gap}");
    assert_eq!(wrong.next().await.unwrap().id, Some(1));
    assert_eq!(world.delete(&format!("/elsa/api/workflow-instances/{id}")).await.status, 204);
}

/// The messages of bursts are lost here, so that only the database has their lines.
#[tokio::test(start_paused = true)]
async fn lines_whose_message_was_lost_come_from_the_database() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let path = format!("/elsa/api/workflow-instances/{id}/events?after=now");
    let mut reader = Reader::open(world.router(), &path, None).await;
    world.broken.deafen();
    let trigger = json!({"workflowExecutionMode": "Asynchronous"});
    world.post("/elsa/api/events/go/trigger", &trigger).await.expect(200);
    loop {
        let got = reader.next().await.unwrap();
        if got.data["message"] == "Finished" {
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_a_deleted_instance_ends() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let id = world.begin("line").await;
    let path = format!("/elsa/api/workflow-instances/{id}/events?after=now");
    let mut reader = Reader::open(world.router(), &path, None).await;
    assert_eq!(world.delete(&format!("/elsa/api/workflow-instances/{id}")).await.status, 204);
    let end = reader.expect("end").await;
    assert!(end.data["reason"].as_str().unwrap().contains("deleted"), "{end:?}");
    assert!(reader.next().await.is_none());
}

/// An empty body of the stream is never read here, and the server does not wait for its reader.
#[tokio::test(start_paused = true)]
async fn a_reader_that_is_too_slow_is_told_and_goes_on_after_its_last_event() {
    let world = World::new().await;
    let before = with_line(&world).await;
    let mut reader = Reader::open(world.router(), "/elsa/api/events", None).await;
    let mut quick = Reader::open(world.router(), "/elsa/api/events", None).await;
    let count = limits::LIVE_EVENTS_BUFFERED_MAX / 2 + 20;
    let starts: Vec<_> = (0..count).map(|_| json!({"definitionId": "line"})).collect();
    for start in &starts {
        world.post("/elsa/api/workflow-instances", start).await.expect(200);
    }
    for _ in 0..count * 2 {
        quick.next().await.unwrap();
    }
    tokio::time::sleep(limits::LIVE_SLOW_TIME_MAX * 2).await;
    let mut last = before;
    let cut = loop {
        let got = reader.next().await.unwrap();
        match got.id {
            Some(id) => {
                assert_eq!(id, last + 1);
                last = id;
            }
            None => break got,
        }
    };
    assert_eq!(cut.name, "cut");
    assert!(reader.next().await.is_none());
    assert!(last < before + count as u64 * 2, "{last}");
    let mut reader = Reader::open(world.router(), "/elsa/api/events", Some(last)).await;
    for id in last + 1..=before + count as u64 * 2 {
        assert_eq!(reader.next().await.unwrap().id, Some(id));
    }
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_shows_signs_of_life_and_ends_when_the_server_stops() {
    let world = World::without_executor(Config::default()).await;
    let mut reader = Reader::open(world.router(), "/elsa/api/events", None).await;
    let began = tokio::time::Instant::now();
    for _ in 0..3 {
        assert_eq!(reader.block().await.unwrap(), ": alive");
    }
    assert_eq!(began.elapsed().as_secs(), 3 * limits::LIVE_HEARTBEAT.as_secs());
    world.app.drain();
    assert!(reader.expect("end").await.data["reason"].as_str().unwrap().contains("stopping"));
    assert!(reader.next().await.is_none());
    let closed = tokio::time::timeout(Duration::from_secs(1), world.app.close()).await;
    closed.unwrap();
}

#[tokio::test]
async fn streams_are_bounded_by_node_and_by_caller_and_free_their_place() {
    let config = Config { streams_max: 3, streams_per_caller_max: 2, ..Config::default() };
    let world = World::without_executor(config).await;
    let path = "/elsa/api/events";
    let first = Reader::open(world.router(), path, None).await;
    let _second = Reader::open(world.router(), path, None).await;
    assert!(world.get(path).await.problem(429).contains("2 live streams"));
    drop(first);
    testkit::eventually("a place is free", BOUND, async || world.app.streams.count() == 1).await;
    let _third = Reader::open(world.router(), path, None).await;
    let config = Config { streams_max: 1, ..Config::default() };
    let world = World::without_executor(config).await;
    let _first = Reader::open(world.router(), path, None).await;
    assert!(world.get(path).await.problem(503).contains("1 live streams"));
}

#[tokio::test]
async fn what_cannot_be_followed_is_refused() {
    let world = World::without_executor(Config::default()).await;
    for (path, part) in [
        ("/elsa/api/events?definitonId=a", "no query parameter \"definitonId\""),
        ("/elsa/api/workflow-instances/nope/events?afer=now", "no query parameter \"afer\""),
        ("/elsa/api/events?type=ended", "started, suspended"),
        ("/elsa/api/events?until=tomorrow", "until is now"),
        ("/elsa/api/events?after=yesterday", "a time such as 2026-01-31T08:00:00Z, start or now"),
        ("/elsa/api/events?after=-1", "use the id"),
        ("/elsa/api/events?after=18446744073709551615", "use the id"),
    ] {
        let detail = world.get(path).await.problem(400);
        assert!(detail.contains(part), "{path}: {detail}");
    }
    world.get("/elsa/api/workflow-instances/nope/events").await.problem(404);
    testkit::eventually("no place is taken", BOUND, async || world.app.streams.count() == 0).await;
    world.bus.close();
    world.get("/elsa/api/events").await.problem(503);
}
