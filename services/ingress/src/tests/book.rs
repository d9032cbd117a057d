//! The book below `/docs/book/`.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::Request;
use chassis::Auth;

use super::world::World;
use crate::Config;

/// The addresses of the links of a page.
fn links(page: &str) -> BTreeSet<String> {
    page.split("href=\"").skip(1).filter_map(|rest| Some(rest.split('"').next()?.into())).collect()
}

/// The path to which a relative link on the page at this path leads, without the anchor.
fn joined(path: &str, link: &str) -> String {
    let folder = path.rsplit_once('/').unwrap().0;
    let mut parts: Vec<_> = folder.split('/').skip(1).collect();
    let link = link.split('#').next().unwrap();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop().unwrap()),
            "." => {}
            part => parts.push(part),
        }
    }
    let joined = format!("/{}", parts.join("/"));
    if link.ends_with("..") { joined + "/" } else { joined }
}

#[tokio::test]
async fn every_page_is_reached_by_links_and_every_link_leads_somewhere() {
    let world = World::without_executor(Config::default()).await;
    let mut seen = BTreeSet::new();
    let mut open = vec!["/docs/book/".to_owned()];
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let answer = world.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        if !path.starts_with("/docs/book/") || path.ends_with(".css") {
            continue;
        }
        let page = answer.expect(200).as_str().unwrap().to_owned();
        let inside = links(&page).into_iter().filter(|l| !l.contains("://") && !l.starts_with('#'));
        open.extend(inside.map(|link| joined(&path, &link)));
    }
    for page in book::book().pages() {
        assert!(seen.contains(&format!("/docs/book/{}", page.path)), "no link to {}", page.path);
    }
    assert!(seen.contains("/docs/"), "{seen:?}");
}

#[tokio::test]
async fn a_page_runs_nothing_and_is_sent_again_only_when_it_is_another() {
    let config = Config { auth: Auth::BOTH, ..Config::default() };
    let world = World::without_executor(config).await;
    for path in ["/docs/book/", "/docs/book/deploy", "/docs/book/book.css", "/docs/book/nowhere"] {
        let answer = world.send(Request::get(path).body(Body::empty()).unwrap()).await;
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; style-src 'self';"), "{path}: {policy}");
        assert!(!policy.contains("script") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    let first = world.get("/docs/book/deploy").await;
    assert_eq!(first.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(first.header("cache-control"), Some("no-cache"));
    let tag = first.header("etag").unwrap().to_owned();
    for (sent, expected) in [
        (tag.clone(), 304),
        (format!("W/{tag}"), 304),
        (format!("\"other\", {tag}"), 304),
        ("\"other\"".to_owned(), 200),
    ] {
        let request = Request::get("/docs/book/deploy").header("if-none-match", &sent);
        let answer = world.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, expected, "{sent}");
        assert_eq!(answer.header("etag"), Some(tag.as_str()), "{sent}");
    }
}

#[tokio::test]
async fn an_unknown_page_leads_back_to_the_contents() {
    let world = World::without_executor(Config::default()).await;
    for (path, back) in [("/docs/book/nowhere", "./"), ("/docs/book/a/b", "../")] {
        let answer = world.get(path).await;
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        let page = answer.expect(404).as_str().unwrap().to_owned();
        assert!(page.contains(&format!("<a href=\"{back}\">Contents</a>")), "{path}: {page}");
    }
    let request = Request::post("/docs/book/deploy").body(Body::empty()).unwrap();
    assert_eq!(world.send(request).await.status, 405);
    let moved = world.get("/docs/book").await;
    assert_eq!((moved.status.as_u16(), moved.header("location")), (308, Some("/docs/book/")));
}

#[tokio::test]
async fn the_book_is_linked_from_the_page_of_the_api_and_from_the_first() {
    let world = World::without_executor(Config::default()).await;
    let document = world.get("/openapi.json").await.expect(200);
    assert_eq!(document["externalDocs"]["url"], "/docs/book/");
    let links = world.get("/").await.expect(200)["links"].to_string();
    assert!(links.contains("\"/docs/book/\""), "{links}");
}
