//! Values that look right, and with which nothing would work.

use super::*;

fn of_file(text: &str) -> String {
    let mut message = String::new();
    with_file(text, |path| {
        message = refusal(Args { config: Some(path.to_owned()), ..Args::default() });
    });
    message
}

#[test]
fn a_filter_that_no_log_has_is_refused_before_the_log_is_silent() {
    for (filter, says) in [
        ("verbose", "\"verbose\" is no level: use off, error, "),
        ("inof", "did you mean \"info\"?"),
        ("executor=loud", "\"loud\" is no level"),
        ("executr=debug", "did you mean \"executor\"?"),
        ("1", "\"1\" is no level"),
        ("info,", "\"\" is no level"),
        ("=debug", "there is no module before the `=`"),
        ("info,=debug", "there is no module before the `=`"),
    ] {
        let message = refusal(Args { log: some(filter), ..Args::default() });
        let begin = format!("log = {filter:?} from the command line: ");
        assert!(message.starts_with(&begin) && message.contains(says), "{message}");
    }
    for filter in
        ["info", "WARN,executor=debug", "off", "info, workflow = off", " info , bus=warn "]
    {
        assert!(resolve(&Args { log: some(filter), ..Args::default() }, &[]).is_ok(), "{filter}");
    }
}

#[test]
fn an_address_that_leads_nowhere_is_refused() {
    for text in ["localhost:4318", "ftp://x", "http://", "http://c:99999", "http://c/?a"] {
        let message = refusal(Args { otlp_endpoint: some(text), ..Args::default() });
        let begin = format!("otlp-endpoint = {text:?} from the command line: must be a URL");
        assert!(message.starts_with(&begin), "{message}");
    }
    for text in [
        "https://",
        "https://a?x=1",
        "https://a/#f",
        "https://a b",
        "https://a:99999",
        "x",
        "https://a.example/\"><x",
        "https://a.example/%zz",
        "https://-a.example",
        "https://0.0.0.0",
        "http://[::]:5001",
        "HTTPS://A.example",
        "https://b\u{fc}cher.example",
    ] {
        let message = refusal(Args { base_url: some(text), ..Args::default() });
        let begin = format!("base-url = {text:?} from the command line: must be a URL");
        assert!(message.starts_with(&begin), "{message}");
    }
    let login = refusal(Args { base_url: some("https://u:hush@a"), ..Args::default() });
    assert!(login.contains("without a login") && !login.contains("hush"), "{login}");
}

#[test]
fn a_value_of_another_kind_is_shown_with_its_line() {
    for (text, says) in [
        ("drain-seconds = 1.5", "drain-seconds = \"1.5\" from "),
        ("drain-seconds = 1.5", ", line 1: must be a whole number above 0"),
        ("log = \"info\"\n\ncall-hosts = [1]", "call-hosts = \"1\" from "),
        ("log = \"info\"\n\ncall-hosts = [1]", ", line 3: \"1\" is not like order=api."),
        ("oidc-audience = [[\"a\"]]", ", line 1: must be a text or a list of texts"),
        ("log = 2026-11-28", "log = \"2026-11-28\" from "),
        ("log = 2026-11-28", ", line 1: must be a text: write the value between quotes"),
        ("[retry-strategies.http]\nattempts = 1", "write a JSON object between quotes"),
        ("script-config = \"novalue\"", "script-config = \"***\" from "),
        ("lease-ttl = \"70s\"", ", line 1: must be between 1s and 60s"),
        ("\nlog = \"inof\"", ", line 2: \"inof\" is no level"),
        ("\n\nbase-url = \"x\"", ", line 3: must be a URL"),
    ] {
        let message = of_file(text);
        assert!(message.contains(says), "{text}: {message}");
    }
    let secret = of_file("api-key = { hush = 1 }");
    assert!(secret.contains("api-key = \"***\"") && !secret.contains("hush"), "{secret}");
}

