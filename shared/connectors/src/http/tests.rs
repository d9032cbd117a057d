#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::Call;
use reqwest::dns::Resolve as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;
use crate::{Calls as _, Config, Connectors};

/// A server that gives these answers, one per connection, and reports the requests.
async fn server(answers: Vec<String>) -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = String::new();
            while !is_complete(&request) {
                let mut buffer = [0; 4096];
                let count = stream.read(&mut buffer).await.unwrap();
                request.push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
            asked.send(request).unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        // Keeps the port open, so that a hanging call gets no answer.
        std::future::pending::<()>().await;
    });
    (format!("http://{address}"), requests)
}

fn is_complete(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

fn call(url: String) -> Request {
    Request { url, method: "GET".into(), ..Request::default() }
}

fn http() -> Http {
    Http::new(Guard { allow_private: true }, Depot::default())
}

impl Http {
    /// The result of a request, as a workflow gets it.
    async fn get(&self, request: &Request) -> Map {
        self.send(request, "key-1", Some("00-trace"), None).await.into_input()
    }
}

#[tokio::test]
async fn a_call_carries_its_key_and_gives_json_parsed() {
    let ok = answer("201 Created", "content-type: application/json\r\n", r#"{"a":[1]}"#);
    let (url, mut requests) = server(vec![ok]).await;
    let mut post = call(format!("{url}/orders?x=1"));
    post.method = "POST".into();
    post.content = json!({"amount": 3});
    post.headers.insert("X-Own".into(), "yes".into());
    let answer = http().get(&post).await;
    assert_eq!(answer["statusCode"], 201);
    assert_eq!(answer["content"], json!({"a": [1]}));
    assert_eq!(answer["headers"]["content-type"], "application/json");
    let request = requests.recv().await.unwrap();
    assert!(request.starts_with("POST /orders?x=1 HTTP/1.1\r\n"), "{request}");
    for line in ["idempotency-key: key-1", "x-own: yes", "traceparent: 00-trace"] {
        assert!(request.contains(line), "{line} in {request}");
    }
    assert!(request.contains("content-type: application/json"), "{request}");
    assert!(request.ends_with(r#"{"amount":3}"#), "{request}");
}

#[tokio::test]
async fn redirects_are_followed_and_lose_the_body_where_browsers_lose_it() {
    let (last, mut asked) = server(vec![answer("200 OK", "", "done")]).await;
    let found = answer("302 Found", &format!("location: {last}/there\r\n"), "");
    let (first, _requests) = server(vec![found]).await;
    let mut post = call(first);
    post.method = "POST".into();
    post.content = json!("body");
    post.headers.insert("Authorization".into(), "Bearer secret".into());
    let answer = http().get(&post).await;
    assert_eq!(answer["content"], "done");
    let request = asked.recv().await.unwrap();
    assert!(request.starts_with("GET /there "), "{request}");
    assert!(!request.contains("secret"), "another origin does not learn the credentials");
}

/// A call with credentials, and with a header and a content that are made of a secret.
fn secret_call(url: String) -> Request {
    let headers = [
        ("X-Own", "kept"),
        ("X-Made", "made-secret"),
        ("X-Api-Key", "api-secret"),
        ("Authorization", "Bearer a-secret"),
        ("Proxy-Authorization", "Basic p-secret"),
        ("Cookie", "c=secret"),
        ("Idempotency-Key", "i-secret"),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut secret = SecretParts::default();
    secret.headers.extend(["X-Made", "Idempotency-Key"].map(str::to_owned));
    let content = json!("content");
    Request { method: "POST".into(), headers: headers.into(), content, secret, ..call(url) }
}

#[tokio::test]
async fn another_origin_gets_no_credentials_and_nothing_that_is_made_of_a_secret() {
    for (status, secret_body, expected) in [
        ("302 Found", false, Some("GET /there ")),
        ("303 See Other", true, Some("GET /there ")),
        ("307 Temporary Redirect", false, Some("POST /there ")),
        ("308 Permanent Redirect", false, Some("POST /there ")),
        ("307 Temporary Redirect", true, None),
        ("308 Permanent Redirect", true, None),
    ] {
        let (goal, mut asked) = server(vec![answer("200 OK", "", "done")]).await;
        let moved = answer(status, &format!("location: {goal}/there\r\n"), "");
        let (url, _requests) = server(vec![moved]).await;
        let mut post = secret_call(url);
        post.secret.body = secret_body;
        let end = http().get(&post).await;
        let Some(begin) = expected else {
            assert_eq!(end["error"], "refused", "{status}: {end:?}");
            let message = end["message"].as_str().unwrap();
            assert!(message.contains(&goal) && message.contains("has a secret"), "{message}");
            assert!(asked.try_recv().is_err(), "{status}: nobody was asked");
            continue;
        };
        assert_eq!(end["content"], "done", "{status}: {end:?}");
        let request = asked.recv().await.unwrap();
        assert!(request.starts_with(begin), "{status}: {request}");
        assert!(!request.contains("secret"), "{status}: {request}");
        for kept in ["x-own: kept", "idempotency-key: key-1"] {
            assert!(request.contains(kept), "{status}: {kept} in {request}");
        }
        assert_eq!(request.ends_with("content"), begin.starts_with("POST"), "{status}: {request}");
    }
}

#[tokio::test]
async fn a_redirect_within_an_origin_keeps_everything() {
    let moved = answer("307 Temporary Redirect", "location: /there\r\n", "");
    let (url, mut requests) = server(vec![moved, answer("200 OK", "", "done")]).await;
    let mut post = secret_call(url);
    post.secret.body = true;
    assert_eq!(http().get(&post).await["content"], "done");
    let first = requests.recv().await.unwrap();
    let second = requests.recv().await.unwrap();
    assert_eq!(second, first.replacen("POST / ", "POST /there ", 1));
    assert!(second.contains("x-made: made-secret") && second.ends_with("content"), "{second}");
}

#[tokio::test]
async fn endless_redirects_and_forbidden_ones_are_refused() {
    let to_file = answer("302 Found", "location: ftp://example.com/\r\n", "");
    let (url, _requests) = server(vec![to_file]).await;
    let answer_to_file = http().get(&call(url)).await;
    assert_eq!(answer_to_file["error"], "refused");

    let again = answer("302 Found", "location: /\r\n", "");
    let (url, _requests) = server(vec![again; 10]).await;
    let endless = http().get(&call(url)).await;
    assert_eq!(endless["error"], "refused");
    assert!(endless["message"].as_str().unwrap().contains("more than 5 times"), "{endless:?}");
}

#[tokio::test]
async fn private_addresses_are_refused_whichever_way_they_are_named() {
    let calls = Http::new(Guard { allow_private: false }, Depot::default());
    for url in ["http://127.0.0.1:9/", "http://localhost:9/"] {
        let answer = calls.get(&call(url.to_owned())).await;
        assert_eq!(answer["error"], "refused", "{url}: {answer:?}");
    }
}

/// Names that all resolve to this machine, as with an attacker's name server; counts look-ups.
#[derive(Clone, Default)]
struct Own(Arc<AtomicUsize>);

impl Names for Own {
    async fn addresses(&self, _: String) -> std::io::Result<Vec<IpAddr>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    }
}

/// Checks URLs as in production, and calls names that resolve to this machine.
fn calls_by_name(names: Own) -> Http {
    Http::over(
        Guard { allow_private: false },
        Depot::default(),
        Resolver(Guard { allow_private: true }, names),
    )
}

fn port_of(url: &str) -> &str {
    url.rsplit_once(':').unwrap().1
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_a_call() {
    let (url, mut requests) = server(vec![answer("200 OK", "", "done")]).await;
    let names = Own::default();
    let url = format!("http://first.example:{}/", port_of(&url));
    let answer = calls_by_name(names.clone()).get(&call(url)).await;
    assert_eq!(answer["content"], "done");
    assert!(requests.recv().await.unwrap().starts_with("GET / "));
    // A second look-up could have another answer than the one that was checked.
    assert_eq!(names.0.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn every_redirect_is_checked() {
    let (goal, mut asked) = server(vec![answer("200 OK", "", "secret")]).await;
    for to in ["127.0.0.1", "[::ffff:127.0.0.1]", "2130706433", "localhost."] {
        let location = format!("location: http://{to}:{}/\r\n", port_of(&goal));
        let (url, _requests) = server(vec![answer("302 Found", &location, "")]).await;
        let url = format!("http://first.example:{}/", port_of(&url));
        let names = Guarded { own: "first.example" };
        let calls = Http::over(
            Guard { allow_private: false },
            Depot::default(),
            Resolver(Guard { allow_private: true }, names),
        );
        let answer = calls.get(&call(url)).await;
        assert_eq!(answer.get("content"), None, "{to}");
        assert!(answer["error"] == "refused" || answer["error"] == "connect", "{to}: {answer:?}");
    }
    assert!(asked.try_recv().is_err(), "nobody was asked");
}

#[tokio::test]
async fn a_definition_calls_its_hosts_alone_and_redirects_lead_nowhere_else() {
    let (goal, mut asked) = server(vec![answer("200 OK", "", "secret")]).await;
    let location = format!("location: http://other.example:{}/\r\n", port_of(&goal));
    let (url, mut called) =
        server(vec![answer("302 Found", &location, ""), answer("200 OK", "", "done")]).await;
    let url = |host: &str| format!("http://{host}:{}/", port_of(&url));
    let hosts = Hosts::new(&["shop.example".to_owned(), "*.api.example".to_owned()]);
    let calls = calls_by_name(Own::default());
    let ask = |host: &str| {
        let request = call(url(host));
        let (calls, hosts) = (&calls, &hosts);
        async move { calls.send(&request, "key-1", None, Some(hosts)).await.into_input() }
    };
    for host in ["evil.example", "shop.example.evil.example", "api.example", "127.0.0.1"] {
        let refusal = ask(host).await;
        assert_eq!(refusal["error"], "refused", "{host}: {refusal:?}");
        assert!(refusal["message"].as_str().unwrap().contains(host), "{refusal:?}");
    }
    assert!(called.try_recv().is_err(), "nobody was asked");
    let redirected = ask("shop.example").await;
    assert!(redirected["message"].as_str().unwrap().contains("other.example"), "{redirected:?}");
    assert!(asked.try_recv().is_err(), "the redirect was not followed");
    assert_eq!(ask("v1.api.example").await["content"], "done");
}

/// One name resolves to this machine; the others are looked up and checked as in production.
#[derive(Clone)]
struct Guarded {
    own: &'static str,
}

impl Names for Guarded {
    async fn addresses(&self, name: String) -> std::io::Result<Vec<IpAddr>> {
        if name == self.own {
            return Ok(vec![IpAddr::from([127, 0, 0, 1])]);
        }
        let strict = Resolver(Guard { allow_private: false }, SystemNames);
        let found = strict.resolve(name.parse().unwrap()).await;
        found.map(|found| found.map(|to| to.ip()).collect()).map_err(std::io::Error::other)
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_or_does_not_answer_is_an_answer_too() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let answer = http().get(&call(url)).await;
    assert_eq!(answer["error"], "connect", "{answer:?}");

    let (url, _requests) = server(Vec::new()).await;
    let slow = Call {
        key: "key-1".into(),
        bookmark_id: "b".into(),
        activity_id: "send".into(),
        tries: None,
        timeout: Some(Duration::from_millis(50)),
        operation: call(url).into(),
    };
    let config = Config { allow_private_addresses: true, ..Config::default() };
    let answer = Connectors::new(&config, None, None)
        .perform(&slow, &"slow".into(), None)
        .await
        .into_input();
    assert_eq!(answer["error"], "timeout", "{answer:?}");
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_read_to_its_end() {
    let large = "x".repeat(limits::CALL_RESPONSE_BYTES_MAX + 1);
    let (url, _requests) = server(vec![answer("200 OK", "", &large)]).await;
    let answer = http().get(&call(url)).await;
    assert_eq!(answer["error"], "refused", "too large");
}

#[tokio::test]
async fn an_answer_that_is_too_deep_is_refused() {
    let json = "content-type: application/json\r\n";
    for (levels, is_fit) in [(64, true), (65, false), (100_000, false)] {
        let body = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let (url, _requests) = server(vec![answer("200 OK", json, &body)]).await;
        let answer = http().get(&call(url)).await;
        let message = answer.get("message").map(ToString::to_string).unwrap_or_default();
        assert_eq!(answer.contains_key("content"), is_fit, "{levels}: {message}");
        assert_eq!(message.contains("more than 64 deep"), !is_fit, "{levels}: {message}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused() {
    let mut bad = call("http://example.com/".into());
    bad.headers.insert("bad name".into(), "x".into());
    assert_eq!(http().get(&bad).await["error"], "refused");
    let answer = http().get(&call("no url".into())).await;
    assert_eq!(answer["error"], "refused");
}

#[tokio::test]
async fn an_answer_is_a_file_if_it_is_no_text_or_is_asked_for_as_one() {
    let kind =
        "content-type: text/plain\r\ncontent-disposition: attachment; filename=\"a.txt\"\r\n";
    let (url, _requests) = server(vec![answer("200 OK", kind, "hi")]).await;
    let mut wanted = call(format!("{url}/x/b.txt?c"));
    wanted.as_file = true;
    let end = http().get(&wanted).await;
    let expected =
        json!({"fileName": "a.txt", "contentType": "text/plain", "size": 2, "content": "aGk="});
    assert_eq!(end["content"], expected);
    // The byte after this control character begins no UTF-8 text.
    let url = bytes_server("", b"\x00\xff").await;
    let end = http().get(&call(format!("{url}/x/b.bin"))).await;
    let expected = json!({"fileName": "b.bin", "contentType": "application/octet-stream", "size": 2,
        "content": "AP8="});
    assert_eq!(end["content"], expected);
}

#[tokio::test]
async fn the_media_type_of_an_answer_tells_a_file_from_text() {
    let pdf = "content-type: application/pdf\r\n";
    let (url, _requests) = server(vec![answer("200 OK", pdf, "hi")]).await;
    let end = http().get(&call(format!("{url}/a.pdf"))).await;
    let expected = json!({"fileName": "a.pdf", "contentType": "application/pdf", "size": 2, "content": "aGk="});
    assert_eq!(end["content"], expected);
    let (url, _requests) = server(vec![answer("200 OK", "", "hi")]).await;
    assert_eq!(http().get(&call(url)).await["content"], "hi", "without a type");
}

#[tokio::test]
async fn a_header_that_is_there_twice_is_a_list() {
    let headers = "set-cookie: a=1; Expires=Wed, 21 Oct 2026\r\nset-cookie: b=2\r\nx-one: 1\r\n";
    let end = http().get(&call(bytes_server(headers, b"").await)).await;
    let cookies = json!(["a=1; Expires=Wed, 21 Oct 2026", "b=2"]);
    assert_eq!((&end["headers"]["set-cookie"], &end["headers"]["x-one"]), (&cookies, &json!("1")));
}

#[tokio::test]
async fn an_answer_is_read_in_its_charset() {
    let check = async |headers: &'static str, bytes: &'static [u8], expected: Value| {
        let end = http().get(&call(bytes_server(headers, bytes).await)).await;
        assert_eq!(end["content"], expected, "{headers}");
    };
    check("content-type: text/plain; charset=iso-8859-1\r\n", b"caf\xe9", json!("café")).await;
    check("content-type: text/html; charset=windows-1252\r\n", b"\x80 5", json!("€ 5")).await;
    check("content-type: application/json; charset=latin1\r\n", b"[\"\xe9\"]", json!(["é"])).await;
    let declared = b"<?xml version='1.0' encoding='iso-8859-1'?>\xe9";
    let expected = json!("<?xml version='1.0' encoding='iso-8859-1'?>é");
    check("content-type: application/xml\r\n", declared, expected).await;
    // What is none in its charset is kept as it is.
    for kind in ["text/plain; charset=klingon", "text/plain"] {
        let headers = format!("content-type: {kind}\r\n").leak();
        let end = http().get(&call(bytes_server(headers, b"caf\xe9").await)).await;
        assert_eq!(end["content"]["contentType"], kind, "{end:?}");
        assert_eq!(end["content"]["content"], "Y2Fm6Q==", "{end:?}");
    }
}

#[tokio::test]
async fn an_empty_answer_that_is_asked_for_as_a_file_is_a_file_of_no_bytes() {
    let chunked =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n0\r\n\r\n";
    let answers = vec![answer("200 OK", "", ""), answer("204 No Content", "", ""), chunked.into()];
    let (url, _requests) = server(answers).await;
    for _ in 0..3 {
        let mut wanted = call(format!("{url}/x/empty.bin"));
        wanted.as_file = true;
        let end = http().get(&wanted).await;
        let expected = json!({"fileName": "empty.bin", "contentType": "application/octet-stream",
            "size": 0, "content": ""});
        assert_eq!(end["content"], expected);
    }
}

#[tokio::test]
async fn a_form_is_sent_with_its_boundary() {
    let (url, mut requests) = server(vec![answer("200 OK", "", "ok")]).await;
    let mut post = call(url);
    post.method = "POST".into();
    post.content_type = Some("multipart/form-data".into());
    post.content = json!({"a": "1"});
    http().get(&post).await;
    let request = requests.recv().await.unwrap();
    let (_, rest) = request.split_once("multipart/form-data; boundary=").unwrap();
    let boundary = rest.lines().next().unwrap();
    assert!(request.ends_with(&format!("name=\"a\"\r\n\r\n1\r\n--{boundary}--\r\n")), "{request}");
}

/// A server that gives these bytes once.
async fn bytes_server(headers: &'static str, bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 4096];
        let _count = stream.read(&mut buffer).await.unwrap();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n", bytes.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        std::future::pending::<()>().await;
    });
    format!("http://{address}")
}

#[tokio::test]
async fn large_files_are_sent_from_payloads_and_answers_rest_in_them() {
    let depot = crate::depot::tests::depot();
    let text = "0123456789abcdef".repeat(40_000);
    let file = depot.file("a.bin", "x/y", text.clone().into_bytes()).await.unwrap();
    assert!(file.get("payload").is_some());
    let large = answer("200 OK", "content-type: application/pdf\r\n", &text);
    let (url, mut requests) = server(vec![large.clone(), large]).await;
    let http = Http::new(Guard { allow_private: true }, depot);
    let mut post = call(format!("{url}/plan.pdf"));
    post.method = "POST".into();
    post.content = file.clone();
    let end = http.get(&post).await;
    let hash = model::PayloadHash::of(text.as_bytes());
    let expected = model::file::large("plan.pdf", "application/pdf", text.len() as u64, &hash);
    assert_eq!(end["content"], expected, "{end:?}");
    let request = requests.recv().await.unwrap();
    assert!(request.contains(&format!("content-length: {}\r\n", text.len())));
    assert!(!request.contains("transfer-encoding"));
    assert!(request.ends_with(&text));
    post.content_type = Some("multipart/form-data".into());
    post.content = json!({"title": "T", "doc": [file]});
    assert_eq!(http.get(&post).await["statusCode"], 200);
    let request = requests.recv().await.unwrap();
    assert!(request.contains("filename=\"a.bin\"\r\nContent-Type: x/y\r\n\r\n0123"));
    assert_eq!(request.matches(&text).count(), 1);
}
