//! Names that are similar to one that does not exist.

/// Up to three of these names, the most similar first: each with the text to compare it by.
pub(crate) fn near<'n>(
    wanted: &str,
    names: impl Iterator<Item = (String, &'n str)>,
) -> Vec<&'n str> {
    let distance_max = (wanted.chars().count() / 3).min(3);
    let mut found: Vec<(usize, &'n str)> = names
        .map(|(text, name)| (distance(&text, wanted), name))
        .filter(|(distance, _)| *distance <= distance_max)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, name)| name).take(3).collect()
}

/// `: did you mean A or B?`; nothing where no name is similar.
pub(crate) fn hint(near: &[&str]) -> String {
    if near.is_empty() { String::new() } else { format!(": did you mean {}?", near.join(" or ")) }
}

/// Levenshtein distance of two short texts.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits() {
        let check = |a: &str, b: &str, expected: usize| assert_eq!(distance(a, b), expected);
        check("writeline", "writeline", 0);
        check("writelin", "writeline", 1);
        check("", "abc", 3);
        check("delay", "relay", 1);
    }
}
