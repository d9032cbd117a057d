//! Finds the secrets in texts with URLs, and masks them. In doubt it hides more than the secret.

use std::ops::Range;

/// The text in place of a secret.
const MASK: &str = "***";
/// A parameter of a query is secret if its name has one of these parts.
const SECRET_NAMES: [&str; 6] = ["pass", "pwd", "token", "secret", "key", "credential"];

/// The text without the passwords and tokens of its URLs: one, or several with commas between them,
/// each perhaps after a name and `=`.
#[must_use]
pub fn masked(text: &str) -> String {
    let mut places = places(text);
    places.sort_by_key(|place| place.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        if place.start >= at {
            out.push_str(text.get(at..place.start).unwrap_or_default());
            out.push_str(MASK);
        }
        at = at.max(place.end);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// What [`masked`] hides, as it is in the text.
#[must_use]
pub fn secrets_in_urls(text: &str) -> Vec<String> {
    let found = places(text).into_iter().filter_map(|place| text.get(place));
    found.filter(|secret| !secret.is_empty()).map(str::to_owned).collect()
}

/// A percent-encoded text as it is.
#[must_use]
pub fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The places of the secrets. A password may have a comma, so a list is split only where a URL
/// begins.
fn places(text: &str) -> Vec<Range<usize>> {
    let begins = |at: &usize| text.get(at + 1..).is_some_and(begins_with_url);
    let commas = text.match_indices(',').map(|(at, _)| at).filter(begins);
    let mut places = Vec::new();
    let mut begin = 0;
    for end in commas.chain([text.len()]) {
        let one = text.get(begin..end).unwrap_or_default();
        let found = in_url(one).into_iter();
        places.extend(found.map(|place| begin + place.start..begin + place.end));
        begin = end + 1;
    }
    places
}

/// Whether the text begins with `scheme://`, perhaps after a name and `=`.
fn begins_with_url(text: &str) -> bool {
    let Some((before, _)) = text.split_once("://") else { return false };
    let (name, scheme) = before.split_once('=').unwrap_or(("", before));
    let is_of_name = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let scheme = scheme.trim();
    name.chars().all(is_of_name)
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(is_of_scheme)
}

/// The places of the secrets of one URL: what is between its user and its host, and the values of
/// secret parameters.
fn in_url(url: &str) -> Vec<Range<usize>> {
    let begin = match url.find("://") {
        Some(at) => at + "://".len(),
        None if is_server(url) => 0,
        None => return Vec::new(),
    };
    let rest = url.get(begin..).unwrap_or_default();
    let mut places = Vec::new();
    // A file has no login, and its path may have an `@`.
    let is_file = url.get(..begin).is_some_and(|head| head.ends_with("sqlite://"));
    // A password may have a `/`, a `?` or an `@` that ought to be encoded, so the last `@` counts.
    if let Some((login, _)) = rest.rsplit_once('@').filter(|_| !is_file) {
        let secret = login.find(':').map_or(0, |colon| colon + 1);
        places.push(begin + secret..begin + login.len());
    }
    let Some(question) = rest.find('?') else { return places };
    let mut at = begin + question + 1;
    let mut is_secret = false;
    for parameter in url.get(at..).unwrap_or_default().split('&') {
        let name = parameter.split_once('=').map(|(name, _)| name);
        // Without a name it may be the rest of the value before it.
        if let Some(name) = name {
            is_secret = is_secret_name(name);
        }
        let end = at + parameter.len();
        if is_secret {
            places.push(at + name.map_or(0, |name| name.len() + 1)..end);
        }
        at = end + 1;
    }
    places
}

/// Whether a text without a scheme looks like `user:password@host`.
fn is_server(text: &str) -> bool {
    let is_other = |c: char| c.is_whitespace() || "\"'{}<>".contains(c);
    let login = text.rsplit_once('@').map(|(login, _)| login);
    login.is_some_and(|login| login.contains(':') && !login.starts_with("sqlite:"))
        && !text.contains(is_other)
}

fn is_secret_name(name: &str) -> bool {
    let name = percent_decoded(name).to_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_urls_are_masked() {
        for (text, expected) in [
            ("postgres://u:p@h:5/d", "postgres://u:***@h:5/d"),
            ("nats://token@h:4222", "nats://***@h:4222"),
            ("nats://a:b@h,nats://i", "nats://a:***@h,nats://i"),
            ("nats://a:b@h, tls://c:d@i", "nats://a:***@h, tls://c:***@i"),
            ("sqlite://./x?mode=rwc", "sqlite://./x?mode=rwc"),
            ("sqlite://./a:b@c.db", "sqlite://./a:b@c.db"),
            ("a=mysql://u:p@h/d,b=sqlite://x", "a=mysql://u:***@h/d,b=sqlite://x"),
            ("a=mysql://u:p,q@h/d, b-2=mysql://h", "a=mysql://u:***@h/d, b-2=mysql://h"),
            ("u:p@h:4222", "u:***@h:4222"),
            ("nats://a,u:p@h", "nats://a,u:***@h"),
            ("Orders <orders@shop.example>", "Orders <orders@shop.example>"),
            ("https://a.example,https://b.example", "https://a.example,https://b.example"),
            ("info,executor=debug", "info,executor=debug"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn a_password_with_any_character_is_hidden_as_a_whole() {
        for password in ["p@ss", "Comma,Secr3t", "a,b,c", "sl/ash", "quest?ion", "ha#sh", "a:b"] {
            let url = format!("postgres://u:{password}@host/db");
            assert_eq!(masked(&url), "postgres://u:***@host/db", "{password}");
            assert_eq!(secrets_in_urls(&url), [password]);
        }
    }

    #[test]
    fn secrets_in_the_query_are_masked() {
        for (text, expected) in [
            ("postgres://h/d?user=x&password=y", "postgres://h/d?user=x&password=***"),
            ("postgres://h?SSLPassword=a,b&sslmode=x", "postgres://h?SSLPassword=***&sslmode=x"),
            ("mysql://h/d?p%61ssword=y", "mysql://h/d?p%61ssword=***"),
            (
                "https://h/?Token=a&API_KEY=b&secret=c",
                "https://h/?Token=***&API_KEY=***&secret=***",
            ),
            ("postgres://h/d?password=a&b&c=d", "postgres://h/d?password=***&***&c=d"),
            ("postgres://u:p@h/d?password=q", "postgres://u:***@h/d?password=***"),
            // Here the `@` may also end a login.
            ("postgres:///d?host=h&password=p@q", "postgres://***"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }
}
