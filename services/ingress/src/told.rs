//! The documents of activity types that cannot be used, and that the log has named.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// The keys that the log has named, so that it names each once.
#[derive(Debug, Default)]
pub(crate) struct Told(Mutex<BTreeSet<String>>);

impl Told {
    /// Those of these documents that the log has not named yet.
    pub(crate) fn news<'f>(
        &self,
        faulty: &'f BTreeMap<String, Vec<String>>,
    ) -> Vec<(&'f str, &'f [String])> {
        let now: BTreeSet<String> = faulty.keys().cloned().collect();
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *told, now);
        let news = faulty.iter().filter(|(key, _)| !before.contains(*key));
        news.map(|(key, flaws)| (key.as_str(), flaws.as_slice())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_names_each_document_once() {
        let told = Told::default();
        let mut faulty = BTreeMap::from([("a.1".to_owned(), vec!["no JSON".to_owned()])]);
        assert_eq!(told.news(&faulty), [("a.1", &["no JSON".to_owned()][..])]);
        assert!(told.news(&faulty).is_empty());
        faulty.insert("b.1".to_owned(), Vec::new());
        let keys: Vec<_> = told.news(&faulty).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["b.1"]);
        assert!(told.news(&BTreeMap::new()).is_empty());
        assert_eq!(told.news(&faulty).len(), 2, "mended, and wrong again");
    }
}
