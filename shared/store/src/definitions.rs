//! Definitions, their triggers and schedules.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use model::{Definition, DefinitionId, Schedule, Trigger, VersionId};

use crate::{Error, Listed, Page, SearchableFilter, SearchableNames};

/// A selection among the versions of a definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionOption {
    /// The latest.
    #[default]
    Latest,
    /// The published one.
    Published,
    /// The latest, if it is not published.
    Draft,
    /// The latest and the published ones.
    LatestOrPublished,
    /// The latest, if it is published.
    LatestAndPublished,
    /// All.
    All,
    /// This number.
    Number(u32),
}

/// As it is read.
impl fmt::Display for VersionOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Latest => "Latest",
            Self::Published => "Published",
            Self::Draft => "Draft",
            Self::LatestOrPublished => "LatestOrPublished",
            Self::LatestAndPublished => "LatestAndPublished",
            Self::All => "AllVersions",
            Self::Number(number) => return write!(f, "{number}"),
        })
    }
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
            number => match number.parse() {
                Ok(number) => Self::Number(number),
                Err(_) => {
                    return Err(format!(
                        "{text:?} is not a version: use AllVersions, Draft, Latest, Published, \
                         LatestOrPublished, LatestAndPublished or a whole number from 0 to {}",
                        u32::MAX
                    ));
                }
            },
        })
    }
}

/// A selection of definitions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefinitionFilter {
    /// Any of these; all when empty.
    pub definition_ids: Vec<DefinitionId>,
    /// Any of these versions by id; all when empty.
    pub version_ids: Vec<VersionId>,
    /// These versions of each.
    pub version: VersionOption,
    /// Part of the name or id, in any case.
    pub search: Option<String>,
    /// This name exactly.
    pub name: Option<String>,
    /// Only system definitions, or only the others.
    pub is_system: Option<bool>,
    /// Versions with any of these labels, by id; all when empty.
    pub labels: Vec<String>,
    /// In this order.
    pub order: DefinitionOrder,
}

/// An order of definitions; ties are broken by the newest version, then by definition id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DefinitionOrder {
    /// By this column.
    pub by: DefinitionColumn,
    /// Smallest first.
    pub ascending: bool,
}

/// The columns that order definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefinitionColumn {
    /// The time of the first save; a version without one is the oldest.
    #[default]
    CreatedAt,
    /// The name; no name is smaller than any.
    Name,
    /// The number of the version.
    Version,
}

/// The latest version that a change starts from. If its base is no longer the latest version, the
/// change is not made: its result is `Overtaken`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// Any version or none: nothing is compared.
    #[default]
    Any,
    /// The definition has no version.
    Nothing,
    /// This version with this content.
    Version {
        /// The version.
        id: VersionId,
        /// Its [`Definition::content_hash`].
        content_hash: String,
        /// Whether it was immutable.
        is_immutable: bool,
    },
}

impl Base {
    /// This version as a base; [`Base::Nothing`] if there is none.
    #[must_use]
    pub fn of(latest: Option<&Definition>) -> Self {
        let Some(latest) = latest else { return Self::Nothing };
        Self::Version {
            id: latest.id.clone(),
            content_hash: latest.content_hash(),
            is_immutable: latest.is_immutable(),
        }
    }

    /// Whether the change may be made when this is the latest version.
    #[must_use]
    pub fn holds(&self, latest: Option<&Definition>) -> bool {
        *self == Self::Any || *self == Self::of(latest)
    }
}

/// The result of saving a draft.
#[derive(Clone, Debug, PartialEq)]
pub enum Saved {
    /// The draft is stored.
    Done,
    /// Nothing is stored: the latest version is not the [`Base`].
    Overtaken {
        /// The latest version; none when the definition has none.
        by: Option<Box<Definition>>,
    },
}

/// A version to publish, and its triggers and schedules.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// The version, with `published_at`. It is stored with `is_latest` and `is_published`, every
    /// other version of its definition without.
    pub definition: Definition,
    /// The version that the change starts from.
    pub base: Base,
    /// Its triggers: they replace those of earlier versions.
    pub triggers: Vec<Trigger>,
    /// Its schedules: they replace those of earlier versions. A schedule with an unchanged
    /// recurrence keeps its next time.
    pub schedules: Vec<Schedule>,
}

/// The result of a publication.
#[derive(Clone, Debug, PartialEq)]
pub enum Published {
    /// The version is published.
    Done,
    /// Nothing is stored: another definition has this HTTP route.
    RouteTaken {
        /// The trigger of the other definition.
        by: Box<Trigger>,
    },
    /// Nothing is stored: the latest version is not the [`Base`], or a version with a higher
    /// number is published.
    Overtaken {
        /// The latest, or the published version; none when the definition has none.
        by: Option<Box<Definition>>,
    },
}

/// The result of retracting a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Retracted {
    /// This version is no longer published.
    Done(Box<Definition>),
    /// Nothing changed: no version is published.
    NotPublished,
    /// Nothing changed: the latest version is not the [`Base`].
    Overtaken,
}

/// The result of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// This many versions are gone.
    Done {
        /// 0 when there was nothing to delete.
        versions: u64,
    },
    /// Nothing is deleted: unfinished instances run it.
    InUse {
        /// At least this many.
        instances: u64,
    },
    /// Nothing is deleted: the latest version is not the [`Base`].
    Overtaken,
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
    /// Saves a draft under its version id. If it is the latest version, no other version of its
    /// definition stays the latest. A new version takes along the labels of the latest one. An immutable version is never changed; a draft that is saved
    /// with `published_at` becomes one, without being published.
    ///
    /// # Errors
    /// [`Error::Refused`] when the version is immutable, or when another version has its number.
    async fn save(&self, definition: &Definition, base: &Base) -> Result<Saved, Error>;

    /// Publishes versions, each with its row, triggers and schedules, in this order and in one
    /// transaction: all of them or none. An immutable version is published again only with the
    /// content that it has.
    ///
    /// # Errors
    /// [`Error::Refused`] when a version is immutable and has other content, or when another
    /// version has its number.
    async fn publish_all(&self, publications: Vec<Publication>) -> Result<Published, Error>;

    /// Publishes one version, as [`Definitions::publish_all`] does.
    ///
    /// # Errors
    /// As [`Definitions::publish_all`].
    async fn publish(&self, publication: Publication) -> Result<Published, Error> {
        self.publish_all(vec![publication]).await
    }

    /// Retracts the published version: nothing starts it any more.
    ///
    /// # Errors
    /// See [`Error`].
    async fn retract(&self, id: &DefinitionId, base: &Base) -> Result<Retracted, Error>;

    /// Removes all versions, triggers and schedules, if no unfinished instance is of this
    /// definition. From then on starts of these versions are refused ([`crate::Accepted::Gone`],
    /// [`crate::Commit::Gone`]): one transaction decides between a start and a deletion.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_definition(&self, id: &DefinitionId, base: &Base) -> Result<Deleted, Error>;

    /// Removes one version, if no unfinished instance runs it; starts of it are refused from then
    /// on. If it was the latest, the remaining version with the highest number becomes the latest.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_version(&self, id: &VersionId) -> Result<Deleted, Error>;

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

    /// The published versions of all definitions.
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

    /// The searchable variables of all versions that were ever saved.
    ///
    /// # Errors
    /// See [`Error`].
    async fn searchable(&self, filter: &SearchableFilter) -> Result<SearchableNames, Error>;

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

    /// All schedules, including those without a next time.
    ///
    /// # Errors
    /// See [`Error`].
    async fn schedules(&self) -> Result<Vec<Schedule>, Error>;
}
