//! Studio, the web interface, below `/studio/`. Its files are for everyone and contain no secret: the
//! API decides what a person sees.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chassis::Auth;
use flate2::Compression;
use flate2::write::GzEncoder;
use include_dir::{Dir, include_dir};
use sha2::{Digest as _, Sha256};

use crate::respond::{Page, lists, set};
use crate::{App, Problem};

/// Where Studio begins.
pub(crate) const BEGIN: &str = "/studio/";

static DIST: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../studio/dist");

/// Each file by its path, with its compressed form: made once.
static FILES: LazyLock<BTreeMap<&str, Part>> = LazyLock::new(|| {
    let assets = DIST.dirs().flat_map(Dir::files).chain(DIST.files());
    assets.filter_map(|file| Some((file.path().to_str()?, Part::new(file.contents())))).collect()
});

/// The page of every address that is no file.
const PAGE: &str = "index.html";
/// What the page has for the path of Studio, in `<base href>`.
const BASE: &str = "<base href=\"/studio/\" />";

/// Files of this server, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; \
     form-action 'none'";

/// The routes of Studio.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/studio", get(|| async { Redirect::permanent(BEGIN) }))
        .route(
            BEGIN,
            get(|State(app): State<Arc<App>>, headers: HeaderMap| async move {
                at(&app, PAGE, &headers)
            }),
        )
        .route(
            "/studio/{*path}",
            get(
                |State(app): State<Arc<App>>, Path(path): Path<String>, headers: HeaderMap| async move {
                    at(&app, &path, &headers)
                },
            ),
        )
}

/// A part of this program.
struct Part {
    plain: Cow<'static, [u8]>,
    gzip: Vec<u8>,
    tag: String,
}

impl Part {
    fn new(plain: impl Into<Cow<'static, [u8]>>) -> Self {
        let plain = plain.into();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        // Writing to memory does not fail; without a compressed form the plain one is sent.
        let gzip = gzip.write_all(&plain).and_then(|()| gzip.finish()).unwrap_or_default();
        let tag = format!("W/\"{}\"", URL_SAFE_NO_PAD.encode(Sha256::digest(&plain)));
        Self { plain, gzip, tag }
    }

    /// A browser that has it asks whether it is still the same.
    fn answer(&self, kind: &'static str, headers: &HeaderMap) -> Response {
        let is_known = lists(headers, &IF_NONE_MATCH, |one| one == "*" || one == self.tag);
        let takes_gzip = lists(headers, &ACCEPT_ENCODING, |one| {
            one.split(';').next().is_some_and(|name| name.trim() == "gzip")
        });
        let mut response = if is_known {
            StatusCode::NOT_MODIFIED.into_response()
        } else if takes_gzip && !self.gzip.is_empty() {
            let kind = [(CONTENT_TYPE, kind), (CONTENT_ENCODING, "gzip")];
            (kind, self.gzip.clone()).into_response()
        } else {
            ([(CONTENT_TYPE, kind)], self.plain.to_vec()).into_response()
        };
        set(&mut response, CACHE_CONTROL, "no-cache");
        set(&mut response, VARY, "accept-encoding");
        set(&mut response, ETAG, &self.tag);
        set(&mut response, CONTENT_SECURITY_POLICY, POLICY);
        response.extensions_mut().insert(Page);
        response
    }
}

/// The path of Studio, as a browser sees it.
pub(crate) fn begin(app: &App) -> String {
    format!("{}{BEGIN}", app.config.base_path.as_deref().unwrap_or_default())
}

/// A file of Studio; its page for an address within it.
fn at(app: &App, path: &str, headers: &HeaderMap) -> Response {
    if let Some(part) = FILES.get(path).filter(|_| path != PAGE) {
        return part.answer(kind(path), headers);
    }
    if path.starts_with("assets/") {
        return Problem::not_found(format!("Studio has no file {path}")).into_response();
    }
    let page = DIST.get_file(PAGE).and_then(|page| page.contents_utf8()).unwrap_or_default();
    let base = format!("<base href=\"{}\" />{}", begin(app), ways(app.config.auth));
    let page = page.replace(BASE, &base);
    Part::new(page.into_bytes()).answer("text/html; charset=utf-8", headers)
}

/// Tells the page how one can sign in, so that it asks nothing that is refused to everybody.
fn ways(auth: Auth) -> String {
    let all = [(auth.identity, "user"), (auth.api_key, "key"), (auth.oidc, "token")];
    let on = all.into_iter().filter(|(is_on, _)| *is_on).map(|(_, way)| way);
    let on = on.collect::<Vec<_>>().join(" ");
    format!("<meta name=\"staunch-authentication\" content=\"{on}\" />")
}

/// The media type of a file.
fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}
