//! Free ports for processes that must know their own port before they start.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::Context as _;

/// Systems give ports from 32768 on (Linux) or 49152 on (others) to outgoing connections, each of which may
/// take one that was free a moment ago. These are below.
const FIRST: u16 = 10_000;
const BLOCKS: u16 = 110;
/// The ports of a block. The first one is its lock.
const SIZE: u16 = 200;

static OWN: OnceLock<Option<Block>> = OnceLock::new();

/// The ports of this process. No other process gives them away while it lives.
struct Block {
    first: u16,
    given: AtomicU16,
    _lock: TcpListener,
}

impl Block {
    /// The first block that is free, from one on that differs with the process.
    fn claim() -> Option<Self> {
        let own = u16::try_from(std::process::id() % u32::from(BLOCKS)).unwrap_or_default();
        (0..BLOCKS).find_map(|at| {
            let first = FIRST + (own + at) % BLOCKS * SIZE;
            let lock = bind(first).ok()?;
            Some(Self { first, given: AtomicU16::new(0), _lock: lock })
        })
    }

    /// One that nobody listens on, one after the other; none if all are in use.
    fn next(&self) -> Option<u16> {
        (1..SIZE).find_map(|_| {
            let port = self.first + 1 + self.given.fetch_add(1, Ordering::Relaxed) % (SIZE - 1);
            bind(port).ok().map(|_| port)
        })
    }
}

fn bind(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// A port on 127.0.0.1 that was free a moment ago.
///
/// # Errors
/// When no port is free.
pub fn free_port() -> anyhow::Result<u16> {
    if let Some(port) = OWN.get_or_init(Block::claim).as_ref().and_then(Block::next) {
        return Ok(port);
    }
    let listener = bind(0).context("no port is free")?;
    Ok(listener.local_addr().context("a bound listener has no address")?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_can_be_bound_and_is_of_no_outgoing_connection() {
        let port = free_port().unwrap();
        assert!(port < 32_768, "{port}");
        bind(port).unwrap();
    }

    #[test]
    fn a_block_belongs_to_one_alone_and_passes_over_what_is_in_use() {
        let (one, other) = (Block::claim().unwrap(), Block::claim().unwrap());
        assert_ne!(one.first, other.first);
        let first = one.next().unwrap();
        let _taken = bind(first + 1).unwrap();
        assert_eq!(one.next(), Some(first + 2));
        let all: Vec<_> = (2..SIZE).filter_map(|_| one.next()).collect();
        assert!(!all.contains(&(first + 1)), "{all:?}");
        assert!(all.contains(&first), "a port is given again once all were");
    }
}
