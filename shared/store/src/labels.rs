//! Labels of definitions.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::{VersionId, limits};

use crate::{Error, check};

/// A label, which versions of definitions can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its id, which never changes.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its purpose.
    pub description: Option<String>,
    /// Its colour, as `#rrggbb`.
    pub color: Option<String>,
}

impl Label {
    /// The name in lower case; no other label has it.
    #[must_use]
    pub fn normalized_name(&self) -> String {
        self.name.to_lowercase()
    }
}

/// The result of making or changing a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKept {
    /// The label is stored.
    Done,
    /// Nothing is stored: another label has the name, in whatever case.
    NameTaken,
    /// Nothing is stored: there are [`limits::LABELS_MAX`] labels.
    TooMany,
    /// Nothing is stored: there is no label with the id.
    Unknown,
}

/// Labels, and the versions that have them. A version that is new has the labels of the version that
/// was the latest of its definition until then; one that is deleted has none any more.
#[async_trait]
pub trait Labels: Send + Sync {
    /// Adds a label with a new id.
    ///
    /// # Errors
    /// [`Error::Refused`] when [`check_label`] refuses it.
    async fn create_label(&self, label: &Label) -> Result<LabelKept, Error>;

    /// All labels, by their names in lower case.
    ///
    /// # Errors
    /// See [`Error`].
    async fn labels(&self) -> Result<Vec<Label>, Error>;

    /// The label with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn label(&self, id: &str) -> Result<Option<Label>, Error>;

    /// Puts a label in the place of the one with its id.
    ///
    /// # Errors
    /// [`Error::Refused`] when [`check_label`] refuses it.
    async fn replace_label(&self, label: &Label) -> Result<LabelKept, Error>;

    /// Removes a label, also from the versions that have it; false when there is none with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_label(&self, id: &str) -> Result<bool, Error>;

    /// The ids of the labels that these versions have, in order; a version without labels is left
    /// out.
    ///
    /// # Errors
    /// See [`Error`].
    async fn labels_of(
        &self,
        versions: &[VersionId],
    ) -> Result<BTreeMap<VersionId, Vec<String>>, Error>;

    /// Gives a version these labels instead of those that it has. Ids without a label are left out.
    /// Returns the ids of its labels, in order; none when there is no such version.
    ///
    /// # Errors
    /// [`Error::Refused`] when there are more than [`limits::VERSION_LABELS_MAX`] ids.
    async fn set_labels(
        &self,
        version: &VersionId,
        labels: &[String],
    ) -> Result<Option<Vec<String>>, Error>;
}

/// Checks a label.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn check_label(label: &Label) -> Result<(), Error> {
    check::keys([Some(label.id.as_str())])?;
    check::texts([label.description.as_deref()])?;
    let Label { name, description, color, .. } = label;
    let is_name = !name.trim().is_empty()
        && name.trim() == name
        && name.chars().count() <= limits::LABEL_NAME_CHARS_MAX
        && !name.chars().any(char::is_control);
    if !is_name {
        return Err(Error::Refused(format!(
            "name is not that of a label: use 1 to {} characters without control characters and \
             without spaces at its ends",
            limits::LABEL_NAME_CHARS_MAX
        )));
    }
    let bytes = description.as_ref().map_or(0, String::len);
    if bytes > limits::LABEL_DESCRIPTION_BYTES_MAX {
        return Err(Error::Refused(format!(
            "description has {bytes} bytes: use at most {}",
            limits::LABEL_DESCRIPTION_BYTES_MAX
        )));
    }
    match color {
        Some(color) if !is_color(color) => {
            let begin: String = color.chars().take(40).collect();
            Err(Error::Refused(format!("color is {begin:?}: use #rrggbb, such as #1a7f37")))
        }
        _ => Ok(()),
    }
}

/// Checks the labels of a version.
///
/// # Errors
/// [`Error::Refused`] when there are too many.
pub fn check_version_labels(labels: &[String]) -> Result<(), Error> {
    if labels.len() > limits::VERSION_LABELS_MAX {
        return Err(Error::Refused(format!(
            "labelIds has {} items: a version has at most {} labels",
            labels.len(),
            limits::VERSION_LABELS_MAX
        )));
    }
    check::keys(labels.iter().map(|label| Some(label.as_str())))
}

fn is_color(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}
