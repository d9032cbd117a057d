//! Zip archives in memory. The same files give the same bytes: every entry has the same time.

use std::collections::BTreeSet;
use std::io::{Cursor, Write as _};

use engine::Failure;
use model::limits;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// A file to be put into an archive.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The compression of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    None,
    Fastest,
    Optimal,
    Smallest,
}

/// The archive of these files, in their order.
///
/// # Errors
/// [`Failure`] when there are too many, they are too large, or a name leads out of the folder into
/// which the archive is unpacked.
pub(crate) fn archive(entries: Vec<Entry>, level: Level) -> Result<Vec<u8>, Failure> {
    let too_large = |message: String| Failure::new("ArchiveTooLarge", message);
    if entries.len() > limits::ARCHIVE_ENTRIES_MAX {
        let max = limits::ARCHIVE_ENTRIES_MAX;
        return Err(too_large(format!("the archive has more than {max} files")));
    }
    let bytes: usize = entries.iter().map(|entry| entry.bytes.len()).sum();
    if bytes > limits::ARCHIVE_BYTES_MAX {
        let max = limits::ARCHIVE_BYTES_MAX;
        return Err(too_large(format!("the files have {bytes} bytes, more than {max}")));
    }
    let (method, level) = match level {
        Level::None => (CompressionMethod::Stored, None),
        Level::Fastest => (CompressionMethod::Deflated, Some(1)),
        Level::Optimal => (CompressionMethod::Deflated, Some(6)),
        Level::Smallest => (CompressionMethod::Deflated, Some(9)),
    };
    let options = SimpleFileOptions::default()
        .compression_method(method)
        .compression_level(level)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut names = BTreeSet::new();
    let failed = |error: ZipError| Failure::new("ArchiveFailed", error.to_string());
    for entry in entries {
        let name = unused(&mut names, checked(&entry.name)?);
        writer.start_file(name, options).map_err(failed)?;
        writer.write_all(&entry.bytes).map_err(|error| failed(error.into()))?;
    }
    Ok(writer.finish().map_err(failed)?.into_inner())
}

fn checked(name: &str) -> Result<String, Failure> {
    let name = name.replace('\\', "/");
    let is_good = !name.is_empty()
        && !name.starts_with('/')
        && !name.contains(['\0', ':'])
        && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    if is_good {
        return Ok(name);
    }
    Err(Failure::input("entries", format!("{name:?} is not a name for a file in an archive")))
}

/// The name, with a number if it is used already.
fn unused(names: &mut BTreeSet<String>, name: String) -> String {
    let (stem, end) = match name.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() && !end.contains('/') => (stem, format!(".{end}")),
        _ => (name.as_str(), String::new()),
    };
    let mut free = name.clone();
    let mut number = 1;
    while names.contains(&free) {
        number += 1;
        free = format!("{stem} ({number}){end}");
    }
    names.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use zip::ZipArchive;

    use super::*;

    fn entry(name: &str, text: &str) -> Entry {
        Entry { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        for level in [Level::None, Level::Fastest, Level::Optimal, Level::Smallest] {
            let made = || archive(vec![entry("a.txt", "one"), entry("a.txt", "two")], level);
            let bytes = made().unwrap();
            assert_eq!(bytes, made().unwrap());
            let mut read = ZipArchive::new(Cursor::new(bytes)).unwrap();
            for (name, expected) in [("a.txt", "one"), ("a (2).txt", "two")] {
                let mut text = String::new();
                read.by_name(name).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, expected);
            }
        }
    }

    #[test]
    fn bad_names_and_large_files_are_refused() {
        for name in ["../a", "/a", "a//b", "", "c:x", "a\\..\\b"] {
            let refused = archive(vec![entry(name, "x")], Level::None).unwrap_err();
            assert_eq!(refused.code, "InvalidInput", "{name}");
        }
        let large = "x".repeat(limits::ARCHIVE_BYTES_MAX + 1);
        let refused = archive(vec![entry("a", &large)], Level::None).unwrap_err();
        assert_eq!(refused.code, "ArchiveTooLarge");
        let many = (0..=limits::ARCHIVE_ENTRIES_MAX).map(|_| entry("a", ""));
        assert_eq!(archive(many.collect(), Level::None).unwrap_err().code, "ArchiveTooLarge");
    }
}
