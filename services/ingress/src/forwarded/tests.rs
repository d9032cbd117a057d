//! What clients and proxies may write into headers, and what is believed of it.

use axum::body::Body;

use super::*;

/// A proxy at 10.0.0.1, with others in its network.
fn seen(peer: &str, headers: &[(&str, &str)]) -> Result<(String, String), String> {
    let trusted: Networks = "10.0.0.0/8,fd00::/8".parse().unwrap();
    let mut request = Request::get("/x").body(Body::empty()).unwrap();
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().unwrap();
        request.headers_mut().append(name, value.parse().unwrap());
    }
    request.extensions_mut().insert(Peer(peer.parse().unwrap()));
    settle(&trusted, &mut request).map_err(|problem| {
        assert_eq!(problem.status(), StatusCode::BAD_REQUEST);
        problem.detail().to_owned()
    })?;
    let Peer(client) = request.extensions().get::<Peer>().unwrap();
    let site = request.extensions().get::<Site>().unwrap();
    Ok((client.ip().to_string(), site.base_url(&Config::default())))
}

const OWN: &str = "http://127.0.0.1:5001";
const FOR: &str = "x-forwarded-for";
const PROTO: &str = "x-forwarded-proto";
const HOST: &str = "x-forwarded-host";

#[track_caller]
fn check(peer: &str, headers: &[(&str, &str)], client: &str, base_url: &str) {
    let expected = Ok((client.to_owned(), base_url.to_owned()));
    assert_eq!(seen(peer, headers), expected, "{peer} {headers:?}");
}

#[test]
fn a_trusted_proxy_says_who_its_client_is() {
    let proxy = "10.0.0.1:4711";
    check(proxy, &[], "10.0.0.1", OWN);
    check(proxy, &[(FOR, "192.0.2.7")], "192.0.2.7", OWN);
    check(proxy, &[(FOR, "192.0.2.7:5555")], "192.0.2.7", OWN);
    check(proxy, &[(FOR, "2001:db8::7")], "2001:db8::7", OWN);
    check(proxy, &[(FOR, "[2001:db8::7]:5555")], "2001:db8::7", OWN);
    check(proxy, &[(FOR, "[2001:db8::7]")], "2001:db8::7", OWN);
    check(proxy, &[(FOR, "::ffff:192.0.2.7")], "192.0.2.7", OWN);
    check("[::ffff:10.0.0.1]:1", &[(FOR, "192.0.2.7")], "192.0.2.7", OWN);
    check("[fd00::1]:1", &[(FOR, "192.0.2.7")], "192.0.2.7", OWN);
    let site = [(FOR, "192.0.2.7"), (PROTO, "HTTPS"), (HOST, "flow.example:8443")];
    check(proxy, &site, "192.0.2.7", "https://flow.example:8443");
    let chain = [(FOR, "192.0.2.7, 10.9.9.9"), (PROTO, "https, http"), (HOST, "a.example, b")];
    check(proxy, &chain, "192.0.2.7", "https://a.example");
    let whole = r#"for="[2001:db8::7]:99";proto=https;host=a.example, for=10.9.9.9;by=10.0.0.1"#;
    check(proxy, &[("forwarded", whole)], "2001:db8::7", "https://a.example");
    check(proxy, &[("forwarded", "For=192.0.2.7")], "192.0.2.7", OWN);
    check(proxy, &[("forwarded", "for=_hidden;proto=https;host=a")], "10.0.0.1", "https://a");
    check(proxy, &[(FOR, "unknown")], "10.0.0.1", OWN);
}

#[test]
fn nobody_else_is_believed() {
    let lies = [(FOR, "10.0.0.1"), (PROTO, "https"), (HOST, "evil.example")];
    check("192.0.2.66:1", &lies, "192.0.2.66", OWN);
    check("192.0.2.66:1", &[(FOR, "not an address")], "192.0.2.66", OWN);
    check("192.0.2.66:1", &[("forwarded", "for=\"")], "192.0.2.66", OWN);
    check("[::ffff:192.0.2.66]:1", &lies, "::ffff:192.0.2.66", OWN);
    check("127.0.0.1:1", &lies, "127.0.0.1", OWN);
}

