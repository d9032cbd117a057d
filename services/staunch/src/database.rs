//! The database of commands that open it without a server: checks its URL, and prevents that a
//! command that only reads creates it.

use std::path::PathBuf;

use chassis::{ConfigError, Settings};
use reqwest::Url;

use crate::Failure;
use crate::failure::Kind;

/// The supported kinds of databases.
const SCHEMES: [&str; 3] = ["sqlite:", "postgres://", "postgresql://"];

/// Refuses a database URL of an unknown kind.
///
/// # Errors
/// A usage error that names the kinds.
pub(crate) fn check_kind(settings: &Settings) -> Result<(), Failure> {
    let url = &settings.database_url;
    if SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
        return Ok(());
    }
    let mut refusal = settings.refusal("database-url", store::no_driver(url));
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    let has_scheme = scheme.is_some_and(|scheme| scheme.chars().all(is_of_scheme));
    // Without a scheme, a password may stand anywhere.
    if let ConfigError::Value { text, .. } = &mut refusal
        && !has_scheme
    {
        "***".clone_into(text);
    }
    Err(Failure::usage(refusal.to_string()))
}

/// Fails if a SQLite file does not exist: only `staunch migrate` and commands with `--provision`
/// create one.
///
/// # Errors
/// Not found, with the file's name and the way to create it.
pub(crate) fn must_exist(settings: &Settings) -> Result<(), Failure> {
    let missing = file(&settings.database_url).filter(|file| !file.exists());
    match missing {
        Some(file) if !settings.provision => Err(Failure::new(
            Kind::NotFound,
            format!(
                "there is no database {}; name one with --database-url, or make it with \
                 `staunch migrate`",
                file.display()
            ),
        )),
        _ => Ok(()),
    }
}

/// The file of a SQLite database that is not in memory.
pub(crate) fn file(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if path == ":memory:" || query.contains("mode=memory") {
        return None;
    }
    // The driver decodes %20 and other escapes, so this does, too.
    let here = Url::from_directory_path(std::env::current_dir().ok()?).ok()?;
    here.join(&path.replace('#', "%23")).ok()?.to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_another_kind_is_refused_with_its_source() {
        let refusal = |url: &str| {
            let args =
                chassis::Args { database_url: Some(url.to_owned()), ..chassis::Args::default() };
            check_kind(&Settings::resolve(&args, &|_| None).unwrap()).unwrap_err().message
        };
        let shown = refusal("mysql://root:hush@db/x");
        let begin =
            "database-url = \"mysql://root:***@db/x\" from the command line: there is no driver";
        assert!(shown.starts_with(begin), "{shown}");
        for url in ["root:hush@db/x", "root:hush@db://x"] {
            let shown = refusal(url);
            assert!(shown.starts_with("database-url = \"***\" from the command line: "), "{shown}");
            assert!(!shown.contains("hush"), "{shown}");
        }
    }

    #[test]
    fn the_file_of_a_url_is_found() {
        let here = std::env::current_dir().unwrap();
        let check = |url: &str, expected: Option<PathBuf>| assert_eq!(file(url), expected, "{url}");
        check("sqlite://./.staunch/staunch.db?mode=rwc", Some(here.join(".staunch/staunch.db")));
        check("sqlite:a%20b.db", Some(here.join("a b.db")));
        check("sqlite:///var/lib/staunch.db", Some("/var/lib/staunch.db".into()));
        check("sqlite::memory:", None);
        check("sqlite://x?mode=memory", None);
        check("postgres://u@h/d", None);
    }
}
