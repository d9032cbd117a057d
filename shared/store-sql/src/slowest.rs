//! What each statement took since the start of the process: the text, never the parameters.
//!
//! There are as many texts as the code has statements, but lists make them differ by their lengths;
//! so a text is kept without what differs from call to call, and there is a limit to their number.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use store::StatementFigures;

/// Statements with figures of their own. The code has fewer.
const STATEMENTS_MAX: usize = 300;
/// Bytes of a text; the rest of a longer one is cut off.
const TEXT_BYTES_MAX: usize = 8 * 1024;
/// The text of the entry for all statements beyond the limit.
const OTHERS: &str = "all other statements";

static ALL: LazyLock<Mutex<Statements>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Statements(BTreeMap<String, Taken>);

#[derive(Clone, Copy, Default)]
struct Taken {
    count: u64,
    total: Duration,
    max: Duration,
    rows: Option<u64>,
}

/// Adds a run of a statement whose text differs from call to call.
pub(crate) fn add(sql: &str, took: Duration) {
    let text = normal(sql);
    ALL.lock().unwrap_or_else(PoisonError::into_inner).add(&text, took, None);
}

/// Adds a run of a statement of the pipeline, whose text is a constant.
pub(crate) fn add_constant(text: &str, took: Duration, rows: Option<u64>) {
    let text = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(text);
    ALL.lock().unwrap_or_else(PoisonError::into_inner).add(text, took, rows);
}

/// The figures of all statements.
pub(crate) fn all() -> Vec<StatementFigures> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner).figures()
}

impl Statements {
    fn add(&mut self, text: &str, took: Duration, rows: Option<u64>) {
        let is_full = self.0.len() >= STATEMENTS_MAX;
        let text = if is_full && !self.0.contains_key(text) { OTHERS } else { text };
        if let Some(taken) = self.0.get_mut(text) {
            taken.add(took, rows);
        } else {
            let mut taken = Taken::default();
            taken.add(took, rows);
            self.0.insert(text.to_owned(), taken);
        }
    }

    fn figures(&self) -> Vec<StatementFigures> {
        let shown = |(text, taken): (&String, &Taken)| StatementFigures {
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            count: taken.count,
            total: taken.total,
            max: taken.max,
            rows: taken.rows,
        };
        self.0.iter().map(shown).collect()
    }
}

impl Taken {
    fn add(&mut self, took: Duration, rows: Option<u64>) {
        self.count = self.count.saturating_add(1);
        self.total = self.total.saturating_add(took);
        self.max = self.max.max(took);
        if let Some(rows) = rows {
            self.rows = Some(self.rows.unwrap_or_default().saturating_add(rows));
        }
    }
}

/// The text without what differs from call to call: `?` stands for a parameter and for a list of
/// them, `'…'` for a constant in quotes.
fn normal(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len().min(TEXT_BYTES_MAX) + 4);
    let mut signs = sql.chars().peekable();
    while let Some(sign) = signs.next() {
        if out.len() >= TEXT_BYTES_MAX {
            out.push('…');
            break;
        }
        match sign {
            '\'' => {
                // Two quotes are one within the text.
                while let Some(inner) = signs.next() {
                    if inner == '\'' && signs.next_if_eq(&'\'').is_none() {
                        break;
                    }
                }
                out.push_str("'…'");
            }
            '$' | '?' => {
                while signs.next_if(char::is_ascii_digit).is_some() {}
                if out.ends_with("?, ") {
                    out.truncate(out.len() - 2);
                } else {
                    out.push('?');
                }
            }
            sign if sign.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            sign => out.push(sign),
        }
        if out.ends_with("(?), (?)") {
            out.truncate(out.len() - 5);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_no_parameters_no_constants_and_no_lengths_of_lists() {
        for (sql, expected) in [
            ("SELECT 1", "SELECT 1"),
            (
                "SELECT *\n    FROM t WHERE a = $1 AND b = $22",
                "SELECT * FROM t WHERE a = ? AND b = ?",
            ),
            ("DELETE FROM t WHERE a IN ($1, $2, $3)", "DELETE FROM t WHERE a IN (?)"),
            ("DELETE FROM t WHERE a IN (?, ?)", "DELETE FROM t WHERE a IN (?)"),
            (
                "INSERT INTO t (a, b) VALUES (?, ?), (?, ?), (?, ?)",
                "INSERT INTO t (a, b) VALUES (?)",
            ),
            ("UPDATE t SET a = $1, b = $2", "UPDATE t SET a = ?, b = ?"),
            ("SELECT 'it''s' || a, 'x' FROM t", "SELECT '…' || a, '…' FROM t"),
            ("SELECT 'open", "SELECT '…'"),
            (r#"SELECT "a"."b" FROM "a""#, r#"SELECT "a"."b" FROM "a""#),
            ("", ""),
        ] {
            assert_eq!(normal(sql), expected, "{sql}");
        }
        let long = normal(&"é".repeat(TEXT_BYTES_MAX));
        assert!(long.len() <= TEXT_BYTES_MAX + 4 && long.ends_with('…'), "{}", long.len());
    }

    #[test]
    fn figures_are_of_each_statement_and_the_last_entry_of_all_others() {
        let mut statements = Statements::default();
        let ms = Duration::from_millis;
        statements.add("a", ms(3), Some(2));
        statements.add("a", ms(1), Some(4));
        statements.add("a", ms(2), None);
        statements.add("b", ms(5), None);
        let of = |text: &str, statements: &Statements| {
            statements.figures().into_iter().find(|one| one.text == text).unwrap_or_default()
        };
        let a = StatementFigures {
            text: "a".to_owned(),
            count: 3,
            total: ms(6),
            max: ms(3),
            rows: Some(6),
        };
        assert_eq!(of("a", &statements), a);
        assert_eq!(of("b", &statements).rows, None);
        for number in 0..STATEMENTS_MAX + 10 {
            statements.add(&format!("c{number}"), ms(1), None);
        }
        assert_eq!(statements.figures().len(), STATEMENTS_MAX + 1);
        assert_eq!(of(OTHERS, &statements).count, 12);
        statements.add("b", ms(5), None);
        assert_eq!(of("b", &statements).count, 2);
    }
}
