//! PostgreSQL's advisory locks, one session for each contender.

use sqlx::{Connection as _, PgConnection};

use super::Contender;

pub(crate) struct Session {
    connection: PgConnection,
    key: i64,
}

impl Session {
    /// Contenders for the same key, each in its own session.
    pub(crate) async fn several(url: &str, key: i64, count: usize) -> anyhow::Result<Vec<Self>> {
        let mut sessions = Vec::new();
        for _ in 0..count {
            sessions.push(Self { connection: PgConnection::connect(url).await?, key });
        }
        Ok(sessions)
    }

    async fn ask(&mut self, sql: &'static str) -> anyhow::Result<()> {
        sqlx::query(sql).bind(self.key).execute(&mut self.connection).await?;
        Ok(())
    }
}

impl Contender for Session {
    async fn take(&mut self) -> anyhow::Result<()> {
        self.ask("SELECT pg_advisory_lock($1)").await
    }

    async fn give(&mut self) -> anyhow::Result<()> {
        self.ask("SELECT pg_advisory_unlock($1)").await
    }
}
