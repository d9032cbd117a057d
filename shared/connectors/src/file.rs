//! Files below one configured folder; off without one. A path cannot leave the folder: not by `..`,
//! not by a symbolic link.
//!
//! A file is saved as a whole by a rename, so that nobody reads half of it; a crash may save it
//! again. What is appended is appended once: see `append`.

mod append;
#[cfg(test)]
mod tests;

use std::io::{Error, ErrorKind as IoKind, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use engine::FileAccess;
use model::{Map, limits};
use serde_json::{Value, json};

use crate::calls::{CallEnd, ErrorKind};
use crate::files_left;

/// The beginning of the names of our own files.
const OWN: &str = ".staunch-";
const TASK: &str = "connectors: file";

/// Reads and writes files.
pub(crate) struct Files {
    folder: Option<PathBuf>,
}

/// The reason why a file is not read or written.
enum Fault {
    Refused(String),
    Io(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Io(error)
    }
}

impl Files {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Reads or writes the file.
    pub(crate) async fn access(&self, access: &FileAccess, key: &str) -> CallEnd {
        let Some(folder) = self.folder.clone() else {
            return CallEnd::refused(
                "files are off here: an operator can name a folder with `files-folder`",
            );
        };
        let path = access.path().to_owned();
        let (access, key) = (access.clone(), key.to_owned());
        match tasks::blocking(TASK, move || go(&folder, &access, &key)).await {
            Ok(Ok(result)) => CallEnd::Done(result),
            Ok(Err(Fault::Refused(message))) => CallEnd::refused(message),
            Ok(Err(Fault::Io(error))) => CallEnd::Error {
                kind: if files_left::is_lack(&error) {
                    ErrorKind::Exhausted
                } else {
                    ErrorKind::Failed
                },
                code: Some(code(&error).to_owned()),
                message: format!("{path}: {error}"),
            },
            // Its caller catches it, as if there were no thread between.
            Err(panicked) => std::panic::resume_unwind(Box::new(panicked.to_string())),
        }
    }
}

/// A stable name of the error.
fn code(error: &Error) -> &'static str {
    match error.kind() {
        IoKind::NotFound => "NotFound",
        IoKind::PermissionDenied => "NotAllowed",
        IoKind::StorageFull => "StorageFull",
        _ => "Io",
    }
}

fn go(folder: &Path, access: &FileAccess, key: &str) -> Result<Map, Fault> {
    let (parent, name) = place(access.path())?;
    let root = Dir::open_ambient_dir(folder, ambient_authority())?;
    let result = match access {
        FileAccess::Open { .. } => {
            let bytes = read(&opened(&root, &parent)?, &name)?;
            json!({"fileName": name, "size": bytes.len(), "content": STANDARD.encode(bytes)})
        }
        FileAccess::Save { path, data, append } => {
            let bytes = STANDARD
                .decode(data)
                .map_err(|error| Fault::Refused(format!("the data are not base64: {error}")))?;
            check_size(bytes.len() as u64, limits::FILE_BYTES_MAX)?;
            if !parent.as_os_str().is_empty() {
                match root.create_dir_all(&parent) {
                    // Without a descriptor it cannot see that this is a folder; opening it says why.
                    Err(error) if error.kind() == IoKind::AlreadyExists => {}
                    made => made?,
                }
            }
            let within = opened(&root, &parent)?;
            let size = if *append {
                append::append(&within, &name, &bytes, key)?
            } else {
                save(&within, &name, &bytes, key)?
            };
            json!({"path": path, "size": size})
        }
    };
    Ok(match result {
        Value::Object(map) => map,
        _ => Map::new(),
    })
}

/// The folder and the name that a path stands for, below the configured folder.
fn place(path: &str) -> Result<(PathBuf, String), Fault> {
    let wrong = |reason: &str| Fault::Refused(format!("the path {path:?} {reason}"));
    if path.contains(['\\', '\0']) {
        return Err(wrong("has a character that paths must not have"));
    }
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::CurDir => {}
            _ => return Err(wrong("must be relative to the configured folder, without `..`")),
        }
    }
    if parts.iter().any(|part| part.starts_with(OWN)) {
        return Err(wrong("has a name that begins with .staunch-, which is for our own files"));
    }
    match parts.pop() {
        Some(name) if !path.ends_with('/') => Ok((parts.iter().collect(), name)),
        _ => Err(wrong("names no file")),
    }
}

fn opened(root: &Dir, folder: &Path) -> Result<Dir, Error> {
    if folder.as_os_str().is_empty() { root.try_clone() } else { root.open_dir(folder) }
}

fn check_size(bytes: u64, max: usize) -> Result<(), Fault> {
    if bytes > max as u64 {
        return Err(Fault::Refused(format!("the file has {bytes} bytes, more than {max}")));
    }
    Ok(())
}

fn read(within: &Dir, name: &str) -> Result<Vec<u8>, Fault> {
    // A pipe or a device would keep the reader waiting.
    let known = within.metadata(name)?;
    if !known.is_file() {
        return Err(Fault::Refused(format!("{name} is not a file")));
    }
    check_size(known.len(), limits::FILE_BYTES_MAX)?;
    let mut bytes = Vec::new();
    let limit = limits::FILE_BYTES_MAX as u64 + 1;
    within.open(name)?.take(limit).read_to_end(&mut bytes)?;
    check_size(bytes.len() as u64, limits::FILE_BYTES_MAX)?;
    Ok(bytes)
}

/// Writes the whole file beside its place, and moves it there.
fn save(within: &Dir, name: &str, bytes: &[u8], key: &str) -> Result<u64, Fault> {
    let beside = format!("{OWN}{}.new", model::derived(&["file", name, key]));
    let mut options = OpenOptions::new();
    let mut file = within.open_with(&beside, options.write(true).create(true).truncate(true))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    within.rename(&beside, within, name)?;
    Ok(bytes.len() as u64)
}
