//! The table `instances`.
//!
//! To add a column: 1. a migration in `schema/migration`, 2. a field of [`Model`], 3. its line in
//! [`Model::of`] and in [`Model::instance`]. Every burst writes the new column, unless [`ACCEPTED`]
//! names it.

use model::{Instance, InstanceId, Parent, Timestamp};
use protocol::Message;
use sea_orm::entity::prelude::*;
use store::{Error, Loaded, check};

use crate::codec::{pack, unpack};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "instances")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub definition_id: String,
    pub version_id: String,
    pub definition_version: i64,
    pub version: i64,
    pub status: String,
    pub correlation_id: Option<String>,
    pub name: Option<String>,
    pub parent_instance_id: Option<String>,
    pub parent_bookmark_id: Option<String>,
    pub incidents: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub finished_at: Option<i64>,
    pub activation_key: Option<String>,
    pub search: String,
    pub start_command: Option<Vec<u8>>,
    pub state: Vec<u8>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Columns that the accepted row sets once.
pub(crate) const ACCEPTED: [Column; 5] = [
    Column::Id,
    Column::DefinitionId,
    Column::ParentInstanceId,
    Column::ParentBookmarkId,
    Column::CreatedAt,
];

/// Columns that only conditions use. Reading leaves them empty: this text takes the place of the
/// column.
pub(crate) const UNREAD: [(Column, &str); 2] =
    [(Column::ActivationKey, "NULL"), (Column::Search, "''")];

impl Model {
    /// The row of an instance. The activation key is held while the instance is unfinished.
    pub(crate) fn of(
        instance: Instance,
        activation_key: Option<String>,
        start_command: Option<&Message>,
    ) -> Result<Self, Error> {
        let search = check::instance_search_text(&instance);
        let (parent_instance_id, parent_bookmark_id) = match instance.parent {
            Some(Parent { instance_id, bookmark_id, .. }) => (Some(instance_id), bookmark_id),
            None => (None, None),
        };
        Ok(Self {
            id: instance.id.into(),
            definition_id: instance.definition_id.into(),
            version_id: instance.version_id.into(),
            definition_version: instance.definition_version.into(),
            version: instance.version,
            status: instance.status.as_str().to_owned(),
            correlation_id: instance.correlation_id,
            name: instance.name,
            parent_instance_id: parent_instance_id.map(Into::into),
            parent_bookmark_id: parent_bookmark_id.map(Into::into),
            incidents: instance.incidents.into(),
            created_at: instance.created_at.as_millis(),
            updated_at: instance.updated_at.as_millis(),
            finished_at: instance.finished_at.map(Timestamp::as_millis),
            activation_key: activation_key.filter(|_| !instance.status.is_final()),
            search,
            start_command: start_command.map(pack).transpose()?,
            state: instance.state,
        })
    }

    /// The instance of a row.
    pub(crate) fn instance(self) -> Result<Instance, Error> {
        let id = InstanceId::new(self.id);
        let corrupt = |what: String| Error::Corrupt(format!("instance {id}: {what}"));
        let small = |number: i64| u32::try_from(number).map_err(|error| corrupt(error.to_string()));
        let bookmark_id = self.parent_bookmark_id.map(Into::into);
        let parent = self.parent_instance_id.map(|instance_id| Parent {
            instance_id: instance_id.into(),
            bookmark_id,
            activity_instance_id: None,
        });
        Ok(Instance {
            definition_id: self.definition_id.into(),
            version_id: self.version_id.into(),
            definition_version: small(self.definition_version)?,
            version: self.version,
            status: self.status.parse().map_err(corrupt)?,
            correlation_id: self.correlation_id,
            name: self.name,
            parent,
            incidents: small(self.incidents)?,
            created_at: Timestamp::from_millis(self.created_at),
            updated_at: Timestamp::from_millis(self.updated_at),
            finished_at: self.finished_at.map(Timestamp::from_millis),
            state: self.state,
            id,
        })
    }

    /// The instance of a row, with its start command if it still has one.
    pub(crate) fn loaded(mut self) -> Result<Loaded, Error> {
        let command = self.start_command.take();
        let command = command.map(|command| unpack("a start command", &command)).transpose()?;
        Ok(Loaded { instance: self.instance()?, command })
    }
}
