//! Users, roles and applications.

use async_trait::async_trait;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, DatabaseBackend, DatabaseTransaction, EntityTrait as _,
    IntoActiveModel as _, QueryFilter as _, QueryOrder as _, UpdateMany,
};
use store::{
    Application, Error, Identity, PeopleChange, PeopleChanged, Role, RoleChange, User, UserChange,
    check, check_application, check_role, check_user,
};

use crate::codec::json;
use crate::connect::{SqlStore, commit};
use crate::entity::{application, role, session, user};
use crate::failure::Failure;

/// A change that can take the last administrator away takes this advisory lock on PostgreSQL first, so
/// that the users and roles that it reads stay administrators until it commits.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7815629412)";

fn user_update(id: &str, change: &UserChange) -> Result<UpdateMany<user::Entity>, Error> {
    check::keys(change.roles.iter().flatten().map(|role| Some(role.as_str())))?;
    let by = i64::from(change.ends_sessions);
    let mut update = user::Entity::update_many()
        .col_expr(user::Column::Generation, Expr::col(user::Column::Generation).add(by))
        .filter(user::Column::Id.eq(id));
    if let Some(hash) = &change.password_hash {
        update = update.col_expr(user::Column::PasswordHash, Expr::value(hash.as_str()));
    }
    if let Some(roles) = &change.roles {
        update = update.col_expr(user::Column::Roles, Expr::value(json(roles)?));
    }
    if let Some(is_disabled) = change.is_disabled {
        update = update.col_expr(user::Column::IsDisabled, Expr::value(is_disabled));
    }
    Ok(update)
}

fn role_update(id: &str, change: &RoleChange) -> Result<UpdateMany<role::Entity>, Error> {
    check::keys([change.name.as_deref()])?;
    check::keys(change.permissions.iter().flatten().map(|one| Some(one.as_str())))?;
    let mut update = role::Entity::update_many()
        .col_expr(role::Column::Id, Expr::value(id))
        .filter(role::Column::Id.eq(id));
    if let Some(name) = &change.name {
        update = update.col_expr(role::Column::Name, Expr::value(name.as_str()));
    }
    if let Some(permissions) = &change.permissions {
        update = update.col_expr(role::Column::Permissions, Expr::value(json(permissions)?));
    }
    Ok(update)
}

/// Removes a user and its sessions; false when there is none with this id.
async fn delete_user(tx: &DatabaseTransaction, id: &str) -> Result<bool, Failure> {
    let gone = user::Entity::delete_by_id(id).exec(tx).await?;
    let sessions = session::Entity::delete_many().filter(session::Column::UserId.eq(id));
    sessions.exec(tx).await?;
    Ok(gone.rows_affected > 0)
}

impl SqlStore {
    async fn change_people_once(&self, change: &PeopleChange) -> Result<PeopleChanged, Failure> {
        let tx = self.begin().await?;
        if tx.get_database_backend() == DatabaseBackend::Postgres {
            tx.execute_unprepared(LOCK).await?;
        }
        let users = user::Entity::find().all(&tx).await?.into_iter().map(user::Model::user);
        let users = users.collect::<Result<Vec<_>, _>>()?;
        let roles = role::Entity::find().all(&tx).await?.into_iter().map(role::Model::role);
        let roles = roles.collect::<Result<Vec<_>, _>>()?;
        if change.takes_last_administrator(users, roles) {
            return Ok(PeopleChanged::LastAdministrator);
        }
        let changed = match change {
            PeopleChange::User(id, change) => {
                user_update(id, change)?.exec(&tx).await?;
                let found = user::Entity::find_by_id(id.as_str()).one(&tx).await?;
                found.map(user::Model::user).transpose()?.map(PeopleChanged::User)
            }
            PeopleChange::NoUser(id) => {
                delete_user(&tx, id).await?.then_some(PeopleChanged::NoUser)
            }
            PeopleChange::Role(id, change) => {
                role_update(id, change)?.exec(&tx).await?;
                let found = role::Entity::find_by_id(id.as_str()).one(&tx).await?;
                found.map(role::Model::role).transpose()?.map(PeopleChanged::Role)
            }
        };
        commit(tx).await?;
        Ok(changed.unwrap_or(PeopleChanged::Unknown))
    }
}

#[async_trait]
impl Identity for SqlStore {
    async fn create_user(&self, user: &User) -> Result<bool, Error> {
        check_user(user)?;
        let row = user::Model::of(user)?;
        self.tried(|| async {
            let insert = user::Entity::insert(row.clone().into_active_model());
            let insert = insert.on_conflict(OnConflict::new().do_nothing().to_owned());
            Ok(insert.exec_without_returning(&self.database.writer).await? > 0)
        })
        .await
    }

