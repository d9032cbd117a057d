//! What a setting says of its texts is what it does with them: for tools that have no node, such as the
//! Helm chart.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::collections::BTreeMap;

use chassis::{Args, ConfigError, Described, Form, Settings, variable_of};
use regex::Regex;
use serde_json::Value;

/// Texts of each kind that a node takes. A form may take more, and never less.
const TAKEN: &[&str] = &[
    "true",
    "0",
    "1",
    "7",
    "1_000",
    "1_000_",
    "007",
    "999999999999999",
    "4s",
    "4 s",
    "1500ms",
    "90d",
    "30m",
    "100 / 1m",
    "100/1s",
    "4294967295/1h",
    "counter",
    "fault",
    "include",
    "required",
    "json",
    "info",
    "WARN, executor = debug",
    "off,async_nats=trace,ingress::routes=info",
    "/var/lib/files",
    "./a:b",
    "a b:c",
    "C:\\parts",
    ":x",
    "s3://bucket",
    "s3://bucket/a/b/",
    "database, nats ,/parts,s3://b/c,",
    "a,b",
    "https://studio.example,http://localhost:3000, HTTPS://[::1]:5001",
    "https://flows.example.com/a/b",
    "http://10.0.0.1:5001",
    "http://collector:4318/v1/traces",
    "http://u:p@collector:4318",
    "order = api.shop.example | *.pay.example., *=::1|1.2.3.4|1:2::1.2.3.4|::,",
    "order=orders.>|stock.*,*=staunchly.>|_config|staunch",
    "*=config | up-loads,a b=*",
    "Shop:Url=https://a/?x=1, Tries = 3,",
    "shop=postgres://u:p@h/d?a=b, b=sqlite::memory:,c = mariadb://h",
    "smtp://user:word@h:587?tls=none",
    "Shop, Inc <shop@example.org>",
    "lodash, moment,",
    "RS256,EdDSA",
    "10.0.0.0/8,::1,fd00::/8 ,192.0.2.7",
    " {\"http\": {\"attempts\": 5}} ",
    "{\"admins\": \"*\", \"staff\": [\"read:*\"]}",
    "{}",
    "127.0.0.1:5001",
    "api-key, oidc",
    "ingress,timer",
];

/// Settings with texts that both refuse.
const REFUSED: &[(&str, &[&str])] = &[
    ("require-https", &["TRUE", "2", "maybe", "true "]),
    ("max-backlog", &["0", "_", "-1", "+1", "1.5", "1e3", "many", "1000000000000000", "_1"]),
    ("database-connections", &["0", "1001"]),
    ("payload-above", &["4095", "262145"]),
    (
        "lease-ttl",
        &["10", "0s", "999ms", "61s", "500h", " 4s", "4S", "4s ", "1.5s", "9999999999999s"],
    ),
    ("oidc-leeway", &["6m"]),
    ("oidc-keys-time", &["30s", "721h"]),
    ("retain-finished", &["59m", "month"]),
    ("limit-address", &["100", "0/1m", "1/0s", "1/25h", "1/2d", "+1/1s", "1/1", "99999999999/1s"]),
    ("flowchart-mode", &["tokens", "Token", " token "]),
    ("incident-strategy", &["ignore"]),
    ("log-persistence", &["all"]),
    ("tls-client-auth", &["maybe"]),
    ("log", &["verbose", "inof", "executor=loud", "info,", "[a]=info", "1"]),
    (
        "cors-origins",
        &[
            "*",
            "null",
            "studio.example",
            "https://a/",
            "https://*.a",
            "https://a:0",
            "https://[::1",
        ],
    ),
    ("otlp-endpoint", &["localhost:4318", "ftp://x", "http://", "http://a b", "http://c:99999"]),
    ("base-url", &["https://", "https://a?x=1", "https://a/#f", "https://a b", "https://u:p@a"]),
    ("base-url", &["https://*.example.com", "https://a:99999", "x", "https://a_b.example"]),
    ("base-url", &["https://a:08", "https://a/../x", "https://a/x/.", "https://a/%2e%2E/x"]),
    ("node-address", &["n1:5001", "http://", "http://:5001", "http://*.nodes:5001"]),
    (
        "call-hosts",
        &["order", "=a", "order=", "order=https://a", "order=a:80", "a=*", "a=a..b", "a=1::2::3"],
    ),
    ("nats-subjects", &["x", "x=$SYS.>", "*=orders.>|staunch.>", "a=_INBOX.>", "a=b..c", "=a"]),
    ("nats-buckets", &["=a", "*=config|STAUNCH_X", "*=$KV", "*=up*", "*=", "*=a||b"]),
    ("script-config", &["novalue", "=value"]),
    ("script-libraries", &["jquery", "lodash,jquery"]),
    ("sql-connections", &["shop", "shop=oracle://x", "=sqlite://x"]),
    ("smtp-url", &["mail", "http://h", "smtp://"]),
    ("smtp-from", &["nobody", "@a", "a@"]),
    ("oidc-algorithms", &["HS256", "none", "RS256,HS256"]),
    ("oidc-roles", &["{bad", "{}x", "[]", "{},{}", "admins=*"]),
    ("retry-strategies", &["{}x", "http"]),
    (
        "trusted-proxies",
        &["0.0.0.0/0", "::/0", "10.0.0.0/33", "999.1.1.1", "::::/64", "1:2/64", "a"],
    ),
];

