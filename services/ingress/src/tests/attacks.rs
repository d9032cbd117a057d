//! Attacks at the port, with bytes that no client library sends. The table in docs/security.md names
//! these tests, and those of tokens and outgoing calls elsewhere.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Request;
use chassis::{Auth, Life};
use model::limits;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tower::ServiceExt as _;

use super::world::{BOUND, World, json_request, writes_line};
use crate::{Config, serve};

const KEY: &str = "a-bootstrap-key-of-length";
const DEFINITIONS: &str = "/elsa/api/workflow-definitions";
const INSTANCES: &str = "/elsa/api/workflow-instances";

/// One ingress that listens, and the cluster behind it.
struct Port {
    world: World,
    address: SocketAddr,
    life: Life,
}

impl Port {
    async fn open(config: Config) -> Self {
        let world = World::without_executor(config.clone()).await;
        let config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..config };
        let life = Life::new(Duration::from_secs(30));
        let address = serve::start(world.context(), config, &life).await.unwrap();
        Self { world, address, life }
    }

    /// Everything that the server says to these bytes until it closes the connection.
    async fn said(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut said = Vec::new();
        let talk = async {
            stream.write_all(request).await?;
            stream.read_to_end(&mut said).await
        };
        let ended = testkit::within("the end of the connection", BOUND, talk).await;
        // The server may close the connection before it has read all that the client sent.
        let is_cut = |kind| matches!(kind, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe);
        assert!(ended.is_ok() || ended.is_err_and(|error| is_cut(error.kind())));
        String::from_utf8_lossy(&said).into_owned()
    }

    async fn close(self) {
        self.life.begin_stop();
        assert!(self.life.finished().await);
    }
}

fn keyed() -> Config {
    Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..Config::default() }
}

