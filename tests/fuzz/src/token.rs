//! Tokens of users: only the one that was given is taken.

use std::cell::RefCell;

use anyhow::{Context as _, Result, ensure};
use ingress::{Auth, Config};
use serde_json::Value;

use crate::choice::choice;
use crate::node::{Node, Place, status};

const KEY: &str = "a-bootstrap-key-of-length";

thread_local! {
    static PLACE: Result<Place> = Place::new(config);
    static TOKEN: RefCell<String> = const { RefCell::new(String::new()) };
}

fn config() -> Config {
    Config { auth: Auth::BOTH, api_key: Some(KEY.to_owned()), ..Config::default() }
}

/// After an even first byte comes the value of the header; after an odd one come changes of a token
/// that is good: a place and a byte each.
pub(crate) fn run(bytes: &[u8]) -> Result<()> {
    let (first, bytes) = choice(bytes);
    PLACE.with(|place| {
        let place = place.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
        place.with(async |node, is_new| {
            if is_new {
                let given = login(node).await?;
                TOKEN.with(|token| *token.borrow_mut() = given);
            }
            let good = TOKEN.with(|token| token.borrow().clone());
            let value = if first % 2 == 0 { bytes.to_vec() } else { changed(&good, bytes) };
            if value.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
                return Ok(());
            }
            let mut request =
                b"GET /elsa/api/identity/users HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
                authorization: Bearer "
                    .to_vec();
            request.extend_from_slice(&value);
            request.extend_from_slice(b"\r\n\r\n");
            let answer = node.ask(&request).await?;
            let is_good = value.trim_ascii() == good.as_bytes();
            let wanted: &[u16] = if is_good { &[200, 403] } else { &[400, 401, 431] };
            ensure!(
                status(&answer).is_some_and(|status| wanted.contains(&status)),
                "{:?} for {:?}",
                String::from_utf8_lossy(&answer),
                String::from_utf8_lossy(&value)
            );
            Ok(())
        })
    })
}

fn changed(good: &str, changes: &[u8]) -> Vec<u8> {
    let mut bytes = good.as_bytes().to_vec();
    let length = bytes.len();
    for change in changes.chunks_exact(3) {
        let place = usize::from(u16::from_be_bytes([change[0], change[1]])) % length;
        bytes[place] = change[2];
    }
    bytes
}

/// Makes a user, and gives the token of a login.
async fn login(node: &Node) -> Result<String> {
    let user = r#"{"name":"ada","password":"correct horse battery","roles":[]}"#;
    let made = post(node, "/elsa/api/identity/users", user).await?;
    ensure!(made.get("id").is_some(), "{made}");
    let named = r#"{"username":"ada","password":"correct horse battery"}"#;
    let answer = post(node, "/elsa/api/identity/login", named).await?;
    let token = answer.get("accessToken").and_then(Value::as_str);
    token.map(str::to_owned).with_context(|| format!("no token: {answer}"))
}

async fn post(node: &Node, path: &str, body: &str) -> Result<Value> {
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: ApiKey {KEY}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = String::from_utf8(node.ask(request.as_bytes()).await?)?;
    let (_, body) = answer.split_once("\r\n\r\n").context("an answer")?;
    Ok(serde_json::from_str(body)?)
}