/// Settings that other crates read: their tests compare them with their forms.
const READ_ELSEWHERE: [&str; 4] = ["archive-to", "payload-store", "oidc-issuer", "oidc-jwks-url"];

/// Whether a node takes a text, as far as that is a question of this setting alone.
fn node_takes(name: &str, text: &str) -> bool {
    let own = variable_of(name);
    let variable = |name: &str| (name == own).then(|| text.to_owned());
    match Settings::resolve(&Args::default(), &variable) {
        Err(ConfigError::Value { name: wrong, .. }) => wrong != name,
        _ => true,
    }
}

fn form_takes(form: &Form, text: &str) -> bool {
    let is_found = |pattern: &str| Regex::new(pattern).unwrap().is_match(text);
    let is_object = || serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
    form.pattern.as_deref().is_none_or(is_found)
        && !form.never.as_deref().is_some_and(is_found)
        && (!form.json || is_object())
        && is_between(form, text)
}

/// Of a rate the time counts.
fn is_between(form: &Form, text: &str) -> bool {
    let found = || amount(text.rsplit('/').next().unwrap_or(text).trim());
    form.least.is_none_or(|least| found() >= amount(least))
        && form.most.is_none_or(|most| found() <= amount(most))
}

/// A number, or a time in milliseconds.
fn amount(text: &str) -> u128 {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let units = BTreeMap::from([
        ("", 1),
        ("ms", 1),
        ("s", 1_000),
        ("m", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
    ]);
    number.replace('_', "").parse::<u128>().unwrap() * units[unit.trim()]
}

#[test]
fn a_form_takes_what_a_node_takes() {
    let described = Settings::described().into_iter();
    let own = described.filter(|one| !READ_ELSEWHERE.contains(&one.name));
    for Described { name, form, .. } in own {
        for text in TAKEN.iter().filter(|text| node_takes(name, text)) {
            assert!(
                form_takes(&form, text),
                "{name} takes {text:?}, and its form does not: {form:?}"
            );
        }
    }
}

#[test]
fn a_form_refuses_what_a_node_refuses() {
    let described = Settings::described();
    for (name, texts) in REFUSED {
        let form = &described.iter().find(|one| one.name == *name).unwrap().form;
        assert!(form.must.starts_with("must "), "{name}: {}", form.must);
        for text in *texts {
            assert!(!node_takes(name, text), "a node takes {name} = {text:?}");
            assert!(!form_takes(form, text), "the form of {name} takes {text:?}: {form:?}");
        }
    }
}

#[test]
fn a_default_is_within_its_form() {
    for Described { name, default, form } in Settings::described() {
        assert!(
            default.is_empty() || form_takes(&form, &default),
            "{name} = {default:?}: {form:?}"
        );
    }
}
