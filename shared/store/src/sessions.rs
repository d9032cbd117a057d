//! Sessions of users, the keys that sign their tokens, and the counts of failed logins.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;

use crate::{Error, Role, User};

/// The time from a login to the logout. Every token names its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Its user.
    pub user_id: String,
    /// The user's generation at the login.
    pub generation: i64,
    /// The id of the one refresh token that may be used.
    pub token_id: String,
    /// The id of the refresh token before that one.
    pub previous_id: Option<String>,
    /// The time when the current refresh token replaced the previous one.
    pub rotated_at: Timestamp,
    /// The time from which the session is over.
    pub expires_at: Timestamp,
}

impl Session {
    /// Whether this refresh token was replaced less than `reuse` ago: its answer may be repeated.
    #[must_use]
    pub fn may_repeat(&self, token_id: &str, now: Timestamp, reuse: Duration) -> bool {
        self.previous_id.as_deref() == Some(token_id) && self.rotated_at.after(reuse) > now
    }
}

/// The session of a request, with the permissions of its user as they are now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSession {
    /// The session.
    pub session: Session,
    /// Its user.
    pub user: User,
    /// The user's roles.
    pub roles: Vec<Role>,
}

/// A refresh token that replaces another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// The session of both.
    pub session_id: String,
    /// The id of the token that is used.
    pub token_id: String,
    /// The id of the token that replaces it.
    pub next_id: String,
    /// The time of use.
    pub now: Timestamp,
    /// The time from which the session is over.
    pub expires_at: Timestamp,
    /// For this long after its use a token may be used again: several requests of one client
    /// refresh at the same time.
    pub reuse: Duration,
}

/// The result of using a refresh token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renewed {
    /// The session, with its refresh token.
    Session(Session),
    /// The token was used before: someone else may have it. Its session is over now.
    Reused,
    /// The session is over, or there was none.
    Over,
}

/// A key that signs tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey {
    /// Its id; the header of each token names it.
    pub id: String,
    /// 256 bits.
    pub secret: Vec<u8>,
    /// The time when it was made. The newest key signs.
    pub created_at: Timestamp,
    /// The time from which it signs no more. Tokens that it has signed stay valid.
    pub retired_at: Option<Timestamp>,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The pause that failed logins lead to. It doubles with each failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginLimit {
    /// Failures without a pause.
    pub free: u32,
    /// The first pause.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// Failures are forgotten this long after the last one.
    pub kept: Duration,
}

/// The logins of one account or address that failed or are in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// Their number.
    pub count: u32,
    /// The time of the last one.
    pub last_at: Timestamp,
}

/// A login that is in the count until it is known to be no failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedLogin {
    /// The attempts with it.
    pub attempts: Attempts,
    /// The attempts before it; none if there were none, or they did not count any more.
    pub before: Option<Attempts>,
}

impl CountedLogin {
    /// These attempts without this login: as they were before it, unless another one was counted
    /// after it.
    #[must_use]
    pub fn take_out_of(&self, known: Attempts) -> Option<Attempts> {
        let is_last = known.last_at == self.attempts.last_at && known.count <= self.attempts.count;
        let last_at = match self.before {
            Some(before) if is_last => before.last_at,
            Some(_) | None => known.last_at,
        };
        let count = known.count.saturating_sub(1);
        (count > 0).then_some(Attempts { count, last_at })
    }
}

impl LoginLimit {
    /// The time from which another login may be tried; the past if there is no pause.
    #[must_use]
    pub fn next_at(&self, attempts: Attempts) -> Timestamp {
        let Some(doublings) = attempts.count.checked_sub(self.free.max(1)) else {
            return attempts.last_at;
        };
        let factor = 2_u32.checked_pow(doublings).unwrap_or(u32::MAX);
        attempts.last_at.after(self.first.saturating_mul(factor).min(self.longest))
    }

    /// The time from which the attempts do not count.
    #[must_use]
    pub fn forgotten_at(&self, attempts: Attempts) -> Timestamp {
        attempts.last_at.after(self.kept)
    }

    /// One more login after these attempts; the time to wait for when none is allowed now.
    ///
    /// # Errors
    /// The time from which another login may be tried.
    pub fn count(
        &self,
        known: Option<Attempts>,
        now: Timestamp,
    ) -> Result<CountedLogin, Timestamp> {
        let before = known.filter(|known| known.count > 0 && self.forgotten_at(*known) > now);
        if let Some(before) = before
            && before.count >= self.free.max(1)
            && self.next_at(before) > now
        {
            return Err(self.next_at(before));
        }
        let count = before.map_or(1, |before| before.count.saturating_add(1));
        Ok(CountedLogin { attempts: Attempts { count, last_at: now }, before })
    }
}

