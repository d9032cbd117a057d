//! Finds the secrets in texts with URLs or connection strings, and masks them. In doubt it hides more
//! than the secret.

use std::ops::Range;

/// The text in place of a secret.
const MASK: &str = "***";
/// A parameter of a query is secret if its name has one of these parts.
const SECRET_NAMES: [&str; 6] = ["pass", "pwd", "token", "secret", "key", "credential"];

/// A pair of a connection string is secret if its name has one of these parts.
const PAIR_SECRETS: [&str; 3] = ["pass", "pwd", "secret"];
/// A password without quotes ends only before a pair with one of these names.
const PAIR_NAMES: [&str; 11] = [
    "database", "dbname", "host", "hostaddr", "id", "port", "server", "sslmode", "uid", "user",
    "username",
];

/// The text without the passwords and tokens of its URLs: one, or several with commas between them,
/// each perhaps after a name and `=`. Also without the passwords of a connection string such as
/// `host=db password=p` or `Host=db;Password=p`.
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
    places.extend(in_pairs(text));
    places
}

/// The places of the passwords of a connection string.
fn in_pairs(text: &str) -> Vec<Range<usize>> {
    let pairs: Vec<_> = text.match_indices('=').filter_map(|(at, _)| pair(text, at)).collect();
    let secret = |name: &str| PAIR_SECRETS.iter().any(|part| name.contains(part));
    let places = pairs.iter().filter(|pair| secret(&pair.name)).map(|pair| {
        let mut next = pairs.iter().filter(|next| next.at > pair.value);
        let next = next.find(|next| PAIR_NAMES.contains(&next.name.as_str()));
        quoted(text, pair.value).unwrap_or_else(|| {
            let end = next.map_or(text.len(), |next| next.at);
            let value = text.get(pair.value..end).unwrap_or_default();
            pair.value..pair.value + value.trim_end_matches(is_between_pairs).len()
        })
    });
    places.collect()
}

/// A name and the beginning of its value.
struct Pair {
    name: String,
    at: usize,
    value: usize,
}

/// The pair of this `=`; none without a name that stands apart from what is before it.
fn pair(text: &str, equals: usize) -> Option<Pair> {
    let before = text.get(..equals)?.trim_end();
    let head = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let name = before.get(head.len()..).filter(|name| !name.is_empty())?;
    if !head.is_empty() && !head.ends_with(is_between_pairs) {
        return None;
    }
    let value = text.get(equals + 1..)?;
    let value = equals + 1 + (value.len() - value.trim_start().len());
    Some(Pair { name: name.to_ascii_lowercase(), at: head.len(), value })
}

/// The value between the quotes that begin here; none without quotes, or if they do not end it.
fn quoted(text: &str, begin: usize) -> Option<Range<usize>> {
    let mut rest = text.get(begin..)?.char_indices();
    let (_, quote) = rest.next().filter(|(_, first)| "'\"".contains(*first))?;
    let mut is_escaped = false;
    let (end, _) = rest.find(|(_, c)| {
        let is_end = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    })?;
    let after = text.get(begin + end + 1..)?;
    let is_whole = after.is_empty() || after.starts_with(is_between_pairs);
    is_whole.then_some(begin + 1..begin + end)
}

fn is_between_pairs(c: char) -> bool {
    c.is_whitespace() || c == ';'
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
    fn passwords_in_connection_strings_are_masked() {
        for (text, expected) in [
            ("host=db user=u password=hunter2 dbname=d", "host=db user=u password=*** dbname=d"),
            ("password = hunter2  host = db", "password = ***  host = db"),
            ("PASSWORD='it is \\' x' port=5", "PASSWORD='***' port=5"),
            ("host=db sslpassword=a=b", "host=db sslpassword=***"),
            ("Host=db;Password=a b;c;User Id=u", "Host=db;Password=*** Id=u"),
            ("Server=db;Pwd=\"a;b\";Database=d", "Server=db;Pwd=\"***\";Database=d"),
            ("shop=host=db password=x", "shop=host=db password=***"),
            ("password=a://b c", "password=***"),
            // Quotes that end elsewhere, and words that are no names of pairs.
            ("password='it''s x", "password=***"),
            ("password=hunter 2 x=y host=db", "password=*** host=db"),
            ("host=db user=u", "host=db user=u"),
            ("info,surpass=debug", "info,surpass=debug"),
        ] {
            assert_eq!(masked(text), expected);
        }
        let text = "host=db password='hunt er2' user=u";
        assert_eq!(secrets_in_urls(text), ["hunt er2"]);
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
