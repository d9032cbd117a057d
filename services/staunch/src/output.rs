//! The two forms of data: a table for people, JSON for programs.

pub(crate) use api_client::text;
use clap::ValueEnum;
use serde_json::Value;

use crate::{Failure, say};

/// The form of standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns.
    #[default]
    Table,
    /// One JSON document.
    Json,
}

/// The number, with the words for one or for many.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Writes a JSON document, indented.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn json(value: &Value) -> Result<(), Failure> {
    say::json(value)
}

/// Reports success: a sentence on standard error for people, `document` on standard output for
/// programs.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn done(format: Format, sentence: &str, document: &Value) -> Result<(), Failure> {
    match format {
        Format::Table => {
            say::message(sentence);
            Ok(())
        }
        Format::Json => json(document),
    }
}

/// Writes rows under their headings.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> Result<(), Failure> {
    say::data(&aligned(headings, rows).join("\n"))
}

/// Writes names and values, one pair per line.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn pairs(pairs: &[(&str, String)]) -> Result<(), Failure> {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let shown = pairs.iter().filter(|(_, value)| !value.is_empty());
    let line = |(name, value): &(&str, String)| {
        format!("{}  {}", padded(name, width), say::one_line(value))
    };
    say::data(&shown.map(line).collect::<Vec<_>>().join("\n"))
}

/// Rows under their headings, as lines.
pub(crate) fn aligned(headings: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let heading: Vec<String> = headings.iter().map(|text| (*text).to_owned()).collect();
    let one_line = |row: &Vec<String>| row.iter().map(|cell| say::one_line(cell).into()).collect();
    let lines: Vec<Vec<String>> =
        std::iter::once(heading).chain(rows.iter().map(one_line)).collect();
    let widths: Vec<usize> = (0..headings.len())
        .map(|column| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        })
        .collect();
    let write = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| padded(cell, *width));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(write).collect()
}

/// The first line of a text for a cell, at most this long: what is left out is an ellipsis.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    let short: String = line.chars().take(chars_max).collect();
    if short.len() == text.len() { short } else { format!("{} …", short.trim_end()) }
}

/// The text padded with spaces to this many characters. `format!` panics above 65,535.
fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows =
            vec![vec!["a".to_owned(), "äöü".to_owned()], vec!["long".to_owned(), "b".into()]];
        let lines = aligned(&["ID", "N"], &rows);
        assert_eq!(lines, ["ID    N", "a     äöü", "long  b"]);
    }

    #[test]
    fn a_description_is_cut_to_one_line() {
        for (text, expected) in [
            ("", ""),
            ("Ships an order.\n", "Ships an order."),
            ("Ships it.\nAll of it.", "Ships it. …"),
            ("äöü äöü äöü äöü", "äöü äöü äöü äöü"),
            ("äöü äöü äöü äöü äöü", "äöü äöü äöü äöü …"),
        ] {
            assert_eq!(cut(text, 16), expected);
        }
        assert_eq!(cut(&"x".repeat(65_450), 80).chars().count(), 82);
    }

    #[test]
    fn a_cell_may_be_long_and_stays_on_its_line() {
        let long = "x".repeat(70_000);
        let rows = vec![vec![long.clone(), "a\nb".into()], vec!["short".into(), "c".into()]];
        let lines = aligned(&["ID", "N"], &rows);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], format!("{long}  a\\nb"));
        assert_eq!(lines[2].chars().count(), 70_003);
    }
}
