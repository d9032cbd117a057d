//! The id of the cluster that a database belongs to.

use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait as _, IntoActiveModel as _};
use store::Error;

use crate::connect::SqlStore;
use crate::entity::cluster::{Column, Entity, Model};

/// The key of the only row.
const ONE: i32 = 1;

impl SqlStore {
    /// The id of the cluster that this database belongs to; `fresh` from now on if it has none. All
    /// callers get the same id.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn cluster_id(&self, fresh: String) -> Result<String, Error> {
        let row = Model { one: ONE, id: fresh };
        let keep = OnConflict::column(Column::One).do_nothing().to_owned();
        self.tried(|| async {
            if let Some(row) = Entity::find_by_id(ONE).one(&self.database.writer).await? {
                return Ok(row.id);
            }
            Entity::insert(row.clone().into_active_model())
                .on_conflict(keep.clone())
                .exec_without_returning(&self.database.writer)
                .await?;
            // Another process may have been faster.
            let row = Entity::find_by_id(ONE).one(&self.database.writer).await?;
            row.map(|row| row.id).ok_or_else(|| {
                Error::Corrupt("the row of the table cluster is gone".to_owned()).into()
            })
        })
        .await
    }
}
