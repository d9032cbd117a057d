//! The registry of the expression languages.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engine::Languages;
use model::ScriptLibrary;

use crate::config::Config;
use crate::{JavaScript, Liquid, Secret, Sql};

/// Every language, with the limits of `model::limits`.
#[must_use]
pub fn all() -> Languages {
    with(model::limits::SCRIPT_TIME_MAX, &BTreeMap::new(), &[])
}

/// Every language; a script or template may run this long, and read these values of the
/// configuration. Scripts find these libraries under their global names.
#[must_use]
pub fn with(
    time_max: Duration,
    config: &BTreeMap<String, String>,
    libraries: &[ScriptLibrary],
) -> Languages {
    let config = Arc::new(Config::new(config));
    Languages::new(vec![
        Box::new(JavaScript::with(time_max, Arc::clone(&config), libraries)),
        Box::new(Liquid::with(time_max, config)),
        Box::new(Sql),
        Box::new(Secret),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_found_by_their_elsa_names() {
        let languages = all();
        assert!(languages.get("JavaScript").is_some());
        assert!(languages.get("Liquid").is_some());
        assert!(languages.get("Sql").is_some());
        assert!(languages.get("Secret").is_some());
        assert!(languages.get("CSharp").is_none());
    }
}
