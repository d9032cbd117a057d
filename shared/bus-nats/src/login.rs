//! The servers, and the login of this process: read from the URLs, a credentials file or an NKey
//! seed file.
//!
//! The client library ignores a user, a password or a token in a URL, so this module takes them out
//! of it. It never shows a secret.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_nats::{Auth, AuthError, ConnectOptions, ServerAddr};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bus::Error;
use model::Timestamp;
use nkeys::KeyPair;
use percent_encoding::percent_decode_str;
use serde::Deserialize;

use crate::Options;

/// The servers of one cluster, and the login that all of them accept.
#[derive(Clone)]
pub(crate) struct Target {
    /// Without users, passwords and tokens.
    pub(crate) servers: Vec<ServerAddr>,
    pub(crate) login: Login,
}

/// The login of this process.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Login {
    Nobody,
    User {
        name: String,
        password: String,
    },
    Token(String),
    /// A credentials file: a JWT and the seed of its NKey.
    Credentials {
        path: String,
        /// The account that made the user.
        account: String,
        jwt: String,
        seed: String,
        /// When the JWT expires, if it does.
        expires: Option<Timestamp>,
    },
    NKey {
        path: String,
        public: String,
        seed: String,
    },
}

impl Target {
    /// Reads servers and login from the options, and from the files that they name.
    ///
    /// # Errors
    /// [`Error::Denied`] when a URL or a file cannot be read, or when two of them contain a login.
    pub(crate) fn read(options: &Options) -> Result<Self, Error> {
        let (servers, mut login) = read_urls(&url(options)?)?;
        for found in
            [options.creds.as_deref().map(read_credentials), options.nkey.as_deref().map(read_seed)]
        {
            let Some(found) = found.transpose()? else { continue };
            if login != Login::Nobody {
                return Err(Error::Denied(format!(
                    "{login} and {found} are both given as the login of this process: give one"
                )));
            }
            login = found;
        }
        Ok(Self { servers, login })
    }

    /// The servers as `host:port`, separated by commas.
    pub(crate) fn places(&self) -> String {
        let places: Vec<_> = self.servers.iter().map(place).collect();
        places.join(", ")
    }
}

/// A client's settings whose login is read again for each connection: passwords, credentials and seeds
/// may be replaced while the process runs. What cannot be used changes nothing. The user stays: subjects
/// of answers have its name. Of credentials the account stays: another one has other streams.
pub(crate) fn settings(options: &Options, first: &Login) -> ConnectOptions {
    let (options, last) = (options.clone(), Mutex::new(first.clone()));
    ConnectOptions::with_auth_callback(move |nonce| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        match Target::read(&options) {
            Ok(Target { login, .. }) if login.may_follow(&last) => *last = login,
            Ok(Target { login, .. }) => tracing::error!(
                "the login of NATS is {login} now, and stays {last}: only the secret of a user, and the \
                 user of an account, may change while a process runs, so start the process again"
            ),
            Err(error) => tracing::error!(%error, "the login of NATS stays as it was"),
        }
        std::future::ready(last.clone().answer(&nonce))
    })
}

impl Login {
    /// The login, with this text of the server signed where it asks for that.
    fn answer(self, nonce: &[u8]) -> Result<Auth, AuthError> {
        let signed = |seed: &str| {
            KeyPair::from_seed(seed).and_then(|pair| pair.sign(nonce)).map_err(AuthError::new)
        };
        let mut auth = Auth::new();
        match self {
            Self::Nobody => {}
            Self::User { name, password } => {
                (auth.username, auth.password) = (Some(name), Some(password));
            }
            Self::Token(token) => auth.token = Some(token),
            Self::NKey { public, seed, .. } => {
                (auth.nkey, auth.signature) = (Some(public), Some(signed(&seed)?));
            }
            Self::Credentials { jwt, seed, .. } => {
                (auth.jwt, auth.signature) = (Some(jwt), Some(signed(&seed)?));
            }
        }
        Ok(auth)
    }

