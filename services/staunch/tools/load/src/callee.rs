//! A server that workflows call: `/slow` is answered after 100 ms, anything else at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const SLOW: Duration = Duration::from_millis(100);
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
    Content-Length: 2\r\n\r\n{}";
/// The size limit of a request in bytes; a larger one is cut off.
const BYTES_MAX: usize = 64 << 10;

/// The server; it ends when this value is dropped.
#[derive(Debug)]
pub struct Callee {
    url: String,
    asked: Arc<AtomicU64>,
    _serving: JoinSet<()>,
}

impl Callee {
    /// Listens on a free port of the loopback.
    ///
    /// # Errors
    /// When it cannot.
    pub async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        let url = format!("http://{}", listener.local_addr()?);
        let asked = Arc::new(AtomicU64::new(0));
        let mut serving = JoinSet::new();
        serving.spawn(accept(listener, Arc::clone(&asked)));
        Ok(Self { url, asked, _serving: serving })
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The number of requests so far.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, asked: Arc<AtomicU64>) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.spawn(serve(stream, Arc::clone(&asked)));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(SLOW).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(mut stream: TcpStream, asked: Arc<AtomicU64>) {
    let mut buffer = Vec::new();
    if stream.set_nodelay(true).is_err() {
        return;
    }
    while let Some((length, is_slow)) = next(&mut stream, &mut buffer).await {
        buffer.drain(..length);
        asked.fetch_add(1, Ordering::Relaxed);
        if is_slow {
            tokio::time::sleep(SLOW).await;
        }
        if stream.write_all(ANSWER).await.is_err() {
            return;
        }
    }
}

/// The length of the next request, and whether it is a slow one; None if there is none.
async fn next(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<(usize, bool)> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            let body = head.split("\r\n").find_map(|line| line.strip_prefix("content-length:"));
            let length = end + 4 + body.and_then(|body| body.trim().parse().ok()).unwrap_or(0);
            let is_slow = head.split(' ').nth(1).is_some_and(|path| path == "/slow");
            if buffer.len() >= length {
                return Some((length, is_slow));
            }
        }
        if buffer.len() > BYTES_MAX || stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Connection;

    #[tokio::test]
    async fn it_answers_every_request_of_a_connection() {
        let callee = Callee::start().await.unwrap();
        let mut connection = Connection::to(callee.url(), &crate::Access::default()).unwrap();
        for (method, body) in [("GET", ""), ("POST", "{\"a\": 1}"), ("PUT", "")] {
            let reply = connection.send(method, "/1", body).await.unwrap();
            assert_eq!((reply.status, reply.body), (200, b"{}".as_slice()));
        }
        let began = tokio::time::Instant::now();
        connection.send("GET", "/slow", "").await.unwrap();
        assert!(began.elapsed() >= SLOW);
        assert_eq!(callee.asked(), 4);
    }
}
