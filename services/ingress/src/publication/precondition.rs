//! `If-Match` and `If-None-Match` on changes of definitions (RFC 9110, section 13).
//!
//! The entity tag of a version is its id and the hash of its content. A change with `If-Match` is
//! made only while the latest version has that tag. Saving content that is stored already is no
//! change, so a repeat after a lost answer succeeds.

use axum::extract::FromRequestParts;
use axum::http::header::{AsHeaderName, ETAG, IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use model::{Definition, DefinitionId};
use store::Base;

use crate::problem::Problem;
use crate::respond;

/// The entity tag of a version, with its quotes.
pub(crate) fn etag(definition: &Definition) -> String {
    format!("\"{}-{}\"", respond::segment(definition.id.as_str()), definition.content_hash())
}

/// The state of a definition that its change requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Precondition {
    /// None.
    #[default]
    None,
    /// The definition exists: `If-Match: *`.
    Exists,
    /// The definition does not exist: `If-None-Match: *`.
    Absent,
    /// The latest version has one of these tags: `If-Match: "…"`.
    Latest(Vec<String>),
}

impl Precondition {
    fn read(headers: &HeaderMap) -> Result<Self, Problem> {
        let matching = texts(headers, IF_MATCH)?;
        let not_matching = texts(headers, IF_NONE_MATCH)?;
        match (matching.as_slice(), not_matching.as_slice()) {
            ([], []) => Ok(Self::None),
            ([], [star]) if star == "*" => Ok(Self::Absent),
            ([star], []) if star == "*" => Ok(Self::Exists),
            (tags, []) if tags.iter().all(|tag| is_tag(tag)) => Ok(Self::Latest(tags.to_vec())),
            (_, []) => Err(Problem::bad_request(
                "If-Match is not valid: send the ETag of the version that the change starts \
                 from, with its quotes, or *",
            )),
            ([], _) => Err(Problem::bad_request(
                "If-None-Match is not valid here: send * to create a definition that must not \
                 exist, or nothing",
            )),
            _ => Err(Problem::bad_request("send If-Match or If-None-Match, not both")),
        }
    }

    /// Refuses with 412, naming the latest version.
    pub(crate) fn check(
        &self,
        id: &DefinitionId,
        latest: Option<&Definition>,
    ) -> Result<(), Problem> {
        let holds = match (self, latest) {
            (Self::None, _) | (Self::Exists, Some(_)) | (Self::Absent, None) => true,
            (Self::Latest(tags), Some(latest)) => tags.contains(&etag(latest)),
            _ => false,
        };
        if holds { Ok(()) } else { Err(failed(id, latest)) }
    }

    /// The base of a change that need not be compared without a precondition.
    pub(crate) fn base(&self, latest: Option<&Definition>) -> Base {
        if *self == Self::None { Base::Any } else { Base::of(latest) }
    }
}

/// The comma-separated members of all headers of this name.
fn texts(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Vec<String>, Problem> {
    let mut texts = Vec::new();
    for value in headers.get_all(name) {
        let text = value.to_str().map_err(|error| {
            Problem::bad_request(format!("an entity tag in the headers is not readable: {error}"))
        })?;
        texts.extend(text.split(',').map(|text| text.trim().to_owned()));
    }
    Ok(texts)
}

/// Weak tags are accepted as tags, but match nothing.
fn is_tag(text: &str) -> bool {
    let strong = text.strip_prefix("W/").unwrap_or(text);
    strong.len() >= 2 && strong.starts_with('"') && strong.ends_with('"')
}

fn failed(id: &DefinitionId, latest: Option<&Definition>) -> Problem {
    let (id, status) = (id.as_str(), StatusCode::PRECONDITION_FAILED);
    let Some(latest) = latest else {
        let detail = format!(
            "there is no workflow definition {id:?}: to create it, send the request without \
             If-Match"
        );
        return Problem::new(status, "stale-base", detail);
    };
    let (number, version_id, tag) = (latest.version, &latest.id, etag(latest));
    let detail = format!(
        "the latest version of workflow definition {id:?} is version {number} ({version_id}), \
         which is not the one that this change starts from: read it, and send the change again \
         with If-Match: {tag}"
    );
    let problem = Problem::new(status, "stale-base", detail)
        .with("version", number)
        .with("versionId", version_id.as_str())
        .with("isPublished", latest.is_published)
        .with("etag", tag.clone());
    match HeaderValue::from_str(&tag) {
        Ok(tag) => problem.header(ETAG, tag),
        Err(_) => problem,
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Precondition {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        Self::read(&parts.headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &'static str, value: &str) -> Result<Precondition, Problem> {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).unwrap());
        Precondition::read(&headers)
    }

    #[test]
    fn headers_are_read_or_refused() {
        assert_eq!(Precondition::read(&HeaderMap::new()).unwrap(), Precondition::None);
        assert_eq!(read("if-match", "*").unwrap(), Precondition::Exists);
        assert_eq!(read("if-none-match", "*").unwrap(), Precondition::Absent);
        let tags = vec!["\"a\"".to_owned(), "W/\"b\"".to_owned()];
        assert_eq!(read("if-match", "\"a\", W/\"b\"").unwrap(), Precondition::Latest(tags));
        for (name, value) in [("if-match", "a"), ("if-match", ""), ("if-none-match", "\"a\"")] {
            assert_eq!(read(name, value).unwrap_err().status(), StatusCode::BAD_REQUEST, "{value}");
        }
    }

    #[test]
    fn only_the_latest_version_matches() {
        let latest = Definition { id: "a b".into(), version: 3, ..Definition::default() };
        let tag = etag(&latest);
        assert!(tag.starts_with("\"a%20b-"), "{tag}");
        let check = |precondition: Precondition, latest: Option<&Definition>| {
            precondition.check(&"order".into(), latest).map_err(|problem| problem.status())
        };
        let stale = Err(StatusCode::PRECONDITION_FAILED);
        assert_eq!(check(Precondition::Latest(vec![tag.clone()]), Some(&latest)), Ok(()));
        assert_eq!(check(Precondition::Latest(vec![format!("W/{tag}")]), Some(&latest)), stale);
        assert_eq!(check(Precondition::Latest(vec![tag]), None), stale);
        assert_eq!(check(Precondition::Exists, None), stale);
        assert_eq!(check(Precondition::Absent, Some(&latest)), stale);
        assert_eq!(check(Precondition::Absent, None), Ok(()));
    }
}
