//! Files below one configured folder; off without one. A path cannot leave the folder: not by `..`,
//! not by a symbolic link.
//!
//! A file is saved as a whole by a rename, so that nobody reads half of it; a crash may save it
//! again. What is appended is appended once: see `append`.

mod append;
#[cfg(test)]
mod tests;

use std::io::{Error, ErrorKind as IoKind, Write as _};
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use engine::FileAccess;
use futures::StreamExt as _;
use model::{Map, limits};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use crate::calls::{CallEnd, ErrorKind};
use crate::depot::{Content, Depot};
use crate::files_left;
use crate::unfit::Unfit;

/// The beginning of the names of our own files.
const OWN: &str = ".staunch-";
const TASK: &str = "connectors: file";

/// Reads and writes files.
pub(crate) struct Files {
    folder: Option<PathBuf>,
    depot: Depot,
}

/// The reason why a file is not read or written.
enum Fault {
    Refused(String),
    Failed(String),
    Io(Error),
}

impl From<payloads::Error> for Fault {
    fn from(error: payloads::Error) -> Self {
        match error {
            error @ (payloads::Error::Store(_) | payloads::Error::Place(..)) => {
                Self::Failed(error.to_string())
            }
            error => Self::Refused(error.to_string()),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Io(error)
    }
}

/// Refuses a folder that is not there, or is none. Nothing is made.
///
/// # Errors
/// The setting and the reason.
pub(crate) fn check(folder: &Path) -> Result<(), Unfit> {
    let wrong = Unfit::of("files-folder");
    match std::fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(wrong("it is no folder: name one".to_owned())),
        Err(error) => Err(wrong(format!("it cannot be read, so make it first: {error}"))),
    }
}

impl Files {
    pub(crate) fn new(folder: Option<PathBuf>, depot: Depot) -> Self {
        Self { folder, depot }
    }

    /// Reads or writes the file.
    pub(crate) async fn access(&self, access: &FileAccess, key: &str) -> CallEnd {
        let Some(folder) = self.folder.clone() else {
            return CallEnd::refused(
                "files are off here: an operator can name a folder with `files-folder`",
            );
        };
        let path = access.path().to_owned();
        match self.go(folder, access.clone(), key.to_owned()).await {
            Ok(Value::Object(result)) => CallEnd::Done(result),
            Ok(_) => CallEnd::Done(Map::new()),
            Err(Fault::Refused(message)) => CallEnd::refused(message),
            Err(Fault::Failed(message)) => CallEnd::error(ErrorKind::Failed, message),
            Err(Fault::Io(error)) => CallEnd::Error {
                kind: if files_left::is_lack(&error) {
                    ErrorKind::Exhausted
                } else {
                    ErrorKind::Failed
                },
                code: Some(code(&error).to_owned()),
                message: format!("{path}: {error}"),
            },
        }
    }

    async fn go(&self, folder: PathBuf, access: FileAccess, key: String) -> Result<Value, Fault> {
        match access {
            FileAccess::Open { path } => {
                let (bytes_max, inline_max) = (self.depot.bytes_max(), self.depot.inline_max());
                let (file, size, name) = blocking(move || open(&folder, &path, bytes_max)).await?;
                let file = tokio::fs::File::from_std(file);
                let mut bytes = Vec::new();
                let content = if size > inline_max as u64 {
                    Content::Large(bytes, ReaderStream::new(file.take(bytes_max + 1)))
                } else {
                    file.take(bytes_max + 1).read_to_end(&mut bytes).await?;
                    check_size(bytes.len() as u64, bytes_max)?;
                    Content::Small(bytes)
                };
                Ok(self.depot.file_of(&name, "application/octet-stream", content).await?)
            }
            FileAccess::Save { path, data, payload: None, append } => {
                blocking(move || {
                    let bytes = STANDARD.decode(data).map_err(|error| {
                        Fault::Refused(format!("the data are not base64: {error}"))
                    })?;
                    check_size(bytes.len() as u64, limits::FILE_BYTES_MAX as u64)?;
                    written(&folder, &path, &bytes, append, &key)
                })
                .await
            }
            FileAccess::Save { path, payload: Some(hash), append: true, .. } => {
                let bytes = self.depot.read(&hash, limits::FILE_BYTES_MAX as u64).await?;
                blocking(move || written(&folder, &path, &bytes, true, &key)).await
            }
            FileAccess::Save { path, payload: Some(hash), append: false, .. } => {
                let (size, mut parts) = self.depot.open(&hash).await?;
                let begun = path.clone();
                let (beside, file) = blocking(move || Beside::begin(&folder, &begun, &key)).await?;
                let mut file = tokio::fs::File::from_std(file);
                while let Some(part) = parts.next().await {
                    file.write_all(&part?).await?;
                }
                file.sync_all().await?;
                blocking(move || beside.end()).await?;
                Ok(json!({"path": path, "size": size}))
            }
        }
    }
}