/// The status of the only answer in a text.
#[track_caller]
fn status(said: &str, what: &str) -> u16 {
    assert_eq!(said.matches("HTTP/1.").count(), 1, "{what:?} has one answer: {said}");
    said.get(9..12).and_then(|status| status.parse().ok()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_hides_in_the_body_of_another() {
    let port = Port::open(Config::default()).await;
    let host = format!("127.0.0.1:{}", port.address.port());
    // A second request, which a proxy in front would have taken for the body of the first.
    let hidden = format!("GET /openapi.json HTTP/1.1\r\nhost: {host}\r\n\r\n");
    let sent = |version: &str, headers: &str, body: &str| {
        let head = format!("POST {INSTANCES} HTTP/{version}\r\nhost: {host}\r\n");
        format!("{head}content-type: application/json\r\n{headers}\r\n\r\n{body}{hidden}")
    };
    for (expected, version, headers, body) in [
        // Chunks win over a length, as the standard says, and the connection ends.
        (200, "1.1", "content-length: 60\r\ntransfer-encoding: chunked", "0\r\n\r\n"),
        (200, "1.1", "transfer-encoding: chunked\r\ncontent-length: 60", "0\r\n\r\n"),
        (400, "1.1", "content-length: 0\r\ncontent-length: 60", ""),
        (400, "1.1", "content-length: 0, 60", ""),
        (400, "1.1", "content-length: +0", ""),
        (400, "1.1", "content-length: -1", ""),
        (400, "1.1", "content-length: 0x0", ""),
        (400, "1.1", "content-length: 0 0", ""),
        (400, "1.1", "content-length: 18446744073709551616", ""),
        (400, "1.1", "transfer-encoding: xchunked", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: identity", ""),
        (400, "1.1", "transfer-encoding: chunked, identity", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: chunked\r\ntransfer-encoding: x", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: chunked\u{b}", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: gzip, chunked", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: identity, chunked", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: chunked, chunked", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: ,chunked", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: chunked,", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: gzip\r\ntransfer-encoding: chunked", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: chunked\r\ntransfer-encoding: chunked", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: chunked;a=b", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding : chunked", "0\r\n\r\n"),
        (400, "1.1", "content-length : 0", ""),
        (400, "1.1", "x: a\r\n transfer-encoding: chunked", ""),
        (400, "1.1", "x: a\rtransfer-encoding: chunked", ""),
        (400, "1.1", "x: a\0b", ""),
        (400, "1.1", "x y: a", ""),
        (400, "1.1", ": a", ""),
        (400, "1.1", "x", ""),
        (400, "1.0", "transfer-encoding: chunked", "0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: chunked", "0x0\r\n\r\n"),
        (400, "1.1", "transfer-encoding: chunked", "-1\r\n\r\n"),
        (400, "1.1", "transfer-encoding: chunked", "fffffffffffffffff\r\n"),
        (400, "1.1", "transfer-encoding: chunked", "2\r\n{}XX0\r\n\r\n"),
    ] {
        let said = port.said(sent(version, headers, body).as_bytes()).await;
        assert_eq!(status(&said, headers), expected, "{headers:?} {body:?}: {said}");
        assert!(!said.contains("openapi"), "{headers:?} {body:?}: {said}");
    }
    // A bare line feed ends a line: what stands after it is a header, and counts.
    let length = hidden.len();
    for lines in [
        format!("POST {INSTANCES} HTTP/1.1\nhost: {host}\ncontent-length: {length}\n\n"),
        format!(
            "POST {INSTANCES} HTTP/1.1\r\nhost: {host}\r\nx: a\ncontent-length: {length}\r\n\r\n"
        ),
    ] {
        let lines = lines.replacen("host", "connection: close\nhost", 1);
        let said = port.said(format!("{lines}{hidden}").as_bytes()).await;
        assert_eq!(status(&said, &lines), 400, "the body is no JSON: {said}");
        assert!(!said.contains("openapi"), "{lines:?}: {said}");
    }
    port.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_reads_in_two_ways_is_refused() {
    let port = Port::open(keyed()).await;
    let own = format!("127.0.0.1:{}", port.address.port());
    let good = format!("authorization: ApiKey {KEY}");
    for (target, headers) in [
        (DEFINITIONS, format!("{good}\r\nhost: {own}\r\nhost: {own}")),
        (DEFINITIONS, format!("{good}\r\nhost: {own}\r\nhost: evil.example")),
        (DEFINITIONS, good.clone()),
        (DEFINITIONS, format!("{good}\r\nhost: user@{own}")),
        ("http://evil.example/elsa/api/workflow-definitions", format!("{good}\r\nhost: {own}")),
        (DEFINITIONS, format!("host: {own}\r\n{good}\r\nauthorization: ApiKey another")),
        (DEFINITIONS, format!("host: {own}\r\nauthorization: ApiKey another\r\n{good}")),
    ] {
        let request = format!("GET {target} HTTP/1.1\r\n{headers}\r\nconnection: close\r\n\r\n");
        let said = port.said(request.as_bytes()).await;
        assert_eq!(status(&said, &headers), 400, "{target} {headers:?}: {said}");
        assert!(said.contains("urn:staunch:problem:ambiguous-request"), "{headers:?}: {said}");
    }
    port.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_a_path_goes_around_its_permission() {
    let port = Port::open(keyed()).await;
    let key = format!("ApiKey {KEY}");
    let secret = json!({"definitionId": "secret-definition", "root": writes_line()});
    let make = json_request("POST", DEFINITIONS, &[("authorization", &key)], &secret);
    port.world.send(make).await.expect(201);
    let ask = async |method: &str, target: &str, header: &str| {
        let host = port.address;
        let head = format!("{method} {target} HTTP/1.1\r\nhost: {host}\r\n{header}");
        port.said(format!("{head}connection: close\r\n\r\n").as_bytes()).await
    };
    let seen = ask("GET", DEFINITIONS, &format!("authorization: {key}\r\n")).await;
    assert!(status(&seen, DEFINITIONS) == 200 && seen.contains("secret-definition"), "{seen}");
    let slashed =
        ask("GET", &format!("{DEFINITIONS}/"), &format!("authorization: {key}\r\n")).await;
    assert!(
        status(&slashed, "a slash") == 200 && slashed.contains("secret-definition"),
        "{slashed}"
    );
    let whole = format!("http://{}{DEFINITIONS}", port.address);
    for target in [
        DEFINITIONS,
        whole.as_str(),
        "/api/workflow-definitions",
        "/elsa/api/workflow-definitions/",
        "/elsa/api//workflow-definitions",
        "//elsa/api/workflow-definitions",
        "/elsa/api/./workflow-definitions",
        "/elsa/api/x/../workflow-definitions",
        "/health/../elsa/api/workflow-definitions",
        "/health/live/../../elsa/api/workflow-definitions",
        "/health/%2e%2e/elsa/api/workflow-definitions",
        "/docs/../elsa/api/workflow-definitions",
        "/docs/%2e%2e/elsa/api/workflow-definitions",
        "/workflows/../elsa/api/workflow-definitions",
        "/workflows/%2e%2e/elsa/api/workflow-definitions",
        "/workflows/..%2felsa%2fapi%2fworkflow-definitions",
        "/openapi.json/../elsa/api/workflow-definitions",
        "/ELSA/API/WORKFLOW-DEFINITIONS",
        "/elsa/api/%77orkflow-definitions",
        "/elsa%2fapi%2fworkflow-definitions",
        "/elsa/api/workflow-definitions;a=b",
        "/elsa/api/workflow-definitions%00",
        "/elsa/api/workflow-definitions%20",
        "/elsa/api/workflow-definitions%3f",
        "/elsa/api/workflow-definitions#/health/live",
        "/elsa/api/workflow-definitions?/health/live",
        "/elsa/api/workflow-definitions\\..\\..\\health",
        "\\elsa\\api\\workflow-definitions",
        "elsa/api/workflow-definitions",
        "/docs/../../etc/passwd",
        "/docs/%2e%2e/%2e%2e/etc/passwd",
        "/docs/..%2f..%2f..%2fetc%2fpasswd",
        "/docs/..%5c..%5cetc%5cpasswd",
        "/docs//etc/passwd",
        "/workflows/%2e%2e%2f%2e%2e%2fetc/passwd",
        "/workflows/%c0%ae%c0%ae/elsa/api/workflow-definitions",
        "*",
    ] {
        for method in ["GET", "HEAD"] {
            let said = ask(method, target, "").await;
            let status = status(&said, target);
            assert!(matches!(status, 400 | 401 | 404 | 405), "{method} {target}: {said}");
            assert!(!said.contains("secret-definition"), "{method} {target}: {said}");
            assert!(!said.contains("root:"), "{method} {target}: {said}");
        }
    }
    // A header changes neither the path nor the method.
    for header in [
        format!("x-original-url: {DEFINITIONS}\r\n"),
        format!("x-rewrite-url: {DEFINITIONS}\r\n"),
        format!("x-forwarded-prefix: {DEFINITIONS}\r\n"),
    ] {
        let said = ask("GET", "/", &header).await;
        assert!(!said.contains("secret-definition"), "{header}: {said}");
    }
    let target = format!("{DEFINITIONS}/secret-definition");
    let header = format!("authorization: {key}\r\nx-http-method-override: DELETE\r\n");
    let said = ask("GET", &target, &header).await;
    assert_ne!(status(&said, &header), 204, "{said}");
    assert!(ask("GET", DEFINITIONS, &header).await.contains("secret-definition"));
    for method in ["TRACE", "CONNECT", "get", "PROPFIND", "X"] {
        let said = ask(method, DEFINITIONS, &header).await;
        let status = status(&said, method);
        assert!(matches!(status, 400 | 404 | 405), "{method}: {said}");
        assert!(!said.contains("secret-definition") && !said.contains(KEY), "{method}: {said}");
    }
    port.close().await;
}

#[tokio::test]
async fn credentials_come_in_one_header_alone() {
    let world = World::without_executor(keyed()).await;
    let key = format!("ApiKey {KEY}");
    let basic = format!("Basic {KEY}");
    let cookie = format!("authorization={key}; access_token={KEY}; api_key={KEY}");
    for (header, value) in [
        ("x-api-key", KEY),
        ("api-key", KEY),
        ("cookie", &cookie),
        ("proxy-authorization", &key),
        ("x-authorization", &key),
        ("x-forwarded-user", "admin"),
        ("x-remote-user", "admin"),
        ("authorization", &basic),
        ("authorization", KEY),
    ] {
        let path = format!("{DEFINITIONS}?access_token={KEY}&api_key={KEY}&apiKey={KEY}");
        let request = json_request("GET", &path, &[(header, value)], &Value::Null);
        let refusal = world.send(request).await.problem(401);
        assert!(!refusal.contains(KEY), "{header}: {refusal}");
    }
    let request = json_request("GET", DEFINITIONS, &[("authorization", &key)], &Value::Null);
    world.send(request).await.expect(200);
}

#[tokio::test]
async fn a_name_that_leads_to_this_machine_is_no_way_in() {
    let world = World::without_executor(Config::default()).await;
    let ask = async |host: &str| {
        world.send(json_request("GET", DEFINITIONS, &[("host", host)], &Value::Null)).await
    };
    for host in ["127.0.0.1", "127.0.0.1:5001", "127.9.9.9:80", "localhost:5001", "[::1]:5001"] {
        ask(host).await.expect(200);
    }
    for host in [
        "evil.example",
        "evil.example:5001",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil-localhost",
        "127.0.0.1.nip.io:5001",
        "0.0.0.0:5001",
        "192.168.1.1",
        "[::]:5001",
        "[::2]",
        "2130706433",
        "0x7f.1",
    ] {
        let refusal = ask(host).await.problem(403);
        assert!(refusal.contains("Host header"), "{host}: {refusal}");
    }
    for host in [
        "localhost@evil.example",
        "evil.example/localhost",
        "localhost,evil.example",
        "[::1].evil.example",
        "",
    ] {
        ask(host).await.problem(400);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_or_body_beyond_its_limit_is_refused() {
    let port = Port::open(Config::default()).await;
    let host = format!("host: 127.0.0.1:{}\r\n", port.address.port());
    let long = "x".repeat(limits::HEADERS_BYTES_MAX);
    let heads = [
        format!("GET /{long} HTTP/1.1\r\n{host}\r\n"),
        format!("GET / HTTP/1.1\r\n{host}x: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}{}\r\n", "x: y\r\n".repeat(200)),
        format!("{long}{long}"),
    ];
    for head in heads {
        let said = port.said(head.as_bytes()).await;
        assert!(!said.contains(" 200 "), "{said}");
        if !said.is_empty() {
            let status = status(&said, "a long head");
            assert!(matches!(status, 400 | 414 | 431), "{said}");
        }
    }
    // No length is declared, so the limit is found while the body is read.
    let chunk = vec![b' '; 64 * 1024];
    let head = format!("POST {INSTANCES} HTTP/1.1\r\n{host}transfer-encoding: chunked\r\n\r\n");
    let mut request = head.into_bytes();
    for _ in 0..16 {
        request.extend_from_slice(b"10000\r\n");
        request.extend_from_slice(&chunk);
        request.extend_from_slice(b"\r\n");
    }
    let said = port.said(&request).await;
    assert_eq!(status(&said, "a large body"), 413, "{said}");
    port.close().await;
}

/// A body of one space each five seconds, which never ends.
fn trickle(path: &str) -> Request<Body> {
    let drops = futures::stream::unfold((), |()| async {
        tokio::time::sleep(limits::BODY_PAUSE_MAX / 2).await;
        Some((Ok::<_, std::io::Error>(Bytes::from_static(b" ")), ()))
    });
    let request = Request::post(path).header("host", "127.0.0.1:5001");
    let request = request.header("content-type", "application/json");
    request.body(Body::from_stream(drops)).unwrap()
}

#[tokio::test]
async fn a_body_that_trickles_is_given_up() {
    let world = World::without_executor(Config::default()).await;
    let root = json!({"type": "Elsa.HttpEndpoint", "path": "/in", "supportedMethods": ["POST"],
        "canStartWorkflow": true});
    world.publish("in", root).await;
    tokio::time::pause();
    let request_time_max = world.app.config.answer_time_max + Duration::from_secs(30);
    for (path, expected, most) in
        [("/workflows/in", 408, limits::BODY_TIME_MAX), (INSTANCES, 504, request_time_max)]
    {
        let began = Instant::now();
        let answer = world.router().clone().oneshot(trickle(path)).await.unwrap();
        assert_eq!(answer.status(), expected, "{path}");
        assert!(began.elapsed() <= most + limits::BODY_PAUSE_MAX, "{path}: {:?}", began.elapsed());
        let said = axum::body::to_bytes(answer.into_body(), 10_000).await.unwrap();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("the body did not arrive in "), "{path}: {said}");
    }
}
