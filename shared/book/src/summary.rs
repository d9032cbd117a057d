//! The table of contents, in the form that mdBook reads: headings, and nested lists of links.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// One page in the table of contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name there.
    pub title: String,
    /// Its file, below `docs/`.
    pub file: String,
    /// 0 for a chapter, 1 for what is below it.
    pub depth: usize,
    /// The heading above it; empty before the first.
    pub part: String,
}

/// The pages in order. The first heading is that of the table itself.
#[must_use]
pub fn contents(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut part, mut words) = (String::new(), String::new());
    let (mut headings, mut lists) = (0_usize, 0_usize);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::List(_)) => lists += 1,
            Event::End(TagEnd::List(_)) => lists = lists.saturating_sub(1),
            Event::Start(Tag::Heading { .. }) => words.clear(),
            Event::End(TagEnd::Heading(_)) => {
                headings += 1;
                part = if headings > 1 { words.clone() } else { String::new() };
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                words.clear();
                entries.push(Entry {
                    title: String::new(),
                    file: dest_url.into_string(),
                    depth: lists.saturating_sub(1),
                    part: part.clone(),
                });
            }
            Event::End(TagEnd::Link) => {
                if let Some(entry) = entries.last_mut() {
                    entry.title.clone_from(&words);
                }
            }
            Event::Text(text) | Event::Code(text) => words.push_str(&text),
            _ => {}
        }
    }
    entries
}
