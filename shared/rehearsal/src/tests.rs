//! Runs and their records; the form of tests is tested where files are read.

use super::*;

#[test]
fn patterns_fit_any_characters_at_their_stars() {
    let check = |pattern: &str, text: &str, expected: bool| {
        assert_eq!(mock::matches(pattern, text), expected, "{pattern} {text}");
    };
    check("*", "", true);
    check("a*c", "abc", true);
    check("a*c", "ab", false);
    check("a*b*c", "a-b-b-c", true);
    check("abc", "abcd", false);
    check("a*a", "a", false);
}
