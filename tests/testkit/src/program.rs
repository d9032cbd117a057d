//! Programs of this machine.

use std::path::PathBuf;

/// The place of an installed program: on the PATH, or where Go installs programs.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let go = std::env::var_os("HOME").map(|home| PathBuf::from(home).join("go/bin"));
    let mut places = std::env::split_paths(&path).chain(go).map(|folder| folder.join(name));
    places.find(|place| place.is_file())
}
