//! The files of an archive: written, listed, read.

use std::io::Read as _;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use model::{DefinitionId, InstanceId, Timestamp};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use sha2::{Digest as _, Sha256};

use crate::manifest::FORMAT;
use crate::{Entry, Error, Line, Manifest};

const FILE: &str = ".jsonl.zst";
const MANIFEST: &str = ".manifest.json";
/// zstd's own default: a fast one that makes JSON about ten times smaller.
const LEVEL: i32 = 3;
/// Bytes of one file when it is unpacked. A batch is far smaller, unless somebody made it up.
const UNPACKED_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Manifests that are read at the same time.
const READS_MAX: usize = 8;

/// An archive. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Archive {
    store: Arc<dyn ObjectStore>,
}

impl Archive {
    /// Opens a folder, or `s3://bucket/prefix`.
    ///
    /// # Errors
    /// [`Error::Place`] when the text names neither, or the folder cannot be made.
    pub fn open(place: &str) -> Result<Self, Error> {
        let unusable = |error: objects::Unusable| Error::Place(place.to_owned(), error.to_string());
        Ok(Self { store: objects::open(place).map_err(unusable)? })
    }

    /// Refuses a text that names no place for an archive. Nothing is asked and nothing is made.
    ///
    /// # Errors
    /// [`Error::Place`] when the text names neither a folder nor a bucket.
    pub fn check(place: &str) -> Result<(), Error> {
        objects::check(place).map_err(|error| Error::Place(place.to_owned(), error.to_string()))
    }

    /// Writes a batch of instances of one definition: the file, then its manifest. `nonce` keeps two
    /// nodes from writing the same file. When this returns, the batch outlives a crash.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; the batch may be there all the same.
    pub async fn write(
        &self,
        definition_id: &DefinitionId,
        lines: &[Line],
        now: Timestamp,
        nonce: &str,
    ) -> Result<Manifest, Error> {
        let instances = lines.iter().map(|line| Entry::of(&line.instance)).collect();
        let broken = |error: &dyn std::fmt::Display| {
            Error::Corrupt(format!("a batch of {definition_id}"), error.to_string())
        };
        let bytes = pack(lines).map_err(|error| broken(&error))?;
        let day = now.to_string().chars().take(10).collect::<String>();
        let stem = format!("{}-{nonce}", now.as_millis());
        // `Path::from_iter` escapes what is special in names of files.
        let file = Path::from_iter([definition_id.as_str(), &day, &format!("{stem}{FILE}")]);
        let manifest = Manifest {
            staunch_archive: FORMAT,
            file: file.to_string(),
            bytes: bytes.len() as u64,
            sha256: digest(&bytes),
            definition_id: definition_id.clone(),
            written_at: now,
            instances,
        };
        let document = serde_json::to_vec(&manifest).map_err(|error| broken(&error))?;
        self.store.put(&file, bytes.into()).await?;
        let beside = Path::from_iter([definition_id.as_str(), &day, &format!("{stem}{MANIFEST}")]);
        self.store.put(&beside, Bytes::from(document).into()).await?;
        Ok(manifest)
    }

    /// The manifests of this definition, or of all, in the order in which they were written.
    ///
    /// # Errors
    /// [`Error::Corrupt`] names a manifest that cannot be read.
    pub async fn list(&self, definition_id: Option<&DefinitionId>) -> Result<Vec<Manifest>, Error> {
        let below = definition_id.map(|id| Path::from_iter([id.as_str()]));
        let found: Vec<_> = self.store.list(below.as_ref()).try_collect().await?;
        let mut names: Vec<Path> = found.into_iter().map(|object| object.location).collect();
        names.retain(|name| name.filename().is_some_and(|name| name.ends_with(MANIFEST)));
        let reading = futures::stream::iter(names).map(|name| self.manifest(name));
        let mut manifests: Vec<Manifest> = reading.buffered(READS_MAX).try_collect().await?;
        manifests.sort_by(|a, b| (a.written_at, &a.file).cmp(&(b.written_at, &b.file)));
        Ok(manifests)
    }

    /// The instance of this id. Of several copies the one with the highest version, and of equal ones
    /// the first, which was written before anything was removed.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Corrupt`] when its file is not whole.
    pub async fn instance(&self, id: &InstanceId) -> Result<Line, Error> {
        let mut best: Option<(i64, Manifest)> = None;
        for manifest in self.list(None).await? {
            let entry = manifest.instances.iter().find(|entry| entry.id == *id);
            let Some(version) = entry.map(|entry| entry.version) else { continue };
            if best.as_ref().is_none_or(|(known, _)| version > *known) {
                best = Some((version, manifest));
            }
        }
        let missing = || Error::NotFound(format!("instance {id}"));
        let (_, manifest) = best.ok_or_else(missing)?;
        let lines = self.lines(&manifest).await?;
        lines.into_iter().find(|line| line.instance.id == *id).ok_or_else(missing)
    }

    /// The instances of a file, by its name or that of its manifest.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Corrupt`] when the file is not whole.
    pub async fn file(&self, name: &str) -> Result<Vec<Line>, Error> {
        let stem = name.trim_end_matches(FILE).trim_end_matches(MANIFEST);
        // A name that no path can have is that of no file.
        let Ok(path) = Path::parse(format!("{stem}{MANIFEST}")) else {
            return Err(Error::NotFound(format!("file {name}")));
        };
        self.lines(&self.manifest(path).await?).await
    }

    async fn manifest(&self, path: Path) -> Result<Manifest, Error> {
        let bytes = self.bytes(&path).await?;
        let corrupt = |reason: String| Error::Corrupt(path.to_string(), reason);
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|error| corrupt(error.to_string()))?;
        if manifest.staunch_archive != FORMAT {
            let format = manifest.staunch_archive;
            return Err(corrupt(format!("it has format {format}, and this reads {FORMAT}")));
        }
        Ok(manifest)
    }

    async fn lines(&self, manifest: &Manifest) -> Result<Vec<Line>, Error> {
        let corrupt = |reason: &dyn std::fmt::Display| {
            Error::Corrupt(manifest.file.clone(), reason.to_string())
        };
        let path = Path::parse(&manifest.file).map_err(|error| corrupt(&error))?;
        let bytes = self.bytes(&path).await?;
        if digest(&bytes) != manifest.sha256 {
            return Err(corrupt(&"its bytes are not those of its manifest"));
        }
        unpack(&bytes).map_err(|error| corrupt(&error))
    }

    async fn bytes(&self, path: &Path) -> Result<Bytes, Error> {
        match self.store.get(path).await {
            Ok(found) => Ok(found.bytes().await?),
            Err(object_store::Error::NotFound { .. }) => {
                Err(Error::NotFound(format!("file {path}")))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn pack(lines: &[Line]) -> std::io::Result<Vec<u8>> {
    let mut out = zstd::Encoder::new(Vec::new(), LEVEL)?;
    for line in lines {
        serde_json::to_writer(&mut out, line)?;
        std::io::Write::write_all(&mut out, b"\n")?;
    }
    out.finish()
}

fn unpack(bytes: &[u8]) -> std::io::Result<Vec<Line>> {
    let mut text = String::new();
    let limited = zstd::Decoder::new(bytes)?.take(UNPACKED_BYTES_MAX);
    std::io::BufReader::new(limited).read_to_string(&mut text)?;
    let read = |line: &str| serde_json::from_str::<Line>(line).map_err(std::io::Error::from);
    text.lines().map(read).collect()
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
