//! Sessions, signing keys and the counts of failed logins in memory.

use async_trait::async_trait;
use model::Timestamp;

use super::{MemoryStore, Operation};
use crate::{
    CountedLogin, Error, LoginLimit, OpenSession, Renewal, Renewed, Session, Sessions, SigningKey,
    check,
};

#[async_trait]
impl Sessions for MemoryStore {
    async fn begin_session(&self, session: &Session) -> Result<(), Error> {
        self.run(Operation::BeginSession, |tables| {
            check::keys([Some(session.id.as_str()), Some(&session.user_id)])?;
            tables.sessions.insert(session.id.clone(), session.clone());
            Ok(())
        })
        .await
    }

    async fn session(&self, id: &str, now: Timestamp) -> Result<Option<OpenSession>, Error> {
        self.run(Operation::Session, |tables| {
            let session = tables.sessions.get(id).filter(|session| session.expires_at > now);
            let Some(session) = session.cloned() else { return Ok(None) };
            let user = tables
                .users
                .get(&session.user_id)
                .filter(|user| !user.is_disabled && user.generation == session.generation);
            let Some(user) = user.cloned() else { return Ok(None) };
            let roles = tables.roles.values().filter(|role| user.roles.contains(&role.id));
            Ok(Some(OpenSession { roles: roles.cloned().collect(), session, user }))
        })
        .await
    }

    async fn renew_session(&self, renewal: &Renewal) -> Result<Renewed, Error> {
        self.run(Operation::RenewSession, |tables| {
            let Renewal { session_id, token_id, next_id, now, expires_at, reuse } = renewal;
            let known = tables.sessions.get_mut(session_id);
            let Some(known) = known.filter(|session| session.expires_at > *now) else {
                return Ok(Renewed::Over);
            };
            if known.token_id == *token_id {
                known.previous_id = Some(std::mem::replace(&mut known.token_id, next_id.clone()));
                known.rotated_at = *now;
                known.expires_at = *expires_at;
                return Ok(Renewed::Session(known.clone()));
            }
            if known.may_repeat(token_id, *now, *reuse) {
                return Ok(Renewed::Session(known.clone()));
            }
            tables.sessions.remove(session_id);
            Ok(Renewed::Reused)
        })
        .await
    }

    async fn end_session(&self, id: &str) -> Result<bool, Error> {
        self.run(Operation::EndSession, |tables| Ok(tables.sessions.remove(id).is_some())).await
    }

    async fn add_signing_key(&self, key: &SigningKey) -> Result<(), Error> {
        self.run(Operation::AddSigningKey, |tables| {
            check::keys([Some(key.id.as_str())])?;
            tables.signing_keys.insert(key.id.clone(), key.clone());
            Ok(())
        })
        .await
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>, Error> {
        self.run(Operation::SigningKeys, |tables| {
            let mut keys: Vec<SigningKey> = tables.signing_keys.values().cloned().collect();
            keys.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
            Ok(keys)
        })
        .await
    }

    async fn retire_signing_keys(&self, but: &str, now: Timestamp) -> Result<(), Error> {
        self.run(Operation::RetireSigningKeys, |tables| {
            for key in tables.signing_keys.values_mut().filter(|key| key.id != but) {
                key.retired_at.get_or_insert(now);
            }
            Ok(())
        })
        .await
    }

    async fn delete_signing_key(&self, id: &str) -> Result<bool, Error> {
        self.run(Operation::DeleteSigningKey, |tables| Ok(tables.signing_keys.remove(id).is_some()))
            .await
    }

    async fn count_login(
        &self,
        subject: &str,
        limit: &LoginLimit,
        now: Timestamp,
    ) -> Result<Result<CountedLogin, Timestamp>, Error> {
        self.run(Operation::CountLogin, |tables| {
            check::keys([Some(subject)])?;
            let known = tables.attempts.get(subject).map(|(attempts, _)| *attempts);
            let counted = limit.count(known, now);
            if let Ok(CountedLogin { attempts, .. }) = counted {
                let row = (attempts, limit.forgotten_at(attempts));
                tables.attempts.insert(subject.to_owned(), row);
            }
            Ok(counted)
        })
        .await
    }

    async fn uncount_login(
        &self,
        subject: &str,
        limit: &LoginLimit,
        login: &CountedLogin,
    ) -> Result<(), Error> {
        self.run(Operation::UncountLogin, |tables| {
            let Some((known, _)) = tables.attempts.remove(subject) else { return Ok(()) };
            if let Some(left) = login.take_out_of(known) {
                let row = (left, limit.forgotten_at(left));
                tables.attempts.insert(subject.to_owned(), row);
            }
            Ok(())
        })
        .await
    }

    async fn forgive_logins(&self, subject: &str) -> Result<(), Error> {
        self.run(Operation::ForgiveLogins, |tables| {
            tables.attempts.remove(subject);
            Ok(())
        })
        .await
    }

    async fn forget_logins(&self, now: Timestamp, limit: u64) -> Result<u64, Error> {
        self.run(Operation::ForgetLogins, |tables| {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let over = tables.sessions.values().filter(|session| session.expires_at <= now);
            let over: Vec<String> = over.map(|session| session.id.clone()).take(limit).collect();
            let old = tables.attempts.iter().filter(|(_, (_, expires_at))| *expires_at <= now);
            let old: Vec<String> = old.map(|(subject, _)| subject.clone()).take(limit).collect();
            over.iter().for_each(|id| drop(tables.sessions.remove(id)));
            tables.attempts.retain(|subject, _| !old.contains(subject));
            Ok(u64::try_from(over.len().max(old.len())).unwrap_or(u64::MAX))
        })
        .await
    }
}
