//! Conditional requests and ranges (RFC 9110, sections 13 and 14), for the files that workflows
//! answer with.
//!
//! The workflow has run by then: its answer is what the request is about. Only answers to GET and
//! HEAD change, so that nobody takes the answer to a change for one that says nothing was done.

use std::ops::RangeInclusive;

use axum::body::{Body, to_bytes};
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use model::InstanceId;
use protocol::HttpAnswer;

use crate::{App, Problem, respond};

/// The part of a file that a request asks for.
#[derive(Debug, PartialEq)]
enum Part {
    Whole,
    /// These bytes.
    Bytes(RangeInclusive<usize>),
    /// Bytes that the file does not have.
    None,
}

/// The answer that a workflow wrote, or the part of it that the request asks for.
pub(super) async fn said(
    app: &App,
    request: &Parts,
    id: &InstanceId,
    answer: &HttpAnswer,
) -> Result<Response, Problem> {
    let response = respond::said(app, id, answer).await?;
    Ok(chosen(request, answer, response).await)
}

async fn chosen(request: &Parts, answer: &HttpAnswer, response: Response) -> Response {
    let is_read = matches!(request.method, Method::GET | Method::HEAD);
    let is_file = answer.is_base64 || answer.payload.is_some();
    if !is_read || !is_file || response.status() != StatusCode::OK {
        return response;
    }
    let tag = text(response.headers(), ETAG).map(str::to_owned);
    if let Some(status) = tag.as_deref().and_then(|tag| unmet(&request.headers, tag)) {
        return bare(response, status);
    }
    let accepts = text(response.headers(), ACCEPT_RANGES) == Some("bytes");
    if request.method == Method::HEAD || !accepts || !same(&request.headers, tag.as_deref()) {
        return response;
    }
    cut(&request.headers, response).await
}

/// The answer with the bytes that the request asks for.
async fn cut(request: &HeaderMap, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let len = bytes.len();
    match text(request, RANGE).map_or(Part::Whole, |range| part(range, len)) {
        Part::Whole => Response::from_parts(parts, Body::from(bytes)),
        Part::None => {
            let response = Response::from_parts(parts, Body::empty());
            let mut response = bare(response, StatusCode::RANGE_NOT_SATISFIABLE);
            set(response.headers_mut(), CONTENT_RANGE, &format!("bytes */{len}"));
            response
        }
        Part::Bytes(range) => {
            let content_range = format!("bytes {}-{}/{len}", range.start(), range.end());
            let mut response = Response::from_parts(parts, Body::from(bytes.slice(range)));
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            set(response.headers_mut(), CONTENT_RANGE, &content_range);
            response
        }
    }
}

/// The answer without its content.
fn bare(mut response: Response, status: StatusCode) -> Response {
    *response.body_mut() = Body::empty();
    *response.status_mut() = status;
    for name in [CONTENT_TYPE, CONTENT_DISPOSITION, CONTENT_LENGTH] {
        response.headers_mut().remove(name);
    }
    response
}

/// The status that says that a condition of the request is not met.
fn unmet(request: &HeaderMap, tag: &str) -> Option<StatusCode> {
    let named = |name: HeaderName, compare: fn(&str, &str) -> bool| {
        let lines = request.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
        let tags: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
        let is_met = tags.iter().any(|wanted| *wanted == "*" || compare(wanted, tag));
        (!tags.is_empty()).then_some(is_met)
    };
    if named(IF_MATCH, is_strongly) == Some(false) {
        return Some(StatusCode::PRECONDITION_FAILED);
    }
    (named(IF_NONE_MATCH, is_weakly) == Some(true)).then_some(StatusCode::NOT_MODIFIED)
}

/// Whether the client has the beginning of the same file: it says so, or names nothing.
fn same(request: &HeaderMap, tag: Option<&str>) -> bool {
    match request.get(IF_RANGE) {
        None => true,
        Some(wanted) => wanted
            .to_str()
            .is_ok_and(|wanted| tag.is_some_and(|tag| is_strongly(wanted.trim(), tag))),
    }
}

fn is_strongly(one: &str, other: &str) -> bool {
    one == other && one.starts_with('"')
}

fn is_weakly(one: &str, other: &str) -> bool {
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    opaque(one) == opaque(other)
}

/// The part that a `Range` means in a file of this length. Several ranges, other units, and what
/// cannot be read are answered with the whole file.
fn part(range: &str, len: usize) -> Part {
    let Some((unit, range)) = range.split_once('=') else { return Part::Whole };
    let Some((first, last)) = range.trim().split_once('-') else { return Part::Whole };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Part::Whole;
    }
    let bytes = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..=last.min(len.saturating_sub(1)),
        (Some(first), None) if last.is_empty() => first..=len.saturating_sub(1),
        (None, Some(suffix)) if first.is_empty() => match suffix {
            0 => return Part::None,
            suffix => len.saturating_sub(suffix)..=len.saturating_sub(1),
        },
        _ => return Part::Whole,
    };
    if *bytes.start() < len { Part::Bytes(bytes) } else { Part::None }
}

