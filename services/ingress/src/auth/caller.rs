//! The sender of a request, and the sender's permissions.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::problem::Problem;

/// The name of a caller without credentials.
const ANONYMOUS: &str = "anonymous";

/// The sender of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Caller {
    /// The id of the caller's key, `user:` or `app:` with a name, `oidc:` with a subject, or `local`,
    /// `anonymous`, `bootstrap`: for the audit log and idempotency keys.
    pub(crate) who: String,
    pub(super) permissions: Vec<String>,
    /// The address that the request came from.
    pub(crate) address: Option<IpAddr>,
    /// The id of the user who is the caller, or whose API key the caller has.
    pub(crate) user_id: Option<String>,
}

impl Caller {
    /// A caller on this machine, where there is no authentication.
    pub(super) fn local() -> Self {
        Self {
            who: "local".to_owned(),
            permissions: vec!["*".to_owned()],
            address: None,
            user_id: None,
        }
    }

    /// A user, with the permissions of its roles.
    pub(crate) fn user(name: &str, permissions: Vec<String>) -> Self {
        Self { who: format!("user:{name}"), permissions, address: None, user_id: None }
    }

    /// An application, with the permissions of its roles.
    pub(super) fn application(name: &str, permissions: Vec<String>) -> Self {
        Self { who: format!("app:{name}"), permissions, address: None, user_id: None }
    }

    /// The caller that an issuer vouches for, with the permissions of its claims and its roles.
    pub(super) fn of_issuer(who: String, permissions: Vec<String>) -> Self {
        Self { who, permissions, address: None, user_id: None }
    }

    /// The configuration, which makes the first user.
    pub(crate) fn of_start() -> Self {
        Self {
            who: "configuration".to_owned(),
            permissions: Vec::new(),
            address: None,
            user_id: None,
        }
    }

    /// Who submitted a plan: for the audit log. Its permission was checked then.
    pub(crate) fn of_plan(who: &str) -> Self {
        Self { who: who.to_owned(), permissions: Vec::new(), address: None, user_id: None }
    }

    /// The same caller, whose API keys are those of this user.
    pub(super) fn of_user(self, user_id: Option<String>) -> Self {
        Self { user_id, ..self }
    }

    /// The same caller at this address.
    pub(crate) fn at(self, address: Option<IpAddr>) -> Self {
        Self { address, ..self }
    }

    /// The kind of its credential when it did this, for the audit log.
    pub(crate) fn credential(who: &str, what: &str) -> Option<&'static str> {
        match who {
            "local" | "configuration" | "command line" | model::RETENTION => None,
            _ if matches!(what, "login" | "login.refuse" | "user.password") => Some("password"),
            ANONYMOUS => None,
            who if who.starts_with("user:") || who.starts_with("oidc:") => Some("token"),
            _ => Some("api-key"),
        }
    }

    /// A caller without credentials.
    pub(crate) fn nobody() -> Self {
        Self { who: ANONYMOUS.to_owned(), permissions: Vec::new(), address: None, user_id: None }
    }

    /// True if the caller has no credentials.
    pub(crate) fn is_nobody(&self) -> bool {
        self.who == ANONYMOUS
    }

    /// True if the caller has the permission: by its name, by its verb (`read:*`) or by `*`.
    pub(crate) fn may(&self, permission: &str) -> bool {
        self.permissions.iter().any(|granted| {
            let of_verb = |verb: &str| permission.split(':').next() == Some(verb);
            granted == "*"
                || granted == permission
                || granted.strip_suffix(":*").is_some_and(of_verb)
        })
    }

    /// What was granted to the caller: names of permissions, verbs (`read:*`), or `*`.
    pub(crate) fn granted(&self) -> &[String] {
        &self.permissions
    }

    /// Refuses a caller without the permission.
    pub(crate) fn must(&self, permission: &str) -> Result<(), Problem> {
        if self.may(permission) {
            return Ok(());
        }
        if self.is_nobody() {
            return Err(no_credentials());
        }
        Err(Problem::forbidden(format!(
            "this needs the permission {permission}, which the caller {} does not have",
            self.who
        )))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(Self::nobody))
    }
}

/// The refusal of a request without credentials.
pub(super) fn no_credentials() -> Problem {
    Problem::unauthorized(
        "credentials are needed: send Authorization: ApiKey <key>, or Bearer <token> after a login; \
         WWW-Authenticate names those that this server takes",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audit_log_names_the_kind_of_a_credential() {
        for (who, what, expected) in [
            ("user:ann", "user.create", Some("token")),
            ("user:ann", "logout", Some("token")),
            ("user:ann", "login", Some("password")),
            ("user:ann", "login.refuse", Some("password")),
            (ANONYMOUS, "login.refuse", Some("password")),
            ("user:ann", "user.password", Some("password")),
            ("command line", "user.password", None),
            ("oidc:42 (ann@example.com)", "user.create", Some("token")),
            ("app:shop", "user.create", Some("api-key")),
            ("bootstrap", "user.create", Some("api-key")),
            ("local", "user.create", None),
            (model::RETENTION, "instance.retention", None),
            (ANONYMOUS, "request.refuse", None),
        ] {
            assert_eq!(Caller::credential(who, what), expected, "{who} {what}");
        }
    }

    #[test]
    fn permissions_are_held_by_name_verb_or_all() {
        let check = |granted: &str, wanted: &str, expected: bool| {
            let caller = Caller {
                who: "k".into(),
                permissions: vec![granted.to_owned()],
                address: None,
                user_id: None,
            };
            assert_eq!(caller.may(wanted), expected, "{granted} {wanted}");
        };
        check("*", "delete:workflow-instances", true);
        check("read:*", "read:workflow-instances", true);
        check("read:*", "write:workflow-instances", false);
        check("read:workflow-instances", "read:workflow-instances", true);
        check("read:workflow-instances", "read:workflow-definitions", false);
        check("re:*", "read:workflow-definitions", false);
        assert!(!Caller::nobody().may("read:workflow-instances"));
    }
}
