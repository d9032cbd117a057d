//! The answers to links with a token, as pages for people: they open a link in a browser. Other clients
//! get JSON.

use std::sync::LazyLock;

use axum::http::header::{
    ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::front::is_browser;
use crate::Problem;
use crate::respond::{Page, set};

const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#f6f6f4;--raised:#fff;--ink:#1d1f23;--soft:#5b606a;\
--line:#d9dade;--edge:#2a55cc}\
@media(prefers-color-scheme:dark){:root{--paper:#16181c;--raised:#1e2126;--ink:#e8e9eb;--soft:#a3a8b3;\
--line:#343942;--edge:#86a8ff}}\
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--paper);\
color:var(--ink);font:1rem/1.5 system-ui,sans-serif}\
main{box-sizing:border-box;width:min(32rem,calc(100vw - 2rem));padding:2rem;background:var(--raised);\
border:1px solid var(--line);border-top:4px solid var(--edge);border-radius:6px}\
h1{margin:0 0 .5rem;font-size:1.25rem}p{margin:0;overflow-wrap:anywhere}p+p{margin-top:.75rem;color:var(--soft)}";

/// The style of the page, and nothing else.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; frame-ancestors 'none'; base-uri 'none'; \
         form-action 'none'"
    )
});

/// A page in one language.
struct Words {
    title: &'static str,
    text: &'static str,
    more: &'static str,
}

const DONE: [Words; 2] = [
    Words {
        title: "It is done",
        text: "The workflow goes on.",
        more: "This link was for one use: opened again, it does nothing. You can close this page.",
    },
    Words {
        title: "Erledigt",
        text: "Der Workflow läuft weiter.",
        more: "Dieser Link galt einmal: Noch einmal geöffnet bewirkt er nichts. Sie können diese Seite \
               schließen.",
    },
];
const ACCEPTED: [Words; 2] = [
    Words {
        title: "It is accepted",
        text: "The workflow goes on in a moment.",
        more: DONE[0].more,
    },
    Words { title: "Angenommen", text: "Der Workflow läuft gleich weiter.", more: DONE[1].more },
];
const INVALID: [Words; 2] = [
    Words {
        title: "This link does nothing any more",
        text: "It was used before, has expired, or never existed.",
        more: "If it was you who used it, there is nothing left to do. If not, ask whoever sent it for a \
               new one.",
    },
    Words {
        title: "Dieser Link bewirkt nichts mehr",
        text: "Er wurde schon benutzt, ist abgelaufen, oder es gab ihn nie.",
        more: "Wenn Sie ihn benutzt haben, bleibt nichts zu tun. Wenn nicht, bitten Sie um einen neuen, \
               wo Sie ihn herhaben.",
    },
];
const UNFIT: [Words; 2] = [
    Words {
        title: "The workflow does not wait for this",
        text: "It has gone on already, has ended, or is not there yet.",
        more: "Ask whoever sent the link what is to be done.",
    },
    Words {
        title: "Der Workflow wartet nicht darauf",
        text: "Er ist schon weiter, ist zu Ende oder noch nicht so weit.",
        more: "Fragen Sie, wo Sie den Link herhaben, was zu tun ist.",
    },
];

/// The answer to a link as this client reads it: a page for a browser, else as it is.
pub(super) fn shown(
    headers: &HeaderMap,
    answered: Result<Response, Problem>,
) -> Result<Response, Problem> {
    let status = match &answered {
        Ok(response) => response.status(),
        Err(problem) => problem.status(),
    };
    let words = match status {
        StatusCode::OK => &DONE,
        StatusCode::ACCEPTED => &ACCEPTED,
        StatusCode::NOT_FOUND => &INVALID,
        StatusCode::CONFLICT => &UNFIT,
        _ => return answered,
    };
    if is_browser(headers) {
        return Ok(page(status, words, is_german(headers)));
    }
    answered.map(|mut response| {
        set(&mut response, VARY, "accept");
        response
    })
}

fn page(status: StatusCode, [english, german]: &[Words; 2], is_german: bool) -> Response {
    let (language, Words { title, text, more }) =
        if is_german { ("de", german) } else { ("en", english) };
    let html = format!(
        "<!doctype html><html lang=\"{language}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title}</title><style>{STYLE}</style>\
         </head><body><main><h1>{title}</h1><p>{text}</p><p>{more}</p></main></body></html>\n"
    );
    let mut response = (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response();
    set(&mut response, CONTENT_SECURITY_POLICY, &POLICY);
    set(&mut response, CACHE_CONTROL, "no-store");
    set(&mut response, VARY, "accept, accept-language");
    response.extensions_mut().insert(Page);
    response
}

/// Whether the reader would rather read German than English: of both, what a browser names first.
fn is_german(headers: &HeaderMap) -> bool {
    let named = headers.get(ACCEPT_LANGUAGE).and_then(|named| named.to_str().ok());
    let languages = named.unwrap_or_default().split(',').map(|one| one.trim().to_lowercase());
    let mut known = languages.filter(|one| one.starts_with("de") || one.starts_with("en"));
    known.next().is_some_and(|first| first.starts_with("de"))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_language_is_the_first_that_is_known() {
        for (named, expected) in [
            ("de-DE,de;q=0.9,en;q=0.8", true),
            ("en-GB,de;q=0.5", false),
            ("fr,de;q=0.7,en;q=0.3", true),
            ("fr", false),
            ("", false),
        ] {
            let headers =
                HeaderMap::from_iter([(ACCEPT_LANGUAGE, HeaderValue::from_static(named))]);
            assert_eq!(is_german(&headers), expected, "{named}");
        }
    }
}
