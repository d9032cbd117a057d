//! Users, roles and applications in memory.

use async_trait::async_trait;

use super::tables::Tables;
use super::{MemoryStore, Operation};
use crate::{
    Application, Error, Identity, PeopleChange, PeopleChanged, Role, RoleChange, User, UserChange,
    check_application, check_role, check_user,
};

impl Tables {
    fn change_user(&mut self, id: &str, change: &UserChange) -> Result<Option<User>, Error> {
        let Some(known) = self.users.get(id) else { return Ok(None) };
        let changed = User {
            password_hash: change.password_hash.as_ref().unwrap_or(&known.password_hash).clone(),
            roles: change.roles.as_ref().unwrap_or(&known.roles).clone(),
            is_disabled: change.is_disabled.unwrap_or(known.is_disabled),
            generation: known.generation + i64::from(change.ends_sessions),
            ..known.clone()
        };
        check_user(&changed)?;
        self.users.insert(changed.id.clone(), changed.clone());
        Ok(Some(changed))
    }

    fn delete_user(&mut self, id: &str) -> bool {
        self.sessions.retain(|_, session| session.user_id != id);
        self.users.remove(id).is_some()
    }

    fn change_role(&mut self, id: &str, change: &RoleChange) -> Result<Option<Role>, Error> {
        let Some(known) = self.roles.get(id) else { return Ok(None) };
        let changed = Role {
            name: change.name.as_ref().unwrap_or(&known.name).clone(),
            permissions: change.permissions.as_ref().unwrap_or(&known.permissions).clone(),
            ..known.clone()
        };
        check_role(&changed)?;
        self.roles.insert(changed.id.clone(), changed.clone());
        Ok(Some(changed))
    }
}

#[async_trait]
impl Identity for MemoryStore {
    async fn create_user(&self, user: &User) -> Result<bool, Error> {
        self.run(Operation::CreateUser, |tables| {
            check_user(user)?;
            let mut users = tables.users.values();
            if users.any(|known| known.id == user.id || known.name == user.name) {
                return Ok(false);
            }
            tables.users.insert(user.id.clone(), user.clone());
            Ok(true)
        })
        .await
    }

    async fn users(&self) -> Result<Vec<User>, Error> {
        self.run(Operation::Users, |tables| {
            let mut users: Vec<User> = tables.users.values().cloned().collect();
            users.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(users)
        })
        .await
    }

    async fn user(&self, id: &str) -> Result<Option<User>, Error> {
        self.run(Operation::User, |tables| Ok(tables.users.get(id).cloned())).await
    }

    async fn user_named(&self, name: &str) -> Result<Option<User>, Error> {
        self.run(Operation::UserNamed, |tables| {
            Ok(tables.users.values().find(|user| user.name == name).cloned())
        })
        .await
    }

    async fn change_user(&self, id: &str, change: &UserChange) -> Result<Option<User>, Error> {
        self.run(Operation::ChangeUser, |tables| tables.change_user(id, change)).await
    }

    async fn delete_user(&self, id: &str) -> Result<bool, Error> {
        self.run(Operation::DeleteUser, |tables| Ok(tables.delete_user(id))).await
    }

    async fn create_role(&self, role: &Role) -> Result<bool, Error> {
        self.run(Operation::CreateRole, |tables| {
            check_role(role)?;
            if tables.roles.contains_key(&role.id) {
                return Ok(false);
            }
            tables.roles.insert(role.id.clone(), role.clone());
            Ok(true)
        })
        .await
    }

    async fn roles(&self) -> Result<Vec<Role>, Error> {
        self.run(Operation::Roles, |tables| Ok(tables.roles.values().cloned().collect())).await
    }

    async fn roles_of(&self, ids: &[String]) -> Result<Vec<Role>, Error> {
        self.run(Operation::RolesOf, |tables| {
            let found = tables.roles.values().filter(|role| ids.contains(&role.id));
            Ok(found.cloned().collect())
        })
        .await
    }

    async fn change_role(&self, id: &str, change: &RoleChange) -> Result<Option<Role>, Error> {
        self.run(Operation::ChangeRole, |tables| tables.change_role(id, change)).await
    }

    async fn delete_role(&self, id: &str) -> Result<bool, Error> {
        self.run(Operation::DeleteRole, |tables| Ok(tables.roles.remove(id).is_some())).await
    }

    async fn change_people(&self, change: &PeopleChange) -> Result<PeopleChanged, Error> {
        self.run(Operation::ChangePeople, |tables| {
            let users = tables.users.values().cloned().collect();
            let roles = tables.roles.values().cloned().collect();
            if change.takes_last_administrator(users, roles) {
                return Ok(PeopleChanged::LastAdministrator);
            }
            let changed = match change {
                PeopleChange::User(id, change) => {
                    tables.change_user(id, change)?.map(PeopleChanged::User)
                }
                PeopleChange::NoUser(id) => tables.delete_user(id).then_some(PeopleChanged::NoUser),
                PeopleChange::Role(id, change) => {
                    tables.change_role(id, change)?.map(PeopleChanged::Role)
                }
            };
            Ok(changed.unwrap_or(PeopleChanged::Unknown))
        })
        .await
    }

    async fn create_application(&self, application: &Application) -> Result<bool, Error> {
        self.run(Operation::CreateApplication, |tables| {
            check_application(application)?;
            let is_taken = tables.applications.values().any(|known| {
                known.id == application.id
                    || known.name == application.name
                    || known.client_id == application.client_id
            });
            if !is_taken {
                tables.applications.insert(application.id.clone(), application.clone());
            }
            Ok(!is_taken)
        })
        .await
    }

    async fn applications(&self) -> Result<Vec<Application>, Error> {
        self.run(Operation::Applications, |tables| {
            let mut found: Vec<Application> = tables.applications.values().cloned().collect();
            found.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(found)
        })
        .await
    }

    async fn application_with_key(&self, key_hash: &str) -> Result<Option<Application>, Error> {
        self.run(Operation::ApplicationWithKey, |tables| {
            Ok(tables.applications.values().find(|known| known.key_hash == key_hash).cloned())
        })
        .await
    }

    async fn delete_application(&self, id: &str) -> Result<bool, Error> {
        self.run(Operation::DeleteApplication, |tables| {
            Ok(tables.applications.remove(id).is_some())
        })
        .await
    }
}
