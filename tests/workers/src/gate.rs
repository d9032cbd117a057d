//! Ways to the broker: one on which the first acknowledgement of a task does not arrive, and one that is shut
//! for a while.

#![expect(clippy::disallowed_methods, reason = "the tasks of a test end with its test")]

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// The subject of what a worker says about a delivery.
const ACK: &str = " $JS.ACK.";

/// Passes everything on until a worker acknowledges; from then on nothing.
pub(crate) struct Gate {
    pub(crate) url: String,
    closed: Arc<Notify>,
}

impl Gate {
    pub(crate) async fn before(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let gate = format!("nats://{}", listener.local_addr().unwrap());
        let (target, closed) = (url.trim_start_matches("nats://").to_owned(), Arc::default());
        let told: Arc<Notify> = Arc::clone(&closed);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&target).await.unwrap();
                tokio::spawn(pass(client, server, Arc::clone(&told)));
            }
        });
        Self { url: gate, closed }
    }

    /// Waits until a worker has acknowledged, and the broker has not heard of it.
    pub(crate) async fn closed(&self) {
        self.closed.notified().await;
    }
}

/// Passes everything on unless it is shut: then connections end, and new ones are refused.
pub(crate) struct Door {
    pub(crate) url: String,
    is_shut: watch::Sender<bool>,
}

impl Door {
    pub(crate) async fn before(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let door = format!("nats://{}", listener.local_addr().unwrap());
        let (is_shut, seen) = watch::channel(false);
        let target = url.trim_start_matches("nats://").to_owned();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (target, mut shut) = (target.clone(), seen.clone());
                tokio::spawn(async move {
                    if *shut.borrow() {
                        return;
                    }
                    let mut server = TcpStream::connect(&target).await.unwrap();
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                        _ = shut.wait_for(|is_shut| *is_shut) => {}
                    }
                });
            }
        });
        Self { url: door, is_shut }
    }

    pub(crate) fn set_shut(&self, is_shut: bool) {
        self.is_shut.send_replace(is_shut);
    }
}

async fn pass(client: TcpStream, server: TcpStream, told: Arc<Notify>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let back = tokio::spawn(async move {
        drop(tokio::io::copy(&mut from_server, &mut to_client).await);
    });
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(count) = from_client.read(&mut chunk).await {
        if count == 0 {
            break;
        }
        if acknowledges(&chunk[..count]) {
            told.notify_one();
            // The connection stays as it is, and carries nothing any more.
            std::future::pending::<()>().await;
        }
        if to_server.write_all(&chunk[..count]).await.is_err() {
            break;
        }
    }
    back.abort();
}

/// Whether these bytes have an acknowledgement: not one of progress. A worker in a test says little,
/// and so a message is not divided.
fn acknowledges(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.match_indices(ACK).any(|(at, _)| {
        let mut lines = text[at..].split("\r\n").skip(1);
        lines.next().is_some_and(|payload| payload.is_empty() || payload == "+ACK")
    })
}

#[test]
fn an_acknowledgement_is_told_from_progress() {
    for payload in ["4\r\n+ACK", "0\r\n"] {
        assert!(acknowledges(format!("PUB $JS.ACK.S.c.1 {payload}\r\n").as_bytes()), "{payload}");
    }
    for other in ["PUB $JS.ACK.S.c.1 4\r\n+WPI\r\n", "PUB $JS.API.X 4\r\n+ACK\r\n", "PING\r\n"] {
        assert!(!acknowledges(other.as_bytes()), "{other}");
    }
}
