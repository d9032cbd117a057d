//! Zip archives in memory: several definitions in one file.
//!
//! An archive may unpack to far more bytes than it has, so everything about it has a limit.

use std::io::{Cursor, Read as _, Write as _};

use axum::http::StatusCode;
use model::limits;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::Problem;

/// The largest number of files in one archive.
const FILES_MAX: usize = 1_000;
/// The largest number of bytes of all files in one archive.
const BYTES_MAX: usize = 16 * limits::DEFINITION_BYTES_MAX;

/// A file in an archive.
#[derive(Debug, PartialEq)]
pub(crate) struct Packed {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The files of an archive whose names end with `.json`.
///
/// # Errors
/// 400 when it is no archive, or has more or larger files than allowed, or files in the short form.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<Packed>, Problem> {
    let broken = |error: ZipError| Problem::bad_request(format!("the zip cannot be read: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if archive.len() > FILES_MAX {
        let detail = format!("the zip has more than {FILES_MAX} files: send several of them");
        return Err(Problem::bad_request(detail));
    }
    let mut files = Vec::new();
    let mut total = 0;
    for at in 0..archive.len() {
        let file = archive.by_index(at).map_err(broken)?;
        let name = file.name().map_err(broken)?.into_owned();
        let ending = name.to_ascii_lowercase();
        if !file.is_dir() && (ending.ends_with(".yaml") || ending.ends_with(".yml")) {
            let detail = format!(
                "{name} in the zip is in the short form, and this route reads JSON: publish it with \
                 `staunch apply`, or leave it out"
            );
            return Err(Problem::bad_request(detail));
        }
        if file.is_dir() || !ending.ends_with(".json") {
            continue;
        }
        let limit = limits::DEFINITION_BYTES_MAX.min(BYTES_MAX - total);
        let mut content = Vec::new();
        let bytes_max = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        file.take(bytes_max).read_to_end(&mut content).map_err(|error| broken(error.into()))?;
        if content.len() > limit {
            let detail = format!(
                "{name} in the zip is too large: a file may have {} bytes, and all of them {BYTES_MAX}",
                limits::DEFINITION_BYTES_MAX
            );
            return Err(Problem::bad_request(detail));
        }
        total += content.len();
        files.push(Packed { name, bytes: content });
    }
    Ok(files)
}

/// An archive of these files. A name that is there twice gets a number.
///
/// # Errors
/// 500 when it cannot be written.
pub(crate) fn pack(files: Vec<Packed>) -> Result<Vec<u8>, Problem> {
    let broken = |error: ZipError| {
        let detail = format!("the zip cannot be written: {error}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    };
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut names = std::collections::BTreeSet::new();
    for Packed { name, bytes } in files {
        let numbered = (1..).map(|number| format!("{number}-{name}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let own = candidates.find(|own| names.insert(own.clone())).unwrap_or_default();
        archive.start_file(own, SimpleFileOptions::default()).map_err(broken)?;
        archive.write_all(&bytes).map_err(|error| broken(error.into()))?;
    }
    Ok(archive.finish().map_err(broken)?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(name: &str, bytes: &[u8]) -> Packed {
        Packed { name: name.to_owned(), bytes: bytes.to_vec() }
    }

    #[test]
    fn an_archive_has_what_was_packed() {
        let bytes =
            pack(vec![packed("a.json", b"1"), packed("a.json", b"2"), packed("b.txt", b"3")]);
        let files = unpack(&bytes.unwrap()).unwrap();
        assert_eq!(files, [packed("a.json", b"1"), packed("1-a.json", b"2")]);
    }

    #[test]
    fn an_archive_with_files_in_the_short_form_is_refused() {
        for name in ["a.yaml", "folder/b.YML"] {
            let bytes = pack(vec![packed("a.json", b"1"), packed(name, b"2")]).unwrap();
            let detail = unpack(&bytes).unwrap_err().detail().to_owned();
            assert!(detail.contains(name) && detail.contains("staunch apply"), "{detail}");
        }
    }

    #[test]
    fn an_archive_that_is_none_or_unpacks_to_too_much_is_refused() {
        assert!(unpack(b"nothing").is_err());
        let large = vec![b' '; limits::DEFINITION_BYTES_MAX + 1];
        let bytes = pack(vec![packed("a.json", &large)]).unwrap();
        assert!(bytes.len() < large.len() / 100);
        assert!(unpack(&bytes).is_err());
        let many = (0..=FILES_MAX).map(|at| packed(&format!("{at}.json"), b"{}")).collect();
        assert!(unpack(&pack(many).unwrap()).is_err());
    }
}
