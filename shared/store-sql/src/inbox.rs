//! Accepted commands.

use async_trait::async_trait;
use model::{CommandId, Timestamp};
use protocol::Message;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, EntityTrait as _, FromQueryResult as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, Statement, Value,
};
use store::{CommandFilter, Error, Inbox, NewInstance, OutboxRow, PendingCommand, Table, check};

use crate::codec::{count, unpack};
use crate::connect::SqlStore;
use crate::entity::pending::{Column, Entity, Model};
use crate::pipeline::{Work, WorkEnd};
use crate::search::bounded;
use crate::unreadable::Named;

/// Each way to address a command has an index on the bookmarks that finds only its bookmarks.
const WAKEABLE: &str = "SELECT p.* FROM pending_resumes AS p
    WHERE p.waiting AND p.accepted_at <= $1 AND (
        (p.hash IS NOT NULL AND p.instance_id IS NOT NULL AND EXISTS (SELECT 1 FROM bookmarks AS b
            WHERE b.hash = p.hash AND b.instance_id = p.instance_id AND b.created_at <= $1
            AND (p.bookmark_id IS NULL OR b.id = p.bookmark_id)
            AND (p.correlation_id IS NULL OR b.correlation_id = p.correlation_id)))
        OR (p.hash IS NOT NULL AND p.instance_id IS NULL AND p.correlation_id IS NOT NULL
            AND EXISTS (SELECT 1 FROM bookmarks AS b
            WHERE b.hash = p.hash AND b.correlation_id = p.correlation_id AND b.created_at <= $1
            AND (p.bookmark_id IS NULL OR b.id = p.bookmark_id)))
        OR (p.hash IS NOT NULL AND p.instance_id IS NULL AND p.correlation_id IS NULL
            AND EXISTS (SELECT 1 FROM bookmarks AS b
            WHERE b.hash = p.hash AND b.created_at <= $1
            AND (p.bookmark_id IS NULL OR b.id = p.bookmark_id)))
        OR (p.hash IS NULL AND p.bookmark_id IS NOT NULL AND EXISTS (SELECT 1 FROM bookmarks AS b
            WHERE b.id = p.bookmark_id AND b.created_at <= $1
            AND (p.instance_id IS NULL OR b.instance_id = p.instance_id)
            AND (p.correlation_id IS NULL OR b.correlation_id = p.correlation_id)))
        OR (p.hash IS NULL AND p.bookmark_id IS NULL AND p.instance_id IS NOT NULL
            AND EXISTS (SELECT 1 FROM bookmarks AS b
            WHERE b.instance_id = p.instance_id AND b.created_at <= $1
            AND (p.correlation_id IS NULL OR b.correlation_id = p.correlation_id)))
        OR EXISTS (SELECT 1 FROM instances AS i
            WHERE i.id = p.instance_id AND i.finished_at <= $1))
    ORDER BY p.accepted_at, p.id LIMIT $2";

const FORGET: &str = "DELETE FROM routed_events WHERE id IN (
        SELECT id FROM routed_events WHERE routed_at < $1 ORDER BY routed_at, id LIMIT $2)";

/// The commands that wait by hash are events.
const FORGET_WAITING: &str = "DELETE FROM pending_resumes WHERE waiting AND hash IS NOT NULL
    AND EXISTS (SELECT 1 FROM routed_events AS r WHERE r.id = pending_resumes.id)";

const IS_ROUTED: &str = "SELECT 1 AS found FROM routed_events WHERE id = $1";

#[async_trait]
impl Inbox for SqlStore {
    async fn accept_command(&self, command: PendingCommand) -> Result<bool, Error> {
        check::command(&command)?;
        Ok(self.run(Work::keep(&command)?).await? == WorkEnd::Done)
    }

    async fn wait(&self, command: PendingCommand) -> Result<(), Error> {
        check::command(&command)?;
        self.run(Work::wait(&command)?).await?;
        Ok(())
    }

    async fn settle(
        &self,
        id: &CommandId,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) -> Result<(), Error> {
        starts.iter().try_for_each(check::start)?;
        commands.iter().try_for_each(check::command)?;
        self.run(Work::settle(id, &starts, &commands)?).await?;
        Ok(())
    }

