//! Labels of definitions in memory.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use model::{Definition, VersionId, limits};

use super::tables::Tables;
use super::{MemoryStore, Operation};
use crate::{Error, Label, LabelKept, Labels, check_label, check_version_labels};

#[async_trait]
impl Labels for MemoryStore {
    async fn create_label(&self, label: &Label) -> Result<LabelKept, Error> {
        check_label(label)?;
        self.run(Operation::CreateLabel, |tables| {
            if tables.has_other_of_its_name(label) {
                return Ok(LabelKept::NameTaken);
            }
            if tables.labels.len() >= limits::LABELS_MAX {
                return Ok(LabelKept::TooMany);
            }
            tables.labels.insert(label.id.clone(), label.clone());
            Ok(LabelKept::Done)
        })
        .await
    }

    async fn labels(&self) -> Result<Vec<Label>, Error> {
        self.run(Operation::Labels, |tables| {
            let mut labels: Vec<_> = tables.labels.values().cloned().collect();
            labels.sort_by_key(Label::normalized_name);
            Ok(labels)
        })
        .await
    }

    async fn label(&self, id: &str) -> Result<Option<Label>, Error> {
        self.run(Operation::Label, |tables| Ok(tables.labels.get(id).cloned())).await
    }

    async fn replace_label(&self, label: &Label) -> Result<LabelKept, Error> {
        check_label(label)?;
        self.run(Operation::ReplaceLabel, |tables| {
            let is_taken = tables.has_other_of_its_name(label);
            let Some(known) = tables.labels.get_mut(&label.id) else {
                return Ok(LabelKept::Unknown);
            };
            if is_taken {
                return Ok(LabelKept::NameTaken);
            }
            *known = label.clone();
            Ok(LabelKept::Done)
        })
        .await
    }

    async fn delete_label(&self, id: &str) -> Result<bool, Error> {
        self.run(Operation::DeleteLabel, |tables| {
            tables.version_labels.retain(|(_, label)| label != id);
            Ok(tables.labels.remove(id).is_some())
        })
        .await
    }

    async fn labels_of(
        &self,
        versions: &[VersionId],
    ) -> Result<BTreeMap<VersionId, Vec<String>>, Error> {
        self.run(Operation::LabelsOf, |tables| {
            let mut found: BTreeMap<VersionId, Vec<String>> = BTreeMap::new();
            for (version, label) in &tables.version_labels {
                if versions.contains(version) {
                    found.entry(version.clone()).or_default().push(label.clone());
                }
            }
            Ok(found)
        })
        .await
    }

    async fn set_labels(
        &self,
        version: &VersionId,
        labels: &[String],
    ) -> Result<Option<Vec<String>>, Error> {
        check_version_labels(labels)?;
        self.run(Operation::SetLabels, |tables| {
            if !tables.definitions.contains_key(version) {
                return Ok(None);
            }
            tables.drop_labels(version);
            let known = labels.iter().filter(|label| tables.labels.contains_key(*label));
            let known: BTreeSet<String> = known.cloned().collect();
            let rows = known.iter().map(|label| (version.clone(), label.clone()));
            tables.version_labels.extend(rows);
            Ok(Some(known.into_iter().collect()))
        })
        .await
    }
}

impl Tables {
    fn has_other_of_its_name(&self, label: &Label) -> bool {
        let name = label.normalized_name();
        let mut others = self.labels.values().filter(|other| other.id != label.id);
        others.any(|other| other.normalized_name() == name)
    }

    /// Whether a version has one of these labels; true if there are none.
    pub(super) fn has_label_of(&self, version: &VersionId, labels: &[String]) -> bool {
        let has = |label: &String| self.version_labels.contains(&(version.clone(), label.clone()));
        labels.is_empty() || labels.iter().any(has)
    }

    /// Takes all labels from a version.
    pub(super) fn drop_labels(&mut self, version: &VersionId) {
        self.version_labels.retain(|(of, _)| of != version);
    }

    /// Gives a version that is about to be stored the labels of the latest one, if it is new.
    pub(super) fn inherit_labels(&mut self, new: &Definition) {
        if self.definitions.contains_key(&new.id) {
            return;
        }
        self.drop_labels(&new.id);
        let Some(latest) = self.latest(&new.definition_id).map(|latest| latest.id.clone()) else {
            return;
        };
        let of_latest = self.version_labels.iter().filter(|(of, _)| *of == latest);
        let rows: Vec<_> = of_latest.map(|(_, label)| (new.id.clone(), label.clone())).collect();
        self.version_labels.extend(rows);
    }
}
