//! The values of the activity that the journal keeps.

use serde_json::Value;

use super::Step;

impl Step<'_, '_> {
    /// Keeps an evaluated input of this activity for the journal.
    pub(crate) fn keep_input(&mut self, name: &str, value: &Value) {
        let configured = !self.draft.env.installation.leaves_out_values;
        if self.number > 0 && self.node.keeping.keeps_input(name, configured) {
            self.keep(false, name, value);
        }
    }

    /// Keeps an output of this activity for the journal.
    pub(crate) fn keep_output(&mut self, name: &str, value: &Value) {
        let configured = !self.draft.env.installation.leaves_out_values;
        let is_known = self.number > 0 && self.hidden_reads.get() == 0;
        if is_known && self.node.keeping.keeps_output(name, configured) {
            self.keep(true, name, value);
        }
    }

    fn keep(&mut self, is_output: bool, name: &str, value: &Value) {
        let bytes = self.draft.recorder.keep(self.number, is_output, name, value);
        self.draft.bytes = self.draft.bytes.saturating_add(bytes);
        self.draft.journal_bytes = self.draft.journal_bytes.saturating_add(bytes);
    }
}