    /// The user's name in configurations of nats-server: a name, or the public key of an NKey.
    pub(crate) fn user(&self) -> Option<&str> {
        match self {
            Self::User { name, .. } => Some(name),
            Self::NKey { public, .. } => Some(public),
            Self::Nobody | Self::Token(_) | Self::Credentials { .. } => None,
        }
    }

    /// When it expires, if it does.
    pub(crate) fn expires(&self) -> Option<Timestamp> {
        match self {
            Self::Credentials { expires, .. } => *expires,
            _ => None,
        }
    }

    /// Refuses a login that has expired.
    fn check(&self, now: Timestamp) -> Result<(), Error> {
        match self {
            Self::Credentials { path, expires: Some(expires), .. } if *expires <= now => {
                Err(Error::Denied(format!(
                    "the JWT in the NATS credentials file {path} expired at {expires}: have a new one \
                     issued for this user, and write it into the file"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Whether a process that has this login may go on with that one.
    fn may_follow(&self, last: &Self) -> bool {
        match (self, last) {
            (Self::Credentials { account, .. }, Self::Credentials { account: before, .. }) => {
                account == before
            }
            _ => self.user() == last.user(),
        }
    }
}

/// For errors and logs.
impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("a client without a login"),
            Self::User { name, .. } => write!(f, "user {name:?}"),
            Self::Token(_) => f.write_str("a token"),
            Self::Credentials { path, account, .. } => {
                write!(f, "the user of account {account} in the credentials file {path}")
            }
            Self::NKey { path, public, .. } => write!(f, "NKey {public} of the file {path}"),
        }
    }
}

/// A server as `host:port`.
pub(crate) fn place(server: &ServerAddr) -> String {
    format!("{}:{}", server.host(), server.port())
}

/// The URLs: as the file has them now, if they come from one.
fn url(options: &Options) -> Result<String, Error> {
    match &options.url_file {
        Some(path) => Ok(read_file("file with the NATS URL", path)?.trim().to_owned()),
        None => Ok(options.url.clone()),
    }
}

/// Refuses URLs of NATS servers that cannot be read. Nothing is asked.
///
/// # Errors
/// [`Error::Denied`] with the reason, without secrets.
pub fn check_urls(text: &str) -> Result<(), Error> {
    read_urls(text).map(drop)
}

/// Refuses URLs, a credentials file or a seed with which no login could be made, and a login that has
/// expired by this time. Nothing is asked.
///
/// # Errors
/// [`Error::Denied`] with the reason, without secrets.
pub fn check_login(options: &Options, now: Timestamp) -> Result<(), Error> {
    Target::read(options)?.login.check(now)
}

/// The servers, and the login in their URLs.
fn read_urls(text: &str) -> Result<(Vec<ServerAddr>, Login), Error> {
    let mut servers = Vec::new();
    let mut login = Login::Nobody;
    for text in text.split(',') {
        let (server, found) = read_url(text.trim())?;
        servers.push(server);
        if found == Login::Nobody || found == login {
            continue;
        }
        if login != Login::Nobody {
            return Err(Error::Denied(format!(
                "the NATS URLs name {login} and {found}: all servers of a cluster take the same \
                 login, so give one"
            )));
        }
        login = found;
    }
    Ok((servers, login))
}

/// One server, and the login in its URL.
fn read_url(text: &str) -> Result<(ServerAddr, Login), Error> {
    // The text may contain a password, so no error repeats it.
    let invalid = |reason: &dyn fmt::Display| {
        Error::Denied(format!("a NATS URL is not like nats://user:password@host:4222: {reason}"))
    };
    let server: ServerAddr = text.parse().map_err(|error| invalid(&error))?;
    let decoded = |text: &str| {
        let decoded = percent_decode_str(text).decode_utf8();
        decoded.map(|text| text.into_owned()).map_err(|error| invalid(&error))
    };
    let login = match (server.username(), server.password()) {
        (Some(name), Some(password)) => {
            Login::User { name: decoded(name)?, password: decoded(password)? }
        }
        (Some(token), None) => Login::Token(decoded(token)?),
        (None, Some(_)) => return Err(invalid(&"there is a password without a user")),
        (None, None) => Login::Nobody,
    };
    let mut url = server.into_inner();
    let stripped = url.set_username("").and_then(|()| url.set_password(None));
    if stripped.is_err() || url.host().is_none() {
        return Err(invalid(&"there is no host"));
    }
    let server = ServerAddr::from_url(url).map_err(|error| invalid(&error))?;
    Ok((server, login))
}

fn read_credentials(path: &Path) -> Result<Login, Error> {
    let text = read_file("NATS credentials file", path)?;
    // Each part stands between two lines of dashes, the first with its name.
    let part = |name: &str| {
        let mut lines = text.lines().skip_while(|line| !line.contains(name)).skip(1);
        let part = lines.find(|line| !line.trim().is_empty()).map(str::trim);
        part.filter(|part| !part.starts_with('-')).map(str::to_owned).ok_or_else(|| {
            let path = path.display();
            Error::Denied(format!("{path} is not a NATS credentials file: it has no {name}"))
        })
    };
    let (jwt, seed) = (part("BEGIN NATS USER JWT")?, part("BEGIN USER NKEY SEED")?);
    let wrong = |why: &dyn fmt::Display| {
        Error::Denied(format!("{} is not a NATS credentials file: {why}", path.display()))
    };
    let claims = claims_of(&jwt).ok_or_else(|| wrong(&"its JWT cannot be read"))?;
    let pair = KeyPair::from_seed(&seed);
    let pair = pair.map_err(|error| wrong(&format!("its seed cannot be read: {error}")))?;
    if claims.sub.is_some_and(|user| user != pair.public_key()) {
        return Err(wrong(&"its seed is of another user than its JWT"));
    }
    let account = claims.nats.issuer_account.unwrap_or(claims.iss);
    let expires = claims.exp.filter(|exp| *exp > 0);
    let expires = expires.map(|exp| Timestamp::from_millis(exp.saturating_mul(1_000)));
    Ok(Login::Credentials { path: path.display().to_string(), account, jwt, seed, expires })
}

/// What the token of a user says of it. The server checks the token.
#[derive(Deserialize)]
struct Claims {
    /// The account that made the user, or a signing key of it.
    iss: String,
    /// The public key of the user.
    sub: Option<String>,
    /// Seconds since 1970 at which it expires; 0 and none: it does not.
    exp: Option<i64>,
    #[serde(default)]
    nats: UserClaims,
}

#[derive(Default, Deserialize)]
struct UserClaims {
    /// The account, where a signing key of it made the user.
    issuer_account: Option<String>,
}

fn claims_of(jwt: &str) -> Option<Claims> {
    let claims = URL_SAFE_NO_PAD.decode(jwt.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&claims).ok()
}

fn read_seed(path: &Path) -> Result<Login, Error> {
    let text = read_file("NKey seed file", path)?;
    // As `nk -gen user` writes it, or with comments around it.
    let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU")).unwrap_or("");
    let public = KeyPair::from_seed(seed).map(|pair| pair.public_key());
    let public = public.map_err(|error| {
        Error::Denied(format!(
            "{} has no seed of an NKey for a user, a line that begins with SU: {error}",
            path.display()
        ))
    })?;
    Ok(Login::NKey { path: path.display().to_string(), public, seed: seed.to_owned() })
}

fn read_file(what: &str, path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| {
        Error::Denied(format!("the {what} {} cannot be read: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(url: &str) -> Result<Target, Error> {
        Target::read(&Options::new(url))
    }

    #[test]
    fn a_login_is_taken_out_of_the_urls() {
        let check = |url: &str, login: &Login, places: &str| {
            let target = read(url).unwrap();
            assert!(target.login == *login, "{url}: {}", target.login);
            assert_eq!(target.places(), places);
            assert!(target.servers.iter().all(|server| !server.has_user_pass()), "{url}");
        };
        let user = |name: &str, password: &str| Login::User {
            name: name.to_owned(),
            password: password.to_owned(),
        };
        check("nats://h", &Login::Nobody, "h:4222");
        check("h:1", &Login::Nobody, "h:1");
        check("nats://u:secret@a:4222, nats://b", &user("u", "secret"), "a:4222, b:4222");
        check("nats://u:p@a,nats://u:p@b:2", &user("u", "p"), "a:4222, b:2");
        check("tls://u%40x:p%3A%2F%25@a", &user("u@x", "p:/%"), "a:4222");
        check("nats://t0ken@[::1]:4", &Login::Token("t0ken".to_owned()), "::1:4");
    }

    #[test]
    fn what_is_wrong_with_a_login_is_said_without_its_secret() {
        let check = |url: &str, expected: &str| {
            let error = read(url).err().unwrap().to_string();
            assert!(error.contains(expected) && !error.contains("hush"), "{error}");
        };
        check("nats://a:hush@b:c", "is not like nats://user:password@host");
        check("http://u:hush@b", "is not like nats://user:password@host");
        check("nats://u:hush@a,nats://v:hush@b", "user \"u\" and user \"v\"");
        check("nats://u:hush@a,nats://hush@b", "user \"u\" and a token");
        check("nats://:hush@a", "without a user");
        let mut options = Options::new("nats://u:hush@a");
        options.nkey = Some("missing.nk".into());
        let error = Target::read(&options).err().unwrap().to_string();
        assert!(error.contains("missing.nk cannot be read"), "{error}");
    }
    #[test]
    fn credentials_are_checked_and_a_user_of_another_account_does_not_follow() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (KeyPair::new_user(), KeyPair::new_user());
        let of = |claims: Value, seed: &str| {
            let claims = URL_SAFE_NO_PAD.encode(claims.to_string());
            let path = folder.path().join("a.creds");
            let text = format!(
                "-----BEGIN NATS USER JWT-----\ne30.{claims}.c2ln\n------END\n\
                 -----BEGIN USER NKEY SEED-----\n{seed}\n------END\n"
            );
            std::fs::write(&path, text).unwrap();
            read_credentials(&path)
        };
        let login = |claims: Value, user: &KeyPair| of(claims, &user.seed().unwrap()).ok().unwrap();
        let first = login(json!({"iss": "AONE", "sub": one.public_key()}), &one);
        let next = login(json!({"iss": "AONE", "sub": two.public_key()}), &two);
        let signed = login(json!({"iss": "AKEY", "nats": {"issuer_account": "AONE"}}), &one);
        let other = login(json!({"iss": "ATWO", "sub": one.public_key()}), &one);
        assert!(next.may_follow(&first) && signed.may_follow(&first));
        assert!(!other.may_follow(&first));
        assert!(other.to_string().contains("account ATWO"), "{other}");
        // The server decides whether an expired one enters; only its time is read.
        let now = Timestamp::from_millis(1_700_000_000_000);
        let until = |exp: Value| login(json!({"iss": "AONE", "exp": exp}), &one);
        for exp in [json!(null), json!(0), json!(1_700_000_001)] {
            until(exp).check(now).unwrap();
        }
        let expired = until(json!(1_700_000_000));
        assert_eq!(expired.expires(), Some(now));
        let error = expired.check(now).unwrap_err().to_string();
        assert!(error.contains("a.creds expired at 2023-11-14T22:13:20"), "{error}");
        assert!(error.contains("have a new one issued"), "{error}");
        let refused = |claims: Value, seed: &str| of(claims, seed).err().unwrap().to_string();
        let seed = one.seed().unwrap();
        assert!(refused(json!(null), &seed).contains("its JWT cannot be read"));
        let error = refused(json!({"iss": "AONE"}), "SUHUSH");
        assert!(error.contains("its seed cannot be read") && !error.contains("HUSH"), "{error}");
        let error = refused(json!({"iss": "AONE", "sub": two.public_key()}), &seed);
        assert!(error.contains("of another user than its JWT"), "{error}");
    }
}
