//! SeaORM's statements on one pool, directly or through a pooler.
//!
//! A pooler such as PgBouncer lends a connection for one transaction. The driver prepares a statement
//! and runs it in two steps, so behind a pooler each statement needs a transaction of its own.

use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::{
    ConnectionTrait, DatabaseBackend, DatabaseConnection, DatabaseTransaction, DbErr, ExecResult,
    QueryResult, Statement, TransactionOptions, TransactionTrait as _,
};

/// A pool for SeaORM's statements.
pub(crate) struct Access {
    pool: DatabaseConnection,
    /// The statements with which each transaction begins, behind a pooler.
    opening: Option<Arc<str>>,
}

impl Access {
    pub(crate) fn new(pool: DatabaseConnection, opening: Option<Arc<str>>) -> Self {
        Self { pool, opening }
    }

    /// Begins a transaction.
    pub(crate) async fn begin(
        &self,
        options: TransactionOptions,
    ) -> Result<DatabaseTransaction, DbErr> {
        let tx = self.pool.begin_with_options(options).await?;
        if let Some(opening) = &self.opening {
            tx.execute_unprepared(opening).await?;
        }
        Ok(tx)
    }

    /// The transaction of one statement, behind a pooler.
    async fn own(&self) -> Result<Option<DatabaseTransaction>, DbErr> {
        match self.opening {
            Some(_) => self.begin(TransactionOptions::default()).await.map(Some),
            None => Ok(None),
        }
    }
}

#[async_trait]
impl ConnectionTrait for Access {
    fn get_database_backend(&self) -> DatabaseBackend {
        self.pool.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let Some(tx) = self.own().await? else { return self.pool.execute_raw(statement).await };
        let done = tx.execute_raw(statement).await?;
        tx.commit().await?;
        Ok(done)
    }

    async fn execute_unprepared(&self, text: &str) -> Result<ExecResult, DbErr> {
        let Some(tx) = self.own().await? else { return self.pool.execute_unprepared(text).await };
        let done = tx.execute_unprepared(text).await?;
        tx.commit().await?;
        Ok(done)
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let Some(tx) = self.own().await? else { return self.pool.query_one_raw(statement).await };
        let row = tx.query_one_raw(statement).await?;
        tx.commit().await?;
        Ok(row)
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let Some(tx) = self.own().await? else { return self.pool.query_all_raw(statement).await };
        let rows = tx.query_all_raw(statement).await?;
        tx.commit().await?;
        Ok(rows)
    }
}
