use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use model::limits;

use super::*;

mod odd;

fn resolve(args: &Args, variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let variables: BTreeMap<_, _> = variables.iter().copied().collect();
    Settings::resolve(args, &|name| variables.get(name).map(|text| (*text).to_owned()))
}

fn with_file(text: &str, check: impl FnOnce(&Path)) {
    let path = std::env::temp_dir().join(format!("staunch-{:016x}.toml", rand::random::<u64>()));
    std::fs::write(&path, text).unwrap();
    check(&path);
    std::fs::remove_file(path).unwrap();
}

fn refusal(args: Args) -> String {
    resolve(&args, &[]).unwrap_err().to_string()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

const KEY: &str = "6f1c2d9be07a4358b1f2c3d4e5a6978812ab34cd";

#[test]
fn a_flag_beats_a_variable_beats_the_file_beats_the_default() {
    let text = "nats-url = \"nats://file\"\nlog = \"debug\"\nexecutor-concurrency = 8\n";
    with_file(text, |path| {
        let args = Args {
            config: Some(path.to_owned()),
            nats_url: some("nats://flag"),
            ..Args::default()
        };
        let variables = [
            ("STAUNCH_NATS_URL", "nats://variable"),
            ("STAUNCH_LOG", "warn"),
            ("STAUNCH_NODE", ""),
        ];
        let settings = resolve(&args, &variables).unwrap();
        assert_eq!(settings.nats_url, "nats://flag");
        assert_eq!(settings.log, "warn");
        assert_eq!(settings.executor_concurrency, 8);
        assert_eq!(settings.listen.port(), 5001);
        let origin = |name| &settings.all().iter().find(|one| one.name == name).unwrap().origin;
        assert_eq!(*origin("nats-url"), Origin::Flag);
        assert_eq!(*origin("log"), Origin::Variable("STAUNCH_LOG".to_owned()));
        assert_eq!(*origin("executor-concurrency"), Origin::File(path.to_owned()));
        assert_eq!(*origin("listen"), Origin::Default);
        // Names that are always refused are no settings.
        let others = ["jwks-url", "jwt-issuer", "jwt-audience", "misfire"];
        assert!(settings.all().iter().all(|one| !others.contains(&one.name)));
        assert_eq!(settings.all().len() + others.len(), NAMES.len());
    });
}

#[test]
fn a_node_without_a_name_has_that_of_its_host_and_a_suffix_of_its_own() {
    let name = |host: &str| {
        let settings = resolve(&Args::default(), &[("HOSTNAME", host)]).unwrap();
        let origin = &settings.all().iter().find(|one| one.name == "node").unwrap().origin;
        assert_eq!(*origin, Origin::Default);
        settings.node
    };
    for (host, expected) in [
        ("web-1", "web-1-"),
        ("web.example.com\n", "web-example-com-"),
        (" ", "node-"),
        (&"x".repeat(50), &format!("{}-", "x".repeat(40))),
    ] {
        let (one, other) = (name(host), name(host));
        let suffix = one.strip_prefix(expected).unwrap_or_else(|| panic!("{one}"));
        assert!(suffix.len() == 6 && suffix.bytes().all(|b| b.is_ascii_hexdigit()), "{one}");
        assert_ne!(one, other, "two processes on one host");
    }
    let named = resolve(&Args::default(), &[("HOSTNAME", "web-1"), ("STAUNCH_NODE", "a")]);
    assert_eq!(named.unwrap().node, "a");
}

#[test]
fn the_file_may_be_named_by_a_variable() {
    with_file("role = [\"timer\", \"executor\"]\nprovision = true", |path| {
        let settings = resolve(&Args::default(), &[("STAUNCH_CONFIG", path.to_str().unwrap())]);
        let settings = settings.unwrap();
        assert_eq!(settings.role, ["timer", "executor"]);
        assert!(settings.serves("timer") && !settings.serves("ingress"));
        assert!(settings.provision);
    });
}

#[test]
fn the_key_of_a_command_may_be_in_a_file() {
    with_file("in-the-file\n", |path| {
        let file = ("STAUNCH_API_KEY_FILE", path.to_str().unwrap());
        let plain = ("STAUNCH_API_KEY", "in-the-variable");
        let key = |given: Option<&str>, variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, text)| (*text).to_owned())
            };
            let found = key_of_client(given, &variable).map_err(|error| error.to_string());
            found.map(|key| key.map(|key| key.expose().to_owned()))
        };
        assert_eq!(key(None, &[]), Ok(None));
        assert_eq!(key(Some(""), &[("STAUNCH_API_KEY", "")]), Ok(None));
        assert_eq!(key(None, &[file]), Ok(some("in-the-file")));
        assert_eq!(key(Some("in-the-variable"), &[plain]), Ok(some("in-the-variable")));
        // The command line is first.
        assert_eq!(key(Some("given"), &[file, plain]), Ok(some("given")));
        let both = key(Some("in-the-variable"), &[file, plain]).unwrap_err();
        assert!(both.contains("STAUNCH_API_KEY and STAUNCH_API_KEY_FILE are both set"), "{both}");
        let nowhere = key(None, &[("STAUNCH_API_KEY_FILE", "/nowhere/key")]).unwrap_err();
        assert!(nowhere.contains("/nowhere/key"), "{nowhere}");
        for broken in ["hush\n", "hu\rsh", "hu\0sh"] {
            let message = key(Some(broken), &[]).unwrap_err();
            let begin = "api-key = \"***\" from the command line: it has a line break";
            assert!(message.starts_with(begin), "{message}");
            let variable = ("STAUNCH_API_KEY", broken);
            let message = key(Some(broken), &[variable]).unwrap_err();
            assert!(message.contains("from the variable STAUNCH_API_KEY: it has"), "{message}");
        }
    });
}

