//! The table of contents, and the links of every document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::document::{Document, all, pages, read, root};

/// The links of a document, and the anchors of its headings.
#[derive(Default)]
struct Marks {
    links: Vec<String>,
    images: Vec<String>,
    anchors: BTreeSet<String>,
}

fn marks(document: &Document) -> Marks {
    let mut marks = Marks::default();
    let mut seen = BTreeMap::<String, usize>::new();
    let mut heading = None::<String>;
    for event in Parser::new_ext(&document.text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => marks.links.push(dest_url.into_string()),
            Event::Start(Tag::Image { dest_url, .. }) => marks.images.push(dest_url.into_string()),
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let slug = book::slug(&heading.take().unwrap());
                let number = seen.entry(slug.clone()).or_default();
                let anchor = if *number == 0 { slug } else { format!("{slug}-{number}") };
                *number += 1;
                marks.anchors.insert(anchor);
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    marks
}

/// The path of a link from the root of the repository.
fn joined(document: &str, link: &str) -> String {
    let folder = Path::new(document).parent().unwrap();
    let mut parts = Vec::new();
    for part in folder.join(link).components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

#[test]
fn no_link_of_a_document_is_dead() {
    let documents = all();
    let anchors: BTreeMap<_, _> =
        documents.iter().map(|one| (one.path.as_str(), marks(one).anchors)).collect();
    let mut complaints = Vec::new();
    for document in &documents {
        let marks = marks(document);
        let inside = marks.links.iter().filter(|link| !link.contains("://"));
        for link in inside {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => document.path.clone(),
                path => joined(&document.path, path),
            };
            if !root().join(&target).exists() {
                complaints.push(format!("{}: {link}: there is no {target}", document.path));
            } else if !anchor.is_empty()
                && !anchors.get(target.as_str()).is_some_and(|known| known.contains(anchor))
            {
                complaints.push(format!("{}: {link}: no such heading", document.path));
            }
        }
        for image in marks.images {
            let path = joined(&document.path, &image);
            if document.path.starts_with("docs/") {
                complaints.push(format!("{}: the node does not serve {image}", document.path));
            } else if !root().join(&path).exists() {
                complaints.push(format!("{}: {image}: there is no {path}", document.path));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn the_contents_name_every_page_once() {
    let entries = book::contents(&read("docs/SUMMARY.md").text);
    let mut listed: Vec<_> = entries.iter().map(|entry| format!("docs/{}", entry.file)).collect();
    listed.push("docs/SUMMARY.md".to_owned());
    listed.sort();
    let found: Vec<_> =
        all().into_iter().map(|one| one.path).filter(|path| path.starts_with("docs/")).collect();
    assert_eq!(listed, found, "docs/SUMMARY.md on the left, the files on the right");
    for entry in &entries {
        assert!(!entry.title.is_empty(), "{} has a name", entry.file);
    }
}

#[test]
fn every_page_begins_with_its_title() {
    let without = pages().into_iter().filter(|page| !page.text.starts_with("# "));
    let without: Vec<_> = without.map(|page| page.path).collect();
    assert!(without.is_empty(), "{without:?}");
}
