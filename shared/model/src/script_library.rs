//! The libraries that an installation may give to its scripts.

use std::str::FromStr;

/// A JavaScript library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScriptLibrary {
    /// `_` and `lodash`.
    Lodash,
    /// `lodashFp`.
    LodashFp,
    /// `moment`.
    Moment,
}

impl ScriptLibrary {
    /// Every library.
    pub const ALL: [Self; 3] = [Self::Lodash, Self::LodashFp, Self::Moment];

    /// The global names under which scripts find it; the first one is its own.
    #[must_use]
    pub fn globals(self) -> &'static [&'static str] {
        match self {
            Self::Lodash => &["lodash", "_"],
            Self::LodashFp => &["lodashFp"],
            Self::Moment => &["moment"],
        }
    }
}

impl FromStr for ScriptLibrary {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|one| one.globals().first() == Some(&name));
        found.ok_or_else(|| format!("there is no library {name}: use lodash, lodashFp or moment"))
    }
}
