//! The activity types that definitions may use, found by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Activity, Descriptor};

/// A registered activity type.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) descriptor: Arc<Descriptor>,
    pub(crate) activity: Arc<dyn Activity>,
}

/// A registry of activity types.
#[derive(Default)]
pub struct Registry {
    types: BTreeMap<&'static str, Registered>,
}

impl Registry {
    /// These activities; of two with the same type name the last counts.
    #[must_use]
    pub fn new(activities: Vec<Box<dyn Activity>>) -> Self {
        activities.into_iter().fold(Self::default(), Self::with)
    }

    /// The registry with one more activity, which replaces any other of its type name.
    #[must_use]
    pub fn with(mut self, activity: Box<dyn Activity>) -> Self {
        let descriptor = Arc::new(activity.descriptor());
        let name = descriptor.type_name;
        self.types.insert(name, Registered { descriptor, activity: activity.into() });
        self
    }

    /// The descriptions of all types, by type name.
    pub fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.types.values().map(|registered| &*registered.descriptor)
    }

    /// The type of this name; `WriteLine` means `Elsa.WriteLine`.
    pub(crate) fn get(&self, type_name: &str) -> Option<&Registered> {
        if let Some(found) = self.types.get(type_name) {
            return Some(found);
        }
        if type_name.contains('.') {
            return None;
        }
        self.types.get(format!("Elsa.{type_name}").as_str())
    }

    /// A type has this name.
    pub(crate) fn has(&self, type_name: &str) -> bool {
        self.get(type_name).is_some()
    }

    /// Up to three type names that are similar to this one.
    pub(crate) fn near(&self, type_name: &str) -> Vec<&'static str> {
        let wanted = bare(type_name);
        let distance_max = (wanted.chars().count() / 3).min(3);
        let mut found: Vec<(usize, &'static str)> = self
            .types
            .keys()
            .map(|&name| (distance(&bare(name), &wanted), name))
            .filter(|(distance, _)| *distance <= distance_max)
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, name)| name).take(3).collect()
    }
}

fn bare(type_name: &str) -> String {
    const CHARS_MAX: usize = 64;
    let name = type_name.rsplit('.').next().unwrap_or(type_name);
    name.to_lowercase().chars().take(CHARS_MAX).collect()
}

/// Levenshtein distance of two short texts.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits() {
        let check = |a: &str, b: &str, expected: usize| assert_eq!(distance(a, b), expected);
        check("writeline", "writeline", 0);
        check("writelin", "writeline", 1);
        check("", "abc", 3);
        check("delay", "relay", 1);
    }
}
