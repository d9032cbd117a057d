//! URLs of web servers.

use std::net::Ipv6Addr;

use super::form::{Form, PORT, ipv6};
use super::value::Parse;

/// The address of a web server: http or https, a host, perhaps a login, a port and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress(pub String);

const ADDRESS: &str = "must be a URL such as http://localhost:4318: http or https, a host, and \
    perhaps a port and a path";

impl Parse for WebAddress {
    fn parse(text: &str) -> Result<Self, String> {
        let is_right = match parts(text) {
            Some((Some(login), place, path)) => {
                !login.contains(is_no_part) && is_place(place) && !path.contains(is_no_part)
            }
            Some((None, place, path)) => is_place(place) && !path.contains(is_no_part),
            None => false,
        };
        if is_right { Ok(Self(text.to_owned())) } else { Err(ADDRESS.to_owned()) }
    }

    fn form() -> Form {
        form(ADDRESS, "(?:[^\\s/?#]*@)?")
    }
}

/// Whether this is the URL of a web server without a login, a query and a fragment.
pub(super) fn is_plain(text: &str) -> bool {
    matches!(
        parts(text),
        Some((None, place, path)) if is_place(place) && !path.contains(is_no_part)
    )
}

/// The form of such a URL.
pub(super) fn plain(must: &str) -> Form {
    form(must, "")
}

fn form(must: &str, login: &str) -> Form {
    let host = format!("(?:[A-Za-z0-9._-]+|\\[{}\\])", ipv6());
    Form::of(must, &format!("https?://{login}{host}(?::{PORT})?(?:/[^\\s?#]*)?"))
}

/// The login, the host with its port, and the path of a URL.
fn parts(url: &str) -> Option<(Option<&str>, &str, &str)> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Some(match authority.rsplit_once('@') {
        Some((login, place)) => (Some(login), place, path),
        None => (None, authority, path),
    })
}

fn is_no_part(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '?' | '#')
}

/// A host, and a port behind a colon if there is one.
fn is_place(text: &str) -> bool {
    let (is_host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (address.parse::<Ipv6Addr>().is_ok(), port),
        None => {
            let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            // The dot of a name that is written to its root.
            let mut labels = host.strip_suffix('.').unwrap_or(host).split('.');
            (labels.all(|label| !label.is_empty() && label.chars().all(is_plain)), port)
        }
    };
    let digits = port.strip_prefix(':');
    let is_port = digits.is_some_and(|digits| {
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number && digits.parse::<u16>().is_ok_and(|port| port > 0)
    });
    is_host && (port.is_empty() || is_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_url_that_leads_somewhere_is_taken() {
        for good in [
            "http://localhost:4318",
            "https://flows.example.com",
            "https://flows.example.com/a/b/",
            "http://[::1]:5001/a*b",
            "http://collector_1:04318/v1/traces",
            "https://flows.example.com./",
        ] {
            assert!(is_plain(good) && WebAddress::parse(good).is_ok(), "{good}");
        }
        for wrong in [
            "",
            "localhost:4318",
            "ftp://x",
            "http://",
            "https:///x",
            "https://a b",
            "https://a/b c",
            "https://a?x=1",
            "https://a/#f",
            "https://a:99999",
            "https://a:0",
            "https://a:+1",
            "https://a:",
            "https://*.example.com",
            "https://a..b",
            "https://.",
            "https://[::1",
            "https://[a]",
            "https://a\n",
        ] {
            assert!(!is_plain(wrong) && WebAddress::parse(wrong).is_err(), "{wrong}");
        }
        let login = "https://user:word@collector:4318";
        assert!(!is_plain(login) && WebAddress::parse(login).is_ok());
    }
}
