//! The registry of the expression languages.

use std::time::Duration;

use engine::Languages;

use crate::{JavaScript, Liquid};

/// Every language, with the limits of `model::limits`.
#[must_use]
pub fn all() -> Languages {
    with_script_time(model::limits::SCRIPT_TIME_MAX)
}

/// Every language; a script or template may run this long.
#[must_use]
pub fn with_script_time(time_max: Duration) -> Languages {
    Languages::new(vec![
        Box::new(JavaScript::with_time(time_max)),
        Box::new(Liquid::with_time(time_max)),
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
        assert!(languages.get("CSharp").is_none());
    }
}
