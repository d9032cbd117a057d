//! Passwords: the rules for new ones, and their Argon2id hashes. Nothing here keeps or logs one.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher as _, PasswordVerifier as _};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

use crate::Problem;

/// The smallest length of a new password, in characters.
const CHARS_MIN: usize = 12;
/// The longest password, in bytes: hashing reads all of it.
pub const BYTES_MAX: usize = 1_024;
/// The smallest number of different characters of a new password.
const VARIETY_MIN: usize = 5;
/// The longest name of a user, role or application, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// Passwords that are hashed at the same time: each takes 19 MiB and one core for a while.
const AT_ONCE: usize = 4;
/// The longest wait for one of them.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Checks a new password. A login cuts off the white space around one.
///
/// # Errors
/// The broken rule; never the password.
pub fn check(password: &str) -> Result<(), String> {
    if password.trim() != password {
        return Err("the password begins or ends with white space: leave it out".to_owned());
    }
    if password.len() > BYTES_MAX {
        return Err(format!("the password has more than {BYTES_MAX} bytes: use a shorter one"));
    }
    if password.chars().count() < CHARS_MIN {
        return Err(format!(
            "the password has fewer than {CHARS_MIN} characters: use a longer one"
        ));
    }
    let mut characters: Vec<char> = password.chars().collect();
    characters.sort_unstable();
    characters.dedup();
    if characters.len() < VARIETY_MIN {
        return Err("the password has hardly any different characters: use another".to_owned());
    }
    Ok(())
}

/// Checks the name of a user, role or application.
///
/// # Errors
/// The broken rule.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_bad = name.trim() != name || name.is_empty() || name.contains(is_unseen);
    if is_bad || name.len() > NAME_BYTES_MAX {
        return Err(format!(
            "a name has 1 to {NAME_BYTES_MAX} bytes, no control characters and none that nobody sees \
             (such as U+200B or U+202E), and no white space around it"
        ));
    }
    Ok(())
}

/// Whether a character is not seen, or changes how the others are shown: two names that look the same
/// could differ in it. They are the characters of control and format, separators other than the space,
/// and what Unicode's `Default_Ignorable_Code_Point` has beside them.
pub(crate) fn is_unseen(letter: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Unassigned,
    };
    match letter.general_category() {
        Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | Unassigned => true,
        SpaceSeparator => letter != ' ',
        _ => matches!(letter,
            '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}'),
    }
}

/// Whether two names are hard to tell apart: they differ in the case or the form of their letters
/// alone, such as `admin` and `Admin`, or full-width letters (NFKC). Letters of other scripts that look
/// the same are other letters.
#[must_use]
pub fn are_alike(one: &str, other: &str) -> bool {
    folded(one) == folded(other)
}

/// A name without the case and the form of its letters. Small letters can have another form again.
fn folded(name: &str) -> String {
    name.nfkc().collect::<String>().to_lowercase().nfkc().collect()
}

/// The password in a file: its text without the line's end.
///
/// # Errors
/// The reason why there is none; never the password.
pub fn of_file(file: &Path) -> Result<String, String> {
    let named = |error: std::io::Error| format!("cannot read {}: {error}", file.display());
    of_reader(File::open(file).map_err(named)?).map_err(|why| format!("{}: {why}", file.display()))
}

/// The password that a reader gives: its text without the line's end.
///
/// # Errors
/// The reason why there is none; never the password.
pub fn of_reader(reader: impl std::io::Read) -> Result<String, String> {
    let limit = u64::try_from(BYTES_MAX + 3).unwrap_or(u64::MAX);
    let mut text = String::new();
    let read = reader.take(limit).read_to_string(&mut text);
    read.map_err(|error| format!("the password cannot be read: {error}"))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.contains(['\n', '\r']) {
        return Err("the password has several lines: use one".to_owned());
    }
    Ok(text.to_owned())
}

/// The hash of a password with this salt, in PHC form. It takes some hundredths of a second.
///
/// # Errors
/// When the password cannot be hashed.
pub fn hash(password: &str, salt: &[u8]) -> Result<String, String> {
    let hashed: Result<PasswordHash, _> =
        Argon2::default().hash_password_with_salt(password.as_bytes(), salt);
    hashed.map(|hash| hash.to_string()).map_err(|error| format!("cannot hash: {error}"))
}

/// Whether the password has this hash.
fn is_of(password: &str, hash: &str) -> bool {
    Argon2::default().verify_password(password.as_bytes(), hash).is_ok()
}