/// A number of digits; one that is too large is the largest.
fn number(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(usize::MAX))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        let check = |range: &str, len: usize, expected: Part| {
            assert_eq!(part(range, len), expected, "{range} of {len}");
        };
        check("bytes=0-4", 10, Part::Bytes(0..=4));
        check("Bytes=5-", 10, Part::Bytes(5..=9));
        check("bytes=-3", 10, Part::Bytes(7..=9));
        check("bytes=8-99999999999999999999999", 10, Part::Bytes(8..=9));
        check("bytes=-99", 10, Part::Bytes(0..=9));
        check("bytes=9-9", 10, Part::Bytes(9..=9));
        check("bytes=10-", 10, Part::None);
        check("bytes=99999999999999999999999-", 10, Part::None);
        check("bytes=-0", 10, Part::None);
        check("bytes=0-", 0, Part::None);
        check("bytes=-1", 0, Part::None);
        for whole in ["bytes=5-4", "bytes=0-1,3-4", "lines=0-1", "bytes=x-1", "bytes=-", "0-1", ""]
        {
            check(whole, 10, Part::Whole);
        }
    }

    type Headers = &'static [(&'static str, &'static str)];

    async fn answered(
        method: &str,
        asked: &[(&str, &str)],
        wrote: &[(&str, &str)],
    ) -> (u16, String, String) {
        let mut request = Request::builder().method(method);
        for (name, value) in asked {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let answer = HttpAnswer {
            status_code: 200,
            headers: wrote.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            content_type: Some("text/plain".to_owned()),
            content: "MDEyMzQ1Njc4OQ==".into(),
            is_base64: true,
            payload: None,
        };
        let response = respond::workflow_said(&"i".into(), &answer);
        let response = chosen(&parts, &answer, response).await;
        let range = text(response.headers(), CONTENT_RANGE).unwrap_or_default().to_owned();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), 100).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap(), range)
    }

    #[tokio::test]
    async fn conditions_come_before_ranges() {
        const FILE: Headers = &[("ETag", "\"v1\""), ("Accept-Ranges", "bytes")];
        const WEAK: Headers = &[("ETag", "W/\"v1\""), ("Accept-Ranges", "bytes")];
        const PLAIN: Headers = &[("ETag", "\"v1\"")];
        const FIRST: (&str, &str) = ("range", "bytes=0-1");
        let rows: &[(&str, Headers, Headers, u16, &str, &str)] = &[
            ("GET", &[], FILE, 200, "0123456789", ""),
            ("GET", &[FIRST], FILE, 206, "01", "bytes 0-1/10"),
            ("GET", &[("range", "bytes=20-")], FILE, 416, "", "bytes */10"),
            ("GET", &[("range", "bytes=0-1,4-5")], FILE, 200, "0123456789", ""),
            ("GET", &[FIRST], PLAIN, 200, "0123456789", ""),
            ("POST", &[FIRST], FILE, 200, "0123456789", ""),
            ("HEAD", &[FIRST], FILE, 200, "0123456789", ""),
            ("GET", &[FIRST, ("if-range", "\"v1\"")], FILE, 206, "01", "bytes 0-1/10"),
            ("GET", &[FIRST, ("if-range", "\"v0\"")], FILE, 200, "0123456789", ""),
            ("GET", &[FIRST, ("if-range", "W/\"v1\"")], WEAK, 200, "0123456789", ""),
            ("GET", &[("if-none-match", "\"v0\", W/\"v1\"")], FILE, 304, "", ""),
            ("HEAD", &[("if-none-match", "*")], PLAIN, 304, "", ""),
            ("POST", &[("if-none-match", "*")], FILE, 200, "0123456789", ""),
            ("GET", &[("if-none-match", "\"v0\""), FIRST], FILE, 206, "01", "bytes 0-1/10"),
            ("GET", &[("if-match", "\"v0\""), FIRST], FILE, 412, "", ""),
            ("GET", &[("if-match", "W/\"v1\"")], WEAK, 412, "", ""),
            ("GET", &[("if-match", "\"v0\", \"v1\"")], FILE, 200, "0123456789", ""),
            ("GET", &[("if-match", "\"v0\"")], &[], 200, "0123456789", ""),
        ];
        for (method, asked, wrote, status, body, range) in rows {
            let expected = (*status, (*body).to_owned(), (*range).to_owned());
            let found = answered(method, asked, wrote).await;
            assert_eq!(found, expected, "{method} {asked:?} of {wrote:?}");
        }
    }
}
