//! The other side of calls: an HTTP server that keeps what it gets, and one that lets callers wait.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::watch;

/// A server on a thread of its own; it ends with the process.
#[derive(Clone, Debug)]
pub(crate) struct OtherSide {
    url: String,
    got: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl OtherSide {
    /// Answers each request with what it got, as text; those for `/fails` with 500.
    pub(crate) fn echoing() -> Self {
        Self::start(true)
    }

    /// Answers each request with nothing.
    pub(crate) fn silent() -> Self {
        Self::start(false)
    }

    fn start(echoes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let side = Self { url, got: Arc::default() };
        let own = side.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = own.clone();
                thread::spawn(move || own.answer(stream, echoes));
            }
        });
        side
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// Everything that it got: heads and bodies.
    pub(crate) fn got(&self) -> Vec<Vec<u8>> {
        self.got.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many requests have this text.
    pub(crate) fn count(&self, text: &str) -> usize {
        let has = |one: &&Vec<u8>| String::from_utf8_lossy(one).contains(text);
        self.got().iter().filter(has).count()
    }

    fn answer(&self, mut stream: TcpStream, echoes: bool) {
        // A client that goes away is none of our business.
        let Some(whole) = request(&mut stream) else { return };
        let status = if whole.windows(6).any(|part| part == b"/fails") { 500 } else { 200 };
        let body = if echoes { whole.clone() } else { Vec::new() };
        self.got.lock().unwrap_or_else(PoisonError::into_inner).push(whole);
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Answer\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n"
        );
        drop(stream.write_all(&[head.as_bytes(), &body].concat()));
    }
}

/// A server that answers nobody until it is opened.
#[derive(Debug)]
pub(crate) struct Closed {
    pub(crate) url: String,
    is_open: watch::Sender<bool>,
    asked: Arc<AtomicUsize>,
}

impl Closed {
    #[expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let closed = Self { url, is_open: watch::Sender::new(false), asked: Arc::default() };
        let (is_open, asked) = (closed.is_open.subscribe(), Arc::clone(&closed.asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(wait(stream, is_open.clone(), Arc::clone(&asked)));
            }
        });
        closed
    }

    /// Answers everybody from now on.
    pub(crate) fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// How many requests it got.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

async fn wait(
    mut stream: tokio::net::TcpStream,
    mut is_open: watch::Receiver<bool>,
    asked: Arc<AtomicUsize>,
) {
    let mut head = [0; 4096];
    if stream.read(&mut head).await.is_ok_and(|count| count > 0) {
        asked.fetch_add(1, Ordering::Relaxed);
        let answer = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
        if is_open.wait_for(|open| *open).await.is_ok() {
            // A caller that is gone needs no answer.
            drop(stream.write_all(answer).await);
        }
    }
}

/// A whole request: its head, and the body of the length that the head says.
fn request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let mut part = [0; 8 * 1024];
        let count = stream.read(&mut part).ok().filter(|count| *count > 0)?;
        whole.extend_from_slice(&part[..count]);
        let Some(end) = whole.windows(4).position(|part| part == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&whole[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length = length.map_or(Some(0), |text| text.trim().parse().ok())?;
        if whole.len() >= end + 4 + length {
            return Some(whole);
        }
    }
}
