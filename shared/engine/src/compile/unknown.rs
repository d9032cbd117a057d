//! Activities of a type that does not exist.

use model::Map;
use serde_json::Value;

use super::{Compiler, elsewhere};
use crate::near::hint;
use crate::property::find;
use crate::{Reference, placeholder};

impl Compiler<'_> {
    /// Reports an activity of a type that does not exist. `is_restored`: it was in a placeholder.
    pub(super) fn unknown_type(
        &mut self,
        raw: &Map,
        type_name: &str,
        owner_path: &str,
        is_restored: bool,
    ) {
        let (id, _) = self.named(raw, type_name, owner_path);
        let message = if !placeholder::is(raw) {
            self.missing_type(raw, type_name)
        } else if let Some(missing) = find(raw, "missingTypeName").and_then(Value::as_str) {
            let found = match self.registry.get(missing) {
                Some(known) => format!("its type {} exists here", known.descriptor.type_name),
                None => self.missing_type(raw, missing),
            };
            format!(
                "write this activity anew, as its placeholder has no original \
                 (originalActivityJson): {found}"
            )
        } else {
            "write this activity anew: its placeholder has neither a type (missingTypeName) nor \
             the original (originalActivityJson)"
                .to_owned()
        };
        let origin = " (the server that exported this definition did not know it either)";
        let origin = if is_restored { origin } else { "" };
        self.findings.problem(Some(&id), Some("type"), format!("{message}{origin}"));
    }

    /// Says that a type does not exist, and what to use instead.
    fn missing_type(&self, raw: &Map, type_name: &str) -> String {
        let reference = Reference::of(raw, type_name);
        if reference.is_some_and(|reference| reference.means(self.definition)) {
            return self.circle(&self.definition.definition_id);
        }
        if let Some(reference) = Reference::ids(raw) {
            return format!(
                "there is no workflow {reference}, which {type_name} is to run: import and publish \
                 it first"
            );
        }
        let versions = self.library.versions_of(&self.scope.types, type_name);
        if !versions.is_empty() {
            let versions: Vec<_> = versions.iter().map(u32::to_string).collect();
            return format!(
                "there is no such version of the activity type {type_name}: use version {}",
                versions.join(" or ")
            );
        }
        let hint = match elsewhere::instead(type_name) {
            Some(advice) => format!(" here: {advice}"),
            None => self.library.namesakes(type_name).map_or_else(
                || {
                    hint(
                        &self
                            .registry
                            .near(type_name, self.library.names().chain(self.library.registered())),
                    )
                },
                |count| format!(", and {count} published workflows have this name: rename some"),
            ),
        };
        format!("there is no activity type {type_name}{hint}")
    }
}