    async fn accepted(
        &self,
        filter: &CommandFilter,
        limit: u64,
    ) -> Result<Vec<PendingCommand>, Error> {
        let mut query = Entity::find();
        if let Some(id) = &filter.instance_id {
            query = query.filter(Column::InstanceId.eq(id.as_str()));
        }
        // As the conditions of the indexes have it.
        match filter.waiting {
            Some(true) => query = query.filter(Expr::cust("waiting")),
            Some(false) => query = query.filter(Expr::cust("NOT waiting")),
            None => {}
        }
        let query =
            query.order_by_asc(Column::AcceptedAt).order_by_asc(Column::Id).limit(bounded(limit));
        let found =
            self.tried(|| async { Ok(query.clone().all(&self.database.reader).await?) }).await?;
        Ok(self.readable(Table::Commands, found, named, Model::pending))
    }

    async fn unapplied(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error> {
        let found: Vec<(String, Vec<u8>)> = self
            .tried(|| async {
                Ok(Entity::find()
                    .select_only()
                    .columns([Column::Id, Column::Command])
                    .filter(Expr::cust("NOT waiting"))
                    .filter(Column::AcceptedAt.lt(before.as_millis()))
                    .order_by_asc(Column::AcceptedAt)
                    .order_by_asc(Column::Id)
                    .limit(bounded(limit))
                    .into_tuple()
                    .all(&self.database.reader)
                    .await?)
            })
            .await?;
        let read = |(_, command): Named| unpack("a kept command", &command);
        Ok(self.readable(Table::Commands, found, Named::clone, read))
    }

    async fn wakeable(&self, before: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error> {
        let at = before.as_millis();
        let database = &self.database.reader;
        let values: [Value; 2] = [at.into(), count(limit).into()];
        let statement =
            Statement::from_sql_and_values(database.get_database_backend(), WAKEABLE, values);
        let found = self
            .tried(|| async {
                Ok(Model::find_by_statement(statement.clone()).all(database).await?)
            })
            .await?;
        Ok(self.readable(Table::Commands, found, named, Model::pending))
    }

    async fn route(
        &self,
        id: &CommandId,
        now: Timestamp,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) -> Result<bool, Error> {
        starts.iter().try_for_each(check::start)?;
        commands.iter().try_for_each(check::command)?;
        Ok(self.run(Work::route(id, now, &starts, &commands)?).await? == WorkEnd::Done)
    }

    async fn is_routed(&self, id: &CommandId) -> Result<bool, Error> {
        let database = &self.database.reader;
        let backend = database.get_database_backend();
        let statement = Statement::from_sql_and_values(backend, IS_ROUTED, [id.as_str().into()]);
        self.tried(|| async { Ok(database.query_one_raw(statement.clone()).await?.is_some()) })
            .await
    }

    async fn forget_routed(&self, before: Timestamp, limit: u64) -> Result<u64, Error> {
        let database = &self.database.writer;
        self.tried(|| async { Ok(database.execute_unprepared(FORGET_WAITING).await?) }).await?;
        let values: [Value; 2] = [before.as_millis().into(), count(limit).into()];
        let statement =
            Statement::from_sql_and_values(database.get_database_backend(), FORGET, values);
        self.tried(|| async { Ok(database.execute_raw(statement.clone()).await?.rows_affected()) })
            .await
    }

    async fn overdue(&self, now: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error> {
        let found = self
            .tried(|| async {
                Ok(Entity::find()
                    .filter(Expr::cust("waiting"))
                    .filter(Column::ExpiresAt.lte(now.as_millis()))
                    .order_by_asc(Column::ExpiresAt)
                    .order_by_asc(Column::Id)
                    .limit(bounded(limit))
                    .all(&self.database.reader)
                    .await?)
            })
            .await?;
        Ok(self.readable(Table::Commands, found, named, Model::pending))
    }

    async fn bury(&self, id: &CommandId, now: Timestamp, dead: OutboxRow) -> Result<bool, Error> {
        Ok(self.run(Work::bury(id, now, &dead)?).await? == WorkEnd::Done)
    }
}

fn named(row: &Model) -> Named {
    (row.id.clone(), row.command.clone())
}
