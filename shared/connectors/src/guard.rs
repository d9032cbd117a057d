//! The addresses that outgoing calls may use. The author of a workflow, and the sender of its
//! input, must not reach addresses that only this machine can reach: loopback, private networks,
//! cloud metadata.
//!
//! A name is looked up once for each connection, and the client connects to an address that was
//! checked; literal addresses are checked before. Every redirect is checked like the first URL.

mod hosts;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ipnet::{Ipv4Net, Ipv6Net};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

pub(crate) use hosts::Hosts;

/// A call that is not made, with the reason.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub(crate) struct Forbidden(pub(crate) String);

/// Decides which addresses may be called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    /// Private and local addresses are allowed, as in development.
    pub(crate) allow_private: bool,
}

/// IPv4 networks that are not the public internet (IANA's special-purpose registry).
const NOT_PUBLIC_V4: [(Ipv4Addr, u8); 14] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, reserved, broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];
/// The network of all public IPv6 addresses. Outside of it are loopback, unique local, link local,
/// site local, multicast, and the addresses that stand for IPv4 ones.
const GLOBAL_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
/// IPv6 networks inside [`GLOBAL_V6`] that are not the public internet.
const NOT_PUBLIC_V6: [(Ipv6Addr, u8); 3] = [
    // Protocol assignments: Teredo, benchmarking, ORCHID, drone ids.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

impl Guard {
    /// Checks a URL before the call: its scheme, and its address if it contains one.
    ///
    /// # Errors
    /// [`Forbidden`] has the reason.
    pub(crate) fn check(self, url: &Url) -> Result<(), Forbidden> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Forbidden(format!("{url} is not called: use http or https")));
        }
        let Some(host) = url.host_str() else {
            return Err(Forbidden(format!("{url} names no host")));
        };
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
        match literal {
            Ok(address) if !self.allows(address) => Err(private(host)),
            _ => Ok(()),
        }
    }

    /// Whether this address may be called.
    #[must_use]
    pub(crate) fn allows(self, address: IpAddr) -> bool {
        self.allow_private || is_public(address)
    }
}

fn private(host: &str) -> Forbidden {
    Forbidden(format!(
        "{host} is not called: it is a private or local address; an operator can allow them with \
         allow-private-addresses"
    ))
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NOT_PUBLIC_V4.iter().any(|net| is_in_v4(*net, address)),
        IpAddr::V6(address) => match stands_for(address) {
            Some(inner) => is_public(IpAddr::V4(inner)),
            None => {
                let is_private_tunnel =
                    tunnels_to(address).is_some_and(|inner| !is_public(IpAddr::V4(inner)));
                is_in_v6(GLOBAL_V6, address)
                    && !NOT_PUBLIC_V6.iter().any(|net| is_in_v6(*net, address))
                    && !is_private_tunnel
            }
        },
    }
}

fn is_in_v4((net, bits): (Ipv4Addr, u8), address: Ipv4Addr) -> bool {
    Ipv4Net::new(net, bits).is_ok_and(|net| net.contains(&address))
}

fn is_in_v6((net, bits): (Ipv6Addr, u8), address: Ipv6Addr) -> bool {
    Ipv6Net::new(net, bits).is_ok_and(|net| net.contains(&address))
}

/// The IPv4 address for which an IPv6 address stands: mapped, or by NAT64. The NAT64 prefix for
/// local use (`64:ff9b:1::/48`) is not among them: it is not a public address at all.
fn stands_for(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(v4(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        _ => None,
    }
}

/// The IPv4 address at the end of a tunnel that an IPv6 address leads into: 6to4 or ISATAP.
fn tunnels_to(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0x2002, high, low, ..] => Some(v4(high, low)),
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(v4(high, low)),
        _ => None,
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

/// Looks up the addresses of a name.
pub(crate) trait Names: Clone + Send + Sync + 'static {
    /// All addresses that the name has now.
    fn addresses(&self, name: String) -> impl Future<Output = io::Result<Vec<IpAddr>>> + Send;
}

/// The names that the system resolves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemNames;

