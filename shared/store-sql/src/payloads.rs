//! Payloads: rows of parts. They are written beside the pipeline of bursts, a part at a time.

use async_trait::async_trait;
use model::{InstanceId, PayloadHash, Timestamp};
use sea_orm::{
    ConnectionTrait as _, DatabaseTransaction, DbErr, ExecResult, QueryResult, SqlErr, Statement,
    Value,
};
use store::{Cleared, Error, Nameless, Payload, Payloads};

use crate::access::Access;
use crate::codec::count;
use crate::connect::{SqlStore, commit};
use crate::failure::Failure;

const BEGIN: &str = "INSERT INTO payloads (id, hash, size, touched_at, place)
    VALUES ($1, NULL, 0, $2, $3) ON CONFLICT (id) DO NOTHING";
const WRITE: &str = "INSERT INTO payload_parts (payload_id, number, bytes) VALUES ($1, $2, $3)
    ON CONFLICT (payload_id, number) DO NOTHING";
/// One that has lost its name gets none any more: see `UNNAME`.
const COMPLETE: &str = "UPDATE payloads SET hash = $2, size = $3, touched_at = $4
    WHERE id = $1 AND size >= 0";
const TOUCH: &str = "UPDATE payloads SET touched_at = $2 WHERE hash = $1 AND touched_at <= $2";
/// The row of parts that are outside goes after them.
const DROP: &str = "DELETE FROM payloads WHERE id = $1 AND place IS NULL";
/// The sweep removes the parts, once they are old enough: see `UNNAME`.
const UNNAME_ONE: &str = "UPDATE payloads SET hash = NULL, size = -1
    WHERE id = $1 AND hash = $2 AND place IS NOT NULL";
const FORGET: &str = "DELETE FROM payloads WHERE id = $1 AND hash IS NULL";
const FIND: &str = "SELECT id, size, touched_at, place FROM payloads WHERE hash = $1";
const PART: &str = "SELECT bytes FROM payload_parts WHERE payload_id = $1 AND number = $2";
const USERS: &str = "SELECT instance_id FROM payload_uses WHERE hash = $1
    ORDER BY instance_id LIMIT $2";
/// The oldest payloads count as touched where an instance uses them.
const SEEN: &str = "UPDATE payloads SET touched_at = $3 WHERE id IN (
        SELECT id FROM payloads WHERE touched_at < $1 ORDER BY touched_at, id LIMIT $2)
    AND hash IS NOT NULL AND EXISTS (SELECT 1 FROM payload_uses AS u WHERE u.hash = payloads.hash)";
/// A burst that refers to one of these meanwhile has touched it: the condition on its time no longer
/// holds, so it stays.
const CLEAR: &str = "DELETE FROM payloads WHERE touched_at < $1 AND place IS NULL AND id IN (
        SELECT id FROM payloads WHERE touched_at < $1 ORDER BY touched_at, id LIMIT $2)
    AND NOT EXISTS (SELECT 1 FROM payload_uses AS u WHERE u.hash = payloads.hash)";
/// The same for rows whose parts are outside. Those whose parts cannot be removed come after all older
/// ones the next time, so that they hold nothing up.
const UNNAME: &str = "UPDATE payloads SET hash = NULL, size = -1, touched_at = $1
    WHERE touched_at < $1 AND place IS NOT NULL AND id IN (
        SELECT id FROM payloads WHERE touched_at < $1 ORDER BY touched_at, id LIMIT $2)
    AND NOT EXISTS (SELECT 1 FROM payload_uses AS u WHERE u.hash = payloads.hash)
    RETURNING id, place";

#[async_trait]
impl Payloads for SqlStore {
    async fn begin_payload(
        &self,
        id: &str,
        place: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let place = place.map(str::to_owned);
        self.written(BEGIN, vec![id.into(), now.as_millis().into(), place.into()]).await.map(drop)
    }

    async fn write_payload(&self, id: &str, number: u32, bytes: Vec<u8>) -> Result<(), Error> {
        self.written(WRITE, vec![id.into(), i64::from(number).into(), bytes.into()]).await.map(drop)
    }

    async fn complete_payload(
        &self,
        id: &str,
        hash: &PayloadHash,
        size: u64,
        now: Timestamp,
    ) -> Result<bool, Error> {
        self.tried(|| async {
            if let Some(is_own) = self.completed(id, hash, size, now).await? {
                return Ok(is_own);
            }
            // Another writer has completed the same bytes at the same moment.
            match self.completed(id, hash, size, now).await? {
                Some(is_own) => Ok(is_own),
                None => Err(Failure::from(DbErr::Custom(format!(
                    "the payload with the id {id} is not there any more"
                )))),
            }
        })
        .await
    }

    async fn payload(&self, hash: &PayloadHash) -> Result<Option<Payload>, Error> {
        let found = self.found(FIND, vec![hash.as_str().into()]).await?;
        let read = |row: &QueryResult| -> Result<Payload, DbErr> {
            let size: i64 = row.try_get("", "size")?;
            Ok(Payload {
                id: row.try_get("", "id")?,
                hash: hash.clone(),
                size: size.unsigned_abs(),
                touched_at: Timestamp::from_millis(row.try_get("", "touched_at")?),
                place: row.try_get("", "place")?,
            })
        };
        let payload = found.first().map(read).transpose();
        payload.map_err(|error| Failure::from(error).into_error())
    }

