//! What is around the text of a page: the head, the contents, the pages before and after it.

use pulldown_cmark_escape::escape_html;

use crate::place::{folders, relative, route};
use crate::{Entry, STYLE_PATH};

/// The frame of one page.
pub(crate) struct Frame<'a> {
    /// The table of contents.
    pub(crate) entries: &'a [Entry],
    /// The page's number there; none for one that does not exist.
    pub(crate) at: Option<usize>,
    /// The page's path below that of the book.
    pub(crate) path: &'a str,
}

impl Frame<'_> {
    /// The whole document.
    pub(crate) fn around(&self, title: &str, body: &str) -> String {
        let up = folders(self.path);
        let title = escaped(title);
        let first = relative(self.path, "");
        let (contents, neighbours) = (self.contents(), self.neighbours());
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>{title} – Staunch</title>\n\
             <link rel=\"stylesheet\" href=\"{up}{STYLE_PATH}\">\n</head>\n<body>\n\
             <header><a href=\"{first}\">Staunch</a> <a href=\"#contents\">Contents</a> \
             <a href=\"{up}../\">API</a></header>\n\
             <main>\n{body}{neighbours}</main>\n\
             <nav id=\"contents\" aria-label=\"Contents\">\n{contents}</nav>\n</body>\n</html>\n"
        )
    }

    /// The table of contents. What is below a chapter is shown while the reader is there.
    fn contents(&self) -> String {
        let mut html = String::new();
        let mut part = "";
        let mut chapter = None;
        let open = self.at.and_then(|at| self.chapter(at));
        for (number, entry) in self.entries.iter().enumerate() {
            if entry.depth == 0 {
                chapter = Some(number);
            } else if chapter != open {
                continue;
            }
            if entry.part != part {
                part = &entry.part;
                html.push_str(&format!("<h2>{}</h2>\n", escaped(part)));
            }
            let class = if entry.depth == 0 { "" } else { " class=\"below\"" };
            let current = if self.at == Some(number) { " aria-current=\"page\"" } else { "" };
            let (address, title) = (self.address(entry), escaped(&entry.title));
            html.push_str(&format!("<a href=\"{address}\"{class}{current}>{title}</a>\n"));
        }
        html
    }

    /// The chapter that has this page.
    fn chapter(&self, at: usize) -> Option<usize> {
        (0..=at).rev().find(|at| self.entries.get(*at).is_some_and(|entry| entry.depth == 0))
    }

    fn neighbours(&self) -> String {
        let Some(at) = self.at else { return String::new() };
        let link = |entry: Option<&Entry>, rel: &str, before: &str, after: &str| match entry {
            Some(entry) => format!(
                "<a rel=\"{rel}\" href=\"{}\">{before}{}{after}</a>",
                self.address(entry),
                escaped(&entry.title)
            ),
            None => "<span></span>".to_owned(),
        };
        let previous = at.checked_sub(1).and_then(|at| self.entries.get(at));
        let previous = link(previous, "prev", "← ", "");
        let next = link(self.entries.get(at + 1), "next", "", " →");
        format!("<footer>{previous}{next}</footer>\n")
    }

    fn address(&self, entry: &Entry) -> String {
        escaped(&relative(self.path, &route(&entry.file)))
    }
}

/// The beginning of the name of a file that is in the repository only.
pub(crate) fn file_of_repository(path: &str) -> String {
    format!("<span class=\"file\" title=\"in the repository: {}\">", escaped(path))
}

/// Writes text so that HTML shows it as it is.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Writing to a String does not fail.
    escape_html(&mut out, text).unwrap_or_default();
    out
}