impl Names for SystemNames {
    async fn addresses(&self, name: String) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Looks a name up once, and gives the client the addresses that the guard allows: the client
/// connects to one of these and looks up nothing itself.
pub(crate) struct Resolver<N>(pub(crate) Guard, pub(crate) N);

impl<N: Names> Resolve for Resolver<N> {
    fn resolve(&self, name: Name) -> Resolving {
        let (guard, names) = (self.0, self.1.clone());
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = names.addresses(host.clone()).await?;
            let is_known = !found.is_empty();
            let allowed: Vec<_> = found
                .into_iter()
                .filter(|address| guard.allows(*address))
                .map(|address| SocketAddr::new(address, 0))
                .collect();
            if allowed.is_empty() && is_known {
                return Err(private(&host).into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(url: &str) -> bool {
        Guard { allow_private: false }.check(&url.parse().unwrap()).is_ok()
    }

    #[test]
    fn only_public_addresses_are_called() {
        for url in [
            "https://example.com/a",
            "http://93.184.216.34:8080/",
            "http://[2606:2800:220:1::1]/",
            "http://172.32.0.1/",
            "http://100.128.0.1/",
            "http://198.20.0.1/",
            "http://223.255.255.255/",
            "http://[2001:200::1]/",
            "http://[2a00:1450:4001:81b::200e]/",
            "http://[3ffe::1]/",
            "http://[::ffff:93.184.216.34]/",
            "http://[64:ff9b::5db8:d822]/",
            "http://[2002:5db8:d822::1]/",
            "http://[2606:2800:220:1:0:5efe:5db8:d822]/",
        ] {
            assert!(is_allowed(url), "{url}");
        }
        for url in [
            "http://0.0.0.0/",
            "http://0.1.2.3/",
            "http://10.1.2.3/",
            "http://100.64.0.1/",
            "http://100.127.255.255/",
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://172.31.255.255/",
            "http://192.0.0.8/",
            "http://192.0.2.1/",
            "http://192.88.99.1/",
            "http://192.168.1.1/",
            "http://198.18.0.1/",
            "http://198.19.255.255/",
            "http://198.51.100.1/",
            "http://203.0.113.1/",
            "http://224.0.0.1/",
            "http://240.0.0.1/",
            "http://255.255.255.255/",
            // Loopback, unspecified, compatible, mapped, translated.
            "http://[::]/",
            "http://[::1]/",
            "http://[::7f00:1]/",
            "http://[::808:808]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::ffff:0:127.0.0.1]/",
            // NAT64, public and for local use.
            "http://[64:ff9b::a00:1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[64:ff9b:1::]/",
            "http://[64:ff9b:1::a00:1]/",
            "http://[64:ff9b:1:fffe::5db8:d822]/",
            // Discard, Teredo, benchmarking, ORCHID, documentation, segment routing.
            "http://[100::1]/",
            "http://[2001::1]/",
            "http://[2001:0:5ef5:79fb:0:59f:a247:d7ff]/",
            "http://[2001:2::1]/",
            "http://[2001:10::1]/",
            "http://[2001:20::1]/",
            "http://[2001:db8::1]/",
            "http://[3fff::1]/",
            "http://[3fff:fff::1]/",
            "http://[5f00::1]/",
            // 6to4 and ISATAP that lead to private addresses.
            "http://[2002:7f00:1::]/",
            "http://[2002:a00:1::1]/",
            "http://[2002:a9fe:a9fe::]/",
            "http://[2606:2800:220:1:0:5efe:a00:1]/",
            "http://[2606:2800:220:1:200:5efe:7f00:1]/",
            // Unique local, link local, site local, multicast.
            "http://[fc00::1]/",
            "http://[fd00::1]/",
            "http://[fe80::1]/",
            "http://[fec0::1]/",
            "http://[ff02::1]/",
            "file:///etc/passwd",
            "gopher://example.com/",
        ] {
            assert!(!is_allowed(url), "{url}");
        }
    }

    #[test]
    fn an_operator_can_allow_private_addresses() {
        let guard = Guard { allow_private: true };
        assert!(guard.check(&"http://127.0.0.1:1/".parse().unwrap()).is_ok());
        assert!(guard.check(&"ftp://127.0.0.1/".parse().unwrap()).is_err());
    }

    #[tokio::test]
    async fn of_the_addresses_of_a_name_only_the_public_ones_are_called() {
        #[derive(Clone)]
        struct Both;
        impl Names for Both {
            async fn addresses(&self, _: String) -> io::Result<Vec<IpAddr>> {
                Ok(["127.0.0.1", "93.184.216.34", "fd00::1"].map(|a| a.parse().unwrap()).to_vec())
            }
        }
        let resolver = Resolver(Guard { allow_private: false }, Both);
        let found = resolver.resolve("both.example".parse().unwrap()).await.unwrap();
        assert_eq!(found.map(|to| to.ip().to_string()).collect::<Vec<_>>(), ["93.184.216.34"]);
    }

    #[tokio::test]
    async fn names_that_lead_to_this_machine_are_refused() {
        let resolver = Resolver(Guard { allow_private: false }, SystemNames);
        let error = resolver.resolve("localhost".parse().unwrap()).await.err().unwrap();
        assert!(error.to_string().contains("localhost is not called"), "{error}");
        let resolver = Resolver(Guard { allow_private: true }, SystemNames);
        assert!(resolver.resolve("localhost".parse().unwrap()).await.is_ok());
    }
}