    async fn users(&self) -> Result<Vec<User>, Error> {
        let find = user::Entity::find().order_by_asc(user::Column::Name);
        let found =
            self.tried(|| async { Ok(find.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(user::Model::user).collect()
    }

    async fn user(&self, id: &str) -> Result<Option<User>, Error> {
        let find = user::Entity::find_by_id(id);
        let found =
            self.tried(|| async { Ok(find.clone().one(&self.database.reader).await?) }).await?;
        found.map(user::Model::user).transpose()
    }

    async fn user_named(&self, name: &str) -> Result<Option<User>, Error> {
        let find = user::Entity::find().filter(user::Column::Name.eq(name));
        let found =
            self.tried(|| async { Ok(find.clone().one(&self.database.reader).await?) }).await?;
        found.map(user::Model::user).transpose()
    }

    async fn change_user(&self, id: &str, change: &UserChange) -> Result<Option<User>, Error> {
        let update = user_update(id, change)?;
        let find = user::Entity::find_by_id(id);
        let found = self
            .tried(|| async {
                update.clone().exec(&self.database.writer).await?;
                Ok(find.clone().one(&self.database.writer).await?)
            })
            .await?;
        found.map(user::Model::user).transpose()
    }

    async fn delete_user(&self, id: &str) -> Result<bool, Error> {
        self.tried(|| async {
            let tx = self.begin().await?;
            let is_gone = delete_user(&tx, id).await?;
            commit(tx).await?;
            Ok(is_gone)
        })
        .await
    }

    async fn create_role(&self, role: &Role) -> Result<bool, Error> {
        check_role(role)?;
        let row = role::Model::of(role)?;
        self.tried(|| async {
            let insert = role::Entity::insert(row.clone().into_active_model());
            let insert = insert.on_conflict(OnConflict::new().do_nothing().to_owned());
            Ok(insert.exec_without_returning(&self.database.writer).await? > 0)
        })
        .await
    }

    async fn roles(&self) -> Result<Vec<Role>, Error> {
        let find = role::Entity::find().order_by_asc(role::Column::Id);
        let found =
            self.tried(|| async { Ok(find.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(role::Model::role).collect()
    }

    async fn roles_of(&self, ids: &[String]) -> Result<Vec<Role>, Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let find =
            role::Entity::find().filter(role::Column::Id.is_in(ids)).order_by_asc(role::Column::Id);
        let found =
            self.tried(|| async { Ok(find.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(role::Model::role).collect()
    }

    async fn change_role(&self, id: &str, change: &RoleChange) -> Result<Option<Role>, Error> {
        let update = role_update(id, change)?;
        let find = role::Entity::find_by_id(id);
        let found = self
            .tried(|| async {
                update.clone().exec(&self.database.writer).await?;
                Ok(find.clone().one(&self.database.writer).await?)
            })
            .await?;
        found.map(role::Model::role).transpose()
    }

    async fn delete_role(&self, id: &str) -> Result<bool, Error> {
        self.tried(|| async {
            let gone = role::Entity::delete_by_id(id).exec(&self.database.writer).await?;
            Ok(gone.rows_affected > 0)
        })
        .await
    }

    async fn change_people(&self, change: &PeopleChange) -> Result<PeopleChanged, Error> {
        self.tried(|| self.change_people_once(change)).await
    }

    async fn create_application(&self, application: &Application) -> Result<bool, Error> {
        check_application(application)?;
        let row = application::Model::of(application)?;
        self.tried(|| async {
            let insert = application::Entity::insert(row.clone().into_active_model());
            let insert = insert.on_conflict(OnConflict::new().do_nothing().to_owned());
            Ok(insert.exec_without_returning(&self.database.writer).await? > 0)
        })
        .await
    }

    async fn applications(&self) -> Result<Vec<Application>, Error> {
        let find = application::Entity::find().order_by_asc(application::Column::Name);
        let found =
            self.tried(|| async { Ok(find.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(application::Model::application).collect()
    }

    async fn application_with_key(&self, key_hash: &str) -> Result<Option<Application>, Error> {
        let find = application::Entity::find()
            .filter(application::Column::KeyHash.eq(key_hash))
            .order_by_asc(application::Column::Id);
        let found =
            self.tried(|| async { Ok(find.clone().one(&self.database.reader).await?) }).await?;
        found.map(application::Model::application).transpose()
    }

    async fn delete_application(&self, id: &str) -> Result<bool, Error> {
        self.tried(|| async {
            let gone = application::Entity::delete_by_id(id).exec(&self.database.writer).await?;
            Ok(gone.rows_affected > 0)
        })
        .await
    }
}
