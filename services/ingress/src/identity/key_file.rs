//! The keys that sign tokens, and those of them that are in a file.

use std::path::Path;

use super::secret;

/// The smallest length of a key in a file, in characters.
const CHARS_MIN: usize = 32;
/// The largest number of keys in a file.
const KEYS_MAX: usize = 16;
/// The largest file with keys, in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// A key that signs and verifies.
#[derive(Clone)]
pub(crate) struct Key {
    /// The `kid` of its tokens.
    pub(crate) id: String,
    /// At least 256 bits.
    pub(crate) secret: Vec<u8>,
}

/// The keys in a file, one a line; lines that begin with `#` are comments. The file is small.
///
/// # Errors
/// The reason why there are none; never a key.
pub(super) fn read(file: &Path) -> Result<Vec<Key>, String> {
    let shown = file.display();
    let named = |error: std::io::Error| format!("cannot read the signing keys {shown}: {error}");
    let length = std::fs::metadata(file).map_err(named)?.len();
    if length > FILE_BYTES_MAX {
        return Err(format!("{shown} is larger than {FILE_BYTES_MAX} bytes: are these keys?"));
    }
    let text = std::fs::read_to_string(file).map_err(named)?;
    let lines = text.lines().map(str::trim);
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    if lines.is_empty() || lines.len() > KEYS_MAX {
        return Err(format!("{shown} has {} keys: use 1 to {KEYS_MAX}", lines.len()));
    }
    if lines.iter().any(|line| line.chars().count() < CHARS_MIN) {
        return Err(format!(
            "a key in {shown} has fewer than {CHARS_MIN} characters: use the output of \
             `openssl rand -hex 32`"
        ));
    }
    let key = |line: &&str| Key {
        id: secret::hash(&format!("staunch signing key {line}")).chars().take(16).collect(),
        secret: line.as_bytes().to_vec(),
    };
    Ok(lines.iter().map(key).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_long_keys() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys");
        let write = |text: &str| {
            std::fs::write(&file, text).unwrap();
            read(&file)
        };
        let (one, two) = ("1".repeat(32), "2".repeat(64));
        let keys = write(&format!("# keys\n{one}\n\n  {two} \n")).unwrap();
        assert_eq!(keys.len(), 2);
        assert_eq!(keys[1].secret, two.as_bytes());
        assert_ne!(keys[0].id, keys[1].id);
        assert!(!keys[0].id.contains("111"), "an id says nothing about its key");
        assert!(write("").is_err());
        assert!(write("too short").is_err_and(|why| !why.contains("too short")));
        assert!(read(&folder.path().join("none")).is_err());
    }
}
