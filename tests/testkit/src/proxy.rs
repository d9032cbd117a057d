//! A TCP proxy on loopback whose network can be cut.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

const CHUNK: usize = 16 * 1024;

/// Passes all bytes on to one address, or none. It ends when this value is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    is_open: Arc<watch::Sender<bool>>,
    target: Arc<watch::Sender<String>>,
    serving: JoinHandle<()>,
}

impl Proxy {
    /// A proxy on a free port that leads to this address, such as `127.0.0.1:4222`.
    #[expect(clippy::expect_used, reason = "a test without its proxy cannot go on")]
    pub async fn to(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("a listener has an address");
        let is_open = Arc::new(watch::Sender::new(true));
        let target = Arc::new(watch::Sender::new(target.to_owned()));
        let serving = tokio::spawn(serve(listener, target.subscribe(), is_open.subscribe()));
        Self { address, is_open, target, serving }
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

async fn serve(
    listener: TcpListener,
    target: watch::Receiver<String>,
    is_open: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    while let Ok((near, _)) = listener.accept().await {
        connections.spawn(join(near, target.clone(), is_open.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn join(
    near: TcpStream,
    mut target: watch::Receiver<String>,
    mut is_open: watch::Receiver<bool>,
) {
    if is_open.wait_for(|is_open| *is_open).await.is_err() {
        return;
    }
    let address = target.borrow_and_update().clone();
    let Ok(far) = TcpStream::connect(address).await else { return };
    let (near_in, near_out) = near.into_split();
    let (far_in, far_out) = far.into_split();
    // When one side ends, the other is closed, too.
    tokio::select! {
        () = pass(near_in, far_out, is_open.clone()) => {}
        () = pass(far_in, near_out, is_open) => {}
        _ = target.changed() => {}
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut is_open: watch::Receiver<bool>) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        let is_gone = is_open.wait_for(|is_open| *is_open).await.is_err();
        if is_gone || to.write_all(&chunk[..read]).await.is_err() {
            return;
        }
    }
    // The end of a stream arrives only after the bytes before it.
    drop(is_open.wait_for(|is_open| *is_open).await);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
}
