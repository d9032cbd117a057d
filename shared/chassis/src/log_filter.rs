//! What this process logs, changed while it runs. A restart brings back the filter of the settings.

use std::sync::{Mutex, OnceLock, PoisonError};

use tracing_subscriber::EnvFilter;

use crate::config::nearest;

/// Characters of a filter.
const FILTER_CHARS_MAX: usize = 4_096;
/// The names of all crates that may be part of this program, ours and others, one a line: log lines have
/// them as the beginning of their targets.
const CRATES: &str = include_str!(concat!(env!("OUT_DIR"), "/crates.txt"));
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
/// Targets of log lines and spans that are no crates.
const OTHER_TARGETS: [&str; 2] = ["spans", "workflow"];

/// Puts a filter in force.
pub(crate) type Apply = Box<dyn Fn(EnvFilter) -> Result<(), String> + Send + Sync>;

static CURRENT: OnceLock<Current> = OnceLock::new();

struct Current {
    configured: String,
    text: Mutex<String>,
    apply: Apply,
}

/// The log filter of this process.
pub(crate) struct LogFilter;

impl LogFilter {
    /// Keeps the way to change the filter, once.
    pub(crate) fn keep(configured: &str, apply: Apply) {
        let (configured, text) = (configured.to_owned(), Mutex::new(configured.to_owned()));
        if CURRENT.set(Current { configured, text, apply }).is_err() {
            tracing::debug!("the log filter is kept already");
        }
    }

    /// The filter in force; empty before [`LogFilter::keep`].
    pub(crate) fn text() -> String {
        let text = CURRENT.get().map(|current| current.text.lock());
        text.map(|text| text.unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// The filter of the settings.
    pub(crate) fn configured() -> &'static str {
        CURRENT.get().map_or("", |current| current.configured.as_str())
    }

    /// Adds directives, such as `executor=debug`, to the filter in force; each takes the place of
    /// the one for the same module.
    ///
    /// # Errors
    /// When a directive cannot be read; then nothing changes.
    pub(crate) fn set(directives: &str) -> Result<(), String> {
        // Read first: a process without a log refuses the same texts.
        check_log_filter(directives)?;
        Self::put(merged(&Self::text(), directives))
    }

    /// Goes back to the filter of the settings.
    ///
    /// # Errors
    /// When this process has no log.
    pub(crate) fn reset() -> Result<(), String> {
        Self::put(Self::configured().to_owned())
    }

    fn put(text: String) -> Result<(), String> {
        let current = CURRENT.get().ok_or("this process has no log that could be changed")?;
        let filter = read(&text)?;
        let mut known = current.text.lock().unwrap_or_else(PoisonError::into_inner);
        (current.apply)(filter)?;
        known.clone_from(&text);
        drop(known);
        tracing::warn!(filter = text, "the log filter has changed");
        Ok(())
    }
}

/// Refuses directives that no process accepts, and those for a module that no crate of this program
/// has. Modules below a crate are not checked.
///
/// # Errors
/// What is wrong with them.
pub fn check_log_filter(directives: &str) -> Result<(), String> {
    read(directives)?;
    let modules = directives.split(',').filter_map(|directive| directive.split_once('='));
    modules.map(|(module, _)| module.trim()).try_for_each(check_module)
}

fn check_module(module: &str) -> Result<(), String> {
    let names: Vec<&'static str> = CRATES.lines().chain(OTHER_TARGETS).collect();
    let is_known = |name: &str| match module.split_once("::") {
        Some((first, _)) => name == first,
        // The filter takes the beginning of a name for all that begin with it.
        None => name.starts_with(module),
    };
    if names.iter().any(|name| is_known(&name.replace('-', "_"))) {
        return Ok(());
    }
    let first = module.split("::").next().unwrap_or(module);
    let meant = nearest(first, &names).map(|name| name.replace('-', "_"));
    let hint = meant.map_or_else(String::new, |name| format!("; did you mean {name:?}?"));
    Err(format!(
        "there is no module {module:?}: use the name of a crate, such as executor, ingress, timer, \
         store_sql or async_nats, perhaps with :: and modules below it{hint}"
    ))
}

/// The filter of these directives; blanks around their parts do not count.
///
/// # Errors
/// What is wrong with them. Modules need not be those of this program.
pub(crate) fn read(text: &str) -> Result<EnvFilter, String> {
    if text.contains('[') {
        return Err("filters of spans are not supported here: use MODULE=LEVEL".to_owned());
    }
    if text.trim().is_empty() || text.chars().count() > FILTER_CHARS_MAX {
        return Err(format!("use LEVEL or MODULE=LEVEL, at most {FILTER_CHARS_MAX} characters"));
    }
    let mut tidy: Vec<String> = Vec::new();
    for directive in text.split(',') {
        let (module, level) = match directive.split_once('=') {
            Some((module, level)) => (Some(module.trim()), level.trim()),
            None => (None, directive.trim()),
        };
        if !LEVELS.contains(&level.to_ascii_lowercase().as_str()) {
            let meant = nearest(level, &LEVELS);
            let hint = meant.map_or_else(String::new, |known| format!("; did you mean {known:?}?"));
            return Err(format!("{level:?} is no level: use {}{hint}", LEVELS.join(", ")));
        }
        match module {
            Some(module) => {
                check_name(module)?;
                tidy.push(format!("{module}={level}"));
            }
            None => tidy.push(level.to_owned()),
        }
    }
    EnvFilter::try_new(tidy.join(","))
        .map_err(|error| format!("the filter cannot be read: {error}"))
}

/// Refuses what cannot be the name of a module.
fn check_name(module: &str) -> Result<(), String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
    if module.is_empty() {
        return Err("there is no module before the `=`: use LEVEL or MODULE=LEVEL".to_owned());
    }
    if module.chars().all(is_of_name) {
        return Ok(());
    }
    Err(format!("{module:?} is not the name of a module: use letters, digits, _ and ::"))
}

