//! A clock that lies to one process.

use std::path::{Path, PathBuf};

/// The library that lies to a process about the time.
const LIBRARIES: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
];

/// The clock of a process, read from a file in a folder of the test.
#[derive(Debug)]
pub struct FalseClock {
    library: &'static str,
    folder: PathBuf,
}

impl FalseClock {
    /// A clock that is right at first; none, said loudly, if faketime is not installed.
    #[must_use]
    pub fn find(folder: &Path, what: &str) -> Option<Self> {
        let Some(library) = LIBRARIES.into_iter().find(|path| Path::new(path).is_file()) else {
            crate::skip("faketime", what, "it is not installed; apt install faketime");
            return None;
        };
        let clock = Self { library, folder: folder.to_owned() };
        clock.set("+0");
        Some(clock)
    }

    /// Moves the clock by so many seconds, such as `+3600`. The process sees it within a second.
    #[expect(clippy::expect_used, reason = "a test without its clock cannot go on")]
    pub fn set(&self, offset: &str) {
        let next = self.folder.join("next");
        std::fs::write(&next, offset).expect("a file can be written");
        std::fs::rename(next, self.folder.join("time")).expect("a file can be renamed");
    }

    /// The variables of the process.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let file = self.folder.join("time").display().to_string();
        let variables = [
            ("LD_PRELOAD", self.library),
            ("FAKETIME_TIMESTAMP_FILE", &file),
            ("FAKETIME_CACHE_DURATION", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("DONT_FAKE_MONOTONIC", "1"),
        ];
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }
}
