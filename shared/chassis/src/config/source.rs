//! The sources of values, and their order.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use toml::de::DeTable;
use toml::{Table, Value};

use super::error::{ConfigError, Origin};
use super::form::Bounds;
use super::value::Parse;

/// The largest file with the value of one setting.
const VALUE_BYTES_MAX: u64 = 64 * 1024;
/// The file that is read if none is named and this one exists.
const DEFAULT_FILE: &str = "staunch.toml";

/// One setting in force, for `staunch config`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Such as `nats-url`.
    pub name: &'static str,
    /// Its value as text; `***` for a secret that is set.
    pub value: String,
    /// The source of the value.
    pub origin: Origin,
    /// The file that a variable `STAUNCH_<NAME>_FILE` names, with the value.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// The line of the configuration file with it.
    #[serde(skip)]
    pub line: Option<usize>,
}

/// A value as text, and where it was found.
struct Found {
    text: String,
    origin: Origin,
    file: Option<PathBuf>,
    line: Option<usize>,
    /// Why no setting takes such a value.
    fault: Option<&'static str>,
}

impl Found {
    fn of(text: impl Into<String>, origin: Origin) -> Self {
        Self { text: text.into(), origin, file: None, line: None, fault: None }
    }
}

/// The configuration file.
struct File {
    path: PathBuf,
    table: Table,
    /// The lines of the keys.
    lines: BTreeMap<String, usize>,
}

/// The sources in which values are looked up.
pub(super) struct Sources<'a> {
    names: &'a [&'static str],
    variable: &'a dyn Fn(&str) -> Option<String>,
    file: Option<File>,
    /// Defaults that differ from the usual ones.
    defaults: Vec<(&'static str, String)>,
    settings: Vec<Setting>,
}

impl<'a> Sources<'a> {
    /// Reads the file, which may only have keys from `names`.
    ///
    /// # Errors
    /// [`ConfigError`] when a named file does not exist, or its text or a key cannot be read.
    pub(super) fn open(
        named: Option<&Path>,
        names: &'a [&'static str],
        variable: &'a dyn Fn(&str) -> Option<String>,
        defaults: Vec<(&'static str, String)>,
    ) -> Result<Self, ConfigError> {
        let named =
            named.map(Path::to_owned).or_else(|| variable("STAUNCH_CONFIG").map(Into::into));
        let path = match named {
            Some(path) => Some(path),
            None => Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.exists()),
        };
        let file = match path {
            Some(path) => {
                let file = read(path)?;
                check(&file, names)?;
                Some(file)
            }
            None => None,
        };
        Ok(Self { names, variable, file, defaults, settings: Vec::new() })
    }

    /// The value of one setting.
    ///
    /// # Errors
    /// [`ConfigError::Value`] when its text cannot be read, or is out of bounds.
    pub(super) fn take<T: Parse>(
        &mut self,
        name: &'static str,
        flag: Option<&str>,
        default: &str,
        bounds: Bounds,
    ) -> Result<T, ConfigError> {
        let found = self.look_up(name, flag)?;
        let Found { text, origin, file, line, fault } = match found {
            Some(found) => found,
            None => Found::of(self.default(name).unwrap_or(default), Origin::Default),
        };
        let shown = T::shown(&text);
        let amount = |text: &str| T::parse(text).ok()?.amount();
        let read = match fault {
            Some(fault) => Err(fault.to_owned()),
            None => T::parse(&text),
        };
        let read = read.and_then(|value| {
            bounds.check(value.amount(), amount)?;
            Ok(value)
        });
        match read {
            Ok(value) => {
                if T::IS_SETTING {
                    self.settings.push(Setting { name, value: shown, origin, file, line });
                }
                Ok(value)
            }
            Err(reason) => Err(ConfigError::Value { name, text: shown, origin, line, reason }),
        }
    }

    fn default(&self, name: &str) -> Option<&str> {
        let found = self.defaults.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.as_str())
    }

    /// All settings that were read.
    pub(super) fn into_settings(self) -> Vec<Setting> {
        self.settings
    }

    fn look_up(
        &self,
        name: &'static str,
        flag: Option<&str>,
    ) -> Result<Option<Found>, ConfigError> {
        if let Some(text) = flag {
            return Ok(Some(Found::of(text, Origin::Flag)));
        }
        let variable = variable_of(name);
        // In compose files an empty variable means that there is no value.
        let given = (self.variable)(&variable).filter(|text| !text.is_empty());
        let in_file = self.in_file_of_variable(name, &variable)?;
        match (given, in_file) {
            (Some(_), Some(_)) => {
                return Err(ConfigError::Unsafe(format!(
                    "{variable} and {variable}_FILE are both set, for the setting {name}: set one \
                     of them"
                )));
            }
            (Some(text), None) => {
                return Ok(Some(Found::of(text, Origin::Variable(variable))));
            }
            (None, Some(found)) => return Ok(Some(found)),
            (None, None) => {}
        }
        let Some(file) = &self.file else { return Ok(None) };
        let Some(value) = file.table.get(name) else { return Ok(None) };
        let (text, fault) = text(value);
        let (origin, line) = (Origin::File(file.path.clone()), file.lines.get(name).copied());
        Ok(Some(Found { text, origin, file: None, line, fault }))
    }
}

