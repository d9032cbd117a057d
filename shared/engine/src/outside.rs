//! Names in NATS: which of them a workflow may use.

use std::collections::BTreeMap;

use model::{DefinitionId, MessageSource, limits};

/// What a subject with wildcards, or a pattern of buckets, is compared with.
const ONE: &str = "*";
const REST: &str = ">";
/// The first token of Staunch's own subjects.
const OWN: &str = "staunch";

/// The key of the patterns for every definition that has none of its own.
const OTHERS: &str = "*";

/// The subjects and buckets that workflows may use, by the id of the definition; under `*` those of
/// every definition without a list.
#[derive(Clone, Debug, Default)]
pub struct NatsConfig {
    /// Patterns of subjects, such as `orders.>`.
    pub subjects: BTreeMap<String, Vec<String>>,
    /// Patterns of names of buckets and object stores.
    pub buckets: BTreeMap<String, Vec<String>>,
}

impl NatsConfig {
    /// Whether workflows of this definition may use this subject, which may have wildcards.
    ///
    /// # Errors
    /// The setting that would allow it.
    pub fn allow_subject(&self, of: &DefinitionId, subject: &str) -> Result<(), String> {
        is_listed(&self.subjects, of, subject, "nats-subjects", "the subject")
    }

    /// Whether workflows of this definition may use this bucket or object store, which `what` it is.
    ///
    /// # Errors
    /// The setting that would allow it.
    pub fn allow_bucket(&self, of: &DefinitionId, name: &str, what: &str) -> Result<(), String> {
        is_listed(&self.buckets, of, name, "nats-buckets", what)
    }

    /// Whether workflows of this definition may listen to this source.
    ///
    /// # Errors
    /// The setting that would allow it.
    pub fn allow_source(&self, of: &DefinitionId, source: &MessageSource) -> Result<(), String> {
        match source.bucket() {
            Some(bucket) => self.allow_bucket(of, bucket, "the bucket"),
            None => self.allow_subject(of, &source.subject),
        }
    }
}

fn is_listed(
    lists: &BTreeMap<String, Vec<String>>,
    of: &DefinitionId,
    name: &str,
    setting: &str,
    what: &str,
) -> Result<(), String> {
    let list = lists.get(of.as_str()).or_else(|| lists.get(OTHERS));
    if list.is_some_and(|list| list.iter().any(|pattern| covers(pattern, name))) {
        return Ok(());
    }
    Err(format!(
        "workflows of {of} may not use {what} {name}: allow it in the setting {setting}, as in \
         {of}={name}"
    ))
}

/// Checks a subject on which a workflow sends.
///
/// # Errors
/// It is no subject, or one that belongs to Staunch or to NATS.
pub fn check_subject(subject: &str) -> Result<(), String> {
    if !is_literal(subject) {
        return Err(format!(
            "{subject:?} is not a subject: use tokens with dots between them, without spaces and \
             wildcards, of at most {} bytes together",
            limits::SUBJECT_BYTES_MAX
        ));
    }
    check_owner(subject)
}

/// Whether it is a subject without wildcards.
fn is_literal(subject: &str) -> bool {
    let is_bad = |byte: u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
    subject.len() <= limits::SUBJECT_BYTES_MAX
        && !subject.bytes().any(is_bad)
        && subject.split('.').all(|token| !token.is_empty() && token != ONE && token != REST)
}

/// Refuses subjects, and patterns of them, of Staunch and of NATS.
fn check_owner(subject: &str) -> Result<(), String> {
    if subject.split('.').next() == Some(OWN) || subject.starts_with(['$', '_']) {
        return Err(format!(
            "{subject:?} belongs to Staunch or to NATS: subjects of workflows do not begin with \
             `staunch.`, `$` or `_`"
        ));
    }
    Ok(())
}

