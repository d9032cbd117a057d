//! The files of the repository, read once per test.

use std::path::{Path, PathBuf};

/// One text file.
pub(crate) struct File {
    /// Its path from the root, with forward slashes.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

impl File {
    /// Whether all of it is test code.
    pub(crate) fn is_test(&self) -> bool {
        let path = &self.path;
        path.starts_with("tests/")
            || path.starts_with("shared/testkit/")
            || path.contains("/tests/")
            || path.ends_with("/tests.rs")
            || path.contains("/conformance")
    }

    /// The code that is in the product: no comments, no test modules at the end.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let text = if self.is_test() { "" } else { self.text.as_str() };
        text.lines()
            .take_while(|line| line.trim() != "#[cfg(test)]")
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file at the root of the repository; empty when there is none.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// All files with this extension under these folders, in order.
pub(crate) fn files(folders: &[&str], extension: &str) -> Vec<File> {
    let root = root();
    let mut found = Vec::new();
    for folder in folders {
        walk(&root.join(folder), extension, &mut found);
    }
    found.sort();
    let relative = |path: &Path| {
        let path = path.strip_prefix(&root).unwrap();
        path.components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/")
    };
    found
        .iter()
        .map(|path| File { path: relative(path), text: std::fs::read_to_string(path).unwrap() })
        .collect()
}

fn walk(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            walk(&path, extension, found);
        } else if path.extension().is_some_and(|is| is == extension) {
            found.push(path);
        }
    }
}