/// The filter with further directives.
fn merged(text: &str, directives: &str) -> String {
    let module = |directive: &str| -> Option<String> {
        directive.split_once('=').map(|(module, _)| module.trim().to_owned())
    };
    let mut all: Vec<String> = Vec::new();
    for directive in text.split(',').chain(directives.split(',')) {
        let directive = directive.trim();
        if directive.is_empty() {
            continue;
        }
        match all.iter_mut().find(|known| module(known) == module(directive)) {
            Some(known) => directive.clone_into(known),
            None => all.push(directive.to_owned()),
        }
    }
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_takes_the_place_of_the_one_for_its_module() {
        for (text, directives, expected) in [
            ("info", "executor=debug", "info,executor=debug"),
            ("info,executor=debug", "executor=warn", "info,executor=warn"),
            ("info,executor=debug", "warn", "warn,executor=debug"),
            ("info", " bus=trace , timer=debug", "info,bus=trace,timer=debug"),
            ("", "debug", "debug"),
        ] {
            assert_eq!(merged(text, directives), expected);
        }
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        for text in ["", "executor=loud", "loud", "[span]=debug", &"a".repeat(5_000)] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in ["info", "WARN,executor=debug", "off", "info, executor = debug", " info "] {
            assert!(read(text).is_ok(), "{text}");
        }
        for text in ["=debug", "info,=debug", "info, = debug"] {
            let message = read(text).unwrap_err();
            assert_eq!(message, "there is no module before the `=`: use LEVEL or MODULE=LEVEL");
        }
        assert!(read("exe cutor=debug").unwrap_err().contains("is not the name of a module"));
        let spaced = read("info, executor = debug").unwrap().to_string();
        assert_eq!(spaced, read("info,executor=debug").unwrap().to_string());
        assert!(read("inof").unwrap_err().ends_with("did you mean \"info\"?"));
    }

    #[test]
    fn the_program_contains_names_and_no_lock_file() {
        let names: Vec<_> = CRATES.lines().collect();
        assert!(names.is_sorted() && names.contains(&"executor") && names.contains(&"async-nats"));
        let is_name = |name: &&str| !name.is_empty() && !name.contains(['"', ' ', '=']);
        assert!(names.iter().all(is_name), "{names:?}");
        assert!(CRATES.len() < 16 * 1024, "{}", CRATES.len());
    }

    #[test]
    fn a_module_that_no_crate_has_is_refused_with_the_nearest() {
        for (text, expected) in [
            ("executr=debug", "; did you mean \"executor\"?"),
            ("info,store-sql=debug", "; did you mean \"store_sql\"?"),
            ("ingres::routes=debug", "; did you mean \"ingress\"?"),
            ("the_module_of_nobody=trace", "such as executor, ingress"),
        ] {
            let message = check_log_filter(text).unwrap_err();
            assert!(message.starts_with("there is no module "), "{message}");
            assert!(message.contains(expected), "{message}");
        }
        for text in [
            "debug",
            "executor=debug,ingress::routes=trace",
            "async_nats=debug,sqlx=debug,hyper=off,sea_orm::driver=info",
            "store=debug",
            "sea=debug",
            "workflow=info,spans=debug",
        ] {
            assert_eq!(check_log_filter(text), Ok(()), "{text}");
        }
    }
}
