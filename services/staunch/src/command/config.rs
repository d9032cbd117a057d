//! `staunch config`: every setting in force, and where its value comes from.

use chassis::Settings;
use serde_json::json;

use crate::output::{self, Format};
use crate::{Failure, say};

/// Prints the settings; secrets are masked.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn run(settings: &Settings, format: Format) -> Result<(), Failure> {
    for unknown in settings.unknown_variables() {
        say::message(&format!("warning: {unknown}"));
    }
    if format == Format::Json {
        return output::json(&json!(settings.all()));
    }
    let rows: Vec<Vec<String>> = settings
        .all()
        .iter()
        .map(|one| vec![one.name.to_owned(), one.value.clone(), one.origin.to_string()])
        .collect();
    output::table(&["SETTING", "VALUE", "FROM"], &rows)
}