/// Checks a subject, which may have wildcards, on which a workflow listens.
///
/// # Errors
/// It is no subject, or one that messages of Staunch or of NATS fit.
pub fn check_filter(subject: &str) -> Result<(), String> {
    let mut tokens = subject.split('.');
    if tokens.next().is_some_and(|first| first == ONE || first == REST) {
        return Err(format!(
            "{subject:?} would hear messages of Staunch and of NATS, too: begin with a token that is \
             no wildcard"
        ));
    }
    let last = subject.strip_suffix(".>").unwrap_or(subject);
    let literal: Vec<_> =
        last.split('.').map(|token| if token == ONE { "x" } else { token }).collect();
    if !is_literal(&literal.join(".")) {
        return Err(format!(
            "{subject:?} is not a subject to listen on: use tokens with dots between them, without \
             spaces, `*` for any one, `>` at the end for the rest, of at most {} bytes together",
            limits::SUBJECT_BYTES_MAX
        ));
    }
    check_owner(subject)
}

/// Checks the name of a stream that a workflow reads.
///
/// # Errors
/// It is no name, or one of Staunch's.
pub fn check_stream(name: &str) -> Result<(), String> {
    check_name(name, "stream")
}

/// The tokens of a subject that the wildcards of a pattern stand for.
#[must_use]
pub fn wildcards(pattern: &str, subject: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut tokens = subject.split('.');
    for wanted in pattern.split('.') {
        match wanted {
            ONE => found.extend(tokens.next().map(str::to_owned)),
            REST => found.extend(tokens.by_ref().map(str::to_owned)),
            _ => _ = tokens.next(),
        }
    }
    found
}

/// Checks the name of a bucket or an object store that a workflow uses.
///
/// # Errors
/// It is no name, or one of Staunch's, also as its stream is called.
pub fn check_bucket(name: &str) -> Result<(), String> {
    check_name(name, "bucket")
}

fn check_name(name: &str, what: &str) -> Result<(), String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if name.is_empty() || name.len() > limits::SUBJECT_BYTES_MAX || !name.bytes().all(is_allowed) {
        return Err(format!("{name:?} is not the name of a {what}: use A-Z, a-z, 0-9, _ and -"));
    }
    let lower = name.to_ascii_lowercase();
    // The streams behind buckets and object stores begin so.
    let bare = lower.strip_prefix("kv_").or_else(|| lower.strip_prefix("obj_"));
    if bare.unwrap_or(&lower).starts_with("staunch_") {
        return Err(format!("the {what} {name} belongs to Staunch"));
    }
    Ok(())
}

/// Checks a key of a bucket.
///
/// # Errors
/// It is no key.
pub fn check_key(key: &str) -> Result<(), String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=/.".contains(&byte);
    if key.len() > limits::SUBJECT_BYTES_MAX
        || key.split('.').any(str::is_empty)
        || !key.bytes().all(is_allowed)
    {
        return Err(format!(
            "{key:?} is not a key: use A-Z, a-z, 0-9, -, _, =, / and dots between"
        ));
    }
    Ok(())
}

/// Checks a pattern of keys, which may have wildcards.
///
/// # Errors
/// It is no pattern.
pub fn check_keys(pattern: &str) -> Result<(), String> {
    let last = if pattern == REST { "x" } else { pattern.strip_suffix(".>").unwrap_or(pattern) };
    let literal: Vec<_> =
        last.split('.').map(|token| if token == ONE { "x" } else { token }).collect();
    check_key(&literal.join(".")).map_err(|_is_of_another_name| {
        format!(
            "{pattern:?} is not a pattern of keys: use tokens of A-Z, a-z, 0-9, -, _, = and / with dots \
             between, `*` for any one, `>` at the end for the rest"
        )
    })
}

