//! The Markdown files of the repository.

use std::path::{Path, PathBuf};

/// One file.
pub(crate) struct Document {
    /// Its path from the root of the repository.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn read(path: &str) -> Document {
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    Document { path: path.to_owned(), text }
}

/// The pages of the book, in the order of its contents.
pub(crate) fn pages() -> Vec<Document> {
    let contents = read("docs/SUMMARY.md");
    let entries = book::contents(&contents.text);
    entries.iter().map(|entry| read(&format!("docs/{}", entry.file))).collect()
}

/// Every Markdown file below `docs`, and those at the root.
pub(crate) fn all() -> Vec<Document> {
    let mut paths = Vec::new();
    for folder in ["", "docs", "docs/decisions"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                paths.push(if folder.is_empty() { name } else { format!("{folder}/{name}") });
            }
        }
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}
