//! Searchable values: the keys under which instances are found by the values of their variables.

use std::collections::BTreeMap;

use model::SearchKey;

use crate::outline::Declared;
use crate::program::Program;
use crate::state::State;
use crate::vault::is_sealed;

impl Program {
    /// Some variable of the workflow is searchable.
    #[must_use]
    pub fn is_searchable(&self) -> bool {
        self.outline.is_searchable
    }

    /// The keys of the searchable values of an instance, by the names of their variables. A value of
    /// another type than the definition says has none, and neither has one that contains a secret.
    #[must_use]
    pub fn search_keys(&self, state: &State) -> BTreeMap<String, SearchKey> {
        let key = |declared: &Declared| {
            let value = state.variables.get(&declared.id)?;
            let key = declared.searchable?.key(value).filter(|_| !is_sealed(value))?;
            Some((declared.name.clone(), key))
        };
        self.outline.variables.iter().filter_map(key).collect()
    }
}
