//! `docs/configuration.md` and the table of the Helm chart have every setting, as the code declares it.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::collections::BTreeMap;
use std::path::Path;

use chassis::{Args, RULES, Settings};
use clap::{Arg, Args as _, Command};

const HEAD: &str = "\
# Configuration

Generated from the settings in the code; `UPDATE_EXPECT=1 cargo test -p chassis --test configuration`
writes it anew.

A setting has one name. `nats-url` is the flag `--nats-url`, the variable `STAUNCH_NATS_URL` and the key
`nats-url` of `staunch.toml` (another file: `--config`, `STAUNCH_CONFIG`). The first of these that has it
counts, in this order; then the default. `STAUNCH_NATS_URL_FILE` names a file with the value, as containers
get secrets; it and the variable together are refused. An empty variable means that there is none. `staunch
config` prints every value in force and its source, without secrets:

```sh
cat > staunch.toml <<'END'
nats-url = \"nats://n1:4222,nats://n2:4222,nats://n3:4222\"
call-hosts = [\"order=api.shop.example\", \"*=*.example.com\"]
drain-seconds = 20
END
STAUNCH_DRAIN_SECONDS=25 staunch config --lease-ttl 10s
```

A value that cannot be read, is out of bounds or is not safe ends the process with exit code 2 and the reason.
`staunch config` refuses it, too, by the same check, and reads the files that a node with these settings reads at its
start, such as `tls-cert`, `oidc-ca` and `smtp-ca`: call it where the node runs. A key of the file is named with its line.

```sh fails
staunch config --lease-ttl 10
```

A time has a unit: `500ms`, `4s`, `15m`, `24h`, `30d`. A list is a text with commas, or a list in the file. JSON is
a text, also in the file. A setting that is `true` or `false` is `true` as a flag without a value. What is off, or
has no limit, by default has no default here.

Settings of other programs that count: `OTEL_TRACES_SAMPLER` ([watching](watching.md#traces)), `SSL_CERT_FILE`
and `SSL_CERT_DIR` (authorities that are trusted), `AWS_…` ([archive](retention.md#the-archive)). Commands that
ask a node take `--server` (`STAUNCH_SERVER`) and `--api-key` (`STAUNCH_API_KEY`, or `STAUNCH_API_KEY_FILE` with a file).
The same variables are the setting `api-key` of a node that starts: it refuses one that is an API key of the database or
of an application there (exit code 2), because it would get all permissions.
";

const CHART_HEAD: &str = "\
# What each setting takes: a pattern of the whole text, one that is found nowhere in it, and bounds; and what
# settings are to each other. Generated from the settings in the code:
# UPDATE_EXPECT=1 cargo test -p chassis --test configuration
settings:
";

/// The headings, each with the first setting below it: the order is that of the code.
const PARTS: &[(&str, &str)] = &[
    ("The process and its addresses", "role"),
    ("Links, proxies, TLS, limits", "base-url"),
    ("NATS", "nats-url"),
    ("Database", "database-url"),
    ("Callers", "auth"),
    ("OpenID Connect", "oidc-issuer"),
    ("Requests", "cors-origins"),
    ("Logs and traces", "log"),
    ("Running workflows", "node"),
    ("The cluster", "lease-ttl"),
    ("Scripts", "script-time-ms"),
    ("Connectors", "allow-private-addresses"),
    ("Retention", "retain-finished"),
    ("Timers", "timer-scan-seconds"),
];

#[test]
fn the_page_of_settings_is_fresh() {
    // What is not set anywhere has its default.
    let made = page(&Settings::resolve(&Args::default(), &|_| None).unwrap());
    is_fresh("docs/configuration.md", &made);
}

#[test]
fn the_settings_of_the_chart_are_fresh() {
    let mut made = CHART_HEAD.to_owned();
    for one in Settings::described() {
        made.push_str(&format!("  {}: {}\n", one.name, serde_json::to_string(&one).unwrap()));
    }
    made.push_str(&format!("rules: {}\n", serde_json::to_string(&RULES).unwrap()));
    is_fresh("compose/helm/staunch/files/settings.yaml", &made);
}

/// Writes a generated file anew where that is asked for, and compares it with what it has.
fn is_fresh(path: &str, made: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    #[expect(clippy::disallowed_methods, reason = "the switch that writes generated files")]
    let is_update = std::env::var("UPDATE_EXPECT").is_ok();
    if is_update {
        std::fs::write(&file, made).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == made, "{path} is stale: run this test with UPDATE_EXPECT=1");
}

fn page(settings: &Settings) -> String {
    let command = Args::augment_args(Command::new("staunch"));
    let arguments: BTreeMap<_, _> =
        command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg))).collect();
    // The name of a node is made by chance.
    let defaults = settings.all().iter().map(|one| match one.name {
        "node" => ("node", ""),
        name => (name, one.value.as_str()),
    });
    let mut page = HEAD.to_owned();
    let mut parts = PARTS.iter().peekable();
    for (name, default) in defaults {
        if let Some((heading, _)) = parts.next_if(|(_, first)| *first == name) {
            let head = "| setting | value | default | what it is |\n|---|---|---|---|";
            page.push_str(&format!("\n## {heading}\n\n{head}\n"));
        }
        let argument = arguments[name];
        page.push_str(&row(name, argument, default, &about(argument)));
    }
    assert_eq!(parts.next(), None, "PARTS names the settings in their order");
    page
}

/// The text of the help, in one line.
fn about(argument: &Arg) -> String {
    let text = argument.get_long_help().or(argument.get_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn row(name: &str, argument: &Arg, default: &str, about: &str) -> String {
    let value = argument.get_value_names().and_then(|names| names.first());
    let value = value.map(ToString::to_string).unwrap_or_default();
    let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
    let row = format!("`{name}` ~ `{value}` ~ {default} ~ {about}");
    // A bar within a cell would end it.
    format!("| {} |\n", row.replace('|', "\\|").replace(" ~ ", " | "))
}
