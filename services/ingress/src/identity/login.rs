//! Logins, refreshes and logouts.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use store::{OpenSession, Renewal, Renewed, Session, User, UserChange};

use super::guesses::Guess;
use super::password::{self, BYTES_MAX, NAME_BYTES_MAX};
use super::secret;
use super::token::{self, Claims, Flaw, Use, one_or_many};
use crate::auth::caller::Caller;
use crate::idempotency::forget_expired;
use crate::{App, Problem};

/// The longest permissions in a token, in bytes together. With more a token has none: a header has
/// room for the token, and the server does not read them.
const PERMISSIONS_BYTES_MAX: usize = 16 * 1024;

/// The tokens of a session.
pub(crate) struct Tokens {
    /// For requests.
    pub(crate) access: String,
    /// For the next tokens.
    pub(crate) refresh: String,
}

/// Logs a user in; `None` if name or password are wrong. All failures take the same time.
pub(crate) async fn login(
    app: &Arc<App>,
    name: &str,
    password: &str,
    address: Option<IpAddr>,
) -> Result<Option<Tokens>, Problem> {
    let Some(user) = verified(app, name, password, address).await? else { return Ok(None) };
    let tokens = begin(app, &user).await?;
    audit(app, Some(&user), "login", address).await;
    Ok(Some(tokens))
}

/// Gives a user another password, and ends all its sessions.
pub(crate) async fn change_password(
    app: &Arc<App>,
    name: &str,
    current: &str,
    new: &str,
    address: Option<IpAddr>,
) -> Result<(), Problem> {
    // Before the guess: what can never be done is none.
    password::check(new).map_err(Problem::bad_request)?;
    if new == current {
        return Err(Problem::bad_request("the two passwords are the same: use another"));
    }
    let Some(user) = verified(app, name, current, address).await? else {
        return Err(Problem::forbidden("the name or the password until now is wrong"));
    };
    let hash = app.identity.hashing.hash(new, app.cx.chance.seed()).await?;
    let change =
        UserChange { password_hash: Some(hash), ends_sessions: true, ..UserChange::default() };
    let changed = app.cx.store.change_user(&user.id, &change).await?;
    let gone = || Problem::forbidden("the user was removed meanwhile");
    audit(app, Some(&changed.ok_or_else(gone)?), "user.password", address).await;
    Ok(())
}

/// The user with this name and password; `None` if one of them is wrong, or the user is disabled.
async fn verified(
    app: &Arc<App>,
    name: &str,
    password: &str,
    address: Option<IpAddr>,
) -> Result<Option<User>, Problem> {
    if name.len() > NAME_BYTES_MAX || password.len() > BYTES_MAX {
        return Err(Problem::bad_request(format!(
            "a username has at most {NAME_BYTES_MAX} bytes, a password {BYTES_MAX}"
        )));
    }
    let now = app.now();
    forget_expired(app, now);
    let counted = Guess::of(name, address).count(app, now).await?;
    let verified = match app.cx.store.user_named(name).await {
        Ok(user) => {
            let hash = user.as_ref().map(|user| user.password_hash.clone());
            let is_right = app.identity.hashing.verify(password, hash).await;
            is_right.map(|is_right| (user, is_right))
        }
        Err(error) => Err(error.into()),
    };
    let (user, is_right) = match verified {
        Ok(verified) => verified,
        Err(problem) => {
            // The password was not compared: that was no guess.
            counted.uncount(app, false).await?;
            return Err(problem);
        }
    };
    match user {
        Some(user) if is_right && !user.is_disabled => {
            counted.uncount(app, true).await?;
            Ok(Some(user))
        }
        // The same work for every refusal, so that its time says nothing.
        user => {
            audit(app, user.as_ref(), "login.refuse", address).await;
            Ok(None)
        }
    }
}

/// Begins a session.
async fn begin(app: &App, user: &User) -> Result<Tokens, Problem> {
    let now = app.now();
    let session = Session {
        id: app.fresh_id(),
        user_id: user.id.clone(),
        generation: user.generation,
        token_id: app.fresh_id(),
        previous_id: None,
        rotated_at: now,
        expires_at: now.after(app.config.identity.refresh_time),
    };
    app.cx.store.begin_session(&session).await?;
    let roles = app.cx.store.roles_of(&user.roles).await?;
    issue(app, &OpenSession { session, user: user.clone(), roles }).await
}

