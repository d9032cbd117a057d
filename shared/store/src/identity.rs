//! Users, roles and applications.

use std::collections::BTreeSet;

use async_trait::async_trait;
use model::Timestamp;

use crate::{Error, check};

/// A person who logs in with a name and a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its id, which never changes.
    pub id: String,
    /// The name for the login; no other user has it.
    pub name: String,
    /// The password as an Argon2id hash, in PHC form.
    pub password_hash: String,
    /// The ids of its roles.
    pub roles: Vec<String>,
    /// It cannot log in, and its tokens are refused.
    pub is_disabled: bool,
    /// Sessions of an earlier generation are over.
    pub generation: i64,
    /// The time when it was made.
    pub created_at: Timestamp,
}

/// The changed parts of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserChange {
    /// The new password as an Argon2id hash, in PHC form.
    pub password_hash: Option<String>,
    /// The ids of all its roles from now on.
    pub roles: Option<Vec<String>>,
    /// Whether it is disabled from now on.
    pub is_disabled: Option<bool>,
    /// Ends all its sessions.
    pub ends_sessions: bool,
}

/// Permissions under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its id, which never changes.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Permissions as Elsa names them; `*` for all.
    pub permissions: Vec<String>,
    /// The time when it was made.
    pub created_at: Timestamp,
}

/// The changed parts of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleChange {
    /// Its new name.
    pub name: Option<String>,
    /// All its permissions from now on.
    pub permissions: Option<Vec<String>>,
}

/// A change of a user or a role that can take the last administrator away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeopleChange {
    /// The user with this id is changed.
    User(String, UserChange),
    /// The user with this id is removed, and all its sessions end.
    NoUser(String),
    /// The role with this id is changed.
    Role(String, RoleChange),
}

/// The result of a [`PeopleChange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeopleChanged {
    /// The user as it is now.
    User(User),
    /// The user is gone.
    NoUser,
    /// The role as it is now.
    Role(Role),
    /// There is no user or role with this id.
    Unknown,
    /// Nothing is changed: there would be no administrator any more.
    LastAdministrator,
}

impl PeopleChange {
    /// Whether one of these users is an administrator before this change, and none is after it. An
    /// administrator can log in and has all permissions, by a role with `*`.
    #[must_use]
    pub fn takes_last_administrator(&self, mut users: Vec<User>, mut roles: Vec<Role>) -> bool {
        if !have_administrator(&users, &roles) {
            return false;
        }
        match self {
            Self::User(id, change) => {
                for user in users.iter_mut().filter(|user| user.id == *id) {
                    if let Some(roles) = &change.roles {
                        user.roles.clone_from(roles);
                    }
                    user.is_disabled = change.is_disabled.unwrap_or(user.is_disabled);
                }
            }
            Self::NoUser(id) => users.retain(|user| user.id != *id),
            Self::Role(id, change) => {
                for role in roles.iter_mut().filter(|role| role.id == *id) {
                    if let Some(permissions) = &change.permissions {
                        role.permissions.clone_from(permissions);
                    }
                }
            }
        }
        !have_administrator(&users, &roles)
    }
}

fn have_administrator(users: &[User], roles: &[Role]) -> bool {
    let all = |id: &String| {
        let role = roles.iter().find(|role| role.id == *id);
        role.is_some_and(|role| role.permissions.iter().any(|one| one == "*"))
    };
    users.iter().any(|user| !user.is_disabled && user.roles.iter().any(all))
}

/// A program with an API key whose permissions are those of its roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its id, which never changes.
    pub id: String,
    /// Its name; no other application has it.
    pub name: String,
    /// Its public id as a client.
    pub client_id: String,
    /// Lowercase hex SHA-256 of its API key.
    pub key_hash: String,
    /// The ids of its roles.
    pub roles: Vec<String>,
    /// The time when it was made.
    pub created_at: Timestamp,
}

