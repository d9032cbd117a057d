//! Where files, pages and links are.

use crate::Entry;

/// Where a link of a page leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To another site, or within the page: as it is written.
    AsWritten,
    /// To a page of the book: its address, relative to the page.
    Page(String),
    /// To a file of the repository, which the program does not contain: its path from the root.
    Repository(String),
}

/// The path of the page of a file: `deploy` for `deploy.md`, `decisions/` for `decisions/README.md`.
pub(crate) fn route(file: &str) -> String {
    let path = file.strip_suffix(".md").unwrap_or(file);
    path.strip_suffix("README")
        .filter(|rest| rest.is_empty() || rest.ends_with('/'))
        .unwrap_or(path)
        .to_owned()
}

/// From the page at this path up to the book: `../` for each folder.
pub(crate) fn folders(path: &str) -> String {
    "../".repeat(path.matches('/').count())
}

/// The address of a page, as a page at `from` names it.
pub(crate) fn relative(from: &str, to: &str) -> String {
    let address = format!("{}{to}", folders(from));
    if address.is_empty() { "./".to_owned() } else { address }
}

/// Where a link in a file of the book leads.
pub(crate) fn target(link: &str, file: &str, entries: &[Entry]) -> Target {
    if link.starts_with('#') || link.contains("://") || link.starts_with("mailto:") {
        return Target::AsWritten;
    }
    let (path, anchor) = match link.split_once('#') {
        Some((path, anchor)) => (path, format!("#{anchor}")),
        None => (link, String::new()),
    };
    let found = from_root(path, file);
    let is_page = |entry: &&Entry| found.strip_prefix("docs/") == Some(entry.file.as_str());
    match entries.iter().find(is_page) {
        Some(entry) => Target::Page(relative(&route(file), &route(&entry.file)) + &anchor),
        None => Target::Repository(found),
    }
}

/// The path of a linked file from the root of the repository.
fn from_root(path: &str, file: &str) -> String {
    let folder = file.rsplit_once('/').map(|(folder, _)| folder).unwrap_or_default();
    let mut parts: Vec<&str> = vec!["docs"];
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
