//! Rust source as far as the rules need it: code without comments and texts, its modules, its `use`
//! items and its paths.

/// One name that a `use` item binds.
pub(crate) struct Use {
    /// The name in this module; `*` for a glob.
    pub(crate) name: String,
    /// The path that it stands for.
    pub(crate) segments: Vec<String>,
}

/// The code without comments, without the contents of strings, and without its unit tests.
pub(crate) fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let mut rest = &text[..end];
    let mut code = String::new();
    while let Some(next) = rest.chars().next() {
        let skipped = if "/r\"'".contains(next) { skipped(rest) } else { 0 };
        if skipped > 0 {
            code.push(' ');
            rest = &rest[skipped..];
        } else {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    code
}

/// The number of bytes of the comment, string or character with which the text begins.
fn skipped(text: &str) -> usize {
    let until = |end: &str, from: usize| {
        text.get(from..).and_then(|rest| rest.find(end)).map_or(text.len(), |at| from + at)
    };
    if text.starts_with("//") {
        return until("\n", 2);
    }
    if text.starts_with("/*") {
        return (until("*/", 2) + 2).min(text.len());
    }
    if let Some(raw) = text.strip_prefix('r') {
        let marks = raw.bytes().take_while(|byte| *byte == b'#').count();
        if raw[marks..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(marks));
            return (until(&end, marks + 2) + end.len()).min(text.len());
        }
    }
    if text.starts_with('"') {
        let mut bytes = text.bytes().enumerate().skip(1);
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'"' => return at + 1,
                _ => {}
            }
        }
        return text.len();
    }
    // A quote that ends is a character, one that does not begins a lifetime.
    let character = text.strip_prefix('\'').and_then(|rest| {
        let mut inner = rest.char_indices();
        let (_, first) = inner.next()?;
        let from = if first == '\\' { 1 + rest[1..].chars().next()?.len_utf8() } else { 0 };
        let from = from.max(first.len_utf8());
        let end = if first == '\\' { rest[from..].find('\'')? + from } else { from };
        rest[end..].starts_with('\'').then_some(end + 2)
    });
    character.unwrap_or(0)
}

/// The code of a file outside its inline modules, and the code of each of these with its place in
/// the file.
pub(crate) fn modules(code: &str) -> Vec<(Vec<String>, String)> {
    let mut outside = code.to_owned();
    let mut found = Vec::new();
    while let Some((name, start, open)) = inline(&outside) {
        let end = closing(&outside, open);
        for (mut place, inner) in modules(&outside[open + 1..end]) {
            place.insert(0, name.clone());
            found.push((place, inner));
        }
        outside.replace_range(start..(end + 1).min(outside.len()), " ");
    }
    found.push((Vec::new(), outside));
    found
}

/// The first inline module: its name, its beginning, and the position of its brace.
fn inline(code: &str) -> Option<(String, usize, usize)> {
    let mut from = 0;
    while let Some(at) = word(code, "mod", from) {
        let rest = &code[at + 3..];
        let name: String = rest.trim_start().chars().take_while(|c| is_in_word(*c)).collect();
        let after = rest.trim_start().get(name.len()..).unwrap_or_default();
        if !name.is_empty() && after.trim_start().starts_with('{') {
            let open = code.len() - after.trim_start().len();
            return Some((name, at, open));
        }
        from = at + 3;
    }
    None
}

/// The position of the brace that closes the one at `open`.
fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Every name that the `use` items bind.
pub(crate) fn uses(code: &str) -> Vec<Use> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = word(code, "use", from) {
        let end = code[at..].find(';').map_or(code.len(), |length| at + length);
        leaves(&code[at + 3..end], &[], &mut found);
        from = end;
    }
    found
}

/// The leaves of a tree such as `a::{self, b::C as D}`.
fn leaves(tree: &str, before: &[String], found: &mut Vec<Use>) {
    let tree = tree.trim();
    if tree.is_empty() {
        return;
    }
    if let (Some(open), Some(close)) = (tree.find('{'), tree.rfind('}')) {
        let lead: Vec<_> = before.iter().cloned().chain(segments(&tree[..open])).collect();
        let mut depth = 0_usize;
        let parts = tree[open + 1..close].split(|c: char| {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        });
        parts.for_each(|part| leaves(part, &lead, found));
        return;
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut segments: Vec<_> = before.iter().cloned().chain(segments(path)).collect();
    if segments.len() > 1 && segments.last().is_some_and(|last| last == "self" || last == "*") {
        let last = segments.pop();
        let name = if last.is_some_and(|last| last == "*") { "*" } else { "" };
        let name = if name.is_empty() { segments.last().cloned() } else { Some(name.to_owned()) };
        found.push(Use { name: alias.or(name).unwrap_or_default(), segments });
    } else if let Some(last) = segments.last().cloned() {
        found.push(Use { name: alias.unwrap_or(last), segments });
    }
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Every path of at least two names outside `use` items: `a::b`, `crate::x::Y`.
pub(crate) fn paths(code: &str) -> Vec<Vec<String>> {
    let mut rest = code.to_owned();
    while let Some(at) = word(&rest, "use", 0) {
        let end = rest[at..].find(';').map_or(rest.len(), |length| at + length);
        rest.replace_range(at..end, " ");
    }
    let chunks = rest.split(|c: char| !is_in_word(c) && c != ':');
    let paths = chunks.filter(|chunk| !chunk.starts_with(':')).map(segments);
    paths.filter(|path| path.len() > 1).collect()
}

/// The next position where a word stands alone.
fn word(code: &str, word: &str, from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let at = from + code.get(from..)?.find(word)?;
        let is_begun = code[..at].chars().next_back().is_some_and(is_in_word);
        let goes_on = code[at + word.len()..].chars().next().is_some_and(is_in_word);
        if !is_begun && !goes_on {
            return Some(at);
        }
        from = at + word.len();
    }
}

fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_no_code() {
        let check = |text: &str, expected: &str| {
            let found = code(text);
            assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
        };
        check("a // b\nc", "a c");
        check("a /* b */ c", "a c");
        check(r#"a "b \" ; {" c"#, "a c");
        check("a r#\"b \" {\"# c", "a c");
        check("a('x', '\\'', '\\u{41}', '{') &'static b", "a( , , , ) &'static b");
    }

    #[test]
    fn a_use_item_binds_names() {
        let found = uses("use a::{self, b::C as D, e::*};\npub(crate) use super::F;");
        let found: Vec<_> =
            found.iter().map(|one| format!("{} = {}", one.name, one.segments.join("::"))).collect();
        assert_eq!(found, ["a = a", "D = a::b::C", "* = a::e", "F = super::F"]);
    }

    #[test]
    fn paths_have_two_names_or_more() {
        let found: Vec<_> =
            paths("a::b(c, crate::d::E { f: 1 }); x").iter().map(|path| path.join("::")).collect();
        assert_eq!(found, ["a::b", "crate::d::E"]);
    }
}
