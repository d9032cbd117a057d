//! Requests with an idempotency key.

use async_trait::async_trait;
use model::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};
use store::{Claim, Error, KeyedRequest, Requests, check};

use crate::connect::SqlStore;
use crate::entity::request::{Column, Entity, Model};

/// The number of tries of a claim when the row that blocked it disappears a moment later.
const TRIES: u32 = 3;

#[async_trait]
impl Requests for SqlStore {
    async fn claim(&self, request: &KeyedRequest, now: Timestamp) -> Result<Claim, Error> {
        check::keys([Some(request.id.as_str()), Some(&request.fingerprint)])?;
        for _ in 0..TRIES {
            if self.claimed(request, now).await? {
                return Ok(Claim::New);
            }
            let find = Entity::find_by_id(request.id.as_str());
            let found =
                self.tried(|| async { Ok(find.clone().one(&self.database.writer).await?) }).await?;
            match found {
                Some(row) if row.fingerprint == request.fingerprint => {
                    return Ok(Claim::Repeated(row.answer));
                }
                Some(_) => return Ok(Claim::Reused),
                None => {}
            }
        }
        Err(Error::Unavailable("an idempotency key is claimed and released all the time".into()))
    }

    async fn keep_answer(&self, request: &KeyedRequest, answer: Vec<u8>) -> Result<(), Error> {
        let update = Entity::update_many()
            .col_expr(Column::Answer, Expr::value(answer))
            .filter(Column::Id.eq(request.id.as_str()))
            .filter(Column::Fingerprint.eq(request.fingerprint.as_str()));
        self.tried(|| async {
            update.clone().exec(&self.database.writer).await?;
            Ok(())
        })
        .await
    }

    async fn release(&self, request: &KeyedRequest) -> Result<(), Error> {
        let delete = Entity::delete_many()
            .filter(Column::Id.eq(request.id.as_str()))
            .filter(Column::Fingerprint.eq(request.fingerprint.as_str()))
            .filter(Column::Answer.is_null());
        self.tried(|| async {
            delete.clone().exec(&self.database.writer).await?;
            Ok(())
        })
        .await
    }

    async fn forget_requests(&self, now: Timestamp, limit: u64) -> Result<u64, Error> {
        let expired = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::ExpiresAt.lte(now.as_millis()))
            .order_by_asc(Column::ExpiresAt)
            .limit(limit);
        self.tried(|| async {
            let ids: Vec<String> = expired.clone().into_tuple().all(&self.database.writer).await?;
            if ids.is_empty() {
                return Ok(0);
            }
            let gone = Entity::delete_many()
                .filter(Column::Id.is_in(ids))
                .filter(Column::ExpiresAt.lte(now.as_millis()))
                .exec(&self.database.writer)
                .await?;
            Ok(gone.rows_affected)
        })
        .await
    }
}

impl SqlStore {
    /// Writes the row of a request, replacing an expired one; false if a row that is still valid
    /// blocks it.
    async fn claimed(&self, request: &KeyedRequest, now: Timestamp) -> Result<bool, Error> {
        let row = Model {
            id: request.id.to_string(),
            fingerprint: request.fingerprint.clone(),
            answer: None,
            expires_at: request.expires_at.as_millis(),
        };
        let replace = OnConflict::column(Column::Id)
            .update_columns([Column::Fingerprint, Column::Answer, Column::ExpiresAt])
            .action_and_where(Expr::col((Entity, Column::ExpiresAt)).lte(now.as_millis()))
            .to_owned();
        self.tried(|| async {
            let written = Entity::insert(row.clone().into_active_model())
                .on_conflict(replace.clone())
                .exec_without_returning(&self.database.writer)
                .await?;
            Ok(written > 0)
        })
        .await
    }
}