#[test]
fn a_key_that_no_request_can_carry_is_refused() {
    for broken in [format!("{KEY}\n"), format!("{KEY}\r\n{KEY}")] {
        let caller = Args { api_key: some(&broken), is_caller: true, ..Args::default() };
        for (args, name) in [
            (caller, "api-key"),
            (Args { api_key: some(&broken), ..Args::default() }, "api-key"),
            (Args { metrics_key: some(&broken), ..Args::default() }, "metrics-key"),
        ] {
            let message = refusal(args);
            let begin = format!("{name} = \"***\" from the command line: it has a line break");
            assert!(message.starts_with(&begin) && !message.contains(KEY), "{message}");
        }
    }
}

#[test]
fn a_variable_may_name_a_file_with_the_value() {
    with_file(&format!("  {KEY}\n"), |path| {
        let file = path.to_str().unwrap();
        let settings = resolve(
            &Args::default(),
            &[("STAUNCH_API_KEY_FILE", file), ("STAUNCH_AUTH", "api-key")],
        )
        .unwrap();
        assert_eq!(settings.api_key.as_ref().unwrap().expose(), KEY);
        assert_eq!(settings.shown("api-key"), "***");
        let both = [("STAUNCH_NATS_URL_FILE", file), ("STAUNCH_NATS_URL", "nats://variable")];
        let message = resolve(&Args::default(), &both).unwrap_err().to_string();
        assert!(message.contains("STAUNCH_NATS_URL and STAUNCH_NATS_URL_FILE"), "{message}");
        let flag = Args { nats_url: some("nats://flag"), ..Args::default() };
        assert_eq!(resolve(&flag, &both).unwrap().nats_url, "nats://flag");
        let empty = [("STAUNCH_NATS_URL_FILE", file), ("STAUNCH_NATS_URL", "")];
        assert_eq!(resolve(&Args::default(), &empty).unwrap().nats_url, KEY);
        // A setting of that name is itself.
        let settings = resolve(&Args::default(), &[("STAUNCH_SECRETS_KEY_FILE", file)]).unwrap();
        assert_eq!(settings.secrets_key_file.as_deref(), Some(path));
        assert!(settings.secrets_key.is_none());
    });
    with_file("", |path| {
        let empty = [("STAUNCH_API_KEY_FILE", path.to_str().unwrap())];
        let message = resolve(&Args::default(), &empty).unwrap_err().to_string();
        assert!(message.contains("STAUNCH_API_KEY_FILE") && message.contains("empty"), "{message}");
    });
    let message = resolve(&Args::default(), &[("STAUNCH_API_KEY_FILE", "/nowhere/key")]);
    let message = message.unwrap_err().to_string();
    assert!(message.contains("/nowhere/key"), "{message}");
}