/// Sessions of users, the keys that sign their tokens, and the counts of failed logins.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Begins a session.
    ///
    /// # Errors
    /// See [`Error`].
    async fn begin_session(&self, session: &Session) -> Result<(), Error>;

    /// The session, unless it has expired at `now`, or its user is disabled, removed or of another
    /// generation.
    ///
    /// # Errors
    /// See [`Error`].
    async fn session(&self, id: &str, now: Timestamp) -> Result<Option<OpenSession>, Error>;

    /// Uses a refresh token. One that was used before ends its session.
    ///
    /// # Errors
    /// See [`Error`].
    async fn renew_session(&self, renewal: &Renewal) -> Result<Renewed, Error>;

    /// Ends a session; false when there is none with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn end_session(&self, id: &str) -> Result<bool, Error>;

    /// Adds a signing key.
    ///
    /// # Errors
    /// See [`Error`].
    async fn add_signing_key(&self, key: &SigningKey) -> Result<(), Error>;

    /// All signing keys, the newest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn signing_keys(&self) -> Result<Vec<SigningKey>, Error>;

    /// Retires every signing key but this one.
    ///
    /// # Errors
    /// See [`Error`].
    async fn retire_signing_keys(&self, but: &str, now: Timestamp) -> Result<(), Error>;

    /// Removes a signing key: all tokens that it has signed are refused. False when there is none
    /// with this id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_signing_key(&self, id: &str) -> Result<bool, Error>;

    /// Counts a login before it is tried; or the time to wait for when none is allowed now. Of many
    /// at once, no more are allowed than one after the other.
    ///
    /// # Errors
    /// See [`Error`].
    async fn count_login(
        &self,
        subject: &str,
        limit: &LoginLimit,
        now: Timestamp,
    ) -> Result<Result<CountedLogin, Timestamp>, Error>;

    /// Takes this login of the subject out of the count: the count and the time of the last one are
    /// as they were before it, unless another one was counted after it.
    ///
    /// # Errors
    /// See [`Error`].
    async fn uncount_login(
        &self,
        subject: &str,
        limit: &LoginLimit,
        login: &CountedLogin,
    ) -> Result<(), Error>;

    /// Forgets the failed logins of this subject.
    ///
    /// # Errors
    /// See [`Error`].
    async fn forgive_logins(&self, subject: &str) -> Result<(), Error>;

    /// Removes at most `limit` sessions and at most `limit` counts that have expired at `now`, and
    /// returns the larger of both numbers.
    ///
    /// # Errors
    /// See [`Error`].
    async fn forget_logins(&self, now: Timestamp, limit: u64) -> Result<u64, Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: LoginLimit = LoginLimit {
        free: 3,
        first: Duration::from_secs(1),
        longest: Duration::from_secs(60),
        kept: Duration::from_secs(3_600),
    };

    #[test]
    fn the_pause_doubles_up_to_the_longest() {
        let at = Timestamp::from_millis;
        for (count, pause) in [(1, 0), (2, 0), (3, 1), (4, 2), (8, 32), (9, 60), (u32::MAX, 60)] {
            let next = LIMIT.next_at(Attempts { count, last_at: at(0) });
            assert_eq!(next, at(pause * 1_000), "{count}");
        }
    }

    #[test]
    fn logins_are_counted_until_a_pause_is_due() {
        let at = Timestamp::from_millis;
        let mut known = None;
        for expected in 1..=3 {
            let counted = LIMIT.count(known, at(0)).unwrap();
            assert_eq!(counted.attempts.count, expected);
            assert_eq!(counted.before, known);
            known = Some(counted.attempts);
        }
        assert_eq!(LIMIT.count(known, at(999)), Err(at(1_000)));
        let fourth = Attempts { count: 4, last_at: at(1_000) };
        assert_eq!(
            LIMIT.count(known, at(1_000)),
            Ok(CountedLogin { attempts: fourth, before: known })
        );
        let first = Attempts { count: 1, last_at: at(3_600_000) };
        assert_eq!(
            LIMIT.count(known, at(3_600_000)),
            Ok(CountedLogin { attempts: first, before: None })
        );
    }

    #[test]
    fn a_login_is_taken_out_as_if_it_had_not_been() {
        let of = |count, millis| Attempts { count, last_at: Timestamp::from_millis(millis) };
        let before = of(30, 10);
        let login = CountedLogin { attempts: of(31, 20), before: Some(before) };
        for (known, expected, why) in [
            (of(31, 20), Some(before), "it is the last one"),
            (of(30, 20), Some(of(29, 10)), "another one was taken out meanwhile"),
            (of(32, 25), Some(of(31, 25)), "another one was counted meanwhile"),
            (of(32, 20), Some(of(31, 20)), "another one was counted in the same millisecond"),
            (of(1, 25), None, "the others were forgotten meanwhile"),
        ] {
            assert_eq!(login.take_out_of(known), expected, "{why}");
        }
        let first = CountedLogin { attempts: of(1, 20), before: None };
        assert_eq!(first.take_out_of(of(1, 20)), None);
        assert_eq!(first.take_out_of(of(2, 25)), Some(of(1, 25)));
    }
}
