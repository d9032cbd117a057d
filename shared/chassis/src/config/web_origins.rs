//! The origins of web pages that may call the API.

use std::net::Ipv6Addr;
use std::str::FromStr;

use super::form::{Form, PORT, ipv6};
use super::value::Parse;

const WRONG: &str = "must be origins such as https://studio.example or http://localhost:3000, \
    separated by commas: http or https, a host, and its port if it has one; without a path or a \
    slash at the end, and neither * nor null";

/// Origins of web pages, each exactly as browsers send it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebOrigins(Vec<String>);

impl WebOrigins {
    /// Each origin.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.0
    }
}

impl FromStr for WebOrigins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

impl Parse for WebOrigins {
    fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let origins: Option<_> = items.map(origin).collect();
        origins.map(Self).ok_or_else(|| WRONG.to_owned())
    }

    fn form() -> Form {
        let label = "[A-Za-z0-9_-]+";
        let host = format!("(?:{label}(?:\\.{label})*|\\[{}\\])", ipv6());
        Form::list(WRONG, &format!("(?i:https?)://{host}(?::0*{PORT})?"))
    }
}

/// The origin as browsers send it: in lowercase, without the usual port of its scheme.
fn origin(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, rest) = text.split_once("://")?;
    let usual = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let (host, port) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            let address: Ipv6Addr = address.parse().ok()?;
            (format!("[{address}]"), port)
        }
        None => {
            let (host, port) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
            is_host(host).then(|| (host.to_owned(), port))?
        }
    };
    if port.is_empty() {
        return Some(format!("{scheme}://{host}"));
    }
    let digits = port.strip_prefix(':').filter(|port| port.bytes().all(|b| b.is_ascii_digit()))?;
    match digits.parse::<u16>().ok().filter(|port| *port > 0)? {
        port if port == usual => Some(format!("{scheme}://{host}")),
        port => Some(format!("{scheme}://{host}:{port}")),
    }
}

fn is_host(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.split('.').all(|part| !part.is_empty() && part.chars().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_read_as_browsers_send_them() {
        for (text, expected) in [
            ("", ""),
            ("https://studio.example", "https://studio.example"),
            (
                "http://localhost:3000, https://A.example:8443",
                "http://localhost:3000,https://a.example:8443",
            ),
            ("https://a.example:443,http://b.example:80", "https://a.example,http://b.example"),
            ("http://a.example:443,http://[::1]:5001", "http://a.example:443,http://[::1]:5001"),
            ("http://10.0.0.1", "http://10.0.0.1"),
        ] {
            let read = WebOrigins::parse(text).unwrap();
            assert_eq!(read.values().join(","), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_origin_is_refused_with_the_form_of_one() {
        for text in [
            "*",
            "null",
            "studio.example",
            "https://",
            "https://studio.example/",
            "https://studio.example/path",
            "https://a b",
            "https://*.example",
            "https://user@studio.example",
            "https://user:word@studio.example",
            "https://studio.example:",
            "https://studio.example:0",
            "https://studio.example:99999",
            "https://studio.example:+1",
            "https://[::1",
            "https://[studio]",
            "https://studio..example",
            "https://studio.example?x",
            "ftp://studio.example",
            "https://studio.example,*",
        ] {
            let reason = WebOrigins::parse(text).unwrap_err();
            assert!(reason.contains("such as https://studio.example"), "{text}: {reason}");
        }
    }
}
