//! The HTTP port itself: slow clients, many of them, and the port for health beside it.

use std::net::SocketAddr;
use std::time::Duration;

use chassis::{Admin, AdminKeys, Life};
use model::limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::world::{BOUND, World};
use crate::{Config, serve};

async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_requests_lock_nobody_out_for_longer_than_the_headers_time() {
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        connections_max: 256,
        ..Config::default()
    };
    let world = World::without_executor(Config::default()).await;
    let life = Life::new(Duration::from_secs(30));
    let address = serve::start(world.context(), config, &life).await.unwrap();
    life.ready();
    let cx = world.context();
    let health = node::health(&cx.store, &cx.bus, &cx.presence);
    let admin =
        Admin::start("127.0.0.1:0".parse().unwrap(), AdminKeys::default(), &life, health).unwrap();
    let mut halves = Vec::new();
    for _ in 0..300 {
        let mut half = TcpStream::connect(address).await.unwrap();
        half.write_all(b"GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n").await.unwrap();
        halves.push(half);
    }
    let began = Instant::now();
    for path in ["/health/live", "/health/ready", "/metrics"] {
        let answer = testkit::within("the admin port", BOUND, get(admin.address(), path)).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    assert!(began.elapsed() < limits::HEADERS_TIME_MAX, "the admin port waits for nobody");
    // Some of the half-sent requests wait in the system's queue, so they get a second turn.
    let answer = testkit::within("recovery", BOUND * 2, get(address, "/health/live")).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(halves);
    life.begin_stop();
    assert!(life.finished().await);
}
