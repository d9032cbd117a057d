//! An HTTP server, with or without TLS, with limits on the number of connections, the time of
//! headers and writes, and the time of its end.
//!
//! A connection without a permit waits in the system's queue. A connection without a complete
//! request is closed after [`model::limits::HEADERS_TIME_MAX`], so slow or idle clients give their permits
//! back. If the process has no file descriptor left, the server pauses and tries again.

mod connection;
mod linger;
mod rest;
mod socket;
mod stall;
mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Body;
use hyper::service::Service;
use hyper::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Life;
use connection::Front;
pub use rest::RequestBody;
pub use socket::{check_passed, listen};
pub use tls::{BadFiles, Tls, TlsFiles};
pub(crate) use tls::{bad, bytes_of, certificates_in};

/// Pause after an accept that failed for lack of a resource, such as a file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time for connections that the system has accepted before the stop.
const LAST_ACCEPTS: Duration = Duration::from_millis(50);
/// Time between two log lines about the same problem.
const LOG_PAUSE: Duration = Duration::from_secs(10);
/// Descriptors reserved for other uses than HTTP connections: database, broker, files.
const DESCRIPTORS_RESERVED: usize = 64;
/// Connections that are allowed even if there are few descriptors.
const CONNECTIONS_MIN: usize = 16;
/// The number of descriptors to assume if the system does not report it.
const DESCRIPTORS_DEFAULT: usize = 256;
/// TLS handshakes at the same time; further ones wait, within the time of theirs.
const HANDSHAKES_MAX: usize = 256;

/// The number of connections to allow: the configured one, or fewer if the process may not open
/// that many files.
#[must_use]
pub fn connections_max(configured: usize) -> usize {
    connections_within(configured, descriptors_max().unwrap_or(DESCRIPTORS_DEFAULT))
}

fn connections_within(configured: usize, descriptors: usize) -> usize {
    let reserved = DESCRIPTORS_RESERVED.max(descriptors / 4);
    let free = descriptors.saturating_sub(reserved).max(CONNECTIONS_MIN);
    configured.clamp(1, free).min(Semaphore::MAX_PERMITS)
}

/// The number of files that this process may open, as Linux reports it.
fn descriptors_max() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The address that a request comes from; every request has it as an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// The request came over TLS; such a request has it as an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encrypted;

/// How a server ends.
#[derive(Clone, Debug)]
pub struct Ending {
    /// From now on every answer ends its connection; new connections are taken as before.
    pub leaving: CancellationToken,
    /// No further connection is taken.
    pub stop: CancellationToken,
}

impl Ending {
    /// The end of a server that does not leave before it stops.
    #[must_use]
    pub fn at_once(stop: CancellationToken) -> Self {
        Self { leaving: stop.clone(), stop }
    }

    /// The end of a server that ends with this life.
    #[must_use]
    pub fn with(life: &Life) -> Self {
        Self { leaving: life.leaving(), stop: life.stop() }
    }
}

/// Serves connections until `ending` says stop, then lets every request that has begun finish.
///
/// `connections_max` is the number of connections that are open at the same time.
pub async fn serve<S, B>(
    listener: TcpListener,
    tls: Option<Tls>,
    service: S,
    connections_max: usize,
    ending: Ending,
) where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let room = Arc::new(Semaphore::new(connections_max));
    let handshakes = Arc::new(Semaphore::new(HANDSHAKES_MAX));
    let stop = ending.stop.clone();
    let front = Front { service, tls, handshakes, ending };
    let open = TaskTracker::new();
    let mut full = Sampled::default();
    let mut failed = Sampled::default();
    while let Some(permit) = stop.run_until_cancelled(permit(&room, &mut full)).await.flatten() {
        let Some(accepted) = stop.run_until_cancelled(listener.accept()).await else { break };
        match accepted {
            Ok((stream, peer)) => begin(&front, &open, permit, stream, Peer(peer)),
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                if failed.is_due() {
                    tracing::error!(%error, "no connection can be accepted; trying again");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // The system has accepted these before the stop: without an answer they would be reset.
    let until = Instant::now() + LAST_ACCEPTS;
    while let Ok(permit) = Arc::clone(&room).try_acquire_owned()
        && let Ok(Ok((stream, peer))) = timeout_at(until, listener.accept()).await
    {
        begin(&front, &open, permit, stream, Peer(peer));
    }
    drop(listener);
    open.close();
    open.wait().await;
}

/// Serves one connection beside the others.
fn begin<S, B>(
    front: &Front<S>,
    open: &TaskTracker,
    permit: OwnedSemaphorePermit,
    stream: TcpStream,
    peer: Peer,
) where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let connection = front.clone().serve(stream, peer);
    let serving = open.track_future(async move {
        connection.await;
        drop(permit);
    });
    drop(tasks::spawn("http connection", serving));
}

/// A permit for one more connection. Never `None`, because the semaphore is not closed.
async fn permit(room: &Arc<Semaphore>, full: &mut Sampled) -> Option<OwnedSemaphorePermit> {
    if room.available_permits() == 0 && full.is_due() {
        tracing::warn!("all HTTP connections are in use; new ones wait until one is closed");
    }
    Arc::clone(room).acquire_owned().await.ok()
}

/// The client closed its connection before it was accepted.
fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// Limits log lines to one per interval.
#[derive(Default)]
struct Sampled(Option<Instant>);

impl Sampled {
    fn is_due(&mut self) -> bool {
        let is_due = self.0.is_none_or(|last| last.elapsed() >= LOG_PAUSE);
        if is_due {
            self.0 = Some(Instant::now());
        }
        is_due
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
mod tests;