#[test]
fn a_server_on_every_address_names_one_that_can_be_called() {
    let args = |base: &str, path: &str| Args {
        listen: some("0.0.0.0:5001"),
        auth: some("api-key"),
        api_key: some(KEY),
        base_url: Some(base.to_owned()).filter(|base| !base.is_empty()),
        base_path: Some(path.to_owned()).filter(|path| !path.is_empty()),
        ..Args::default()
    };
    for (base, path, url, below) in [
        ("", "", "http://localhost:5001", None),
        ("", "/staunch", "http://localhost:5001/staunch", Some("/staunch")),
        ("https://a.example/flow/", "", "https://a.example/flow", Some("/flow")),
        ("https://a.example/", "", "https://a.example", None),
    ] {
        let settings = resolve(&args(base, path), &[]).unwrap();
        assert_eq!(settings.public_url(), url);
        assert_eq!(settings.base_path().as_deref(), below, "{base} {path}");
    }
    let at = |address: &str| {
        let args = Args { node_address: some(address), ..args("https://a.example", "/x") };
        resolve(&args, &[])
    };
    let here = Some(IpAddr::from([10, 0, 0, 7]));
    let none = resolve(&args("https://a.example", ""), &[]).unwrap();
    assert_eq!(none.node_url(here), "http://10.0.0.7:5001", "the base URL is of all nodes");
    assert_eq!(none.node_url(None), "https://a.example");
    assert_eq!(at("http://n1:5001/").unwrap().node_url(here), "http://n1:5001");
    for wrong in ["n1:5001", "http://", "http://:5001", "nats://n1", "http://n1 n2", "http://u@n1"]
    {
        assert!(at(wrong).is_err(), "{wrong}");
    }
    for wrong in ["staunch", "/", "/a//b", "/a/../b", "/a?b", "/a b"] {
        assert!(resolve(&args("", wrong), &[]).is_err(), "{wrong}");
    }
}

#[test]
fn an_address_with_a_pattern_of_hosts_is_refused() {
    for base in ["https://*.example.com", "https://*", "*.example.com/flows", "https://a*.b:8443/x"]
    {
        let message = refusal(Args { base_url: some(base), ..Args::default() });
        let is_clear = message.starts_with(&format!("base-url = {base:?} from the command line: "))
            && message.contains("such as https://flows.example.com");
        assert!(is_clear, "{message}");
    }
    let args = Args { base_url: some("https://flows.example.com/a*b"), ..Args::default() };
    assert!(resolve(&args, &[]).is_ok(), "the path is no host");
    let message = refusal(Args { node_address: some("http://*.nodes:5001"), ..Args::default() });
    assert!(message.contains("node-address") && message.contains("http://10.0.0.1:5001"));
}

#[test]
fn who_has_no_callers_does_not_wait_before_it_stops() {
    let delay = |args: Args| resolve(&args, &[]).unwrap().drain_delay();
    assert_eq!(delay(Args::default()), Duration::from_secs(5));
    assert_eq!(delay(Args { drain_delay: some("0s"), ..Args::default() }), Duration::ZERO);
    assert_eq!(delay(Args { role: some("executor,timer"), ..Args::default() }), Duration::ZERO);
}

#[test]
fn an_unknown_key_names_the_nearest_known_one() {
    with_file("nats_ulr = \"x\"", |path| {
        let args = Args { config: Some(path.to_owned()), ..Args::default() };
        let message = refusal(args);
        assert!(message.contains("nats_ulr") && message.contains("did you mean \"nats-url\""));
    });
    let args = Args { config: Some("/nowhere/staunch.toml".into()), ..Args::default() };
    assert!(refusal(args).contains("/nowhere/staunch.toml"));
    with_file("log = 1\nlog = 2", |path| {
        let args = Args { config: Some(path.to_owned()), ..Args::default() };
        assert!(matches!(resolve(&args, &[]), Err(ConfigError::File { .. })));
    });
    with_file("log = \"info\"\napi-key = hush hush\n", |path| {
        let message = refusal(Args { config: Some(path.to_owned()), ..Args::default() });
        assert!(message.contains("line 2, column "), "{message}");
        assert!(!message.contains('\n') && !message.contains("hush"), "{message}");
    });
}

