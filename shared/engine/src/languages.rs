//! The expression languages that definitions may use, found by name.

use crate::Language;

/// A registry of languages, in a fixed order.
#[derive(Default)]
pub struct Languages(Vec<Box<dyn Language>>);

impl Languages {
    /// These languages; of two with the same name the first counts.
    #[must_use]
    pub fn new(languages: Vec<Box<dyn Language>>) -> Self {
        Self(languages)
    }

    /// The language of this name, in any case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&dyn Language> {
        let found = self.0.iter().find(|language| language.name().eq_ignore_ascii_case(name));
        found.map(AsRef::as_ref)
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|language| language.name())
    }
}