/// Hashes passwords on threads for blocking work, a few at the same time.
pub(crate) struct Hashing {
    room: Semaphore,
}

impl Default for Hashing {
    fn default() -> Self {
        Self { room: Semaphore::new(AT_ONCE) }
    }
}

impl Hashing {
    /// The hash of a password with this salt.
    pub(crate) async fn hash(&self, password: &str, seed: [u8; 32]) -> Result<String, Problem> {
        let password = password.to_owned();
        let hashed = self.run(move || hash(&password, seed.get(..16).unwrap_or(&seed))).await?;
        hashed.map_err(|error| {
            tracing::error!(error, "a password could not be hashed");
            Problem::internal()
        })
    }

    /// Whether the password has this hash. Without a hash it takes as long, and is false.
    pub(crate) async fn verify(
        &self,
        password: &str,
        hash: Option<String>,
    ) -> Result<bool, Problem> {
        let password = password.to_owned();
        self.run(move || {
            // Both branches hash one password with the same parameters.
            let known = hash.as_deref().unwrap_or_else(|| nobodys());
            is_of(&password, known) && hash.is_some()
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let waiting = tokio::time::timeout(WAIT_MAX, self.room.acquire());
        let Ok(Ok(_permit)) = waiting.await else {
            return Err(Problem::overloaded("too many logins at once: try again in a moment"));
        };
        tasks::blocking("hash a password", work).await.map_err(|panicked| {
            tracing::error!(%panicked, "a password could not be hashed");
            Problem::internal()
        })
    }
}

/// The hash that the passwords of unknown users are compared with.
fn nobodys() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| hash("nobody has this password", &[0; 16]).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_password_is_long_and_varied() {
        for good in ["correct horse", "ünïcödé-wörds", &"ab3de".repeat(204)] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        let long = "ab3de".repeat(205);
        for bad in ["", "short", "elevenchars", " correct horse", "correct horse\n", "abababababab"]
        {
            assert!(check(bad).is_err_and(|why| !why.contains("horse")), "{bad}");
        }
        assert!(check(&long).is_err());
    }

    #[test]
    fn names_are_plain() {
        for good in ["a", "Zoe Müller", "zoe@example.com"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "a".repeat(201);
        let unseen =
            ["ali\u{200b}ce", "a\u{202e}b", "a\u{ad}b", "a\u{a0}b", "a\u{3164}", "a\u{fe0f}"];
        for bad in ["", " a", "a ", "a\nb", &long].into_iter().chain(unseen) {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_that_differ_in_case_or_form_alone_are_alike() {
        for (one, other) in [
            ("admin", "ADMIN"),
            ("admin", "\u{ff41}dmin"),
            ("ADMIN", "\u{ff41}\u{ff44}\u{ff4d}\u{ff49}\u{ff4e}"),
            ("fine", "\u{fb01}ne"),
            ("zo\u{e9}", "zoe\u{301}"),
            ("a b", "a\u{a0}b"),
            ("\u{130}x", "i\u{307}x"),
        ] {
            assert!(are_alike(one, other) && are_alike(other, one), "{one} {other}");
        }
        for (one, other) in [("admin", "admin2"), ("zoe", "zo\u{e9}"), ("a b", "ab")] {
            assert!(!are_alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_password_is_one_line() {
        let read = |text: &str| of_reader(text.as_bytes());
        assert_eq!(read("secret words\n"), Ok("secret words".to_owned()));
        assert_eq!(read("secret words\r\n"), Ok("secret words".to_owned()));
        assert_eq!(read("secret words "), Ok("secret words ".to_owned()));
        assert!(read("one\ntwo\n").is_err());
        assert!(of_reader(std::io::repeat(b'a')).is_ok_and(|text| check(&text).is_err()));
        assert!(of_file(Path::new("/no/such/file")).is_err());
    }

    #[tokio::test]
    async fn a_hash_is_of_one_password_and_has_its_parameters() {
        let hashing = Hashing::default();
        let hash = hashing.hash("correct horse", [7; 32]).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, hashing.hash("correct horse", [8; 32]).await.unwrap());
        assert!(hashing.verify("correct horse", Some(hash.clone())).await.unwrap());
        assert!(!hashing.verify("correct horsf", Some(hash)).await.unwrap());
        assert!(!hashing.verify("nobody has this password", None).await.unwrap());
        assert!(!hashing.verify("x", Some("garbled".to_owned())).await.unwrap());
    }
}
