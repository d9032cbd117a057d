//! The socket of an HTTP server: one that systemd keeps open over restarts, or a new one.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::{LazyLock, Mutex, PoisonError};

use listenfd::ListenFd;
use tokio::net::TcpListener;

/// The sockets that systemd has passed, or why they cannot be used. The environment has them once: who
/// reads them takes them out of it.
static PASSED: LazyLock<Mutex<Result<Vec<StdListener>, String>>> =
    LazyLock::new(|| Mutex::new(all(ListenFd::from_env())));

/// Listens on this address: on the socket with this address that systemd has passed (socket
/// activation), or on a new one where systemd has passed none.
///
/// # Errors
/// When the address cannot be used, or systemd has passed sockets with other addresses only.
pub async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let passed =
        of_passed(|sockets| Ok(place(sockets, address)?.map(|place| sockets.swap_remove(place))))?;
    match passed {
        Some(socket) => {
            socket.set_nonblocking(true)?;
            TcpListener::from_std(socket)
        }
        None => TcpListener::bind(address).await,
    }
}

/// Refuses sockets that systemd has passed and that this process would keep without an answer: it listens
/// on no address, or on another one, or there are several. Takes none of them.
///
/// # Errors
/// What to write where.
pub fn check_passed(address: Option<SocketAddr>) -> io::Result<()> {
    of_passed(|sockets| fit(sockets, address))
}

/// Each of these sockets has a listener.
fn fit(sockets: &[StdListener], address: Option<SocketAddr>) -> io::Result<()> {
    let wrong = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    let Some(address) = address else {
        return match sockets {
            [] => Ok(()),
            _ => wrong(format!(
                "systemd has passed the socket of {}, and this node has no role that answers there: \
                 disable the socket unit, or add the role ingress",
                shown(sockets)?
            )),
        };
    };
    place(sockets, address)?;
    match sockets {
        [] | [_] => Ok(()),
        _ => wrong(format!(
            "systemd has passed the sockets of {}, and a node answers at one of them: leave only \
             ListenStream={address} in the socket unit",
            shown(sockets)?
        )),
    }
}

/// The addresses of these sockets.
fn shown(sockets: &[StdListener]) -> io::Result<String> {
    let shown = sockets.iter().map(|socket| Ok(socket.local_addr()?.to_string()));
    Ok(shown.collect::<io::Result<Vec<_>>>()?.join(", "))
}

fn all(mut sockets: ListenFd) -> Result<Vec<StdListener>, String> {
    let taken = (0..sockets.len()).filter_map(|index| sockets.take_tcp_listener(index).transpose());
    taken.collect::<io::Result<_>>().map_err(|error| format!("systemd: {error}"))
}

fn of_passed<T>(work: impl FnOnce(&mut Vec<StdListener>) -> io::Result<T>) -> io::Result<T> {
    let mut passed = PASSED.lock().unwrap_or_else(PoisonError::into_inner);
    match &mut *passed {
        Ok(sockets) => work(sockets),
        Err(why) => Err(io::Error::new(io::ErrorKind::InvalidInput, why.clone())),
    }
}

/// The place of the socket with this address; none where there are no sockets.
fn place(sockets: &[StdListener], address: SocketAddr) -> io::Result<Option<usize>> {
    let addresses: Vec<_> =
        sockets.iter().map(StdListener::local_addr).collect::<io::Result<_>>()?;
    let place = addresses.iter().position(|own| *own == address);
    if place.is_some() || sockets.is_empty() {
        return Ok(place);
    }
    let text = format!(
        "systemd has passed the socket of {}: write the same address in ListenStream= and --listen",
        shown(sockets)?
    );
    Err(io::Error::new(io::ErrorKind::AddrNotAvailable, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_found_by_its_address_as_often_as_it_is_looked_for() {
        let new = || StdListener::bind("127.0.0.1:0").unwrap();
        let sockets = [new(), new()];
        let address = |at: usize| sockets[at].local_addr().unwrap();
        for _ in 0..2 {
            assert_eq!(place(&sockets, address(1)).unwrap(), Some(1));
        }
        assert_eq!(place(&[], address(1)).unwrap(), None, "systemd has passed none");
        let refused = place(&sockets[..1], address(1)).unwrap_err().to_string();
        assert!(refused.contains(&address(0).to_string()), "{refused}");
    }

    #[test]
    fn a_socket_that_nobody_would_answer_is_refused() {
        let new = || StdListener::bind("127.0.0.1:0").unwrap();
        let sockets = [new(), new()];
        let address = |at: usize| sockets[at].local_addr().unwrap();
        let refused = |sockets: &[StdListener], address| {
            fit(sockets, address).map_err(|error| error.to_string()).unwrap_err()
        };
        assert!(fit(&[], None).is_ok() && fit(&[], Some(address(0))).is_ok(), "there is none");
        assert!(fit(&sockets[..1], Some(address(0))).is_ok());
        let unserved = refused(&sockets[..1], None);
        assert!(unserved.contains("no role that answers there"), "{unserved}");
        let other = refused(&sockets[..1], Some(address(1)));
        assert!(other.contains("write the same address"), "{other}");
        let several = refused(&sockets, Some(address(1)));
        let only = format!("leave only ListenStream={} in the socket unit", address(1));
        assert!(several.ends_with(&only), "{several}");
    }
}