#[test]
fn a_value_that_cannot_be_read_says_what_it_should_be() {
    for (args, expected) in [
        (Args { listen: some("5001"), ..Args::default() }, "127.0.0.1:5001"),
        (Args { lease_ttl: some("4"), ..Args::default() }, "500ms, 30s"),
        (Args { drain_seconds: some("0"), ..Args::default() }, "above 0"),
        (Args { auth: some("basic"), ..Args::default() }, "none or api-key"),
        (Args { script_libraries: some("lodash,jquery"), ..Args::default() }, "no library jquery"),
        (Args { incident_strategy: some("panic"), ..Args::default() }, "continue-with-incidents"),
        (Args { log_persistence: some("Include"), ..Args::default() }, "include or exclude"),
        (Args { log_format: some("xml"), ..Args::default() }, "text or json"),
        (Args { provision: some("perhaps"), ..Args::default() }, "true or false"),
        (Args { nats_url: some(""), ..Args::default() }, "empty"),
        // A value that could be read but not applied is refused at once.
        (
            Args { database_url: some("postgres://h/d?sslmode=verify_full"), ..Args::default() },
            "sslmode is \"verify_full\": use one of disable, allow, ",
        ),
        (Args { max_body_bytes: some("16777216"), ..Args::default() }, "at most 8388608"),
        (Args { ack_wait: some("4s"), ..Args::default() }, "at most 3s"),
        (Args { lease_ttl: some("61s"), ..Args::default() }, "between 1s and 60s"),
        (Args { event_wait: some("721h"), ..Args::default() }, "between 1s and 720h"),
        (Args { retain_faulted: some("59m"), ..Args::default() }, "at least 1h"),
        (Args { retain_finished: some("month"), ..Args::default() }, "1h or 30d"),
        (Args { lease_ttl: some("500ms"), ..Args::default() }, "between 1s and 60s"),
        (Args { misfire: some("skip"), ..Args::default() }, "the input `misfire`"),
        (Args { auth: some("jwt"), ..Args::default() }, "`auth` = oidc"),
        (Args { auth: some("none,api-key"), ..Args::default() }, "none or api-key"),
        (Args { auth: some("api-key,"), ..Args::default() }, "none or api-key"),
        (
            Args { refresh_token_time: some("59m"), ..Args::default() },
            "at least access-token-time, which is 1h",
        ),
        (Args { access_token_time: some("721h"), ..Args::default() }, "at most 720h"),
        (Args { jwks_url: some("https://idp"), ..Args::default() }, "oidc-jwks-url"),
        (Args { jwt_issuer: some("idp"), ..Args::default() }, "oidc-issuer"),
        (Args { jwt_audience: some("us"), ..Args::default() }, "oidc-audience"),
        (Args { oidc_roles: some("admins=*"), ..Args::default() }, "a JSON object"),
        (Args { drain_delay: some("6m"), ..Args::default() }, "at most 5m"),
        (Args { presence_ttl: some("500ms"), ..Args::default() }, "between 1s and 60s"),
        (Args { lease_wait: some("2m"), ..Args::default() }, "at most 60s"),
        (Args { database_committers: some("33"), ..Args::default() }, "between 1 and 32"),
        (Args { database_wait: some("10ms"), ..Args::default() }, "between 100ms and 1m"),
        (Args { database_statement_time: some("1h"), ..Args::default() }, "between 1s and 10m"),
        (Args { nats_wait: some("500ms"), ..Args::default() }, "between 1s and 10m"),
        (Args { database_connections: some("1001"), ..Args::default() }, "between 1 and 1000"),
        (Args { base_path: some("x"), ..Args::default() }, "/staunch"),
        (Args { oidc_leeway: some("30"), ..Args::default() }, "500ms, 30s"),
    ] {
        let message = refusal(args);
        assert!(message.contains(expected) && message.contains("the command line"), "{message}");
    }
}