/// Whether a pattern covers a subject or a name: `*` stands for one token, `>` for one or more at the
/// end.
#[must_use]
pub fn covers(pattern: &str, name: &str) -> bool {
    let mut wanted = pattern.split('.');
    let mut tokens = name.split('.');
    loop {
        match (wanted.next(), tokens.next()) {
            (Some(REST), Some(_)) | (None, None) => return true,
            (Some(ONE), Some(token)) if token != REST => {}
            (Some(wanted), Some(token)) if wanted == token => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_of_staunch_and_of_nats_are_refused() {
        for good in ["orders.new", "a", "Staunch.x", "staunchly.x", "é.1"] {
            check_subject(good).unwrap();
        }
        for bad in [
            "",
            ".",
            "a..b",
            "a.",
            "a b",
            "a.*",
            ">",
            "a.>",
            "a\r\nPUB x 0",
            "staunch",
            "staunch.cmd.start.x",
            "$JS.API.STREAM.PURGE.X",
            "$KV.a.b",
            "_INBOX.a",
            "_R_.a",
        ] {
            assert!(check_subject(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn filters_hear_nothing_of_staunch() {
        for good in ["orders.>", "orders.*.new", "a"] {
            check_filter(good).unwrap();
        }
        for bad in [">", "*", "*.a", "staunch.>", "staunch.*", "$KV.a.>", "a.>.b", "a..b", ""] {
            assert!(check_filter(bad).is_err(), "{bad:?}");
        }
        // One sentence says what is wrong, with the subject as it was written.
        for (bad, says) in [
            (
                "staunch.>",
                "\"staunch.>\" belongs to Staunch or to NATS: subjects of workflows do not",
            ),
            ("$SYS.>", "\"$SYS.>\" belongs to Staunch or to NATS: subjects of workflows do not"),
            ("orders.>.x", "\"orders.>.x\" is not a subject to listen on: use tokens"),
            ("orders. x", "\"orders. x\" is not a subject to listen on: use tokens"),
        ] {
            let flaw = check_filter(bad).unwrap_err();
            assert!(flaw.starts_with(says) && !flaw.contains(';'), "{flaw}");
        }
        assert_eq!(wildcards("a.*.c.>", "a.b.c.d.e"), ["b", "d", "e"]);
        for good in ["ORDERS", "KV_config", "OBJ_files", "KV_staunchly"] {
            check_stream(good).unwrap();
        }
        for bad in ["STAUNCH_COMMANDS", "KV_staunch_leases", "kv_Staunch_x", "a.b", ""] {
            assert!(check_stream(bad).is_err(), "{bad:?}");
        }
        // What is wrong is said of the name as it was written.
        let flaw = check_stream("KV_STAUNCH_x").unwrap_err();
        assert_eq!(flaw, "the stream KV_STAUNCH_x belongs to Staunch");
        let flaw = check_stream("my.bucket").unwrap_err();
        assert!(flaw.starts_with("\"my.bucket\" is not the name of a stream: "), "{flaw}");
    }

    #[test]
    fn buckets_of_staunch_are_refused() {
        for good in ["config", "KV_config", "staunchly"] {
            check_bucket(good).unwrap();
        }
        for bad in ["", "a.b", "a*", "a>"] {
            assert!(check_bucket(bad).is_err(), "{bad:?}");
        }
        for own in [
            "staunch_leases",
            "STAUNCH_COMMANDS",
            "KV_STAUNCH_x",
            "KV_staunch_leases",
            "kv_staunch_leases",
            "OBJ_staunch_payloads",
        ] {
            let flaw = check_bucket(own).unwrap_err();
            assert_eq!(flaw, format!("the bucket {own} belongs to Staunch"));
        }
        check_key("a.b=/c").unwrap();
        for bad in ["", "a..b", "a b", "*", ">"] {
            assert!(check_key(bad).is_err(), "{bad:?}");
        }
        for good in [">", "*", "a.*.c", "a.>", "a"] {
            check_keys(good).unwrap();
        }
        for bad in ["", "a.>.b", "a..b", "a b", "a*"] {
            assert!(check_keys(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn patterns_cover_what_nats_would_deliver() {
        for (pattern, name, expected) in [
            ("orders.>", "orders.new", true),
            ("orders.>", "orders.new.big", true),
            ("orders.>", "orders", false),
            ("orders.*", "orders.new.big", false),
            ("orders.*", "orders.new", true),
            ("orders.*", "orders.>", false),
            ("orders.>", "orders.>", true),
            ("orders.>", "orders.*", true),
            ("*", "config", true),
            (">", "a.b", true),
            ("a", "a.b", false),
            ("a.b", "a", false),
        ] {
            assert_eq!(covers(pattern, name), expected, "{pattern} {name}");
        }
    }
}