#[test]
fn two_servers_at_one_address_are_refused() {
    let with = |listen: &str, admin: &str, role: &str| {
        let args = Args {
            listen: some(listen),
            admin_listen: some(admin),
            role: some(role),
            auth: some("api-key"),
            ..Args::default()
        };
        resolve(&args, &[]).map(drop).map_err(|error| error.to_string())
    };
    for (listen, admin) in [
        ("127.0.0.1:5001", "127.0.0.1:5001"),
        ("0.0.0.0:5001", "127.0.0.1:5001"),
        ("127.0.0.1:5001", "0.0.0.0:5001"),
        ("[::]:5001", "0.0.0.0:5001"),
        ("[::]:5001", "[::1]:5001"),
    ] {
        let message = with(listen, admin, "all").unwrap_err();
        assert!(message.contains("both cannot have the port 5001"), "{message}");
        assert!(message.contains("such as 5002"), "{message}");
        assert_eq!(with(listen, admin, "timer"), Ok(()), "without HTTP there is one");
    }
    for (listen, admin) in [
        ("127.0.0.1:5001", "127.0.0.1:5002"),
        ("127.0.0.1:5001", "127.0.0.2:5001"),
        ("0.0.0.0:5001", "[::1]:5001"),
        ("127.0.0.1:0", "127.0.0.1:0"),
    ] {
        assert_eq!(with(listen, admin, "all"), Ok(()), "{listen} {admin}");
    }
}

#[test]
fn settings_that_do_not_fit_are_named_with_what_to_do() {
    for (given, says) in [
        ("TLS_CERT=/a", "tls-cert is set and tls-key is not: "),
        ("TLS_KEY=/a", "so set tls-cert, too, or leave tls-key out"),
        ("NATS_TLS_KEY=/a", "nats-tls-key is set and nats-tls-cert is not"),
        ("TLS_CLIENT_CA=/a", "tls-client-ca is set and tls-cert is not: client"),
        ("TLS_CLIENT_AUTH=optional", "tls-client-auth is set and tls-client-ca is not"),
        ("SECRETS_KEY=x SECRETS_KEY_FILE=/a", "are both set: set one of them"),
        ("ADMIN_PASSWORD=x ADMIN_PASSWORD_FILE=/a", "are both set: set one of them"),
        ("ACCESS_TOKEN_TIME=3h", "at least access-token-time, which is 3h"),
        ("REQUIRE_HTTPS=true", "require-https is set, and links would begin with http://"),
    ] {
        let variable = |name: &str| {
            let found = given.split(' ').filter_map(|one| one.split_once('='));
            let mut found =
                found.filter(|(known, _)| name.strip_prefix("STAUNCH_") == Some(*known));
            found.next().map(|(_, text)| text.to_owned())
        };
        let message = Settings::resolve(&Args::default(), &variable).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
    for [one, other] in RULES.together.iter().chain(RULES.apart).chain(RULES.ascending) {
        assert!(NAMES.contains(one) && NAMES.contains(other), "{one} {other}");
    }
    for Need { setting, other, .. } in RULES.needs {
        assert!(NAMES.contains(setting) && NAMES.contains(other), "{setting} {other}");
    }
}

#[test]
fn the_bounds_are_those_of_the_code() {
    let described = Settings::described();
    let bounds = |name: &str| {
        let form = &described.iter().find(|one| one.name == name).unwrap().form;
        (form.least.unwrap_or_default(), form.most.unwrap_or_default())
    };
    let seconds = |time: Duration| format!("{}s", time.as_secs());
    assert_eq!(bounds("ack-wait").1, seconds(limits::ACK_WAIT));
    assert_eq!(bounds("max-body-bytes").1, limits::JSON_BODY_BYTES_MOST.to_string());
    assert_eq!(bounds("payload-above").0, limits::PAYLOAD_ABOVE_BYTES_MIN.to_string());
    assert_eq!(bounds("payload-above").1, limits::PAYLOAD_ABOVE_BYTES.to_string());
    assert_eq!(limits::RETENTION_MIN, Duration::from_secs(3_600));
    for name in ["finished", "cancelled", "faulted", "audit", "dead"] {
        assert_eq!(bounds(&format!("retain-{name}")), ("1h", ""));
    }
    assert_eq!(bounds("max-backlog"), ("1", ""));
    assert_eq!(bounds("limit-address"), ("1ms", "24h"));
}