/// The next tokens for a refresh token, which is good for one use.
pub(crate) async fn refresh(
    app: &Arc<App>,
    given: &str,
    address: Option<IpAddr>,
) -> Result<Tokens, Problem> {
    let claims = read(app, given, Some(Use::Refresh)).await?;
    let now = app.now();
    let Some(open) = app.cx.store.session(&claims.sid, now).await? else {
        return Err(refusal(Flaw::Over));
    };
    let renewal = Renewal {
        session_id: claims.sid,
        token_id: claims.jti,
        next_id: app.fresh_id(),
        now,
        expires_at: now.after(app.config.identity.refresh_time),
        reuse: app.config.identity.reuse_time,
    };
    match app.cx.store.renew_session(&renewal).await? {
        Renewed::Session(session) => issue(app, &OpenSession { session, ..open }).await,
        Renewed::Over => Err(refusal(Flaw::Over)),
        Renewed::Reused => {
            tracing::warn!(user = open.user.id, "a used refresh token was used again");
            audit(app, Some(&open.user), "session.reuse", address).await;
            Err(Problem::unauthorized(
                "the refresh token was used before, so its session is over: log in again",
            ))
        }
    }
}

/// Ends the session of a token of either kind.
pub(crate) async fn logout(
    app: &Arc<App>,
    given: &str,
    address: Option<IpAddr>,
) -> Result<(), Problem> {
    let claims = read(app, given, None).await?;
    let now = app.now();
    let Some(open) = app.cx.store.session(&claims.sid, now).await? else {
        return Err(refusal(Flaw::Over));
    };
    app.cx.store.end_session(&claims.sid).await?;
    audit(app, Some(&open.user), "logout", address).await;
    Ok(())
}

/// The session of an access token, with its user's permissions as they are now.
pub(crate) async fn session(app: &App, given: &str) -> Result<OpenSession, Problem> {
    let claims = read(app, given, Some(Use::Access)).await?;
    let found = async { app.cx.store.session(&claims.sid, app.now()).await };
    let open = app.reads.sessions.get(&claims.sid, found).await?;
    open.filter(|open| open.user.id == claims.sub).ok_or_else(|| refusal(Flaw::Over))
}

async fn read(app: &App, given: &str, wanted: Option<Use>) -> Result<Claims, Problem> {
    let sealed = token::open(given).map_err(refusal)?;
    let key = app.identity.keys.key(&app.cx, &app.config.identity, &sealed.key_id).await?;
    let key = key.ok_or_else(|| refusal(Flaw::Key))?;
    let seconds = app.now().as_millis() / 1_000;
    sealed.claims(&key, &app.config.identity, wanted, seconds).map_err(refusal)
}

fn refusal(flaw: Flaw) -> Problem {
    Problem::invalid_token(&flaw.to_string())
}

/// The tokens of a session.
async fn issue(app: &App, open: &OpenSession) -> Result<Tokens, Problem> {
    let OpenSession { session, user, roles } = open;
    let config = &app.config.identity;
    let key = app.identity.keys.signer(&app.cx, config).await?;
    let now = app.now();
    let seconds = now.as_millis() / 1_000;
    let mut permissions: Vec<String> =
        roles.iter().flat_map(|role| role.permissions.clone()).collect();
    permissions.sort();
    permissions.dedup();
    let bytes: usize = permissions.iter().map(String::len).sum();
    if bytes > PERMISSIONS_BYTES_MAX {
        permissions.clear();
    }
    let refresh = Claims {
        sub: user.id.clone(),
        name: user.name.clone(),
        role: None,
        permissions: None,
        token_use: Use::Refresh,
        iss: config.issuer.clone(),
        aud: config.audience.clone(),
        exp: session.expires_at.as_millis() / 1_000,
        nbf: seconds,
        iat: seconds,
        jti: session.token_id.clone(),
        sid: session.id.clone(),
    };
    let access = Claims {
        role: one_or_many(roles.iter().map(|role| role.name.clone()).collect()),
        permissions: one_or_many(permissions),
        token_use: Use::Access,
        exp: now.after(config.access_time).as_millis() / 1_000,
        jti: app.fresh_id(),
        ..refresh.clone()
    };
    let sign = |claims: &Claims| {
        token::sign(claims, &key).map_err(|flaw| {
            tracing::error!(%flaw, "a token could not be signed");
            Problem::internal()
        })
    };
    Ok(Tokens { access: sign(&access)?, refresh: sign(&refresh)? })
}

/// Writes an entry of the audit log. An unknown name is not written down: people type passwords
/// into the wrong field.
async fn audit(app: &App, user: Option<&User>, what: &str, address: Option<IpAddr>) {
    let details = address.map_or(Value::Null, |address| json!({"address": address.to_string()}));
    let caller = user.map_or_else(Caller::nobody, |user| Caller::user(&user.name, Vec::new()));
    let (caller, target) = (caller.at(address), user.map_or("unknown user", |user| &user.id));
    match what {
        "login.refuse" | "session.reuse" => app.audit_refusal(&caller, what, target, details).await,
        _ => app.audit(&caller, what, target, details).await,
    }
}

/// A password that is drawn.
pub(crate) fn drawn_password(app: &App) -> String {
    secret::password(&app.cx.chance.seed())
}
