//! The table `bookmarks`.

use model::{Bookmark, Timestamp};
use sea_orm::entity::prelude::*;
use store::{Error, StoredBookmark};

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "bookmarks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub instance_id: String,
    pub definition_id: String,
    pub correlation_id: Option<String>,
    pub shard: i32,
    pub name: String,
    pub hash: String,
    pub activity_id: String,
    pub activity_node_id: String,
    pub activity_instance_id: String,
    pub payload: String,
    pub route_template: Option<String>,
    pub created_at: i64,
    pub due_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(stored: &StoredBookmark) -> Result<Self, Error> {
        let bookmark = &stored.bookmark;
        Ok(Self {
            id: bookmark.id.to_string(),
            instance_id: stored.instance_id.to_string(),
            definition_id: stored.definition_id.to_string(),
            correlation_id: stored.correlation_id.clone(),
            shard: stored.shard,
            name: bookmark.name.clone(),
            hash: bookmark.hash.clone(),
            activity_id: bookmark.activity_id.to_string(),
            activity_node_id: bookmark.activity_node_id.clone(),
            activity_instance_id: bookmark.activity_instance_id.clone(),
            payload: json(&bookmark.payload)?,
            route_template: stored.route_template(),
            created_at: bookmark.created_at.as_millis(),
            due_at: bookmark.due_at.map(Timestamp::as_millis),
        })
    }

    pub(crate) fn stored(self) -> Result<StoredBookmark, Error> {
        Ok(StoredBookmark {
            instance_id: self.instance_id.into(),
            definition_id: self.definition_id.into(),
            correlation_id: self.correlation_id,
            shard: self.shard,
            bookmark: Bookmark {
                payload: parse("a bookmark's payload", &self.payload)?,
                id: self.id.into(),
                name: self.name,
                hash: self.hash,
                activity_id: self.activity_id.into(),
                activity_node_id: self.activity_node_id,
                activity_instance_id: self.activity_instance_id,
                created_at: Timestamp::from_millis(self.created_at),
                due_at: self.due_at.map(Timestamp::from_millis),
            },
        })
    }
}