impl Sources<'_> {
    /// The value in the file that `STAUNCH_<NAME>_FILE` names, as secrets of containers are given;
    /// not for a name of which a setting is called so.
    fn in_file_of_variable(
        &self,
        name: &'static str,
        variable: &str,
    ) -> Result<Option<Found>, ConfigError> {
        let is_setting = self.names.iter().any(|known| known.strip_suffix("-file") == Some(name));
        let variable = format!("{variable}_FILE");
        let path = (self.variable)(&variable).filter(|text| !text.is_empty() && !is_setting);
        let Some(path) = path else { return Ok(None) };
        let (origin, file) = (Origin::Variable(variable), PathBuf::from(&path));
        match value_in(&file) {
            Ok(text) => Ok(Some(Found { file: Some(file), ..Found::of(text, origin) })),
            Err(reason) => Err(ConfigError::Value { name, text: path, origin, line: None, reason }),
        }
    }
}

/// The value of a setting for a command that reads no configuration file: of the command line, else of the
/// variable or of the file that `STAUNCH_<NAME>_FILE` names. `given` is from the command line or the
/// variable. With where it is from.
pub(super) fn of_command(
    name: &'static str,
    given: Option<&str>,
    names: &[&'static str],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<(String, Origin)>, ConfigError> {
    let in_variable = variable(&variable_of(name));
    let flag = given.filter(|text| !text.is_empty() && in_variable.as_deref() != Some(*text));
    let (defaults, settings) = (Vec::new(), Vec::new());
    let sources = Sources { names, variable, file: None, defaults, settings };
    Ok(sources.look_up(name, flag)?.map(|found| (found.text, found.origin)))
}

/// The variable of the environment with the value of a setting: `STAUNCH_NATS_URL` for `nats-url`.
#[must_use]
pub fn variable_of(name: &str) -> String {
    format!("STAUNCH_{}", name.replace('-', "_").to_uppercase())
}

/// The value in a file, without what is blank around it.
///
/// # Errors
/// The reason why there is none.
pub(crate) fn value_in(path: &Path) -> Result<String, String> {
    let read = || -> std::io::Result<String> {
        let mut text = String::new();
        std::fs::File::open(path)?.take(VALUE_BYTES_MAX + 1).read_to_string(&mut text)?;
        Ok(text)
    };
    let reason = match read() {
        Ok(text) if text.len() as u64 > VALUE_BYTES_MAX => {
            format!("it has more than {VALUE_BYTES_MAX} bytes")
        }
        Ok(text) if text.trim().is_empty() => "it is empty".to_owned(),
        Ok(text) => return Ok(text.trim().to_owned()),
        Err(error) => error.to_string(),
    };
    Err(format!("the file cannot be read: {reason}"))
}

fn read(path: PathBuf) -> Result<File, ConfigError> {
    let failed = |reason: String| ConfigError::File { path: path.display().to_string(), reason };
    let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
    let table = text.parse::<Table>().map_err(|error| failed(on_one_line(&error, &text)))?;
    let lines = lines_of(&text);
    Ok(File { path, table, lines })
}

/// The line of each key at the top of the file.
fn lines_of(text: &str) -> BTreeMap<String, usize> {
    let Ok(table) = DeTable::parse(text) else { return BTreeMap::new() };
    let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    let keys = table.get_ref().keys();
    keys.map(|key| (key.get_ref().to_string(), line(key.span().start))).collect()
}

/// The error with its place, on one line and without the text there, which may be a secret.
fn on_one_line(error: &toml::de::Error, text: &str) -> String {
    let message: Vec<_> = error.message().lines().collect();
    let message = message.join(", ");
    let before = error.span().and_then(|span| text.get(..span.start));
    let Some(before) = before else { return message };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: {message}")
}

fn check(file: &File, names: &[&'static str]) -> Result<(), ConfigError> {
    match file.table.keys().find(|key| !names.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(ConfigError::Unknown {
            path: file.path.display().to_string(),
            key: key.clone(),
            nearest: nearest(key, names),
        }),
    }
}

/// A value as text, and why no setting takes its kind. What is no list of texts is left to the setting,
/// which says what it takes.
fn text(value: &Value) -> (String, Option<&'static str>) {
    match value {
        Value::String(text) => (text.clone(), None),
        Value::Integer(_) | Value::Boolean(_) | Value::Float(_) => (value.to_string(), None),
        Value::Array(items) => {
            let is_no_text =
                |item: &Value| item.is_array() || item.is_table() || item.is_datetime();
            let fault = items.iter().any(is_no_text).then_some("must be a text or a list of texts");
            let texts: Vec<_> = items.iter().map(|item| text(item).0).collect();
            (texts.join(","), fault)
        }
        Value::Datetime(_) => {
            (value.to_string(), Some("must be a text: write the value between quotes"))
        }
        Value::Table(_) => (
            value.to_string(),
            Some(
                "must be a text, a number, true, false or a list of texts: write a JSON object \
                 between quotes, such as '{\"a\": 1}'",
            ),
        ),
    }
}

/// The most similar name, if there is a similar one.
pub(crate) fn nearest(key: &str, names: &[&'static str]) -> Option<&'static str> {
    let key = key.to_lowercase().replace('_', "-");
    let near = names.iter().map(|name| (distance(&key, name), *name)).min()?;
    (near.0 <= key.len().max(3) / 3 + 1).then_some(near.1)
}

/// The number of insertions, deletions and replacements that turn one word into the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (b, cell) in other.iter().zip(row.iter_mut().skip(1)) {
            let above = *cell;
            left = (above + 1).min(left + 1).min(diagonal + usize::from(a != *b));
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_lines() {
        let text =
            "# first\nlog = \"\"\"\nnode = 1\n\"\"\"\n\n\"drain-seconds\" = 1.5\n[node]\na = 1\n";
        let lines = lines_of(text);
        let found = ["log", "drain-seconds", "node"].map(|key| lines.get(key).copied());
        assert_eq!(found, [Some(2), Some(6), Some(7)]);
        assert!(lines_of("no toml").is_empty());
    }

    #[test]
    fn distances_are_counted() {
        for (one, other, expected) in
            [("", "", 0), ("abc", "abc", 0), ("abc", "abd", 1), ("nats", "nat", 1), ("", "xy", 2)]
        {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
        assert_eq!(nearest("nats_ulr", &["listen", "nats-url"]), Some("nats-url"));
        assert_eq!(nearest("colour", &["listen", "nats-url"]), None);
    }
}
