//! HTTP endpoints of several files that receive the same requests.

use std::collections::BTreeMap;

use serde_json::json;
use store::check;

use super::{Document, examine, library};

/// For documents with an HTTP endpoint that receives the requests of an earlier document: its number,
/// and the line of the mistake.
pub(crate) fn clashes(documents: &[Document]) -> Vec<(usize, String)> {
    let definitions: Vec<_> = documents.iter().map(|it| it.definition().ok()).collect();
    let library = library(&definitions.iter().flatten().cloned().collect::<Vec<_>>());
    let mut found = Vec::new();
    let mut seen = BTreeMap::new();
    for (number, definition) in definitions.iter().enumerate() {
        let Some(definition) = definition else { continue };
        for trigger in examine(definition, &library).triggers.stimuli {
            let Some(route) = check::route(&trigger) else { continue };
            let first = *seen.entry(route).or_insert(number);
            if first != number {
                let message = format!(
                    "workflow {} receives the same requests: give one of them another path or method",
                    documents[first].id()
                );
                let problem = json!({
                    "message": message, "activityId": trigger.activity_id, "property": "path"
                });
                let mistake = (number, documents[number].line(&problem));
                // One for all methods.
                if !found.contains(&mistake) {
                    found.push(mistake);
                }
            }
        }
    }
    found
}
