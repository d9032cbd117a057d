//! A TCP proxy whose network can be slow, or cut.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

const CHUNK: usize = 16 * 1024;
/// Chunks on their way in one direction of a connection.
const ON_THE_WAY: usize = 256;

/// Passes all bytes on to one address, or none. It ends when this value is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    is_open: Arc<watch::Sender<bool>>,
    target: Arc<watch::Sender<String>>,
    /// Microseconds that each byte takes.
    delay: Arc<AtomicU64>,
    serving: JoinHandle<()>,
}

impl Proxy {
    /// A proxy on a free port that leads to this address, such as `127.0.0.1:4222`.
    pub async fn to(target: &str) -> Self {
        Self::at("127.0.0.1:0", target).await
    }

    /// A proxy on this address of this machine.
    #[expect(clippy::expect_used, reason = "a test without its proxy cannot go on")]
    pub async fn at(address: &str, target: &str) -> Self {
        let listener = TcpListener::bind(address).await.expect("the address can be used");
        let address = listener.local_addr().expect("a listener has an address");
        let is_open = Arc::new(watch::Sender::new(true));
        let target = Arc::new(watch::Sender::new(target.to_owned()));
        let delay = Arc::default();
        let way = Way { is_open: is_open.subscribe(), delay: Arc::clone(&delay) };
        let serving = tokio::spawn(serve(listener, target.subscribe(), way));
        Self { address, is_open, target, delay, serving }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all connections; new ones lead to another address, as after a failover.
    pub fn turn_to(&self, target: &str) {
        self.target.send_replace(target.to_owned());
    }

    /// From now on each byte takes this long in each direction; as many as before pass in a second.
    pub fn delay(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.delay.store(micros, Ordering::Relaxed);
    }

    /// From now on no bytes pass. Connections stay open without traffic, as when a cable is pulled.
    pub fn cut(&self) {
        self.is_open.send_replace(false);
    }

    /// The bytes on their way arrive, and everything after them.
    pub fn heal(&self) {
        self.is_open.send_replace(true);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// What all connections have in common.
#[derive(Clone)]
struct Way {
    is_open: watch::Receiver<bool>,
    delay: Arc<AtomicU64>,
}

impl Way {
    async fn open(&mut self) -> bool {
        self.is_open.wait_for(|is_open| *is_open).await.is_ok()
    }
}

async fn serve(listener: TcpListener, target: watch::Receiver<String>, way: Way) {
    let mut connections = JoinSet::new();
    while let Ok((near, _)) = listener.accept().await {
        connections.spawn(join(near, target.clone(), way.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn join(near: TcpStream, mut target: watch::Receiver<String>, mut way: Way) {
    if !way.open().await {
        return;
    }
    let address = target.borrow_and_update().clone();
    let Ok(far) = TcpStream::connect(address).await else { return };
    // A delay would otherwise add to that of small packets.
    drop((near.set_nodelay(true), far.set_nodelay(true)));
    let (near_in, near_out) = near.into_split();
    let (far_in, far_out) = far.into_split();
    // When one side ends, the other is closed, too.
    tokio::select! {
        () = pass(near_in, far_out, way.clone()) => {}
        () = pass(far_in, near_out, way) => {}
        _ = target.changed() => {}
    }
}

async fn pass(from: OwnedReadHalf, to: OwnedWriteHalf, way: Way) {
    let (sent, on_the_way) = mpsc::channel(ON_THE_WAY);
    tokio::join!(take(from, sent, Arc::clone(&way.delay)), give(on_the_way, to, way));
}

/// Reads what is sent; each chunk has the time at which it arrives.
async fn take(
    mut from: OwnedReadHalf,
    sent: mpsc::Sender<(Instant, Vec<u8>)>,
    delay: Arc<AtomicU64>,
) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        let arrives = Instant::now() + Duration::from_micros(delay.load(Ordering::Relaxed));
        if sent.send((arrives, chunk[..read].to_vec())).await.is_err() {
            return;
        }
    }
}

async fn give(
    mut on_the_way: mpsc::Receiver<(Instant, Vec<u8>)>,
    mut to: OwnedWriteHalf,
    mut way: Way,
) {
    while let Some((arrives, chunk)) = on_the_way.recv().await {
        sleep_until(arrives).await;
        if !way.open().await || to.write_all(&chunk).await.is_err() {
            return;
        }
    }
    // The end of a stream arrives only after the bytes before it.
    way.open().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::within;

    const SOON: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn what_is_sent_into_a_cut_arrives_when_it_heals() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Proxy::to(&listener.local_addr().unwrap().to_string()).await;
        let mut near = TcpStream::connect(proxy.address()).await.unwrap();
        let (mut far, _) = within("a connection", SOON, listener.accept()).await.unwrap();
        let mut heard = [0; 3];
        near.write_all(b"one").await.unwrap();
        within("before", SOON, far.read_exact(&mut heard)).await.unwrap();
        proxy.cut();
        near.write_all(b"two").await.unwrap();
        far.write_all(b"six").await.unwrap();
        let silence = Duration::from_millis(200);
        assert!(tokio::time::timeout(silence, far.read_exact(&mut heard)).await.is_err());
        proxy.heal();
        within("after", SOON, far.read_exact(&mut heard)).await.unwrap();
        assert_eq!(&heard, b"two");
        within("the other way", SOON, near.read_exact(&mut heard)).await.unwrap();
        assert_eq!(&heard, b"six");
        drop(near);
        assert_eq!(within("the end", SOON, far.read(&mut heard)).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_delay_is_that_of_each_direction_and_bytes_stay_in_order() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Proxy::to(&listener.local_addr().unwrap().to_string()).await;
        let mut near = TcpStream::connect(proxy.address()).await.unwrap();
        let (mut far, _) = within("a connection", SOON, listener.accept()).await.unwrap();
        proxy.delay(Duration::from_millis(50));
        let began = Instant::now();
        let mut heard = [0; 6];
        near.write_all(b"one").await.unwrap();
        near.write_all(b"two").await.unwrap();
        within("there", SOON, far.read_exact(&mut heard)).await.unwrap();
        assert_eq!(&heard, b"onetwo");
        far.write_all(b"answer").await.unwrap();
        within("back", SOON, near.read_exact(&mut heard)).await.unwrap();
        assert_eq!(&heard, b"answer");
        assert!(began.elapsed() >= Duration::from_millis(100), "{:?}", began.elapsed());
    }
}
