//! Redirects, by the rules of browsers. What is secret stays at the origin that it was sent to: another
//! scheme, host or port gets no credentials, and no body with a secret.

use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderName, Method, StatusCode};
use reqwest::Response;

use super::Hop;

/// A header is a credential if a word of its name ends with one of these: no ordinary word does.
const ENDINGS: [&str; 10] = [
    "auth",
    "authorization",
    "authentication",
    "cookie",
    "credential",
    "credentials",
    "password",
    "secret",
    "sessionid",
    "token",
];
/// It is one, too, if a word of its name is one of these, or is joined of them and what names of
/// credentials have before them: other words end with them, such as monkey.
const WORDS: [&str; 2] = ["key", "session"];
/// What names of credentials have before such a word where they are written as one: apikey, usersession.
const BEFORE: [&str; 36] = [
    "access",
    "account",
    "admin",
    "api",
    "app",
    "application",
    "auth",
    "client",
    "consumer",
    "customer",
    "device",
    "encryption",
    "function",
    "functions",
    "integration",
    "license",
    "login",
    "master",
    "merchant",
    "partner",
    "pass",
    "private",
    "project",
    "public",
    "secret",
    "security",
    "server",
    "service",
    "session",
    "shared",
    "signing",
    "storage",
    "subscription",
    "tenant",
    "user",
    "web",
];
/// The header that names a call: it is no credential.
const CALL: &str = "idempotency-key";

impl Hop {
    /// The target of a redirect; none when the response is the answer.
    ///
    /// # Errors
    /// The reason to refuse a redirect that would repeat a body with a secret at another origin.
    pub(super) fn redirected(&self, response: &Response) -> Result<Option<Self>, String> {
        let status = response.status();
        let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        let Some(url) = to.and_then(|to| self.url.join(to).ok()) else { return Ok(None) };
        let is_read = matches!(self.method, Method::GET | Method::HEAD);
        let keeps = match status {
            StatusCode::PERMANENT_REDIRECT | StatusCode::TEMPORARY_REDIRECT => true,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method != Method::POST,
            StatusCode::SEE_OTHER => is_read,
            _ => return Ok(None),
        };
        let mut headers = self.headers.clone();
        if url.origin() != self.url.origin() {
            if keeps && self.body.is_some() && self.secret.body {
                return Err(format!(
                    "{} redirects to another origin, {}, and the content has a secret, which is not \
                     sent there: call the other address itself",
                    self.url.origin().ascii_serialization(),
                    url.origin().ascii_serialization()
                ));
            }
            for name in self.headers.keys().filter(|name| is_credential(name)) {
                headers.remove(name);
            }
            // The name of the call is ours, also where the author has given one.
            let made_of_secrets = self.secret.headers.iter();
            for name in made_of_secrets.filter(|name| !name.eq_ignore_ascii_case(CALL)) {
                headers.remove(name.as_str());
            }
        }
        let secret = self.secret.clone();
        if keeps {
            let (method, body) = (self.method.clone(), self.body.clone());
            return Ok(Some(Self { url, method, headers, body, secret }));
        }
        headers.remove(CONTENT_TYPE);
        Ok(Some(Self { url, method: Method::GET, headers, body: None, secret }))
    }
}

/// The header commonly has credentials, by its name.
fn is_credential(name: &HeaderName) -> bool {
    let is_joined = |before: &str| BEFORE.iter().any(|known| before.ends_with(known));
    let is_one = |word: &str| {
        ENDINGS.iter().any(|ending| word.ends_with(ending))
            || WORDS
                .iter()
                .filter_map(|one| word.strip_suffix(one))
                .any(|before| before.is_empty() || is_joined(before))
    };
    name.as_str() != CALL && name.as_str().split(['-', '_', '.']).any(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_the_names_of_their_headers() {
        for (name, expected) in [
            ("authorization", true),
            ("proxy-authorization", true),
            ("cookie", true),
            ("x-api-key", true),
            ("apikey", true),
            ("ocp-apim-subscription-key", true),
            ("x-auth", true),
            ("x-auth-token", true),
            ("private-token", true),
            ("x-vault-token", true),
            ("x_client_secret", true),
            ("x-session-id", true),
            ("x-secret", true),
            ("x-key-id", true),
            ("x_api_key", true),
            ("xapikey", true),
            ("x-accesskey", true),
            ("x-secretkey", true),
            ("x-subscriptionkey", true),
            ("x-accesstoken", true),
            ("x-authtoken", true),
            ("x-acmetoken", true),
            ("x-clientsecret", true),
            ("x-userpassword", true),
            ("x-oauth", true),
            ("x-sessionkey", true),
            ("x-sessionid", true),
            ("x-usersession", true),
            ("idempotency-key", false),
            ("traceparent", false),
            ("content-type", false),
            ("accept", false),
            ("x-author", false),
            ("x-keyword", false),
            ("x-monkey", false),
            ("x-turkey", false),
            ("x-turnkey-plan", false),
            ("x-obsession", false),
        ] {
            assert_eq!(is_credential(&HeaderName::from_static(name)), expected, "{name}");
        }
    }
}
