//! Users and sessions: no planted bug changes them.

use async_trait::async_trait;
use model::Timestamp;
use store::{
    Application, CountedLogin, Error, Identity, LoginLimit, OpenSession, PeopleChange,
    PeopleChanged, Renewal, Renewed, Rewrapped, Role, RoleChange, Secret, Secrets, Session,
    Sessions, SigningKey, User, UserChange,
};

use super::BrokenStore;

#[async_trait]
impl Identity for BrokenStore {
    async fn create_user(&self, user: &User) -> Result<bool, Error> {
        self.twin.create_user(user).await
    }

    async fn users(&self) -> Result<Vec<User>, Error> {
        self.twin.users().await
    }

    async fn user(&self, id: &str) -> Result<Option<User>, Error> {
        self.twin.user(id).await
    }

    async fn user_named(&self, name: &str) -> Result<Option<User>, Error> {
        self.twin.user_named(name).await
    }

    async fn change_user(&self, id: &str, change: &UserChange) -> Result<Option<User>, Error> {
        self.twin.change_user(id, change).await
    }

    async fn delete_user(&self, id: &str) -> Result<bool, Error> {
        self.twin.delete_user(id).await
    }

    async fn create_role(&self, role: &Role) -> Result<bool, Error> {
        self.twin.create_role(role).await
    }

    async fn roles(&self) -> Result<Vec<Role>, Error> {
        self.twin.roles().await
    }

    async fn roles_of(&self, ids: &[String]) -> Result<Vec<Role>, Error> {
        self.twin.roles_of(ids).await
    }

    async fn change_role(&self, id: &str, change: &RoleChange) -> Result<Option<Role>, Error> {
        self.twin.change_role(id, change).await
    }

    async fn delete_role(&self, id: &str) -> Result<bool, Error> {
        self.twin.delete_role(id).await
    }

    async fn change_people(&self, change: &PeopleChange) -> Result<PeopleChanged, Error> {
        self.twin.change_people(change).await
    }

    async fn create_application(&self, application: &Application) -> Result<bool, Error> {
        self.twin.create_application(application).await
    }

    async fn applications(&self) -> Result<Vec<Application>, Error> {
        self.twin.applications().await
    }

    async fn application_with_key(&self, key_hash: &str) -> Result<Option<Application>, Error> {
        self.twin.application_with_key(key_hash).await
    }

    async fn delete_application(&self, id: &str) -> Result<bool, Error> {
        self.twin.delete_application(id).await
    }
}

#[async_trait]
impl Sessions for BrokenStore {
    async fn begin_session(&self, session: &Session) -> Result<(), Error> {
        self.twin.begin_session(session).await
    }

    async fn session(&self, id: &str, now: Timestamp) -> Result<Option<OpenSession>, Error> {
        self.twin.session(id, now).await
    }

    async fn renew_session(&self, renewal: &Renewal) -> Result<Renewed, Error> {
        self.twin.renew_session(renewal).await
    }

    async fn end_session(&self, id: &str) -> Result<bool, Error> {
        self.twin.end_session(id).await
    }

    async fn add_signing_key(&self, key: &SigningKey) -> Result<(), Error> {
        self.twin.add_signing_key(key).await
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>, Error> {
        self.twin.signing_keys().await
    }

    async fn retire_signing_keys(&self, but: &str, now: Timestamp) -> Result<(), Error> {
        self.twin.retire_signing_keys(but, now).await
    }

    async fn delete_signing_key(&self, id: &str) -> Result<bool, Error> {
        self.twin.delete_signing_key(id).await
    }

    async fn count_login(
        &self,
        subject: &str,
        limit: &LoginLimit,
        now: Timestamp,
    ) -> Result<Result<CountedLogin, Timestamp>, Error> {
        self.twin.count_login(subject, limit, now).await
    }

    async fn uncount_login(
        &self,
        subject: &str,
        limit: &LoginLimit,
        login: &CountedLogin,
    ) -> Result<(), Error> {
        self.twin.uncount_login(subject, limit, login).await
    }

    async fn forgive_logins(&self, subject: &str) -> Result<(), Error> {
        self.twin.forgive_logins(subject).await
    }

    async fn forget_logins(&self, now: Timestamp, limit: u64) -> Result<u64, Error> {
        self.twin.forget_logins(now, limit).await
    }
}

#[async_trait]
impl Secrets for BrokenStore {
    async fn create_secret(&self, secret: &Secret) -> Result<bool, Error> {
        self.twin.create_secret(secret).await
    }

    async fn secrets(&self) -> Result<Vec<Secret>, Error> {
        self.twin.secrets().await
    }

    async fn secret(&self, name: &str) -> Result<Option<Secret>, Error> {
        self.twin.secret(name).await
    }

    async fn replace_secret(&self, before: &Secret, after: &Secret) -> Result<bool, Error> {
        self.twin.replace_secret(before, after).await
    }

    async fn delete_secret(&self, name: &str) -> Result<bool, Error> {
        self.twin.delete_secret(name).await
    }

    async fn rewrap_secrets(&self, changes: &[Rewrapped]) -> Result<bool, Error> {
        self.twin.rewrap_secrets(changes).await
    }
}
