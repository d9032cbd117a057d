//! The configuration of users and their tokens.

use std::path::PathBuf;
use std::time::Duration;

use chassis::{Secret, Settings};
use store::LoginLimit;

use super::{key_file, password};

/// The configuration of users and their tokens.
#[derive(Clone, Debug)]
pub struct IdentityConfig {
    /// How long an access token is valid.
    pub access_time: Duration,
    /// How long a session lasts without a refresh.
    pub refresh_time: Duration,
    /// For this long after its use a refresh token may be used again, with the same answer: pages of
    /// one client refresh at the same time.
    pub reuse_time: Duration,
    /// The `iss` of tokens.
    pub issuer: String,
    /// The `aud` of tokens.
    pub audience: String,
    /// File with the keys that sign tokens; if none, they are in the database.
    pub key_file: Option<PathBuf>,
    /// Name and password of the first user.
    pub first: Option<(String, Secret)>,
    /// The pause after failed logins of one account.
    pub account_limit: LoginLimit,
    /// The pause after failed logins from one address. Many people may share it.
    pub address_limit: LoginLimit,
}

impl Default for IdentityConfig {
    fn default() -> Self {
        let (first, kept) = (Duration::from_secs(1), Duration::from_secs(3_600));
        let longest = Duration::from_secs(300);
        Self {
            access_time: Duration::from_secs(3_600),
            refresh_time: Duration::from_secs(2 * 3_600),
            reuse_time: Duration::from_secs(10),
            issuer: "staunch".to_owned(),
            audience: "staunch".to_owned(),
            key_file: None,
            first: None,
            account_limit: LoginLimit { free: 5, first, longest, kept },
            address_limit: LoginLimit { free: 30, first, longest: Duration::from_secs(60), kept },
        }
    }
}

impl IdentityConfig {
    /// The configuration in these settings.
    ///
    /// # Errors
    /// The reason why the first user cannot be made.
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, String> {
        if settings.is_given("admin-name") && !settings.auth.identity {
            let reason = "the first user logs in with a password, and `auth` does not have identity: add \
                          it to `auth`, or leave admin-name out";
            return Err(settings.refusal("admin-name", reason).to_string());
        }
        Ok(Self {
            access_time: settings.access_token_time,
            refresh_time: settings.refresh_token_time,
            issuer: settings.token_issuer.clone(),
            audience: settings.token_issuer.clone(),
            key_file: settings.signing_key_file.clone(),
            first: if settings.auth.identity { first(settings)? } else { None },
            ..Self::default()
        })
    }

    /// Refuses keys and a password that cannot be used.
    ///
    /// # Errors
    /// The reason; never a key or the password.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(file) = &self.key_file {
            key_file::read(file).map_err(|reason| format!("signing-key-file: {reason}"))?;
        }
        let Some((name, secret)) = &self.first else { return Ok(()) };
        password::check_name(name).map_err(|reason| format!("admin-name: {reason}"))?;
        password::check(secret.expose()).map_err(|reason| {
            format!("the first user, admin-password or admin-password-file: {reason}")
        })
    }
}

/// The first user's name and password.
fn first(settings: &Settings) -> Result<Option<(String, Secret)>, String> {
    let given = match (&settings.admin_password, &settings.admin_password_file) {
        (Some(_), Some(_)) => {
            return Err("admin-password and admin-password-file are both set: use one".to_owned());
        }
        (Some(password), None) => Some(password.clone()),
        (None, Some(file)) => {
            let named = |why: String| format!("admin-password-file: {why}");
            Some(Secret::new(password::of_file(file).map_err(named)?))
        }
        (None, None) => None,
    };
    match (&settings.admin_name, given) {
        (Some(name), Some(password)) => {
            let name = name.trim();
            let refused = |reason: String| settings.refusal("admin-name", reason).to_string();
            password::check_name(name).map_err(refused)?;
            Ok(Some((name.to_owned(), password)))
        }
        (None, None) => Ok(None),
        (Some(_), None) => {
            Err("admin-name has no password: set STAUNCH_ADMIN_PASSWORD or --admin-password-file"
                .to_owned())
        }
        (None, Some(_)) => Err("the first user has no name: set admin-name".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<IdentityConfig, String> {
        let variables: BTreeMap<_, _> = variables.iter().copied().collect();
        let variable = |name: &str| variables.get(name).map(|value| (*value).to_owned());
        let settings = Settings::resolve(&chassis::Args::default(), &variable)
            .map_err(|error| error.to_string())?;
        IdentityConfig::from_settings(&settings)
    }

    #[test]
    fn the_first_user_comes_from_the_environment_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        std::fs::write(&file, "correct horse battery\n").unwrap();
        let file = file.to_str().unwrap();
        let on = ("STAUNCH_AUTH", "identity");
        let name = ("STAUNCH_ADMIN_NAME", "alice");
        let password = ("STAUNCH_ADMIN_PASSWORD", "another horse battery");
        let from_file = ("STAUNCH_ADMIN_PASSWORD_FILE", file);
        let first = |variables: &[(&str, &str)]| {
            let first = read(variables).unwrap().first;
            first.map(|(name, password)| (name, password.expose().to_owned()))
        };
        let alice = |password: &str| Some(("alice".to_owned(), password.to_owned()));
        assert_eq!(first(&[on, name, password]), alice("another horse battery"));
        assert_eq!(first(&[on, name, from_file]), alice("correct horse battery"));
        assert_eq!(first(&[on]), None);
        assert_eq!(first(&[password]), None, "logins are off");
        let why = read(&[name, password]).unwrap_err();
        let begin = "admin-name = \"alice\" from the variable STAUNCH_ADMIN_NAME: the first user";
        assert!(why.starts_with(begin) && !why.contains("horse"), "{why}");
        for wrong in [&[on, name][..], &[on, password], &[on, name, password, from_file]] {
            let why = read(wrong).unwrap_err();
            assert!(why.contains("admin-") || why.contains("name"), "{why}");
            assert!(!why.contains("horse"), "{why}");
        }
        let unseen = ("STAUNCH_ADMIN_NAME", "al\u{200b}ice");
        let why = read(&[on, unseen, password]).unwrap_err();
        let begin =
            r#"admin-name = "al\u{200b}ice" from the variable STAUNCH_ADMIN_NAME: a name has"#;
        assert!(why.starts_with(begin) && !why.contains("horse"), "{why}");
        let missing = ("STAUNCH_ADMIN_PASSWORD_FILE", "/no/such/file");
        let why = read(&[on, name, missing]).unwrap_err();
        assert!(why.starts_with("admin-password-file: cannot read /no/such/file"), "{why}");
    }

    #[test]
    fn keys_and_passwords_are_checked_at_the_start() {
        let config = IdentityConfig::default();
        assert_eq!(config.check(), Ok(()));
        let weak = Some(("alice".to_owned(), Secret::new("short")));
        let why = IdentityConfig { first: weak, ..config.clone() }.check().unwrap_err();
        assert!(why.contains("admin-password") && !why.contains("short"), "{why}");
        let nameless = Some((" ".to_owned(), Secret::new("correct horse battery")));
        let why = IdentityConfig { first: nameless, ..config.clone() }.check().unwrap_err();
        assert!(why.starts_with("admin-name: "), "{why}");
        let key_file = Some(PathBuf::from("/no/such/file"));
        assert!(IdentityConfig { key_file, ..config }.check().is_err());
    }
}
