//! The difference of two texts, line by line.

use similar::TextDiff;

/// The lines in which two texts differ, with three lines around each: `-` before a line of the
/// first, `+` before a line of the second. Empty when they are equal.
#[must_use]
pub fn difference(left: &str, right: &str) -> String {
    if left == right {
        return String::new();
    }
    TextDiff::from_lines(left, right).unified_diff().context_radius(3).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_lines_that_differ() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), "");
        let found = difference("a\nb\nc\n", "a\nx\nc\n");
        let lines: Vec<&str> = found.lines().skip(1).collect();
        assert_eq!(lines, [" a", "-b", "+x", " c"]);
    }
}
