//! Sessions of users, the keys that sign their tokens, and the counts of failed logins.

use async_trait::async_trait;
use model::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};
use store::{
    CountedLogin, Error, Identity as _, LoginLimit, OpenSession, Renewal, Renewed, Session,
    Sessions, SigningKey, check,
};

use crate::connect::SqlStore;
use crate::entity::{login_attempt as attempt, session, signing_key, user};

/// The number of tries to count a login while others of the same subject are counted.
const TRIES: u32 = 16;

#[async_trait]
impl Sessions for SqlStore {
    async fn begin_session(&self, session: &Session) -> Result<(), Error> {
        check::keys([Some(session.id.as_str()), Some(&session.user_id)])?;
        let row = session::Model::of(session);
        self.tried(|| async {
            session::Entity::insert(row.clone().into_active_model())
                .exec_without_returning(&self.database.writer)
                .await?;
            Ok(())
        })
        .await
    }

    async fn session(&self, id: &str, now: Timestamp) -> Result<Option<OpenSession>, Error> {
        let find =
            session::Entity::find_by_id(id).filter(session::Column::ExpiresAt.gt(now.as_millis()));
        let found =
            self.tried(|| async { Ok(find.clone().one(&self.database.reader).await?) }).await?;
        let Some(session) = found else { return Ok(None) };
        let find = user::Entity::find_by_id(session.user_id.as_str())
            .filter(user::Column::IsDisabled.eq(false))
            .filter(user::Column::Generation.eq(session.generation));
        let found =
            self.tried(|| async { Ok(find.clone().one(&self.database.reader).await?) }).await?;
        let Some(user) = found else { return Ok(None) };
        let user = user.user()?;
        let roles = self.roles_of(&user.roles).await?;
        Ok(Some(OpenSession { session: session.session(), user, roles }))
    }

    async fn renew_session(&self, renewal: &Renewal) -> Result<Renewed, Error> {
        let Renewal { session_id, token_id, next_id, now, expires_at, reuse } = renewal;
        let update = session::Entity::update_many()
            .col_expr(session::Column::TokenId, Expr::value(next_id.as_str()))
            .col_expr(session::Column::PreviousId, Expr::value(token_id.as_str()))
            .col_expr(session::Column::RotatedAt, Expr::value(now.as_millis()))
            .col_expr(session::Column::ExpiresAt, Expr::value(expires_at.as_millis()))
            .filter(session::Column::Id.eq(session_id.as_str()))
            .filter(session::Column::TokenId.eq(token_id.as_str()))
            .filter(session::Column::ExpiresAt.gt(now.as_millis()));
        let find = session::Entity::find_by_id(session_id.as_str())
            .filter(session::Column::ExpiresAt.gt(now.as_millis()));
        let (written, found) = self
            .tried(|| async {
                let written = update.clone().exec(&self.database.writer).await?;
                Ok((written, find.clone().one(&self.database.writer).await?))
            })
            .await?;
        let Some(session) = found.map(session::Model::session) else { return Ok(Renewed::Over) };
        let is_next = written.rows_affected > 0 || session.token_id == *next_id;
        if is_next || session.may_repeat(token_id, *now, *reuse) {
            return Ok(Renewed::Session(session));
        }
        self.end_session(session_id).await?;
        Ok(Renewed::Reused)
    }

    async fn end_session(&self, id: &str) -> Result<bool, Error> {
        self.tried(|| async {
            let gone = session::Entity::delete_by_id(id).exec(&self.database.writer).await?;
            Ok(gone.rows_affected > 0)
        })
        .await
    }

