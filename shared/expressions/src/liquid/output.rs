//! Puts our own filter at the end of every `{{ … }}`. Without it the library shows the members of an
//! object in an order that differs from run to run.

use super::filters::SHOW;

/// A template in the form that the library gets, and the places of inserted text.
pub(super) struct Prepared {
    /// The text with our filters.
    pub(super) text: String,
    /// Byte offsets into `text` of the inserted filters.
    inserted: Vec<usize>,
}

/// Bytes of one inserted filter.
const INSERTED_BYTES: usize = 3 + SHOW.len();

/// Each line of `{% liquid … %}` as a tag of its own, on the line where it was.
fn unfolded(whole: &str) -> Option<String> {
    let inner = whole.strip_prefix("{%")?.strip_suffix("%}")?;
    let (inner, begin) = inner.strip_prefix('-').map_or((inner, "{%"), |inner| (inner, "{%-"));
    let (inner, end) = inner.strip_suffix('-').map_or((inner, "%}"), |inner| (inner, "-%}"));
    let lines = inner.trim_start().strip_prefix("liquid")?;
    if !lines.starts_with(char::is_whitespace) {
        return None;
    }
    // Line breaks stay, inside the tags, so that an error has the line of the author's text.
    let mut tags: Vec<String> = Vec::new();
    let before = inner.len() - inner.trim_start().len();
    let mut breaks = "\n".repeat(inner.get(..before)?.matches('\n').count());
    for (at, line) in lines.split('\n').enumerate() {
        if at > 0 {
            breaks.push('\n');
        }
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            tags.push(format!("{} {line}", std::mem::take(&mut breaks)));
        }
    }
    if let Some(last) = tags.last_mut() {
        last.push_str(&breaks);
    }
    let text = format!("{begin}{} {end}", tags.join(" %}{%"));
    if tags.is_empty() {
        return Some(String::new());
    }
    Some(text)
}

/// Inserts the filters.
pub(super) fn prepare(source: &str) -> Prepared {
    let mut prepared = Prepared { text: String::with_capacity(source.len()), inserted: Vec::new() };
    let mut rest = source;
    while let Some(at) = next_mark(rest) {
        let (before, mark) = rest.split_at(at);
        prepared.text.push_str(before);
        let end = if mark.starts_with("{{") { shown_end(mark) } else { tag_end(mark) };
        let (whole, after) = mark.split_at(end);
        match whole.strip_suffix("}}").filter(|_| mark.starts_with("{{")) {
            Some(inner) => prepared.push_shown(inner),
            None => match unfolded(whole) {
                Some(tags) => prepared.text.push_str(&tags),
                None => prepared.text.push_str(whole),
            },
        }
        rest = after;
    }
    prepared.text.push_str(rest);
    prepared
}

impl Prepared {
    fn push_shown(&mut self, inner: &str) {
        let (inner, close) = match inner.strip_suffix('-') {
            Some(inner) => (inner, "-}}"),
            None => (inner, "}}"),
        };
        self.text.push_str(inner);
        self.inserted.push(self.text.len());
        self.text.push_str(" | ");
        self.text.push_str(SHOW);
        self.text.push_str(close);
    }

    /// The column in the author's text that belongs to a line and column of the library's text.
    pub(super) fn column(&self, line: u32, column: u32) -> u32 {
        let line = usize::try_from(line).unwrap_or(1).saturating_sub(1);
        let start: usize = self.text.split_inclusive('\n').take(line).map(str::len).sum();
        let end = start + usize::try_from(column).unwrap_or(1).saturating_sub(1);
        let before = self.inserted.iter().filter(|at| (start..end).contains(at)).count();
        let shift = u32::try_from(before * INSERTED_BYTES).unwrap_or(0);
        column.saturating_sub(shift).max(1)
    }
}

/// The position of the next `{{` or `{%`.
fn next_mark(text: &str) -> Option<usize> {
    let opens = |at: usize| text.get(at + 1..).is_some_and(|rest| rest.starts_with(['{', '%']));
    text.match_indices('{').map(|(at, _)| at).find(|at| opens(*at))
}

/// The end of `{{ … }}`; a closing mark inside quotes does not count.
fn shown_end(mark: &str) -> usize {
    close(mark, "}}").unwrap_or(mark.len())
}

/// The end of a tag; a whole raw or comment block counts as one tag.
fn tag_end(mark: &str) -> usize {
    let Some(end) = close(mark, "%}") else { return mark.len() };
    let name = mark.trim_start_matches("{%").trim_start_matches('-').split_whitespace().next();
    let closing = match name.map(|name| name.trim_end_matches("-%}").trim_end_matches("%}")) {
        Some("raw") => "endraw",
        Some("comment") => "endcomment",
        _ => return end,
    };
    let Some(body) = mark.get(end..) else { return end };
    body.find(closing).map_or(mark.len(), |at| end + at)
}

fn close(mark: &str, closing: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in mark.char_indices().skip(2) {
        match quote {
            Some(open) if open == c => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if mark.get(at..).is_some_and(|rest| rest.starts_with(closing)) => {
                return Some(at + closing.len());
            }
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_ends_with_our_filter() {
        for (source, expected) in [
            ("a {{ b }} c", "a {{ b  | staunch_show}} c"),
            ("{{- b | c: '}}' -}}", "{{- b | c: '}}'  | staunch_show-}}"),
            ("{% if a %}{{b}}{% endif %}", "{% if a %}{{b | staunch_show}}{% endif %}"),
            ("{% raw %}{{ b }}{% endraw %}", "{% raw %}{{ b }}{% endraw %}"),
            ("{%- comment -%}{{ b }}{% endcomment %}", "{%- comment -%}{{ b }}{% endcomment %}"),
            ("{{ b", "{{ b"),
            ("{% assign a = \"{{ x }}\" %}", "{% assign a = \"{{ x }}\" %}"),
        ] {
            assert_eq!(prepare(source).text, expected);
        }
    }

    #[test]
    fn columns_are_those_of_the_author() {
        let prepared = prepare("x\n{{ a }}{{ b }}");
        assert_eq!(prepared.column(1, 1), 1);
        assert_eq!(prepared.column(2, 4), 4);
        assert_eq!(prepared.column(2, 26), 11);
    }
}
