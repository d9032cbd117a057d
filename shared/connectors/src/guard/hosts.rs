//! The hosts that the workflows of one definition may call.

use std::net::IpAddr;

use reqwest::Url;

use super::Forbidden;

/// A list of hosts: names, addresses, and `*.example.com` for all names below `example.com`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    addresses: Vec<IpAddr>,
    names: Vec<String>,
    /// With the dot that they begin with.
    endings: Vec<String>,
}

impl Hosts {
    pub(crate) fn new(hosts: &[String]) -> Self {
        let mut list = Self::default();
        for host in hosts {
            match (host.parse(), host.strip_prefix('*')) {
                (Ok(address), _) => list.addresses.push(address),
                (_, Some(ending)) => list.endings.push(ending.to_lowercase()),
                _ => list.names.push(host.to_lowercase()),
            }
        }
        list
    }

    /// Refuses a URL of a host that is not in the list.
    ///
    /// # Errors
    /// [`Forbidden`] has the reason.
    pub(crate) fn check(&self, url: &Url) -> Result<(), Forbidden> {
        let host = url.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_listed = match bare.parse::<IpAddr>() {
            Ok(address) => self.addresses.contains(&address),
            Err(_) => {
                // The dot of a name that is written to its root.
                let name = bare.strip_suffix('.').unwrap_or(bare).to_lowercase();
                self.names.contains(&name)
                    || self.endings.iter().any(|ending| name.ends_with(ending.as_str()))
            }
        };
        if is_listed {
            return Ok(());
        }
        Err(Forbidden(format!(
            "{host} is not called: it is not among the hosts of this workflow definition; an \
             operator can add it to `call-hosts`"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_hosts_are_called() {
        let list = ["shop.example", "*.pay.example", "93.184.216.34", "2606:2800:220:1::1"];
        let hosts = Hosts::new(&list.map(str::to_owned));
        for (url, expected) in [
            ("https://shop.example/a", true),
            ("https://SHOP.example:8443/", true),
            ("https://shop.example./", true),
            ("https://v1.pay.example/", true),
            ("https://a.b.pay.example/", true),
            ("http://93.184.216.34/", true),
            ("http://0x5db8d822/", true),
            ("http://[2606:2800:220:1:0:0:0:1]/", true),
            ("https://pay.example/", false),
            ("https://evilpay.example/", false),
            ("https://a.shop.example/", false),
            ("https://shop.example.evil.example/", false),
            ("https://shop.example@evil.example/", false),
            ("https://evil.example/?shop.example", false),
            ("https://evil.example#shop.example", false),
            ("http://[::ffff:93.184.216.34]/", false),
            ("http://93.184.216.35/", false),
        ] {
            assert_eq!(hosts.check(&url.parse().unwrap()).is_ok(), expected, "{url}");
        }
    }
}
