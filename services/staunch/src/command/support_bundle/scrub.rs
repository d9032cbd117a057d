//! Takes secrets out of texts: those of the settings wherever they are, and what looks like one.

use std::collections::BTreeSet;

use chassis::{Settings, masked, percent_decoded, secrets_in_urls};

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
        let connections = settings.sql_connections.0.iter().map(|(_, url)| url.as_str());
        let mail = settings.smtp_url.iter().map(|server| server.0.as_str());
        let urls = urls.into_iter().chain(connections).chain(mail);
        let entries = settings.script_config.values().values().cloned();
        Self::new(own.chain(urls.flat_map(secrets_in_urls)).chain(entries))
    }

    fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|one| one.chars().count() >= SECRET_CHARS_MIN);
        let secrets: BTreeSet<String> =
            secrets.flat_map(|one| [percent_decoded(&one), one]).collect();
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

/// A line without secrets in URLs, and without what follows the name of a credential.
fn without_credentials(line: &str) -> String {
    let is_around = |c: char| c.is_whitespace() || "\"<>".contains(c);
    let words = line.split_inclusive(is_around);
    let mut out: String = words
        .map(|word| {
            let end = word.trim_end_matches(is_around).len();
            let (inner, around) = word.split_at(end);
            format!("{}{around}", masked(inner))
        })
        .collect();
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
            ("at nats://u:other@h:4222, then", "at nats://u:***@h:4222, then"),
            ("at postgres://u:Comma,Other@h/d now", "at postgres://u:***@h/d now"),
            ("postgres://u:a@b@h/d?sslmode=x", "postgres://u:***@h/d?sslmode=x"),
            (
                "{\"url\":\"postgres://h?SslPassword=x\"}",
                "{\"url\":\"postgres://h?SslPassword=***\"}",
            ),
            ("Authorization: ApiKey abc.def", "Authorization: ApiKey ***"),
            ("authorization: bearer eyJ0 x", "authorization: bearer *** x"),
            ("GET /bookmarks/resume?t=abcdef HTTP", "GET /bookmarks/resume?t=*** HTTP"),
            ("nothing to hide", "nothing to hide"),
        ] {
            assert_eq!(scrubber.clean(text), expected);
        }
    }

    #[test]
    fn the_password_of_a_url_is_masked_wherever_it_is() {
        let args = chassis::Args {
            database_url: Some("postgres://u:Comma,Secr3t@h/d?SslPassword=more-hush".to_owned()),
            ..chassis::Args::default()
        };
        let scrubber = Scrubber::of(&Settings::resolve(&args, &|_| None).unwrap());
        assert_eq!(scrubber.clean("it is Comma,Secr3t, more-hush"), "it is ***, ***");
    }
}