    async fn payload_part(&self, id: &str, number: u32) -> Result<Option<Vec<u8>>, Error> {
        let found = self.found(PART, vec![id.into(), i64::from(number).into()]).await?;
        let part = found.first().map(|row| row.try_get_by_index(0)).transpose();
        part.map_err(|error: DbErr| Failure::from(error).into_error())
    }

    async fn payload_users(
        &self,
        hash: &PayloadHash,
        limit: u64,
    ) -> Result<Vec<InstanceId>, Error> {
        let found = self.found(USERS, vec![hash.as_str().into(), count(limit).into()]).await?;
        let id = |row: &QueryResult| row.try_get_by_index::<String>(0).map(InstanceId::new);
        let ids: Result<_, DbErr> = found.iter().map(id).collect();
        ids.map_err(|error| Failure::from(error).into_error())
    }

    async fn clear_payloads(
        &self,
        before: Timestamp,
        now: Timestamp,
        limit: u64,
    ) -> Result<Cleared, Error> {
        let (before, limit) = (before.as_millis(), count(limit));
        let values = vec![before.into(), limit.into(), now.as_millis().into()];
        let used = self.written(SEEN, values).await?.rows_affected();
        let gone = self.written(CLEAR, vec![before.into(), limit.into()]).await?.rows_affected();
        let writer = &self.database.writer;
        let unnamed = self.rows_of(writer, UNNAME, vec![before.into(), limit.into()]).await?;
        let nameless = |row: &QueryResult| -> Result<Nameless, DbErr> {
            Ok(Nameless { id: row.try_get("", "id")?, place: row.try_get("", "place")? })
        };
        let nameless: Result<Vec<_>, DbErr> = unnamed.iter().map(nameless).collect();
        let nameless = nameless.map_err(|error| Failure::from(error).into_error())?;
        let seen = used + gone + nameless.len() as u64;
        Ok(Cleared { seen, removed: gone, nameless })
    }

    async fn unname_payload(&self, id: &str, hash: &PayloadHash) -> Result<(), Error> {
        self.written(UNNAME_ONE, vec![id.into(), hash.as_str().into()]).await.map(drop)
    }

    async fn forget_payload(&self, id: &str) -> Result<(), Error> {
        self.written(FORGET, vec![id.into()]).await.map(drop)
    }
}

impl SqlStore {
    /// One try to complete a payload: whether its name means the parts of this id. None if another one
    /// of the same bytes was completed meanwhile, or if it is not there.
    async fn completed(
        &self,
        id: &str,
        hash: &PayloadHash,
        size: u64,
        now: Timestamp,
    ) -> Result<Option<bool>, Failure> {
        let tx = self.begin().await?;
        let now = Value::from(now.as_millis());
        let found = Statement::from_sql_and_values(
            tx.get_database_backend(),
            FIND,
            [Value::from(hash.as_str())],
        );
        let known: Option<String> = match tx.query_one_raw(found).await? {
            Some(row) => Some(row.try_get("", "id")?),
            None => None,
        };
        let is_own = known.as_deref().is_none_or(|known| known == id);
        let is_done = match known {
            Some(_) => {
                if !is_own {
                    within(&tx, DROP, vec![id.into()]).await?;
                }
                within(&tx, TOUCH, vec![hash.as_str().into(), now]).await? > 0
            }
            None => {
                let size = i64::try_from(size).unwrap_or(i64::MAX);
                let values = vec![id.into(), hash.as_str().into(), size.into(), now];
                match within(&tx, COMPLETE, values).await {
                    Ok(changed) => changed > 0,
                    Err(error) if is_taken(&error) => return Ok(None),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        commit(tx).await?;
        Ok(is_done.then_some(is_own))
    }

    async fn written(&self, text: &'static str, values: Vec<Value>) -> Result<ExecResult, Error> {
        let database = &self.database.writer;
        let statement =
            Statement::from_sql_and_values(database.get_database_backend(), text, values);
        self.tried(|| async { Ok(database.execute_raw(statement.clone()).await?) }).await
    }

    async fn found(
        &self,
        text: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<QueryResult>, Error> {
        self.rows_of(&self.database.reader, text, values).await
    }

    async fn rows_of(
        &self,
        database: &Access,
        text: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<QueryResult>, Error> {
        let statement =
            Statement::from_sql_and_values(database.get_database_backend(), text, values);
        self.tried(|| async { Ok(database.query_all_raw(statement.clone()).await?) }).await
    }
}

async fn within(tx: &DatabaseTransaction, text: &str, values: Vec<Value>) -> Result<u64, DbErr> {
    let statement = Statement::from_sql_and_values(tx.get_database_backend(), text, values);
    Ok(tx.execute_raw(statement).await?.rows_affected())
}

fn is_taken(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_)))
}