/// Users, roles and applications.
#[async_trait]
pub trait Identity: Send + Sync {
    /// Adds a user; false when there is one with its id or name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn create_user(&self, user: &User) -> Result<bool, Error>;

    /// All users, by name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn users(&self) -> Result<Vec<User>, Error>;

    /// The user with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn user(&self, id: &str) -> Result<Option<User>, Error>;

    /// The user with this name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn user_named(&self, name: &str) -> Result<Option<User>, Error>;

    /// Changes a user, and returns it as it is then; `None` when there is none with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn change_user(&self, id: &str, change: &UserChange) -> Result<Option<User>, Error>;

    /// Removes a user, and ends all its sessions; false when there is none with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_user(&self, id: &str) -> Result<bool, Error>;

    /// Adds a role; false when there is one with its id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn create_role(&self, role: &Role) -> Result<bool, Error>;

    /// All roles, by id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn roles(&self) -> Result<Vec<Role>, Error>;

    /// Those of these roles that exist, by id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn roles_of(&self, ids: &[String]) -> Result<Vec<Role>, Error>;

    /// Changes a role, and returns it as it is then; `None` when there is none with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn change_role(&self, id: &str, change: &RoleChange) -> Result<Option<Role>, Error>;

    /// Removes a role; false when there is none with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_role(&self, id: &str) -> Result<bool, Error>;

    /// Makes a change unless it would take the last administrator away. Such changes are made one
    /// after the other: of two that would leave none together, one is refused.
    ///
    /// # Errors
    /// See [`Error`].
    async fn change_people(&self, change: &PeopleChange) -> Result<PeopleChanged, Error>;

    /// Adds an application; false when there is one with its id, name or client id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn create_application(&self, application: &Application) -> Result<bool, Error>;

    /// All applications, by name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn applications(&self) -> Result<Vec<Application>, Error>;

    /// The application whose API key has this hash.
    ///
    /// # Errors
    /// See [`Error`].
    async fn application_with_key(&self, key_hash: &str) -> Result<Option<Application>, Error>;

    /// Removes an application; false when there is none with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_application(&self, id: &str) -> Result<bool, Error>;

    /// The names of the users and applications that have this role.
    ///
    /// # Errors
    /// See [`Error`].
    async fn role_holders(&self, id: &str) -> Result<Vec<String>, Error> {
        let has = |roles: &[String]| roles.iter().any(|role| role == id);
        let users = self.users().await?.into_iter().filter(|user| has(&user.roles));
        let users: Vec<String> = users.map(|user| user.name).collect();
        let programs = self.applications().await?.into_iter().filter(|one| has(&one.roles));
        Ok(users.into_iter().chain(programs.map(|one| one.name)).collect())
    }
}

/// Each of these roles or permissions once, in the order in which they come first.
#[must_use]
pub fn once(names: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.into_iter().filter(|name| seen.insert(name.clone())).collect()
}

/// Checks a user.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn check_user(user: &User) -> Result<(), Error> {
    check::keys([Some(user.id.as_str()), Some(&user.name)])?;
    check::keys(user.roles.iter().map(|role| Some(role.as_str())))
}

/// Checks a role.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn check_role(role: &Role) -> Result<(), Error> {
    check::keys([Some(role.id.as_str()), Some(&role.name)])?;
    check::keys(role.permissions.iter().map(|permission| Some(permission.as_str())))
}

/// Checks an application.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn check_application(application: &Application) -> Result<(), Error> {
    let Application { id, name, client_id, key_hash, roles, .. } = application;
    check::keys([Some(id.as_str()), Some(name), Some(client_id), Some(key_hash)])?;
    check::keys(roles.iter().map(|role| Some(role.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once_and_the_order_stays() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let found = once(names(&["read:*", "*", "read:*", "exec:x", "*"]));
        assert_eq!(found, names(&["read:*", "*", "exec:x"]));
        assert_eq!(once(Vec::new()), names(&[]));
    }
}
