use std::collections::BTreeMap;
use std::path::Path;

use super::*;

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
        assert_eq!(settings.all().len(), NAMES.len());
    });
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
}

#[test]
fn a_value_that_cannot_be_read_says_what_it_should_be() {
    for (args, expected) in [
        (Args { listen: some("5001"), ..Args::default() }, "127.0.0.1:5001"),
        (Args { lease_ttl: some("4"), ..Args::default() }, "500ms, 30s"),
        (Args { drain_seconds: some("0"), ..Args::default() }, "above 0"),
        (Args { misfire: some("fire_all"), ..Args::default() }, "fire_all(100)"),
        (Args { auth: some("basic"), ..Args::default() }, "api-key or jwt"),
        (Args { log_format: some("xml"), ..Args::default() }, "text or json"),
        (Args { provision: some("perhaps"), ..Args::default() }, "true or false"),
        (Args { nats_url: some(""), ..Args::default() }, "empty"),
    ] {
        let message = refusal(args);
        assert!(message.contains(expected) && message.contains("the command line"), "{message}");
    }
    let settings = resolve(&Args { misfire: some("fire_all(7)"), ..Args::default() }, &[]).unwrap();
    assert_eq!(settings.misfire, Misfire::FireAll(7));
    assert_eq!(settings.lease_ttl, Duration::from_secs(4));
}

#[test]
fn an_open_door_is_refused() {
    let open = Args { listen: some("0.0.0.0:5001"), ..Args::default() };
    let message = refusal(open.clone());
    assert!(message.contains("0.0.0.0:5001") && message.contains("openssl rand"), "{message}");
    assert!(resolve(&Args { auth: some("api-key"), ..open.clone() }, &[]).is_ok());
    // A process that serves no API has only health and metrics to show.
    assert!(resolve(&Args { role: some("timer"), ..open.clone() }, &[]).is_ok());
    let as_ingress = Args { default_role: some("ingress"), ..open };
    assert!(resolve(&as_ingress, &[]).is_err());
    assert!(resolve(&Args { listen: some("[::1]:5001"), ..Args::default() }, &[]).is_ok());
    assert!(refusal(Args { auth: some("jwt"), ..Args::default() }).contains("jwks-url"));
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
        assert!(message.contains("api-key") && !message.contains(key), "{message}");
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
