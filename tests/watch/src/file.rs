//! Files that are made from a description.

#![expect(clippy::disallowed_methods, reason = "a switch for the author")]

use std::path::{Path, PathBuf};

/// A path from the root of the repository.
pub(crate) fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

/// The file has this text; with `UPDATE_EXPECT` it gets it.
pub(crate) fn is_as_made(file: &str, made: &str) {
    let path = path(file);
    if std::env::var("UPDATE_EXPECT").is_ok() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == made, "{file} is old: run this test with UPDATE_EXPECT=1");
}
