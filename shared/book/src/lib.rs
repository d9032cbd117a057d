//! The book: the pages of `docs/`, which the program contains, as HTML. `docs/SUMMARY.md` is its
//! table of contents.
//!
//! The HTML has no script, and its links are relative: it works below any path. This crate knows
//! nothing of HTTP; ingress serves what it makes.

mod frame;
mod markdown;
mod place;
mod summary;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use include_dir::{Dir, include_dir};

use frame::Frame;
pub use markdown::slug;
use place::{folders, route};
pub use summary::{Entry, contents};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../docs");

/// The style of every page, at [`STYLE_PATH`].
pub const STYLE: &str = include_str!("style.css");

/// The path of the style, below that of the book.
pub const STYLE_PATH: &str = "book.css";

/// The file with the table of contents.
const CONTENTS: &str = "SUMMARY.md";

/// All pages, in order.
#[derive(Debug)]
pub struct Book {
    entries: Vec<Entry>,
    pages: Vec<Page>,
}

/// One page.
#[derive(Debug)]
pub struct Page {
    /// Its path below that of the book, such as `deploy`; empty for the first.
    pub path: String,
    /// The whole document.
    pub html: String,
}

/// The book of this program, made at the first call.
pub fn book() -> &'static Book {
    static BOOK: OnceLock<Book> = OnceLock::new();
    BOOK.get_or_init(|| {
        Book::of(&|path| FILES.get_file(path).and_then(|file| file.contents_utf8()))
    })
}

impl Book {
    /// The book of these files, by their paths below `docs/`.
    fn of<'a>(file: &dyn Fn(&str) -> Option<&'a str>) -> Self {
        let entries = contents(file(CONTENTS).unwrap_or_default());
        let page = |at: usize, entry: &Entry| {
            let text = file(&entry.file).unwrap_or_default();
            let body = markdown::html(text, &entry.file, &entries);
            let path = route(&entry.file);
            let title = markdown::title(text).unwrap_or_else(|| entry.title.clone());
            let html = Frame { entries: &entries, at: Some(at), path: &path }.around(&title, &body);
            Page { path, html }
        };
        let pages = entries.iter().enumerate().map(|(at, entry)| page(at, entry)).collect();
        Self { entries, pages }
    }

    /// The page at this path below that of the book.
    #[must_use]
    pub fn page(&self, path: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.path == path)
    }

    /// Every page, in order.
    #[must_use]
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// What is shown at a path without a page: a link to the contents, and the contents.
    #[must_use]
    pub fn missing(&self, path: &str) -> String {
        let up = folders(path);
        let up = if up.is_empty() { "./" } else { &up };
        let body = format!(
            "<h1>There is no such page</h1>\n<p>The book has no page at this address. \
             <a href=\"{up}\">Contents</a></p>\n"
        );
        Frame { entries: &self.entries, at: None, path }.around("There is no such page", &body)
    }
}
