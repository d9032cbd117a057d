//! The activity types that definitions may use, found by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::near::near;
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
    /// The activity of every type that workers perform.
    pub(crate) performed: Option<Registered>,
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

    /// The registry with the activity of every type that workers perform.
    #[must_use]
    pub fn performing(mut self, activity: Box<dyn Activity>) -> Self {
        let descriptor = Arc::new(activity.descriptor());
        self.performed = Some(Registered { descriptor, activity: activity.into() });
        self
    }

    /// The descriptions of all types, by type name.
    pub fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.types.values().map(|registered| &*registered.descriptor)
    }

    /// The type of this name; `WriteLine` means `Elsa.WriteLine`, and `Elsa.ForEach<String>`, as
    /// Elsa names the types of its C# workflows, means `Elsa.ForEach`.
    pub(crate) fn get(&self, type_name: &str) -> Option<&Registered> {
        let type_name = match type_name.split_once('<') {
            Some((name, arguments)) if arguments.ends_with('>') => name,
            _ => type_name,
        };
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

    /// Up to three type names, or others of these, that are similar to this one.
    pub(crate) fn near<'n>(
        &self,
        type_name: &str,
        others: impl Iterator<Item = &'n str>,
    ) -> Vec<&'n str> {
        let wanted = bare(type_name);
        let names = self.types.keys().copied().chain(others);
        near(&wanted, names.map(|name| (bare(name), name)))
    }
}

fn bare(type_name: &str) -> String {
    const CHARS_MAX: usize = 64;
    let name = type_name.rsplit('.').next().unwrap_or(type_name);
    name.to_lowercase().chars().take(CHARS_MAX).collect()
}