    async fn add_signing_key(&self, key: &SigningKey) -> Result<(), Error> {
        check::keys([Some(key.id.as_str())])?;
        let row = signing_key::Model::of(key);
        self.tried(|| async {
            signing_key::Entity::insert(row.clone().into_active_model())
                .exec_without_returning(&self.database.writer)
                .await?;
            Ok(())
        })
        .await
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>, Error> {
        let find = signing_key::Entity::find()
            .order_by_desc(signing_key::Column::CreatedAt)
            .order_by_desc(signing_key::Column::Id);
        let found =
            self.tried(|| async { Ok(find.clone().all(&self.database.reader).await?) }).await?;
        Ok(found.into_iter().map(signing_key::Model::signing_key).collect())
    }

    async fn retire_signing_keys(&self, but: &str, now: Timestamp) -> Result<(), Error> {
        let update = signing_key::Entity::update_many()
            .col_expr(signing_key::Column::RetiredAt, Expr::value(now.as_millis()))
            .filter(signing_key::Column::Id.ne(but))
            .filter(signing_key::Column::RetiredAt.is_null());
        self.tried(|| async {
            update.clone().exec(&self.database.writer).await?;
            Ok(())
        })
        .await
    }

    async fn delete_signing_key(&self, id: &str) -> Result<bool, Error> {
        self.tried(|| async {
            let gone = signing_key::Entity::delete_by_id(id).exec(&self.database.writer).await?;
            Ok(gone.rows_affected > 0)
        })
        .await
    }

    async fn count_login(
        &self,
        subject: &str,
        limit: &LoginLimit,
        now: Timestamp,
    ) -> Result<Result<CountedLogin, Timestamp>, Error> {
        check::keys([Some(subject)])?;
        let find = attempt::Entity::find_by_id(subject);
        for _ in 0..TRIES {
            let known =
                self.tried(|| async { Ok(find.clone().one(&self.database.writer).await?) }).await?;
            let counted = match limit.count(known.as_ref().map(attempt::Model::attempts), now) {
                Ok(counted) => counted,
                Err(until) => return Ok(Err(until)),
            };
            let row = attempt::Model::of(subject, counted.attempts, limit);
            if self.counted(known, row).await? {
                return Ok(Ok(counted));
            }
        }
        Err(Error::Overloaded("too many logins of one account or address at once".to_owned()))
    }

    async fn uncount_login(
        &self,
        subject: &str,
        limit: &LoginLimit,
        login: &CountedLogin,
    ) -> Result<(), Error> {
        let find = attempt::Entity::find_by_id(subject);
        for _ in 0..TRIES {
            let known =
                self.tried(|| async { Ok(find.clone().one(&self.database.writer).await?) }).await?;
            let Some(known) = known else { return Ok(()) };
            let is_written = match login.take_out_of(known.attempts()) {
                Some(left) => {
                    let row = attempt::Model::of(subject, left, limit);
                    self.counted(Some(known), row).await?
                }
                None => self.uncounted(&known).await?,
            };
            if is_written {
                return Ok(());
            }
        }
        // Many are counted at once: the time is that of another one.
        let update = attempt::Entity::update_many()
            .col_expr(attempt::Column::Attempts, Expr::col(attempt::Column::Attempts).sub(1))
            .filter(attempt::Column::Subject.eq(subject))
            .filter(attempt::Column::Attempts.gt(0));
        self.tried(|| async {
            update.clone().exec(&self.database.writer).await?;
            Ok(())
        })
        .await
    }

    async fn forgive_logins(&self, subject: &str) -> Result<(), Error> {
        self.tried(|| async {
            attempt::Entity::delete_by_id(subject).exec(&self.database.writer).await?;
            Ok(())
        })
        .await
    }

    async fn forget_logins(&self, now: Timestamp, limit: u64) -> Result<u64, Error> {
        let over = session::Entity::find()
            .select_only()
            .column(session::Column::Id)
            .filter(session::Column::ExpiresAt.lte(now.as_millis()))
            .order_by_asc(session::Column::ExpiresAt)
            .limit(limit);
        let old = attempt::Entity::find()
            .select_only()
            .column(attempt::Column::Subject)
            .filter(attempt::Column::ExpiresAt.lte(now.as_millis()))
            .order_by_asc(attempt::Column::ExpiresAt)
            .limit(limit);
        self.tried(|| async {
            let writer = &self.database.writer;
            let over: Vec<String> = over.clone().into_tuple().all(writer).await?;
            let old: Vec<String> = old.clone().into_tuple().all(writer).await?;
            let most = over.len().max(old.len());
            if !over.is_empty() {
                session::Entity::delete_many()
                    .filter(session::Column::Id.is_in(over))
                    .filter(session::Column::ExpiresAt.lte(now.as_millis()))
                    .exec(writer)
                    .await?;
            }
            if !old.is_empty() {
                attempt::Entity::delete_many()
                    .filter(attempt::Column::Subject.is_in(old))
                    .filter(attempt::Column::ExpiresAt.lte(now.as_millis()))
                    .exec(writer)
                    .await?;
            }
            Ok(u64::try_from(most).unwrap_or(u64::MAX))
        })
        .await
    }
}

impl SqlStore {
    /// Writes a count in the place of the known one; false if another login was counted meanwhile.
    async fn counted(
        &self,
        known: Option<attempt::Model>,
        row: attempt::Model,
    ) -> Result<bool, Error> {
        let Some(known) = known else {
            return self
                .tried(|| async {
                    let once = OnConflict::column(attempt::Column::Subject).do_nothing().to_owned();
                    let insert = attempt::Entity::insert(row.clone().into_active_model());
                    let insert = insert.on_conflict(once);
                    Ok(insert.exec_without_returning(&self.database.writer).await? > 0)
                })
                .await;
        };
        let update = attempt::Entity::update_many()
            .col_expr(attempt::Column::Attempts, Expr::value(row.attempts))
            .col_expr(attempt::Column::LastAt, Expr::value(row.last_at))
            .col_expr(attempt::Column::ExpiresAt, Expr::value(row.expires_at))
            .filter(attempt::Column::Subject.eq(row.subject.as_str()))
            .filter(attempt::Column::Attempts.eq(known.attempts))
            .filter(attempt::Column::LastAt.eq(known.last_at));
        let written =
            self.tried(|| async { Ok(update.clone().exec(&self.database.writer).await?) }).await?;
        Ok(written.rows_affected > 0)
    }

    /// Removes the known count; false if another login was counted meanwhile.
    async fn uncounted(&self, known: &attempt::Model) -> Result<bool, Error> {
        let delete = attempt::Entity::delete_many()
            .filter(attempt::Column::Subject.eq(known.subject.as_str()))
            .filter(attempt::Column::Attempts.eq(known.attempts))
            .filter(attempt::Column::LastAt.eq(known.last_at));
        let gone =
            self.tried(|| async { Ok(delete.clone().exec(&self.database.writer).await?) }).await?;
        Ok(gone.rows_affected > 0)
    }
}
