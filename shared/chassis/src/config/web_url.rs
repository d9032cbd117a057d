//! URLs of web servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::form::{Form, PORT, ipv6};
use super::value::Parse;

/// The address of a web server: http or https, a host, perhaps a login, a port and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress(pub String);

const ADDRESS: &str = "must be a URL such as http://localhost:4318: http or https in lower case, a \
    host, and perhaps a port and a path; other letters than a to z are written as xn--… in the host, and \
    as %… in the path";
/// Letters of a part between the dots of a name, at most.
const LABEL_MAX: usize = 63;
/// Such a part, as the names of machines have it.
const LABEL: &str = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?";
/// Such a part, as the names of web servers have it.
const LINK_LABEL: &str = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
/// Hosts that stand for every address, and parts of a path that browsers take out.
const UNLINKED: &str = "^https?://(?:(?:0\\.0\\.0\\.0|\\[[0:.]+\\])(?:[:/]|$)\
    |[^/]*/(?:.*/)?(?:\\.|%2[Ee]){1,2}(?:/|$))";
/// What the parts of a path may have beside letters, digits and `%` with two digits.
const PATH_MARKS: &str = "-._~!$&'()*+,;=:@/";

impl Parse for WebAddress {
    fn parse(text: &str) -> Result<Self, String> {
        let is_right = match parts(text) {
            Some((Some(login), place, path)) => {
                !login.contains(is_no_part) && is_place(place) && is_path(path)
            }
            Some((None, place, path)) => is_place(place) && is_path(path),
            None => false,
        };
        if is_right { Ok(Self(text.to_owned())) } else { Err(ADDRESS.to_owned()) }
    }

    fn form() -> Form {
        form(ADDRESS, "(?:[^\\s/?#]*@)?", LABEL, "0*")
    }
}

/// Why no link can lead to a URL: it is none of a web server, or has a login, a query or a fragment, as
/// `must` says, or something that leads elsewhere than a node is. None if one can.
pub(super) fn unlinked(text: &str, must: &str) -> Option<String> {
    let Some((None, place, path)) = parts(text) else { return Some(must.to_owned()) };
    let (host, port) = split(place);
    let names = host.split('.').filter(|label| label.chars().all(is_of_label));
    let longest = names.map(str::len).max().unwrap_or_default();
    let reason = if longest > LABEL_MAX {
        format!(
            "must have a host with at most {LABEL_MAX} letters between its dots: one part has {longest}"
        )
    } else if !is_place(place) || is_every_address(place) || !is_path(path) {
        must.to_owned()
    } else if host.contains('_') {
        format!("must have a host of letters, digits and hyphens between its dots: {host} has a _")
    } else if port.starts_with(":0") {
        let number = port.trim_start_matches([':', '0']);
        format!("must have a port without zeros before it: write :{number}")
    } else if path.split('/').any(is_dots) {
        "must have a path without . and .. between its slashes: browsers take them out, and links \
         lead elsewhere"
            .to_owned()
    } else {
        return None;
    };
    Some(reason)
}

/// The form of a URL to which a link can lead.
pub(super) fn link(must: &str) -> Form {
    form(must, "", LINK_LABEL, "").without(UNLINKED)
}

fn form(must: &str, login: &str, label: &str, zeros: &str) -> Form {
    let host = format!("(?:{label}(?:\\.{label})*\\.?|\\[{}\\])", ipv6());
    let path = "/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*";
    Form::of(must, &format!("https?://{login}{host}(?::{zeros}{PORT})?(?:{path})?"))
}

/// Whether a part of a path stands for the one before, or for none.
fn is_dots(part: &str) -> bool {
    matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
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

/// A path of characters that a browser sends as they are.
fn is_path(text: &str) -> bool {
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let is_right = match byte {
            b'%' => [rest.next(), rest.next()]
                .into_iter()
                .all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit())),
            _ => byte.is_ascii_alphanumeric() || PATH_MARKS.as_bytes().contains(&byte),
        };
        if !is_right {
            return false;
        }
    }
    true
}

