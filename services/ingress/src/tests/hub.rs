//! The hub, with a WebSocket of its own: negotiation, handshake, observation, and clients that are
//! wrong, slow or not allowed.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use chassis::Life;
use futures::{SinkExt as _, StreamExt as _};
use model::limits;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::world::{BOUND, World, json_request, waits_for};
use crate::{Auth, Config, serve};

pub(super) const HUB: &str = "/elsa/hubs/workflow-instance";
const KEY: &str = "a-bootstrap-key-of-length";

/// One ingress that listens.
pub(super) struct Server {
    address: SocketAddr,
    life: Life,
}

impl Server {
    pub(super) async fn start(world: &World, config: Config) -> Self {
        let config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..config };
        let life = Life::new(Duration::from_secs(30));
        let address = serve::start(world.context(), config, &life).await.unwrap();
        Self { address, life }
    }

    pub(super) async fn connect(&self, path: &str, header: Option<&str>) -> Result<Client, String> {
        let url = format!("ws://{}{path}", self.address);
        let mut request = url.into_client_request().unwrap();
        if let Some(header) = header {
            request.headers_mut().insert("authorization", header.parse().unwrap());
        }
        let connected = testkit::within("a connection", BOUND, connect_async(request)).await;
        let (socket, _) = connected.map_err(|error| error.to_string())?;
        Ok(Client { socket, records: Vec::new() })
    }

    /// A client that has sent its handshake.
    async fn client(&self) -> Client {
        let mut client = self.connect(HUB, None).await.unwrap();
        client.send(&json!({"protocol": "json", "version": 1})).await;
        assert_eq!(client.next().await.unwrap(), json!({}));
        client
    }
}

#[derive(Debug)]
pub(super) struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    records: Vec<Value>,
}

impl Client {
    async fn text(&mut self, text: impl Into<String>) {
        self.socket.send(Message::text(text.into())).await.unwrap();
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.text(format!("{message}\u{1e}")).await;
    }

    pub(super) async fn observe(&mut self, id: &str) -> Value {
        let call = json!({"type": 1, "invocationId": "1", "target": "ObserveInstanceAsync",
            "arguments": [id]});
        self.send(&call).await;
        self.of_type(3).await
    }