#[test]
fn what_a_client_wrote_itself_is_not_read() {
    let proxy = "10.0.0.1:4711";
    // The proxy has appended the last address; what is before it came from the client.
    check(proxy, &[(FOR, "127.0.0.1, 192.0.2.66")], "192.0.2.66", OWN);
    check(proxy, &[(FOR, "10.0.0.9, 192.0.2.66")], "192.0.2.66", OWN);
    check(proxy, &[(FOR, "<script>, , ;, 192.0.2.66")], "192.0.2.66", OWN);
    check(proxy, &[(FOR, "127.0.0.1"), (FOR, "192.0.2.66")], "192.0.2.66", OWN);
    check(proxy, &[(FOR, "1.1.1.1, 192.0.2.66, 10.9.9.9")], "192.0.2.66", OWN);
    let forged = [(FOR, "1.1.1.1, 192.0.2.66"), (PROTO, "https, http"), (HOST, "evil, a.example")];
    check(proxy, &forged, "192.0.2.66", "http://a.example");
    let forged = "for=127.0.0.1;host=evil, for=192.0.2.66;host=a.example";
    check(proxy, &[("forwarded", forged)], "192.0.2.66", "http://a.example");
    check(
        proxy,
        &[("forwarded", "for=127.0.0.1"), ("forwarded", "for=192.0.2.66")],
        "192.0.2.66",
        OWN,
    );
    check(proxy, &[("x-real-ip", "1.1.1.1"), ("x-forwarded-port", "1")], "10.0.0.1", OWN);
}

#[test]
fn what_cannot_be_understood_is_refused() {
    let long = vec!["10.1.1.1"; PROXIES_MAX + 1].join(",");
    let big = "a".repeat(HOST_BYTES_MAX + 1);
    let refusals: &[(&[(&str, &str)], &str)] = &[
        (&[(FOR, "192.0.2.66"), ("forwarded", "for=1.1.1.1")], "both Forwarded and X-Forwarded"),
        (&[(PROTO, "https"), ("forwarded", "for=1.1.1.1")], "both Forwarded and X-Forwarded"),
        (&[(FOR, "evil.example")], "not the address of a client"),
        (&[(FOR, "")], "not the address of a client"),
        (&[(FOR, "192.0.2.66,")], "not the address of a client"),
        (&[(FOR, "192.0.2.66 10.0.0.1")], "not the address of a client"),
        (&[(FOR, "0300.0.2.102")], "not the address of a client"),
        (&[(FOR, "fe80::1%eth0")], "not the address of a client"),
        (&[(FOR, "[fe80::1%1]:80")], "not the address of a client"),
        (&[(FOR, "192.0.2.66:99999")], "not the address of a client"),
        (&[(FOR, "x, 10.2.2.2")], "not the address of a client"),
        (&[(FOR, long.as_str())], "more than 16 proxies"),
        (&[(FOR, "192.0.2.66"), (PROTO, "https, http")], "has 2 values, for 1 addresses"),
        (&[(PROTO, "https"), (PROTO, "http")], "has 2 values, for 0 addresses"),
        (&[(FOR, "192.0.2.66"), (HOST, "a"), (HOST, "b")], "has 2 values"),
        (&[(PROTO, "javascript")], "neither http nor https"),
        (&[(HOST, "a.example/evil")], "is not a host"),
        (&[(HOST, "user@evil.example")], "is not a host"),
        (&[(HOST, "a b")], "is not a host"),
        (&[(HOST, "")], "is not a host"),
        (&[(HOST, ":80")], "is not a host"),
        (&[(HOST, big.as_str())], "is not a host"),
        (&[("forwarded", "for=\"1.1.1.1")], "a quotation that does not end"),
        (&[("forwarded", "for=1.1.1.1;for=2.2.2.2")], "for twice"),
        (&[("forwarded", "for=1.1.1.1;proto")], "which is not for="),
        (&[("forwarded", "for=\"1.1.1.1\"x")], "which is not for="),
        (&[("forwarded", "for= 1.1.1.1")], "which is not for="),
        (&[("forwarded", "for=\"\\1.1.1.1\"")], "which is not for="),
        (&[("forwarded", "")], "which is not for="),
    ];
    for (headers, expected) in refusals {
        let error = seen("10.0.0.1:4711", headers).unwrap_err();
        assert!(error.contains(expected), "{headers:?}: {error}");
        assert!(error.contains("overwrite"), "{error}");
    }
}
