//! Takes secrets out of texts: those of the settings wherever they are, and what looks like one.

use std::collections::BTreeSet;

use chassis::Settings;

/// Shorter texts are in other words, too.
const SECRET_CHARS_MIN: usize = 6;
const MASK: &str = "***";

/// Knows the secrets of the settings.
pub(super) struct Scrubber {
    /// The longest first, so that none hides a part of another.
    secrets: Vec<String>,
}

impl Scrubber {
    /// A scrubber for everything secret in these settings.
    pub(super) fn of(settings: &Settings) -> Self {
        let own = [
            &settings.api_key,
            &settings.metrics_key,
            &settings.admin_password,
            &settings.secrets_key,
        ];
        let own = own.into_iter().flatten().flat_map(|secret| {
            let text = secret.expose();
            text.split(',').map(|part| part.trim().to_owned()).chain([text.to_owned()])
        });
        let urls = [settings.nats_url.as_str(), settings.database_url.as_str()];
        let urls = urls.into_iter().flat_map(|text| text.split(',').map(str::to_owned));
        let connections = settings.sql_connections.0.iter().map(|(_, url)| url.clone());
        let mail = settings.smtp_url.iter().map(|server| server.0.clone());
        let in_urls = urls.chain(connections).chain(mail).filter_map(|url| credentials(&url));
        let entries = settings.script_config.values().values().cloned();
        Self::new(own.chain(in_urls.flatten()).chain(entries))
    }

    fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|one| one.chars().count() >= SECRET_CHARS_MIN);
        let secrets: BTreeSet<String> = secrets.flat_map(|one| [decoded(&one), one]).collect();
        let mut secrets: Vec<String> =
            secrets.into_iter().filter(|one| one.len() >= SECRET_CHARS_MIN).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// The text without secrets.
    pub(super) fn clean(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            clean = clean.replace(secret, MASK);
            // As JSON has it.
            let quoted = serde_json::Value::String(secret.clone()).to_string();
            let inner = quoted.trim_matches('"');
            if inner != secret {
                clean = clean.replace(inner, MASK);
            }
        }
        let lines: Vec<_> = clean.split('\n').map(without_credentials).collect();
        lines.join("\n")
    }
}

/// Passwords and tokens of a URL: those before the host, and those in its query.
fn credentials(url: &str) -> Option<Vec<String>> {
    let (_, rest) = url.split_once("://")?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = place.split('/').next().unwrap_or_default();
    let before_host = authority.rsplit_once('@').map(|(login, _)| login);
    let secret = before_host.map(|login| login.split_once(':').map_or(login, |(_, it)| it));
    let in_query = query.split('&').filter_map(|pair| pair.split_once('='));
    let in_query = in_query.filter(|(name, _)| name.to_lowercase().contains("password"));
    let found = secret.into_iter().chain(in_query.map(|(_, value)| value));
    Some(found.map(str::to_owned).collect())
}

/// A percent-encoded text as it is.
fn decoded(text: &str) -> String {
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

/// A line without logins in URLs, and without what follows the name of a credential.
fn without_credentials(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("://") {
        out.push_str(before);
        out.push_str("://");
        let is_end = |c: char| c.is_whitespace() || "/\"'<>,)".contains(c);
        let end = after.find(is_end).unwrap_or(after.len());
        let (authority, behind) = after.split_at(end);
        match authority.rsplit_once('@') {
            Some((_, host)) => out.push_str(&format!("{MASK}@{host}")),
            None => out.push_str(authority),
        }
        rest = behind;
    }
    out.push_str(rest);
    for name in ["ApiKey ", "Bearer ", "password=", "password\": \"", "token=", "?t=", "&t="] {
        out = masked_after(&out, name);
    }
    out
}

/// Masks the word after each occurrence of a name, in any case.
fn masked_after(text: &str, name: &str) -> String {
    let (lower, name) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = lower.get(at..).and_then(|rest| rest.find(&name)) {
        let start = at + found + name.len();
        out.push_str(text.get(at..start).unwrap_or_default());
        let rest = text.get(start..).unwrap_or_default();
        let is_end = |c: char| c.is_whitespace() || "\"'&,;)".contains(c);
        let end = rest.find(is_end).unwrap_or(rest.len());
        if end > 0 {
            out.push_str(MASK);
        }
        at = start + end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_is_masked_wherever_it_is() {
        let scrubber = Scrubber::new(["hush\"1234".to_owned(), "p%40ss-word".to_owned()]);
        for (text, expected) in [
            ("key hush\"1234 here", "key *** here"),
            ("{\"a\": \"hush\\\"1234\"}", "{\"a\": \"***\"}"),
            ("p@ss-word and p%40ss-word", "*** and ***"),
            ("at nats://u:other@h:4222, then", "at nats://***@h:4222, then"),
            ("postgres://u:a@b@h/d?sslmode=x", "postgres://***@h/d?sslmode=x"),
            ("Authorization: ApiKey abc.def", "Authorization: ApiKey ***"),
            ("authorization: bearer eyJ0 x", "authorization: bearer *** x"),
            ("GET /bookmarks/resume?t=abcdef HTTP", "GET /bookmarks/resume?t=*** HTTP"),
            ("nothing to hide", "nothing to hide"),
        ] {
            assert_eq!(scrubber.clean(text), expected);
        }
    }

    #[test]
    fn the_secrets_of_a_url_are_found() {
        let check = |url: &str, expected: &[&str]| {
            assert_eq!(credentials(url).unwrap_or_default(), expected, "{url}");
        };
        check("postgres://u:p4ss@h/d", &["p4ss"]);
        check("nats://t0ken@h", &["t0ken"]);
        check("postgres:///d?host=h&password=p4ss", &["p4ss"]);
        check("sqlite://x", &[]);
    }
}