#[test]
fn the_defaults_are_what_is_in_force() {
    let settings = resolve(&Args::default(), &[]).unwrap();
    let shown = |name| settings.all().iter().find(|one| one.name == name).unwrap().value.clone();
    assert_eq!(settings.max_body_bytes, limits::COMMAND_BYTES_MAX);
    assert_eq!(shown("max-body-bytes"), limits::COMMAND_BYTES_MAX.to_string());
    assert_eq!(settings.max_backlog, limits::BACKLOG_MAX);
    assert_eq!(settings.script_time(), limits::SCRIPT_TIME_MAX);
    assert_eq!(settings.ack_wait, limits::ACK_WAIT);
    assert_eq!(settings.lease_ttl, Duration::from_secs(4));
    assert_eq!(settings.event_wait, limits::EVENT_WAIT);
    assert!(settings.retention().keeps_all() && settings.retain_audit.is_none());
    assert_eq!(shown("allow-private-addresses"), "false");
}

#[test]
fn a_command_may_have_defaults_of_its_own_and_whatever_is_given_beats_them() {
    let defaults = vec![("allow-private-addresses", "true".to_owned()), ("log", "warn".to_owned())];
    let args = Args { defaults, ..Args::default() };
    let settings = resolve(&args, &[]).unwrap();
    assert!(settings.allow_private_addresses && settings.is_default("allow-private-addresses"));
    assert_eq!(settings.log, "warn");
    let given = Args { allow_private_addresses: some("false"), ..args.clone() };
    let settings = resolve(&given, &[]).unwrap();
    assert!(!settings.allow_private_addresses && !settings.is_default("allow-private-addresses"));
    let variables = [("STAUNCH_ALLOW_PRIVATE_ADDRESSES", "false"), ("STAUNCH_LOG", "debug")];
    let settings = resolve(&args, &variables).unwrap();
    assert!(!settings.allow_private_addresses);
    assert_eq!(settings.log, "debug");
}

#[test]
fn the_wait_for_an_acknowledgement_is_that_of_the_consumer() {
    let topology = include_str!("../../../../nats/topology.toml");
    let line = format!("ack_wait_seconds = {}", limits::ACK_WAIT.as_secs());
    assert!(topology.contains(&line), "{line}");
}

#[test]
fn schemes_of_authentication_are_combined() {
    let auth =
        |text: &str| resolve(&Args { auth: some(text), ..Args::default() }, &[]).unwrap().auth;
    assert_eq!(auth("api-key, identity,oidc"), Auth::ALL);
    assert_eq!(auth("oidc"), Auth { oidc: true, ..Auth::NONE });
    assert!(auth("oidc").takes_tokens() && !auth("api-key").takes_tokens());
}

#[test]
fn an_open_door_is_refused() {
    let open = Args { listen: some("0.0.0.0:5001"), ..Args::default() };
    let message = refusal(open.clone());
    assert!(message.contains("0.0.0.0:5001") && message.contains("openssl rand"), "{message}");
    assert!(resolve(&Args { auth: some("api-key"), ..open.clone() }, &[]).is_ok());
    // A process that serves no API has only health and metrics to show.
    assert!(resolve(&Args { role: some("timer"), ..open.clone() }, &[]).is_ok());
    let as_ingress = Args { defaults: vec![("role", "ingress".to_owned())], ..open };
    assert!(resolve(&as_ingress, &[]).is_err());
    assert!(resolve(&Args { listen: some("[::1]:5001"), ..Args::default() }, &[]).is_ok());
}

#[test]
fn a_key_that_can_be_guessed_is_refused() {
    for key in [
        "short",
        "00000000-0000-0000-0000-000000000000",
        "00000000000000000000000000000000",
        "abababababababababababababababababab",
        "changemechangemechangemechangemechangeme",
        "0123456789abcdef0123456789abcdef",
    ] {
        let message = refusal(Args { api_key: some(key), ..Args::default() });
        assert!(message.starts_with("api-key = \"***\" from the command line: "), "{message}");
        assert!(!message.contains(key), "{message}");
        // That of a caller is judged by the server that is asked.
        let asks = Args { api_key: some(key), is_caller: true, ..Args::default() };
        assert!(resolve(&asks, &[]).is_ok(), "{key}");
    }
    assert!(resolve(&Args { api_key: some(KEY), ..Args::default() }, &[]).is_ok());
}

