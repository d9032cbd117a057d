//! The table `journal`: one row for each burst.

use model::Entry;
use sea_orm::entity::prelude::*;
use store::Error;

use crate::codec::{count, packed, unpack};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "journal")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub instance_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub first_sequence: i64,
    pub entry_count: i64,
    pub entries: Vec<u8>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    /// The row of a burst; none if the burst has no entries. The entries are stored without field
    /// names, which would take more than half of the bytes.
    pub(crate) fn of(instance_id: &str, entries: &[Entry]) -> Result<Option<Self>, Error> {
        let Some(first) = entries.first() else { return Ok(None) };
        Ok(Some(Self {
            instance_id: instance_id.to_owned(),
            first_sequence: count(first.sequence),
            entry_count: count(entries.len()),
            entries: packed(&entries)?,
        }))
    }

    pub(crate) fn entries(&self) -> Result<Vec<Entry>, Error> {
        unpack("a journal row", &self.entries)
    }
}
