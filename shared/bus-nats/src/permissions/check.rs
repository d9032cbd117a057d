//! The check at the start of a process: its user has the permissions that its roles need.
//!
//! Without it, a missing permission would show as a request that nobody answers, perhaps days later.

use std::collections::BTreeSet;

use async_nats::Request;
use bus::Error;
use serde::Deserialize;

use super::grant::Grant;
use super::pattern::covers;
use super::role::{self, USER_INFO};
use crate::NatsBus;
use crate::options::ANSWER_MAX;

/// Missing subjects that an error names.
const SHOWN_MAX: usize = 12;

#[derive(Deserialize)]
struct Answer {
    data: Option<Info>,
}

#[derive(Deserialize)]
struct Info {
    permissions: Option<Permissions>,
}

#[derive(Default, Deserialize)]
struct Permissions {
    publish: Option<Rules>,
    subscribe: Option<Rules>,
}

/// Without a list of what is allowed, everything is.
#[derive(Deserialize)]
struct Rules {
    allow: Option<BTreeSet<String>>,
    deny: Option<BTreeSet<String>>,
}

impl NatsBus {
    /// Compares the permissions of this process's user with what a process with these roles needs.
    /// A server that does not tell them is trusted.
    ///
    /// # Errors
    /// [`Error::Denied`] names everything that is missing.
    pub async fn check_permissions(&self, roles: &[&str]) -> Result<(), Error> {
        let link = &self.open()?.data;
        let mut needs = role::needs(roles)?;
        needs.subscribes([format!("{}.>", link.inbox)]);
        let request = Request::new().timeout(Some(ANSWER_MAX));
        let Ok(answer) = link.client.send_request(USER_INFO, request).await else {
            // Where no answer can arrive, nothing else works either.
            return match link.refusals.about(&link.inbox) {
                Some(refusal) => Err(Error::Denied(format!(
                    "{} may not listen for answers below {}.: NATS says {refusal}",
                    link.user, link.inbox
                ))),
                None => Ok(()),
            };
        };
        let answer: Answer = match serde_json::from_slice(&answer.payload) {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, "the permissions of this process cannot be read");
                return Ok(());
            }
        };
        let has = answer.data.and_then(|info| info.permissions).unwrap_or_default();
        match lacking(&needs, &has) {
            None => Ok(()),
            Some(missing) => Err(Error::Denied(format!(
                "{} may not {missing}: the roles {} need that; `staunch nats-permissions` prints all \
                 permissions",
                link.user,
                roles.join(", ")
            ))),
        }
    }
}

/// In words, what is needed and not allowed.
fn lacking(needs: &Grant, has: &Permissions) -> Option<String> {
    let publish = missing(&needs.publish, &has.publish).map(|list| format!("publish on {list}"));
    let subscribe =
        missing(&needs.subscribe, &has.subscribe).map(|list| format!("subscribe to {list}"));
    match (publish, subscribe) {
        (Some(publish), Some(subscribe)) => Some(format!("{publish}, and not {subscribe}")),
        (one, other) => one.or(other),
    }
}

fn missing(needs: &BTreeSet<String>, rules: &Option<Rules>) -> Option<String> {
    let rules = rules.as_ref()?;
    let is_in = |list: &BTreeSet<String>, subject: &str| list.iter().any(|it| covers(it, subject));
    let is_allowed = |subject: &&String| {
        rules.allow.as_ref().is_none_or(|allow| is_in(allow, subject))
            && !rules.deny.as_ref().is_some_and(|deny| is_in(deny, subject))
    };
    let missing: Vec<&str> =
        needs.iter().filter(|subject| !is_allowed(subject)).map(String::as_str).collect();
    let shown = missing.iter().take(SHOWN_MAX).copied().collect::<Vec<_>>().join(", ");
    match missing.len() {
        0 => None,
        count if count > SHOWN_MAX => Some(format!("{shown} and {} more", count - SHOWN_MAX)),
        _ => Some(shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(permissions: &str) -> Option<String> {
        let mut needs = Grant::default();
        needs.publishes(["a.b", "c.*"]);
        needs.subscribes(["i.>"]);
        lacking(&needs, &serde_json::from_str(permissions).unwrap())
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(says("{}"), None, "everything is allowed");
        assert_eq!(says(r#"{"publish": {"allow": [">"]}}"#), None);
        assert_eq!(says(r#"{"publish": {"deny": ["x.>", "c.d"]}}"#), None);
        assert_eq!(says(r#"{"publish": {"allow": ["c.>"]}}"#).unwrap(), "publish on a.b");
        assert_eq!(says(r#"{"publish": {"deny": ["a.>"]}}"#).unwrap(), "publish on a.b");
        let both = says(r#"{"publish": {"allow": ["x"]}, "subscribe": {"allow": ["i.a"]}}"#);
        assert_eq!(both.unwrap(), "publish on a.b, c.*, and not subscribe to i.>");
    }

    #[test]
    fn a_long_list_is_cut() {
        let needs = (0..20).map(|number| format!("s{number:02}")).collect();
        let rules = Some(Rules { allow: Some(BTreeSet::new()), deny: None });
        let missing = missing(&needs, &rules).unwrap();
        assert!(missing.contains("s11") && missing.ends_with("and 8 more"), "{missing}");
    }
}
