//! The files of the repository, read once per test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One text file.
pub(crate) struct File {
    /// Its path from the root, with forward slashes.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
    /// The whole file is compiled only for tests.
    pub(crate) is_test: bool,
}

impl File {
    /// The code of the product with line numbers: no comments, no test module at the end.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let text = if self.is_test { "" } else { self.text.as_str() };
        let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
        text[..end]
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The paths, without extension, of the modules that this file declares only for tests.
    fn test_modules(&self) -> Vec<String> {
        let stem = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let folder = match stem.rsplit_once('/') {
            Some((folder, "lib" | "main")) => folder,
            _ => stem,
        };
        let declared = self.text.lines().zip(self.text.lines().skip(1));
        let declared = declared.filter(|(mark, _)| mark.trim() == "#[cfg(test)]");
        declared
            .filter_map(|(_, line)| line.trim().strip_suffix(';')?.split("mod ").nth(1))
            .map(|name| format!("{folder}/{name}"))
            .collect()
    }
}

/// Marks files that are compiled only for tests.
fn mark_tests(files: &mut [File]) {
    let modules: Vec<_> = files.iter().flat_map(File::test_modules).collect();
    for file in files {
        let path = &file.path;
        let is_module = modules.iter().any(|module| {
            path.strip_prefix(module.as_str())
                .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
        let whole = ["tests/"].iter().any(|folder| path.starts_with(folder));
        let within = ["/tests/", "/examples/", "/benches/", "/conformance"]
            .iter()
            .any(|folder| path.contains(folder));
        file.is_test = is_module || whole || within;
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file at the root of the repository; empty if there is none.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// The paths of the files that are committed or staged, from the root; `None` where there is no
/// repository, as in an archive of the sources.
pub(crate) fn committed() -> Option<Vec<String>> {
    if !root().join(".git").exists() {
        return None;
    }
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let paths = String::from_utf8(output.stdout).unwrap();
    Some(paths.split_terminator('\0').map(str::to_owned).collect())
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
    let read = |path: &PathBuf| File {
        path: relative(path),
        text: std::fs::read_to_string(path).unwrap(),
        is_test: false,
    };
    let mut files: Vec<_> = found.iter().map(read).collect();
    mark_tests(&mut files);
    files
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
