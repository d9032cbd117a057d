//! What reads bytes from outside, fed with wrong ones.
//!
//! A [`Target`] takes any bytes and says whether something is wrong with Staunch. With the feature
//! `libfuzzer`, libFuzzer looks for such bytes, guided by the code that they reach
//! (`just fuzz`, `run.sh`); the tests replay what is kept in `corpus/`, one folder for each target.

mod choice;
mod command;
mod definition;
mod expression;
mod hub;
mod node;
mod request;
mod token;

use anyhow::Result;

/// One decoder.
pub struct Target {
    /// The name of its folder in `corpus/`.
    pub name: &'static str,
    run: fn(&[u8]) -> Result<()>,
}

/// All of them.
pub const TARGETS: [Target; 7] = [
    Target { name: "request", run: request::run },
    Target { name: "hub", run: hub::run },
    Target { name: "token", run: token::run },
    Target { name: "command", run: command::run },
    Target { name: "definition", run: definition::run },
    Target { name: "template", run: expression::template },
    Target { name: "script", run: expression::script },
];

impl Target {
    /// The target of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Feeds it.
    ///
    /// # Errors
    /// What is wrong with Staunch. A panic says the same.
    pub fn feed(&self, bytes: &[u8]) -> Result<()> {
        (self.run)(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::TARGETS;

    #[test]
    fn nothing_that_was_ever_found_is_wrong_again() {
        for target in &TARGETS {
            let folder = format!("{}/corpus/{}", env!("CARGO_MANIFEST_DIR"), target.name);
            let mut paths: Vec<_> =
                std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            assert!(!paths.is_empty(), "{folder} has seeds");
            for path in paths {
                let bytes = std::fs::read(&path).unwrap();
                target.feed(&bytes).unwrap_or_else(|error| panic!("{}: {error:#}", path.display()));
            }
        }
    }
}
