//! Definitions, their triggers and schedules.

use std::str::FromStr;

use async_trait::async_trait;
use model::{Definition, DefinitionId, Schedule, Trigger, VersionId};

use crate::{Error, Listed, Page};

/// Which version of a definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionOption {
    /// The newest.
    #[default]
    Latest,
    /// The published one.
    Published,
    /// The newest, if it is a draft.
    Draft,
    /// The newest or the published ones.
    LatestOrPublished,
    /// The newest, if it is published.
    LatestAndPublished,
    /// All.
    All,
    /// This number.
    Number(u32),
}

impl FromStr for VersionOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "" | "Latest" => Self::Latest,
            "Published" => Self::Published,
            "Draft" => Self::Draft,
            "LatestOrPublished" => Self::LatestOrPublished,
            "LatestAndPublished" => Self::LatestAndPublished,
            "AllVersions" => Self::All,
            number => Self::Number(number.parse().map_err(|error| {
                format!(
                    "{text:?} is no version ({error}): use AllVersions, Draft, Latest, Published, \
                     LatestOrPublished, LatestAndPublished or a number"
                )
            })?),
        })
    }
}

/// Which definitions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefinitionFilter {
    /// Any of these; all when empty.
    pub definition_ids: Vec<DefinitionId>,
    /// Any of these versions by id; all when empty.
    pub version_ids: Vec<VersionId>,
    /// Which versions of each.
    pub version: VersionOption,
    /// Part of the name or id, in any case.
    pub search: Option<String>,
    /// This name exactly.
    pub name: Option<String>,
    /// System ones or the others.
    pub is_system: Option<bool>,
    /// Smallest name first; otherwise newest first.
    pub by_name: bool,
}

/// A version to publish, with what starts it.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// The version; saved with `is_latest` and `is_published`, all others of it without.
    pub definition: Definition,
    /// Its triggers: they replace those of earlier versions.
    pub triggers: Vec<Trigger>,
    /// Its schedules: they replace those of earlier versions. One whose recurrence is unchanged
    /// goes on where it was.
    pub schedules: Vec<Schedule>,
}

/// What became of a publication.
#[derive(Clone, Debug, PartialEq)]
pub enum Published {
    /// It is published.
    Done,
    /// Another definition has this HTTP trigger already.
    RouteTaken {
        /// The trigger of the other.
        by: Box<Trigger>,
    },
}

/// A published version, without its graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedVersion {
    /// The definition.
    pub definition_id: DefinitionId,
    /// Its published version.
    pub version_id: VersionId,
    /// That version's number.
    pub version: u32,
}

/// Definitions.
#[async_trait]
pub trait Definitions: Send + Sync {
    /// Saves a draft under its version id; if it is the latest, no other version of it is. Never
    /// changes a published version.
    ///
    /// # Errors
    /// [`Error::Refused`] when the version is published, or another has its number.
    async fn save(&self, definition: &Definition) -> Result<(), Error>;

    /// Publishes a version: its row, triggers and schedules, in one transaction.
    ///
    /// # Errors
    /// See [`Error`].
    async fn publish(&self, publication: Publication) -> Result<Published, Error>;

    /// Takes the published version back: nothing starts it any more. `None` when none was.
    ///
    /// # Errors
    /// See [`Error`].
    async fn retract(&self, id: &DefinitionId) -> Result<Option<Definition>, Error>;

    /// Removes all versions, triggers and schedules; how many versions there were.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_definition(&self, id: &DefinitionId) -> Result<u64, Error>;

    /// Removes one version; false when it is not there. If it was the latest, the newest that is
    /// left becomes it.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_version(&self, id: &VersionId) -> Result<bool, Error>;

    /// The version of this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn version(&self, id: &VersionId) -> Result<Option<Definition>, Error>;

    /// One version of a definition.
    ///
    /// # Errors
    /// See [`Error`].
    async fn definition(
        &self,
        id: &DefinitionId,
        version: VersionOption,
    ) -> Result<Option<Definition>, Error>;

    /// One page of definitions.
    ///
    /// # Errors
    /// See [`Error`].
    async fn definitions(
        &self,
        filter: &DefinitionFilter,
        page: Page,
    ) -> Result<Listed<Definition>, Error>;

    /// Which versions are published, of all definitions.
    ///
    /// # Errors
    /// See [`Error`].
    async fn published_versions(&self) -> Result<Vec<PublishedVersion>, Error> {
        let filter =
            DefinitionFilter { version: VersionOption::Published, ..DefinitionFilter::default() };
        let mut found = Vec::new();
        loop {
            let skip = u64::try_from(found.len()).unwrap_or(u64::MAX);
            let page = self.definitions(&filter, Page::new(skip, 100)).await?;
            let is_last = page.items.len() < 100;
            found.extend(page.items.into_iter().map(|definition| PublishedVersion {
                definition_id: definition.definition_id,
                version_id: definition.id,
                version: definition.version,
            }));
            if is_last {
                return Ok(found);
            }
        }
    }

    /// Triggers of published definitions with this hash.
    ///
    /// # Errors
    /// See [`Error`].
    async fn triggers(&self, hash: &str) -> Result<Vec<Trigger>, Error>;

    /// Triggers of published definitions with this stimulus name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn triggers_named(&self, name: &str) -> Result<Vec<Trigger>, Error>;

    /// All schedules, those that are over included.
    ///
    /// # Errors
    /// See [`Error`].
    async fn schedules(&self) -> Result<Vec<Schedule>, Error>;
}
