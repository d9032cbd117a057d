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

/// The folder in which macOS puts what it knows of each file, under the name of that file.
const MACOS: &str = "__MACOSX/";

/// A file in an archive.
#[derive(Debug, PartialEq)]
pub(crate) struct Packed {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// What an archive has.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Unpacked {
    /// The files whose names end as those of JSON and YAML do.
    pub(crate) files: Vec<Packed>,
    /// The names of the others.
    pub(crate) left_out: Vec<String>,
}

/// Whether a file is YAML, by its name.
pub(crate) fn is_yaml(name: &str) -> bool {
    has_ending(name, &[".yaml", ".yml"])
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

/// The files of an archive.
///
/// # Errors
/// 400 when it is no archive, or has more or larger files than allowed.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Unpacked, Problem> {
    let broken = |error: ZipError| Problem::bad_request(format!("the zip cannot be read: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if archive.len() > FILES_MAX {
        let detail = format!("the zip has more than {FILES_MAX} files: send several of them");
        return Err(Problem::bad_request(detail));
    }
    let mut unpacked = Unpacked::default();
    let mut total = 0;
    for at in 0..archive.len() {
        let file = archive.by_index(at).map_err(broken)?;
        let name = file.name().map_err(broken)?.into_owned();
        if file.is_dir() || name.starts_with(MACOS) {
            continue;
        }
        if !is_yaml(&name) && !has_ending(&name, &[".json"]) {
            unpacked.left_out.push(name);
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
        unpacked.files.push(Packed { name, bytes: content });
    }
    Ok(unpacked)
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
        let unpacked = unpack(&bytes.unwrap()).unwrap();
        assert_eq!(unpacked.files, [packed("a.json", b"1"), packed("1-a.json", b"2")]);
        assert_eq!(unpacked.left_out, ["b.txt"]);
    }

    #[test]
    fn an_archive_may_have_files_in_the_short_form() {
        let names = ["a.yaml", "folder/b.YML", "__MACOSX/folder/._b.YML", "c.JSON", "yaml"];
        let bytes = pack(names.iter().map(|name| packed(name, b"1")).collect()).unwrap();
        let Unpacked { files, left_out } = unpack(&bytes).unwrap();
        let found: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(found, ["a.yaml", "folder/b.YML", "c.JSON"]);
        assert_eq!(left_out, ["yaml"]);
        assert!(is_yaml(found[1]) && !is_yaml(found[2]));
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
