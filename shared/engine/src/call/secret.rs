//! The parts of an HTTP request that contain a secret: who sends the request keeps them from other
//! servers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Call, Operation, Request};
use crate::is_sealed;

/// The parts of a request that were sealed and are opened to send it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretParts {
    /// The names of these headers, as the request has them.
    pub headers: BTreeSet<String>,
    /// The body or its media type.
    pub body: bool,
}

impl SecretParts {
    fn of(stored: &Request) -> Self {
        let sealed = |text: &String| is_sealed(&Value::String(text.clone()));
        let headers = stored.headers.iter().filter(|(_, value)| sealed(value));
        Self {
            headers: headers.map(|(name, _)| name.clone()).collect(),
            body: is_sealed(&stored.content) || stored.content_type.as_ref().is_some_and(sealed),
        }
    }
}

impl Call {
    /// Notes in this opened call which parts of its stored form were sealed.
    pub fn note_secrets(&mut self, stored: &Self) {
        if let (Operation::Http(open), Operation::Http(stored)) =
            (&mut self.operation, &stored.operation)
        {
            open.secret = SecretParts::of(stored);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::sealed::{BEGIN, END};
    use serde_json::json;

    use super::*;

    fn call(request: Request) -> Call {
        Call {
            key: "k".into(),
            bookmark_id: "b".into(),
            activity_id: "a".into(),
            timeout: None,
            tries: None,
            operation: request.into(),
        }
    }

    #[test]
    fn the_sealed_parts_of_a_call_are_noted_and_never_stored() {
        let sealed = format!("Bearer {BEGIN}{}{END}", "Ab-_".repeat(10));
        let usual = Request { url: "http://a.test".into(), ..Request::default() };
        let header = |name: &str, value: &str| {
            let headers = [(name.to_owned(), value.to_owned()), ("X-B".to_owned(), "b".to_owned())];
            Request { headers: headers.into(), ..usual.clone() }
        };
        let named = SecretParts { headers: ["X-Key".to_owned()].into(), body: false };
        let body = SecretParts { body: true, ..SecretParts::default() };
        for (stored, expected) in [
            (header("X-Key", "plain"), SecretParts::default()),
            (header("X-Key", &sealed), named),
            (Request { content: json!({"a": [sealed]}), ..usual.clone() }, body.clone()),
            (Request { content_type: Some(sealed), ..usual.clone() }, body),
        ] {
            let stored = call(stored);
            let mut open = call(usual.clone());
            let before = serde_json::to_value(&open).unwrap();
            open.note_secrets(&stored);
            let Operation::Http(request) = &open.operation else { panic!("{open:?}") };
            assert_eq!(request.secret, expected, "{stored:?}");
            assert_eq!(serde_json::to_value(&open).unwrap(), before);
        }
    }
}
