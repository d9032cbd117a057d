//! Labels of definitions, which no planted bug changes.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::VersionId;
use store::{Error, Label, LabelKept, Labels};

use super::BrokenStore;

#[async_trait]
impl Labels for BrokenStore {
    async fn create_label(&self, label: &Label) -> Result<LabelKept, Error> {
        self.twin.create_label(label).await
    }

    async fn labels(&self) -> Result<Vec<Label>, Error> {
        self.twin.labels().await
    }

    async fn label(&self, id: &str) -> Result<Option<Label>, Error> {
        self.twin.label(id).await
    }

    async fn replace_label(&self, label: &Label) -> Result<LabelKept, Error> {
        self.twin.replace_label(label).await
    }

    async fn delete_label(&self, id: &str) -> Result<bool, Error> {
        self.twin.delete_label(id).await
    }

    async fn labels_of(
        &self,
        versions: &[VersionId],
    ) -> Result<BTreeMap<VersionId, Vec<String>>, Error> {
        self.twin.labels_of(versions).await
    }

    async fn set_labels(
        &self,
        version: &VersionId,
        labels: &[String],
    ) -> Result<Option<Vec<String>>, Error> {
        self.twin.set_labels(version, labels).await
    }
}
