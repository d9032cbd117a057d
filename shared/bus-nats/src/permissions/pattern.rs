//! Subjects with wildcards, compared.

/// Every subject of `inner` is one of `outer`.
pub(super) fn covers(outer: &str, inner: &str) -> bool {
    let (mut outer, mut inner) = (outer.split('.'), inner.split('.'));
    loop {
        match (outer.next(), inner.next()) {
            (None, None) => return true,
            (Some(">"), Some(_)) => return true,
            (Some("*"), Some(token)) if token != ">" => {}
            (Some(mine), Some(token)) if mine == token => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_pattern_covers_narrower_ones() {
        for (outer, inner) in [
            (">", "a"),
            (">", "a.>"),
            ("a.>", "a.b.c"),
            ("a.>", "a.*"),
            ("a.>", "a.>"),
            ("a.*", "a.b"),
            ("a.*", "a.*"),
            ("a.*.c", "a.b.c"),
            ("a.*.>", "a.b.>"),
        ] {
            assert!(covers(outer, inner), "{outer} {inner}");
        }
        for (outer, inner) in [
            ("a.>", "a"),
            ("a.>", "b.c"),
            ("a.*", "a.>"),
            ("a.*", "a.b.c"),
            ("a.b", "a.*"),
            ("a.*", "a"),
            ("a", "a.b"),
            ("a.b.>", "a.>"),
        ] {
            assert!(!covers(outer, inner), "{outer} {inner}");
        }
    }
}
