//! The versions of the definition with several publishers, as these were answered and as they are
//! stored.

use std::collections::BTreeMap;

use model::{Definition, Instance, VersionId};

use crate::definitions::CONTENDED;

/// A version, as in the answer to its publisher.
#[derive(Clone, Debug)]
pub(crate) struct Edition {
    id: VersionId,
    pub(crate) number: u32,
    line: String,
}

impl Edition {
    pub(crate) fn of(definition: &Definition) -> Self {
        let line = definition.root["text"].as_str().unwrap_or_default().to_owned();
        Self { id: definition.id.clone(), number: definition.version, line }
    }
}

/// Checks that no version has two contents, no number has two versions, and the newest version is
/// published.
pub(crate) fn check<'a>(
    editions: &[Edition],
    stored: &[Definition],
    instances: impl Iterator<Item = (&'a Instance, Vec<String>)>,
    complaints: &mut Vec<String>,
) {
    let stored: BTreeMap<_, _> =
        stored.iter().map(|definition| (definition.id.clone(), definition)).collect();
    let content = |id: &VersionId| stored.get(id).map(|stored| Edition::of(stored).line);
    for Edition { id, number, line } in editions {
        if content(id).as_ref() != Some(line) {
            let now = content(id);
            complaints.push(format!("version {number} ({id}) was {line:?} and is {now:?}"));
        }
    }
    for (instance, lines) in instances {
        let (id, version_id) = (&instance.id, &instance.version_id);
        if content(version_id).map(|line| vec![line]).as_ref() != Some(&lines) {
            let now = content(version_id);
            complaints.push(format!("{id} ran {version_id} as {lines:?}, which is {now:?}"));
        }
    }
    let mut numbers: Vec<u32> = stored.values().map(|definition| definition.version).collect();
    numbers.sort_unstable();
    if !numbers.iter().copied().eq(1..=u32::try_from(numbers.len()).unwrap()) {
        complaints.push(format!("the versions of {CONTENDED} are {numbers:?}"));
    }
    let published: Vec<u32> =
        stored.values().filter(|one| one.is_published).map(|one| one.version).collect();
    if !published.iter().eq(numbers.last()) {
        complaints.push(format!("of {numbers:?} of {CONTENDED}, {published:?} are published"));
    }
}
