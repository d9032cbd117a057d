//! Markdown as HTML: headings with the anchors that GitHub gives them, links that lead to pages.

use std::collections::BTreeMap;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};

use crate::place::{Target, target};
use crate::{Entry, frame};

/// The title of a page: its first heading.
pub(crate) fn title(text: &str) -> Option<String> {
    let mut events = events(text).skip_while(|event| !is_heading(event));
    events.next()?;
    Some(words(events))
}

/// The HTML of a page. HTML within the Markdown is shown as text.
pub(crate) fn html(text: &str, file: &str, entries: &[Entry]) -> String {
    let events: Vec<_> = events(text).collect();
    let mut anchors = Anchors::default();
    let mut is_file = false;
    let mut out = Vec::with_capacity(events.len());
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let title = words(events.iter().skip(at + 1).cloned());
                out.push(Event::Start(Tag::Heading {
                    level: *level,
                    id: Some(CowStr::from(anchors.of(&title))),
                    classes: classes.clone(),
                    attrs: attrs.clone(),
                }));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = match target(dest_url, file, entries) {
                    Target::AsWritten => dest_url.clone(),
                    Target::Page(address) => address.into(),
                    Target::Repository(path) => {
                        is_file = true;
                        out.push(Event::InlineHtml(frame::file_of_repository(&path).into()));
                        continue;
                    }
                };
                let (link_type, title, id) = (*link_type, title.clone(), id.clone());
                out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Event::End(TagEnd::Link) if is_file => {
                is_file = false;
                out.push(Event::InlineHtml("</span>".into()));
            }
            Event::Start(Tag::Table(_)) => {
                out.push(Event::Html("<div class=\"table\">".into()));
                out.push(event.clone());
            }
            Event::End(TagEnd::Table) => {
                out.push(event.clone());
                out.push(Event::Html("</div>\n".into()));
            }
            Event::Html(text) | Event::InlineHtml(text) => out.push(Event::Text(text.clone())),
            _ => out.push(event.clone()),
        }
    }
    let mut html = String::new();
    push_html(&mut html, out.into_iter());
    html
}

fn events(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

fn is_heading(event: &Event<'_>) -> bool {
    matches!(event, Event::Start(Tag::Heading { .. }))
}

/// The text up to the end of the heading.
fn words<'a>(events: impl Iterator<Item = Event<'a>>) -> String {
    let mut words = String::new();
    for event in events {
        match event {
            Event::End(TagEnd::Heading(_)) => break,
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) => {
                words.push_str(&text)
            }
            _ => {}
        }
    }
    words
}

/// The anchors of a page. The second heading of the same text gets `-1`.
#[derive(Default)]
struct Anchors(BTreeMap<String, usize>);

impl Anchors {
    fn of(&mut self, title: &str) -> String {
        let slug = slug(title);
        let seen = self.0.entry(slug.clone()).or_default();
        let number = *seen;
        *seen += 1;
        if number == 0 { slug } else { format!("{slug}-{number}") }
    }
}

/// The anchor of a heading: small letters, digits, underscores, and dashes for spaces.
#[must_use]
pub fn slug(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}