    /// The next record; none at the end.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            if !self.records.is_empty() {
                return Some(self.records.remove(0));
            }
            let frame = testkit::within("a message", BOUND * 2, self.socket.next()).await?;
            let Ok(Message::Text(text)) = frame else { return None };
            assert!(text.ends_with('\u{1e}'), "{text}");
            let records = text.split_terminator('\u{1e}');
            self.records.extend(records.map(|one| serde_json::from_str::<Value>(one).unwrap()));
        }
    }

    /// The next record of this type; pings in between are left out.
    pub(super) async fn of_type(&mut self, wanted: u64) -> Value {
        loop {
            let record = self.next().await.expect("the connection goes on");
            if record["type"] == wanted {
                return record;
            }
            assert_eq!(record["type"], 6, "{record}");
        }
    }

    /// The argument of the next call of this method.
    async fn called(&mut self, target: &str) -> Value {
        loop {
            let call = self.of_type(1).await;
            if call["target"] == target {
                return call["arguments"][0].clone();
            }
        }
    }

    /// The error with which the server closes the connection.
    pub(super) async fn closed(&mut self) -> String {
        let close = self.of_type(7).await;
        assert!(self.next().await.is_none());
        close["error"].as_str().unwrap_or_default().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_is_notified_of_the_bursts_of_its_instance_at_any_node() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let other = world.begin("waits").await;
    let (here, there) = (
        Server::start(&world, Config::default()).await,
        Server::start(&world, Config::default()).await,
    );
    // The negotiation is made at one node, the connection at another.
    let negotiate = Request::post(format!("{HUB}/negotiate?negotiateVersion=1"))
        .header("content-type", "text/plain;charset=UTF-8");
    let answer = world.send(negotiate.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let negotiated = answer.expect(200);
    assert_eq!(negotiated["negotiateVersion"], 1);
    let transports = json!([{"transport": "WebSockets", "transferFormats": ["Text"]}]);
    assert_eq!(negotiated["availableTransports"], transports);
    let token = negotiated["connectionToken"].as_str().unwrap();
    assert_ne!(negotiated["connectionId"], negotiated["connectionToken"]);
    let mut client = there.connect(&format!("{HUB}?id={token}"), None).await.unwrap();
    let handshake = json!({"protocol": "json", "version": 1});
    let call = json!({"type": 1, "invocationId": "1", "target": "ObserveInstanceAsync",
        "arguments": [id]});
    client.text(format!("{handshake}\u{1e}{call}\u{1e}")).await;
    assert_eq!(client.next().await.unwrap(), json!({}));
    assert_eq!(client.of_type(3).await, json!({"type": 3, "invocationId": "1", "result": null}));
    let mut of_other = here.client().await;
    assert_eq!(of_other.observe(&other).await["error"], Value::Null);
    let event = json!({"workflowInstanceId": id, "workflowExecutionMode": "Synchronous"});
    world.post("/elsa/api/events/go/trigger", &event).await.expect(200);
    assert_eq!(client.called("WorkflowExecutionLogUpdatedAsync").await, json!({}));
    let stats = client.called("ActivityExecutionLogUpdatedAsync").await["stats"].clone();
    let of = |id: &str| {
        let found = stats.as_array().unwrap().iter().find(|one| one["activityId"] == id);
        found.unwrap_or_else(|| panic!("{id} in {stats:#}")).clone()
    };
    let done = of("done");
    assert_eq!((&done["startedCount"], &done["completedCount"]), (&json!(1), &json!(1)));
    assert_eq!(done["uncompletedCount"], 0);
    let wait = of("wait");
    assert_eq!((&wait["startedCount"], &wait["completedCount"]), (&json!(1), &json!(1)), "{wait}");
    assert_eq!((&wait["isBlocked"], &wait["isFaulted"]), (&json!(false), &json!(false)));
    assert!(wait["activityNodeId"].as_str().unwrap().ends_with(":wait"), "{wait}");
    let updated = client.called("WorkflowInstanceUpdatedAsync").await;
    assert_eq!(updated, json!({"workflowInstanceId": id}));
    // The other client hears nothing of it, but of its own instance.
    let event = json!({"workflowInstanceId": other, "workflowExecutionMode": "Synchronous"});
    world.post("/elsa/api/events/go/trigger", &event).await.expect(200);
    let updated = of_other.called("WorkflowInstanceUpdatedAsync").await;
    assert_eq!(updated, json!({"workflowInstanceId": other}));
    for server in [here, there] {
        server.life.begin_stop();
        assert!(server.life.finished().await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hub_is_where_clients_look_for_it() {
    let world = World::without_executor(Config::default()).await;
    let server = Server::start(&world, Config::default()).await;
    for mount in ["/elsa", "", "/elsa/api", "/api"] {
        let path = format!("{mount}/hubs/workflow-instance");
        let negotiated = world.post(&format!("{path}/negotiate"), &json!({})).await.expect(200);
        assert_eq!(negotiated["negotiateVersion"], 0, "{path}");
        assert_eq!(negotiated["connectionToken"], Value::Null, "{path}");
        server.connect(&path, None).await.unwrap();
        assert!(world.get(&path).await.problem(400).contains("WebSocket"));
    }
    assert!(server.connect("/elsa/hubs/other", None).await.unwrap_err().contains("404"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_those_who_may_read_instances_observe_them() {
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..Config::default() };
    let world = World::with(config.clone()).await;
    let server = Server::start(&world, config).await;
    let with = |key: &str| format!("ApiKey {key}");
    let admin = with(KEY);
    let admin = [("authorization", admin.as_str())];
    let definition = json!({"definitionId": "waits", "root": waits_for("go")});
    let request = json_request("POST", "/api/workflow-definitions", &admin, &definition);
    world.send(request).await.expect(201);
    let start = json!({"definitionId": "waits"});
    let request = json_request("POST", "/api/workflow-instances", &admin, &start);
    let id = world.send(request).await.expect(200)["workflowInstanceId"].clone();
    let id = id.as_str().unwrap();
    let make = async |permission: &str| {
        let body = json!({"name": "test", "permissions": [permission]});
        let made = world.send(json_request("POST", "/api/api-keys", &admin, &body)).await;
        made.expect(201)["key"].as_str().unwrap().to_owned()
    };
    let (reader, starter) = (make("read:workflow-instances").await, make("exec:*").await);
    let allowed = [with(&reader), format!("Bearer {reader}"), with(KEY)];
    for header in allowed {
        let mut client = server.connect(HUB, Some(&header)).await.unwrap();
        client.send(&json!({"protocol": "json", "version": 1})).await;
        assert_eq!(client.next().await.unwrap(), json!({}));
        assert_eq!(client.observe(id).await["error"], Value::Null, "{header}");
    }
    let path = format!("{HUB}?access_token={reader}&id=x");
    let mut client = server.connect(&path, None).await.unwrap();
    client.send(&json!({"protocol": "json", "version": 1})).await;
    client.next().await.unwrap();
    assert_eq!(client.observe(id).await["error"], Value::Null);
    let mut client = server.connect(HUB, Some(&with(&starter))).await.unwrap();
    client.send(&json!({"protocol": "json", "version": 1})).await;
    client.next().await.unwrap();
    let refused = client.observe(id).await["error"].as_str().unwrap().to_owned();
    assert!(refused.contains("read:workflow-instances"), "{refused}");
    for path in [HUB.to_owned(), format!("{HUB}?access_token=stk_wrong")] {
        assert!(server.connect(&path, None).await.unwrap_err().contains("401"), "{path}");
    }
    // A token in a query counts at the hub alone.
    let path = format!("/api/workflow-instances?access_token={reader}");
    world.get(&path).await.problem(401);
    world.get(&format!("/elsa/api/events?access_token={reader}")).await.problem(401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_message_of_the_protocol_is_refused_with_the_reason() {
    let world = World::without_executor(Config::default()).await;
    let server = Server::start(&world, Config::default()).await;
    let mut client = server.connect(HUB, None).await.unwrap();
    client.send(&json!({"protocol": "messagepack", "version": 1})).await;
    let refused = client.next().await.unwrap();
    assert!(refused["error"].as_str().unwrap().contains("use json"), "{refused}");
    client.closed().await;
    let mut client = server.client().await;
    assert!(
        client.observe("nope").await["error"].as_str().unwrap().contains("no workflow instance")
    );
    for wrong in ["", "a.b", &"x".repeat(10_000)] {
        let refused = client.observe(wrong).await["error"].clone();
        assert!(refused.as_str().unwrap().contains("use 1 to 128 characters"), "{refused}");
    }
    client.send(&json!({"type": 6})).await;
    client.send(&json!({"type": 1, "target": "Nothing", "arguments": []})).await;
    client.send(&json!({"type": 1, "target": "X", "arguments": [], "invocationId": "2"})).await;
    let unknown = client.of_type(3).await;
    assert_eq!(unknown["invocationId"], "2");
    assert!(unknown["error"].as_str().unwrap().contains("no method X"), "{unknown}");
    client.send(&json!({"type": 4, "target": "X", "arguments": [], "invocationId": "3"})).await;
    assert_eq!(client.of_type(3).await["invocationId"], "3");
    client
        .send(&json!({"type": 1, "target": "ObserveInstanceAsync", "arguments": [7],
            "invocationId": "4"}))
        .await;
    assert!(client.of_type(3).await["error"].as_str().unwrap().contains("one argument"));
    client.text("{\u{1e}").await;
    assert!(client.closed().await.contains("cannot be read"));
    let mut client = server.client().await;
    client.text(" ".repeat(limits::HUB_MESSAGE_BYTES_MAX / 2 + 1)).await;
    client.text(" ".repeat(limits::HUB_MESSAGE_BYTES_MAX / 2 + 1)).await;
    assert!(client.closed().await.contains("more than"));
    let mut client = server.client().await;
    // The server reads no more of it than its length, so that the client may not get rid of it.
    drop(client.socket.send(Message::text(" ".repeat(limits::HUB_MESSAGE_BYTES_MAX + 1))).await);
    let mut end = client.next().await;
    while end.as_ref().is_some_and(|record| record["type"] == 6) {
        end = client.next().await;
    }
    assert!(end.as_ref().is_none_or(|record| record["type"] == 7), "{end:?}");
    let mut client = server.client().await;
    client.send(&json!({"type": 7})).await;
    client.closed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_bounded_and_end_with_the_server() {
    let world = World::without_executor(Config::default()).await;
    let config = Config { streams_per_caller_max: 2, ..Config::default() };
    let server = Server::start(&world, config).await;
    let mut first = server.client().await;
    let mut second = server.client().await;
    assert!(server.connect(HUB, None).await.unwrap_err().contains("429"));
    first.send(&json!({"type": 7})).await;
    first.closed().await;
    testkit::eventually("a place is free", BOUND, async || server.connect(HUB, None).await.is_ok())
        .await;
    server.life.begin_stop();
    let close = second.of_type(7).await;
    assert_eq!(close["allowReconnect"], true);
    assert!(testkit::within("the end", BOUND, server.life.finished()).await);
}
