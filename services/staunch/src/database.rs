//! The database of commands that open it without a server: checks its URL, and prevents that a
//! command that only reads creates it.

use std::path::PathBuf;

use chassis::Settings;
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
    Err(Failure::usage(store::no_driver(url)))
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
