//! Searchable values: what a burst changes of them, and comparisons with them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, RangeBounds};

use model::{DefinitionId, SearchKey, Searchable, VersionId};

/// The changes of a burst to the searchable values of its instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueChanges {
    /// All stored values are removed first, also those that are not named here.
    pub replaces: bool,
    /// Values by the names of their variables, new or changed.
    pub set: BTreeMap<String, SearchKey>,
    /// Variables without a value from now on.
    pub removed: BTreeSet<String>,
}

impl ValueChanges {
    /// No change.
    #[must_use]
    pub const fn none() -> Self {
        Self { replaces: false, set: BTreeMap::new(), removed: BTreeSet::new() }
    }

    /// Nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.replaces && self.set.is_empty() && self.removed.is_empty()
    }
}

/// One comparison with the value of a searchable variable. An instance without such a value never
/// fulfils it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueFilter {
    /// The name of the variable.
    pub name: String,
    /// The comparison.
    pub operator: ValueOperator,
    /// The value to compare with: one key for each kind that the variable has, in different
    /// definitions. A stored value is compared with the key of its own kind.
    pub keys: Vec<SearchKey>,
}

/// Comparisons of searchable values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says what it means")]
pub enum ValueOperator {
    Is,
    IsNot,
    LessThan,
    GreaterThan,
    LessThanOrEqual,
    GreaterThanOrEqual,
    BeginsWith,
}

/// Stored keys that fulfil a comparison: all between two bounds, except one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The lower bound.
    pub from: Bound<String>,
    /// The upper bound.
    pub to: Bound<String>,
    /// This one does not fulfil it.
    pub except: Option<String>,
}

impl KeyRange {
    /// The keys that fulfil the comparison with this key. All are of its kind.
    #[must_use]
    pub fn of(operator: ValueOperator, key: &SearchKey) -> Self {
        let (first, end) = key.bounds();
        let own = || key.as_str().to_owned();
        let (all_from, all_to) = (Bound::Included(first), Bound::Excluded(end));
        let (from, to) = match operator {
            ValueOperator::Is => (Bound::Included(own()), Bound::Included(own())),
            ValueOperator::IsNot => (all_from, all_to),
            ValueOperator::LessThan => (all_from, Bound::Excluded(own())),
            ValueOperator::LessThanOrEqual => (all_from, Bound::Included(own())),
            ValueOperator::GreaterThan => (Bound::Excluded(own()), all_to),
            ValueOperator::GreaterThanOrEqual => (Bound::Included(own()), all_to),
            ValueOperator::BeginsWith => {
                (Bound::Included(own()), Bound::Excluded(key.end_of_prefix()))
            }
        };
        Self { from, to, except: (operator == ValueOperator::IsNot).then(own) }
    }

    /// Whether the key is one of them.
    #[must_use]
    pub fn contains(&self, key: &SearchKey) -> bool {
        let key = key.as_str();
        let range = (as_str(&self.from), as_str(&self.to));
        RangeBounds::<str>::contains(&range, key) && self.except.as_deref() != Some(key)
    }
}

fn as_str(bound: &Bound<String>) -> Bound<&str> {
    bound.as_ref().map(String::as_str)
}

impl ValueFilter {
    /// The stored keys that fulfil it: those of any of these ranges.
    pub fn ranges(&self) -> impl Iterator<Item = KeyRange> {
        self.keys.iter().map(|key| KeyRange::of(self.operator, key))
    }
}

/// The definition versions whose searchable variables are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchableFilter {
    /// Of any of these definitions; of all when empty.
    pub definition_ids: Vec<DefinitionId>,
    /// Of none of these.
    pub excluded_definition_ids: Vec<DefinitionId>,
    /// Of this version.
    pub version_id: Option<VersionId>,
    /// Of this version number.
    pub version: Option<u32>,
}

/// What searchable variables are compared as, by their names. Definitions may differ about a name.
pub type SearchableNames = BTreeMap<String, BTreeSet<Searchable>>;
