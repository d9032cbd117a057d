//! Where outgoing calls may go. A workflow's author, or whoever feeds it, must not reach what only
//! this machine can reach: loopback, private networks, cloud metadata.
//!
//! Names are checked when they are resolved, literal addresses before, redirects at every hop.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ipnet::{Ipv4Net, Ipv6Net};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Why a call is not made.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Forbidden(pub String);

/// The rule.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// Private and local addresses are allowed, as in development.
    pub allow_private: bool,
}

/// Networks that are not the public internet.
const PRIVATE_V4: [(Ipv4Addr, u8); 16] = [
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
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    (Ipv4Addr::BROADCAST, 32),
];
const PRIVATE_V6: [(Ipv6Addr, u8); 8] = [
    (Ipv6Addr::UNSPECIFIED, 128),
    (Ipv6Addr::LOCALHOST, 128),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8),
];

impl Guard {
    /// Checks a URL before it is asked for: its scheme, and its address where it names one.
    ///
    /// # Errors
    /// [`Forbidden`] says what is wrong with it.
    pub fn check(self, url: &Url) -> Result<(), Forbidden> {
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
    pub fn allows(self, address: IpAddr) -> bool {
        self.allow_private || is_public(address)
    }
}

fn private(host: &str) -> Forbidden {
    Forbidden(format!(
        "{host} is not called: it is a private or local address; an operator can allow them with \
         `allow_private_addresses`"
    ))
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let inside = |(net, bits): &(Ipv4Addr, u8)| {
                Ipv4Net::new(*net, *bits).is_ok_and(|net| net.contains(&address))
            };
            !PRIVATE_V4.iter().any(inside)
        }
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => is_public(IpAddr::V4(inner)),
            None => {
                let inside = |(net, bits): &(Ipv6Addr, u8)| {
                    Ipv6Net::new(*net, *bits).is_ok_and(|net| net.contains(&address))
                };
                !PRIVATE_V6.iter().any(inside)
            }
        },
    }
}

/// The IPv4 address that an IPv6 address leads to: mapped, compatible, 6to4, NAT64.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let pair = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match s {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] => Some(pair(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(pair(high, low)),
        [0x2002, high, low, ..] => Some(pair(high, low)),
        _ => None,
    }
}

/// Resolves names with the system, and leaves out what the guard does not allow.
pub(super) struct Resolver(pub(super) Guard);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.0;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let allowed: Vec<_> =
                found.iter().copied().filter(|address| guard.allows(address.ip())).collect();
            if allowed.is_empty() && !found.is_empty() {
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
        ] {
            assert!(is_allowed(url), "{url}");
        }
        for url in [
            "http://127.0.0.1/",
            "http://10.1.2.3/",
            "http://169.254.169.254/latest/meta-data",
            "http://192.168.1.1/",
            "http://172.31.255.255/",
            "http://100.64.0.1/",
            "http://0.0.0.0/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::a00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[fd00::1]/",
            "http://[fe80::1]/",
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
    async fn names_that_lead_to_this_machine_are_refused() {
        let resolver = Resolver(Guard { allow_private: false });
        let error = resolver.resolve("localhost".parse().unwrap()).await.err().unwrap();
        assert!(error.to_string().contains("localhost is not called"), "{error}");
        let resolver = Resolver(Guard { allow_private: true });
        assert!(resolver.resolve("localhost".parse().unwrap()).await.is_ok());
    }
}
