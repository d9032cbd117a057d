//! The socket of an HTTP server: one that systemd keeps open over restarts, or a new one.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};

use listenfd::ListenFd;
use tokio::net::TcpListener;

/// Listens on this address: on the socket with this address that systemd has passed (socket
/// activation), or on a new one where systemd has passed none.
///
/// # Errors
/// When the address cannot be used, or systemd has passed sockets with other addresses only.
pub async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    match passed(ListenFd::from_env(), address)? {
        Some(socket) => {
            socket.set_nonblocking(true)?;
            TcpListener::from_std(socket)
        }
        None => TcpListener::bind(address).await,
    }
}

/// Refuses an address that is that of none of the sockets that systemd has passed, if it has passed any.
/// Takes none of them: [`listen`] still finds them.
///
/// # Errors
/// What to write where.
pub fn check_passed(address: SocketAddr) -> io::Result<()> {
    let found = passed(ListenFd::from_env(), address)?;
    // Its end would close the descriptor.
    std::mem::forget(found);
    Ok(())
}

fn passed(mut sockets: ListenFd, address: SocketAddr) -> io::Result<Option<StdListener>> {
    let mut others = Vec::new();
    for index in 0..sockets.len() {
        let Some(socket) = sockets.take_tcp_listener(index)? else { continue };
        let own = socket.local_addr()?;
        if own == address {
            return Ok(Some(socket));
        }
        others.push(own.to_string());
        // Its end would close the descriptor, whose number would then be that of another file.
        std::mem::forget(socket);
    }
    if others.is_empty() {
        return Ok(None);
    }
    let text = format!(
        "systemd has passed the socket of {}: write the same address in ListenStream= and --listen",
        others.join(", ")
    );
    Err(io::Error::new(io::ErrorKind::AddrNotAvailable, text))
}