/// A host, and a port behind a colon if there is one.
fn is_place(text: &str) -> bool {
    let (host, port) = split(text);
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => is_name(host),
    };
    let digits = port.strip_prefix(':');
    let is_port = digits.is_some_and(|digits| {
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number && digits.parse::<u16>().is_ok_and(|port| port > 0)
    });
    is_host && (port.is_empty() || is_port)
}

/// The host, and the rest from its colon on. An address of IPv6 has its brackets.
fn split(place: &str) -> (&str, &str) {
    let end = match place.starts_with('[') {
        true => place.find(']').map(|at| at + 1),
        false => place.find(':'),
    };
    place.split_at(end.unwrap_or(place.len()))
}

/// A name of the DNS, or an address of IPv4: a name that ends with a number is none.
fn is_name(host: &str) -> bool {
    // The dot of a name that is written to its root.
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_label = |label: &str| {
        (1..=LABEL_MAX).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(is_of_label)
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
    host.split('.').all(is_label) && (!is_number || host.parse::<Ipv4Addr>().is_ok())
}

fn is_of_label(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Whether the host is an address at which a server listens to every address: nobody can call it.
fn is_every_address(place: &str) -> bool {
    let (host, _) = split(place);
    let host = host.strip_suffix('.').unwrap_or(host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_unspecified())
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
            "https://flows.example.com./",
            "https://flows.example.com:65535/.well-known/..a/a..",
            "https://A.example/~x/%C3%BC/",
            "https://xn--bcher-kva.example",
            "https://10.0.0.7:5001",
        ] {
            assert_eq!(unlinked(good, "must"), None, "{good}");
            assert!(WebAddress::parse(good).is_ok(), "{good}");
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
            "https://a.example/\"><x",
            "https://a.example/%zz",
            "https://a.example/%f",
            "https://a/\u{fc}",
            "https://-a.example",
            "https://a-.example",
            "HTTPS://A.example",
            "https://b\u{fc}cher.example",
            "https://10.0.0.256",
            "https://0",
        ] {
            assert_eq!(unlinked(wrong, "must").as_deref(), Some("must"), "{wrong}");
            assert!(WebAddress::parse(wrong).is_err(), "{wrong}");
        }
        let login = "https://user:word@collector:4318";
        assert!(unlinked(login, "must").is_some() && WebAddress::parse(login).is_ok());
        // Such an address is called on this machine, but by no link.
        for every in
            ["http://0.0.0.0:4318", "http://[::]/a", "http://[0:0::0]", "http://[::ffff:0.0.0.0]"]
        {
            assert!(unlinked(every, "must").is_some(), "{every}");
            assert!(WebAddress::parse(every).is_ok(), "{every}");
        }
    }

    #[test]
    fn what_leads_a_link_elsewhere_is_said() {
        let (most, more) = ("a".repeat(63), "a".repeat(64));
        assert_eq!(unlinked(&format!("https://{most}.example"), "must"), None);
        let long = format!("https://{more}.example");
        assert!(WebAddress::parse(&long).is_err(), "no machine has this name");
        let form = link("must");
        let matches = |pattern: Option<&str>, url: &str| {
            pattern.is_some_and(|pattern| regex::Regex::new(pattern).unwrap().is_match(url))
        };
        for (url, says) in [
            (long.as_str(), "at most 63 letters between its dots: one part has 64"),
            ("https://a_b.example", "letters, digits and hyphens between its dots: a_b.example"),
            ("https://a.example:08/x", "a port without zeros before it: write :8"),
            ("https://a.example/../x", "without . and .. between its slashes"),
            ("https://a.example/x/.", "without . and .. between its slashes"),
            ("https://a.example/x/%2E./y", "without . and .. between its slashes"),
        ] {
            let reason = unlinked(url, "must").unwrap_or_default();
            assert!(reason.starts_with("must have a ") && reason.contains(says), "{url}: {reason}");
            let is_right = matches(form.pattern.as_deref(), url);
            assert!(!is_right || matches(form.never.as_deref(), url), "the form takes {url}");
        }
        // The collector of traces may be a machine with such a name.
        assert!(WebAddress::parse("http://collector_1:04318/v1/traces").is_ok());
    }
}
