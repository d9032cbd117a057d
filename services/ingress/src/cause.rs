//! The cause of an incident: its message without the numbers and ids that differ from one instance to
//! the next, so that incidents of the same kind are one group. Pure.

/// Characters of a cause at most.
const CHARS_MAX: usize = 300;
/// What stands for a number or an id.
const MARK: char = '#';

/// The message with `#` for each word that has a digit. Statuses of HTTP from 400 on stay: they are
/// different causes. At most 300 characters.
pub(crate) fn cause(message: &str) -> String {
    let mut cause = String::new();
    let mut rest = message.trim();
    while let Some(first) = rest.chars().next() {
        let end = match is_of_word(first) {
            true => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (part, others) = rest.split_at(end);
        rest = others;
        match part.contains(|c: char| c.is_ascii_digit()) && !is_status(part) {
            true => mark(&mut cause),
            false if first.is_whitespace() => cause.push(' '),
            false => cause.push_str(part),
        }
    }
    match cause.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &cause[..end]),
        None => cause,
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

fn is_status(word: &str) -> bool {
    word.len() == 3 && word.parse().is_ok_and(|number: u16| (400..600).contains(&number))
}

/// Adds a mark, or lengthens one: what is left of `10.0.0.1:5432` is one mark.
fn mark(cause: &mut String) {
    let before = cause.trim_end_matches(['.', ':', '/', ',']);
    if before.ends_with(MARK) {
        cause.truncate(before.len());
    } else {
        cause.push(MARK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_are_taken_out() {
        for (message, expected) in [
            ("order 1001 is too old", "order # is too old"),
            ("card declined for customer-17", "card declined for #"),
            ("no answer of 10.0.0.1:5432 in 30 s", "no answer of # in # s"),
            ("6b1f4f0e-7a53-4c53-9a5e-57a09c48a11e is unknown", "# is unknown"),
            ("the server answered 503 after 3 tries", "the server answered 503 after # tries"),
            ("the server answered 404 after 12 tries", "the server answered 404 after # tries"),
            ("due 2026-03-28T23:30:00Z", "due #"),
            ("  two\nlines ", "two lines"),
            ("größer als 5 €", "größer als # €"),
            ("", ""),
        ] {
            assert_eq!(cause(message), expected, "{message:?}");
        }
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let cut = cause(&"ä".repeat(70_000));
        assert_eq!(cut.chars().count(), CHARS_MAX + 1);
        assert!(cut.ends_with('…'));
        assert_eq!(cause(&"1 ".repeat(70_000)).chars().filter(|c| *c == MARK).count(), 150);
    }
}