/// Runs this off the event loop. Its caller catches a panic, as if there were no thread between.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    match tasks::blocking(TASK, work).await {
        Ok(result) => result,
        Err(panicked) => std::panic::resume_unwind(Box::new(panicked.to_string())),
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

/// Opens a file to read it; returns its size in bytes and its name, too.
fn open(folder: &Path, path: &str, bytes_max: u64) -> Result<(std::fs::File, u64, String), Fault> {
    let (parent, name) = place(path)?;
    let within = opened(&Dir::open_ambient_dir(folder, ambient_authority())?, &parent)?;
    // A pipe or a device would keep the reader waiting.
    let known = within.metadata(&name)?;
    if !known.is_file() {
        return Err(Fault::Refused(format!("{name} is not a file")));
    }
    check_size(known.len(), bytes_max)?;
    Ok((within.open(&name)?.into_std(), known.len(), name))
}

/// Writes these bytes.
fn written(
    folder: &Path,
    path: &str,
    bytes: &[u8],
    append: bool,
    key: &str,
) -> Result<Value, Fault> {
    let size = if append {
        let (within, name) = made(folder, path)?;
        append::append(&within, &name, bytes, key)?
    } else {
        let (beside, mut file) = Beside::begin(folder, path, key)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        beside.end()?;
        bytes.len() as u64
    };
    Ok(json!({"path": path, "size": size}))
}

/// The folder of a file to write, which is made if it is not there, and its name.
fn made(folder: &Path, path: &str) -> Result<(Dir, String), Fault> {
    let (parent, name) = place(path)?;
    let root = Dir::open_ambient_dir(folder, ambient_authority())?;
    if !parent.as_os_str().is_empty() {
        match root.create_dir_all(&parent) {
            // Without a descriptor it cannot see that this is a folder; opening it says why.
            Err(error) if error.kind() == IoKind::AlreadyExists => {}
            made => made?,
        }
    }
    Ok((opened(&root, &parent)?, name))
}

/// A whole file that is being written beside its place.
struct Beside {
    within: Dir,
    name: String,
    beside: String,
}

impl Beside {
    fn begin(folder: &Path, path: &str, key: &str) -> Result<(Self, std::fs::File), Fault> {
        let (within, name) = made(folder, path)?;
        let beside = format!("{OWN}{}.new", model::derived(&["file", &name, key]));
        let mut options = OpenOptions::new();
        let file = within.open_with(&beside, options.write(true).create(true).truncate(true))?;
        Ok((Self { within, name, beside }, file.into_std()))
    }

    /// Moves it to its place.
    fn end(self) -> Result<(), Fault> {
        Ok(self.within.rename(&self.beside, &self.within, &self.name)?)
    }
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

fn check_size(bytes: u64, max: u64) -> Result<(), Fault> {
    if bytes > max {
        return Err(Fault::Refused(format!("the file has {bytes} bytes, more than {max}")));
    }
    Ok(())
}
