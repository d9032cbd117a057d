//! The HTTP server of every role, with clients that are slow, too many or gone.

use std::net::SocketAddr;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use model::limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;

/// A server that answers every request with `ok`.
async fn server(connections_max: usize) -> (SocketAddr, CancellationToken, TaskTracker) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let service = service_fn(async |_: Request<RequestBody>| {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
    });
    let tasks = TaskTracker::new();
    tasks.spawn(serve(listener, None, service, connections_max, Ending::at_once(stop.clone())));
    tasks.close();
    (address, stop, tasks)
}

async fn ask(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[test]
fn connections_leave_descriptors_for_everything_else() {
    for (configured, descriptors, expected) in [
        (10_000, 256, 192),
        (10_000, 1_024, 768),
        (100, 1_024, 100),
        (10_000, 1_048_576, 10_000),
        (10_000, 20, CONNECTIONS_MIN),
        (0, 1_024, 1),
        (usize::MAX, usize::MAX, usize::MAX),
    ] {
        let expected = expected.min(usize::MAX - usize::MAX / 4).min(Semaphore::MAX_PERMITS);
        assert_eq!(connections_within(configured, descriptors), expected, "{descriptors}");
    }
}

#[tokio::test]
async fn half_a_request_gives_its_connection_back_after_the_headers_time() {
    let (address, stop, tasks) = server(2).await;
    let began = Instant::now();
    let mut halves = Vec::new();
    for _ in 0..3 {
        let mut half = TcpStream::connect(address).await.unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n").await.unwrap();
        halves.push(half);
    }
    assert!(ask(address).await.ends_with("ok"), "answered although three connections are held");
    assert!(began.elapsed() >= limits::HEADERS_TIME_MAX, "{:?}", began.elapsed());
    stop.cancel();
    drop(halves);
    tasks.wait().await;
}

/// The service answers at once and reads no body, as a limit does.
#[tokio::test]
async fn a_client_that_still_sends_gets_its_answer() {
    let (address, stop, tasks) = server(2).await;
    let body = vec![b'x'; 4 * 1024 * 1024];
    for _ in 0..20 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        // The answer is there before the client looks for it.
        stream.readable().await.unwrap();
        stream.write_all(&body).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("ok"), "{answer}");
    }
    stop.cancel();
    tasks.wait().await;
}

#[tokio::test]
async fn a_client_that_never_stops_sending_gives_its_connection_back() {
    let (address, stop, tasks) = server(1).await;
    let mut endless = TcpStream::connect(address).await.unwrap();
    endless
        .write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000000\r\n\r\n")
        .await
        .unwrap();
    let sending =
        tokio::spawn(async move { while endless.write_all(&[b'x'; 64 * 1024]).await.is_ok() {} });
    assert!(ask(address).await.ends_with("ok"));
    sending.await.unwrap();
    stop.cancel();
    tasks.wait().await;
}

#[tokio::test]
async fn headers_have_a_size_and_idle_connections_an_end() {
    let (address, stop, tasks) = server(4).await;
    let mut large = TcpStream::connect(address).await.unwrap();
    let header =
        format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", "x".repeat(limits::HEADERS_BYTES_MAX));
    // The server may close the connection before all bytes are written.
    drop(large.write_all(header.as_bytes()).await);
    let mut answer = Vec::new();
    drop(large.read_to_end(&mut answer).await);
    assert!(!String::from_utf8_lossy(&answer).contains("200 OK"));
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    // Ends only because the server closes the idle connection.
    idle.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    stop.cancel();
    tasks.wait().await;
}

#[tokio::test]
async fn a_request_has_the_address_that_it_comes_from() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = service_fn(async |request: Request<RequestBody>| {
        let Peer(from) = request.extensions().get::<Peer>().unwrap();
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(from.to_string()))))
    });
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(listener, None, service, 1, Ending::at_once(stop.clone())));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let from = stream.local_addr().unwrap().to_string();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with(&from), "{answer}");
    stop.cancel();
    serving.await.unwrap();
}

/// One answer on a connection that stays open, as far as its body.
async fn ask_on(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"ok") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "it is cut off");
    }
    String::from_utf8(answer).unwrap().to_lowercase()
}

#[tokio::test]
async fn a_server_that_leaves_answers_everybody_and_ends_each_connection_with_an_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let life = Life::new(Duration::from_secs(30));
    let service = service_fn(async |_: Request<RequestBody>| {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
    });
    let serving = tokio::spawn(serve(listener, None, service, 4, Ending::with(&life)));
    let mut idle = TcpStream::connect(address).await.unwrap();
    assert!(!ask_on(&mut idle).await.contains("connection: close"));
    life.begin_leaving();
    assert!(ask_on(&mut idle).await.contains("connection: close"), "the idle one is not cut off");
    assert_eq!(idle.read(&mut [0]).await.unwrap(), 0, "and ends");
    let mut late = TcpStream::connect(address).await.unwrap();
    assert!(ask_on(&mut late).await.contains("connection: close"), "the port is still open");
    let mut accepted = TcpStream::connect(address).await.unwrap();
    life.begin_stop();
    assert!(ask_on(&mut accepted).await.contains("connection: close"), "it came before the stop");
    drop((idle, late, accepted));
    serving.await.unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "the port is closed");
}

/// Sends the parts of one request, with a pause before each, and returns the whole answer.
async fn ask_in_parts(stream: &mut TcpStream, parts: &[&str]) -> String {
    for part in parts {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stream.write_all(part.as_bytes()).await.unwrap();
    }
    let mut answer = Vec::new();
    while !answer.ends_with(b"ok") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "it is cut off");
    }
    String::from_utf8(answer).unwrap().to_lowercase()
}

/// The service answers at once and reads no body, as without credentials.
#[tokio::test]
async fn a_connection_stays_after_a_short_body_that_nobody_reads() {
    let (address, stop, tasks) = server(2).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    for parts in [
        ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n", "{", "}"],
        [
            "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n",
            "2\r\n{}\r\n",
            "0\r\n\r\n",
        ],
        ["POST / HTTP/1.1\r\n", "host: a\r\ncontent-length: 2\r\n", "\r\n{}"],
    ] {
        let answer = ask_in_parts(&mut stream, &parts).await;
        assert!(answer.starts_with("http/1.1 200"), "{answer}");
        assert!(!answer.contains("connection: close"), "{answer}");
    }
    drop(stream);
    stop.cancel();
    tasks.wait().await;
}

#[tokio::test]
async fn an_answer_says_that_it_ends_its_connection() {
    let (address, stop, tasks) = server(4).await;
    for (parts, why) in [
        (
            ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 65537\r\n\r\n", "{"],
            "its rest is announced as too long",
        ),
        (
            ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n", "{"],
            "its rest does not arrive",
        ),
        (
            ["POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n", "content-length: 2\r\n\r\n"],
            "its client waits to be asked for it",
        ),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let answer = ask_in_parts(&mut stream, &parts).await;
        assert!(answer.starts_with("http/1.1 200"), "{why}: {answer}");
        assert!(answer.contains("connection: close"), "{why}: {answer}");
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0, "{why}");
    }
    let mut endless = TcpStream::connect(address).await.unwrap();
    let head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("8000\r\n{}\r\n", "x".repeat(0x8000));
    let answer = ask_in_parts(&mut endless, &[head, &chunk, &chunk, "1\r\nx\r\n"]).await;
    assert!(answer.contains("connection: close"), "its rest is too long: {answer}");
    drop(endless);
    stop.cancel();
    tasks.wait().await;
}
