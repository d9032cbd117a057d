//! Appending exactly once. A file beside the target, `.staunch-<name>.appended`, has a line for each
//! of the newest appends: its key, the place where its bytes begin, and their number. The line is
//! written first. So a repeated append finds its line, and an append that a crash has cut short is
//! found by the next one, which removes its bytes.
//!
//! Appends to one file take turns, over all processes on this machine.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use cap_std::fs::{Dir, OpenOptions};
use model::limits;

use super::{Fault, OWN, check_size};

/// Appends that a file remembers.
const REMEMBERED_MAX: usize = 1_000;

struct Line {
    key: String,
    from: u64,
    bytes: u64,
}

/// Appends the bytes, if no append with this key is complete; returns the size of the file.
pub(super) fn append(within: &Dir, name: &str, bytes: &[u8], key: &str) -> Result<u64, Fault> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    let mut log = within.open_with(format!("{OWN}{name}.appended"), &options)?.into_std();
    log.lock()?;
    let mut text = String::new();
    log.read_to_string(&mut text)?;
    let mut lines: Vec<_> = text.lines().filter_map(line).collect();
    let mut file = within.open_with(name, &options)?;
    if !file.metadata()?.is_file() {
        return Err(Fault::Refused(format!("{name} is not a file")));
    }
    let mut size = file.metadata()?.len();
    if let Some(cut) = lines.pop_if(|last| size < last.from + last.bytes) {
        size = size.min(cut.from);
        file.set_len(size)?;
    }
    if lines.iter().any(|line| line.key == key) {
        return Ok(size);
    }
    check_size(size + bytes.len() as u64, limits::FILE_APPENDED_BYTES_MAX as u64)?;
    lines.push(Line { key: key.to_owned(), from: size, bytes: bytes.len() as u64 });
    let newest = lines.len().saturating_sub(REMEMBERED_MAX);
    let text: String = lines
        .iter()
        .skip(newest)
        .map(|line| format!("{} {} {}\n", line.key, line.from, line.bytes))
        .collect();
    log.seek(SeekFrom::Start(0))?;
    log.write_all(text.as_bytes())?;
    log.set_len(text.len() as u64)?;
    log.sync_all()?;
    file.seek(SeekFrom::Start(size))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(size + bytes.len() as u64)
}

fn line(text: &str) -> Option<Line> {
    let mut words = text.split(' ');
    let key = words.next()?.to_owned();
    let (from, bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(Line { key, from, bytes })
}
