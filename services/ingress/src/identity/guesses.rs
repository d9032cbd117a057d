//! Counts failed logins by account and by address, over all nodes. A login is counted before its
//! password is checked, so that many guesses at once gain nothing, and is taken out of the count
//! when the password was right.

use std::net::IpAddr;

use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use model::Timestamp;
use store::CountedLogin;

use super::secret;
use crate::rate::network;
use crate::{App, Problem};

/// The account and address of a login.
pub(super) struct Guess {
    account: String,
    address: Option<String>,
}

impl Guess {
    /// A login for this account. The name is hashed: people type passwords into the wrong field.
    pub(super) fn of(name: &str, address: Option<IpAddr>) -> Self {
        let account = format!("account:{}", secret::hash(name));
        Self { account, address: address.map(|address| format!("address:{}", network(address))) }
    }

    /// Counts the login, or refuses it until its pause is over.
    pub(super) async fn count(self, app: &App, now: Timestamp) -> Result<Counted, Problem> {
        let (store, config) = (&app.cx.store, &app.config.identity);
        let Self { account, address } = self;
        let address = match address {
            None => None,
            Some(address) => {
                let counted = store.count_login(&address, &config.address_limit, now).await?;
                let login = counted.map_err(|until| refused("from this address", now, until))?;
                Some((address, login))
            }
        };
        let counted = store.count_login(&account, &config.account_limit, now).await?;
        let login = counted.map_err(|until| refused("of this account", now, until))?;
        Ok(Counted { account: (account, login), address })
    }
}

/// A login that is counted at its account and at its address.
pub(super) struct Counted {
    account: (String, CountedLogin),
    address: Option<(String, CountedLogin)>,
}

impl Counted {
    /// Takes the login out of the count; a success also forgives the failures of its account.
    pub(super) async fn uncount(&self, app: &App, is_success: bool) -> Result<(), store::Error> {
        let (store, config) = (&app.cx.store, &app.config.identity);
        if let Some((address, login)) = &self.address {
            store.uncount_login(address, &config.address_limit, login).await?;
        }
        let (account, login) = &self.account;
        match is_success {
            true => store.forgive_logins(account).await,
            false => store.uncount_login(account, &config.account_limit, login).await,
        }
    }
}

fn refused(whose: &str, now: Timestamp, until: Timestamp) -> Problem {
    let seconds = until.since(now).as_millis().div_ceil(1_000).max(1);
    let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
    let detail = format!("too many logins {whose} have failed: try again in {seconds} s");
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-logins", detail)
        .header(RETRY_AFTER, HeaderValue::from(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_stands_for_its_network() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("10.1.2.3"), "10.1.2.3");
        assert_eq!(of("::ffff:10.1.2.3"), "10.1.2.3");
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
    }

    #[test]
    fn a_name_is_not_written_down() {
        let guess = Guess::of("my password", None);
        assert!(!guess.account.contains("password"), "{}", guess.account);
    }
}