#[test]
fn secrets_are_never_shown() {
    let args = Args {
        api_key: some(KEY),
        database_url: some("postgres://staunch:hunter2@db/staunch"),
        ..Args::default()
    };
    let settings = resolve(&args, &[]).unwrap();
    assert_eq!(settings.api_key.as_ref().unwrap().expose(), KEY);
    let shown = format!("{settings:?} {:?} {:?}", settings.all(), settings.api_key);
    assert!(!shown.contains(KEY) && !shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("postgres://staunch:***@db/staunch"));
}

#[test]
fn what_a_child_needs_of_the_flags_is_their_texts_as_they_are() {
    let url = "smtp://shop:hunter2@mail.example:587";
    let args = Args { smtp_url: some(url), archive_to: some(""), ..Args::default() };
    // Only flags: the child reads the environment and the file itself.
    assert!(resolve(&args, &[("STAUNCH_NATS_URL", "nats://other")]).is_ok());
    assert_eq!(args.given(), [("smtp-url", url), ("archive-to", "")]);
    assert_eq!(variable_of("smtp-url"), "STAUNCH_SMTP_URL");
    let settings = resolve(&Args::default(), &[("STAUNCH_SMTP_URL", url)]).unwrap();
    assert_eq!(settings.smtp_url, Some(MailServer(url.to_owned())));
}

#[test]
fn the_outside_address_has_no_slash_at_its_end() {
    let settings = resolve(&Args::default(), &[]).unwrap();
    assert_eq!(settings.public_url(), "http://127.0.0.1:5001");
    let args = Args { base_url: some("https://flows.example/"), ..Args::default() };
    assert_eq!(resolve(&args, &[]).unwrap().public_url(), "https://flows.example");
}

#[test]
fn every_setting_is_a_flag() {
    use clap::CommandFactory as _;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }
    let command = Command::command();
    for name in NAMES {
        assert!(command.get_arguments().any(|arg| arg.get_long() == Some(name)), "{name}");
    }
    let parsed = <Command as clap::Parser>::parse_from(["x", "--provision", "--node", "n1"]);
    let settings = resolve(&parsed.args, &[]).unwrap();
    assert!(settings.provision && settings.node == "n1");
}

#[test]
fn schemes_are_a_list() {
    for (text, api_key, identity) in [
        ("none", false, false),
        ("api-key", true, false),
        ("identity", false, true),
        ("api-key,identity", true, true),
        ("identity, api-key", true, true),
    ] {
        let settings = resolve(&Args { auth: some(text), ..Args::default() }, &[]).unwrap();
        assert_eq!(settings.auth, Auth { api_key, identity, oidc: false }, "{text}");
    }
    let open = Args { listen: some("0.0.0.0:5001"), auth: some("identity"), ..Args::default() };
    assert!(resolve(&open, &[]).is_ok());
}

#[test]
fn a_password_is_no_flag_and_is_never_shown() {
    let message = refusal(Args { admin_password: some("hunter2hunter2"), ..Args::default() });
    assert!(message.contains("STAUNCH_ADMIN_PASSWORD"), "{message}");
    assert!(!message.contains("hunter2"), "{message}");
    let variables = [("STAUNCH_ADMIN_PASSWORD", "hunter2hunter2")];
    let settings = resolve(&Args::default(), &variables).unwrap();
    assert_eq!(settings.admin_password.as_ref().unwrap().expose(), "hunter2hunter2");
    assert!(!format!("{settings:?} {:?}", settings.all()).contains("hunter2"));
}

#[test]
fn what_is_documented_as_no_flag_is_refused_as_one() {
    let message = refusal(Args { secrets_key: some(&"5a".repeat(32)), ..Args::default() });
    assert!(message.contains("STAUNCH_SECRETS_KEY"), "{message}");
    assert!(message.contains("--secrets-key-file"), "{message}");
    assert!(!message.contains("5a5a"), "{message}");
    let variables = [("STAUNCH_SECRETS_KEY", "5a5a")];
    let settings = resolve(&Args::default(), &variables).unwrap();
    assert_eq!(settings.secrets_key.as_ref().unwrap().expose(), "5a5a");
}
