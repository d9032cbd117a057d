//! The URL of a PostgreSQL database: its parameters, and the refusal of one with which no connection
//! could be made. Never opens a connection, and never shows a password.

use super::check::refused;
use super::error::ConfigError;
use super::mask::percent_decoded;
use super::settings::Settings;

/// The names of the parameter with the mode of TLS.
pub(crate) const MODE: [&str; 2] = ["sslmode", "ssl-mode"];
/// The names of the parameter with the certificate of this process.
pub(crate) const CERT: [&str; 2] = ["sslcert", "ssl-cert"];
/// The names of the parameter with the key of that certificate.
pub(crate) const KEY: [&str; 2] = ["sslkey", "ssl-key"];
/// How a connection to PostgreSQL is encrypted, and what is checked of its certificate.
const SSL_MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// The parameters of a URL, decoded.
type Parameters = [(String, String)];

/// Refuses a `database-url` of PostgreSQL with a mode of TLS that does not exist, with a port that is
/// no number, or with one of `sslcert` and `sslkey` alone. `variable` finds the variables of
/// PostgreSQL's clients, which count where the URL is silent.
///
/// # Errors
/// [`ConfigError::Value`] says what to write.
pub(super) fn check(
    settings: &Settings,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), ConfigError> {
    let named = parameters(&settings.database_url);
    encryption(settings, &named)?;
    port(settings, &named)?;
    client_certificate(settings, &named, variable)
}

/// The parameters in the URL of a PostgreSQL database; none in another URL.
pub(crate) fn parameters(url: &str) -> Vec<(String, String)> {
    if behind_scheme(url).is_none() {
        return Vec::new();
    }
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let decoded = |text: &str| percent_decoded(&text.replace('+', " "));
    let one = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    };
    query.split('&').filter(|pair| !pair.is_empty()).map(one).collect()
}

/// The value of the last parameter with one of these names: that is the one that counts.
pub(crate) fn last<'a>(parameters: &'a Parameters, names: &[&str]) -> Option<&'a str> {
    let mut named = parameters.iter().filter(|(name, _)| names.contains(&name.as_str()));
    named.next_back().map(|(_, value)| value.as_str())
}

fn behind_scheme(url: &str) -> Option<&str> {
    url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"))
}

/// The text between the colon after the host and the path; a server's port belongs there.
fn port_of(url: &str) -> Option<&str> {
    let authority = behind_scheme(url)?.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // The colons of an IPv6 address are between brackets.
    let behind = host.rsplit_once(']').map_or(host, |(_, behind)| behind);
    behind.split_once(':').map(|(_, port)| port)
}

fn is_port(text: &str) -> bool {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number && text.parse::<u16>().is_ok_and(|port| port > 0)
}

fn encryption(settings: &Settings, named: &Parameters) -> Result<(), ConfigError> {
    let modes = named.iter().filter(|(name, _)| MODE.contains(&name.as_str()));
    for (name, mode) in modes {
        if !SSL_MODES.iter().any(|known| known.eq_ignore_ascii_case(mode)) {
            let shown: String = mode.chars().take(50).collect();
            let known = SSL_MODES.join(", ");
            let reason = format!("{name} is {shown:?}: use one of {known}");
            return Err(refused(settings, "database-url", reason));
        }
    }
    Ok(())
}

fn port(settings: &Settings, named: &Parameters) -> Result<(), ConfigError> {
    // Nothing behind the colon stands for the usual port.
    if port_of(&settings.database_url).is_some_and(|text| !text.is_empty() && !is_port(text)) {
        let reason = "the port is no number from 1 to 65535: write \
                      postgres://user:password@host:5432/database, and in a password %2F for /, \
                      %3F for ?, %23 for # and %40 for @"
            .to_owned();
        let mut error = refused(settings, "database-url", reason);
        // Without a host, or with a `/` in the password, part of the password stands here.
        if let ConfigError::Value { text, .. } = &mut error {
            "postgres://***".clone_into(text);
        }
        return Err(error);
    }
    if last(named, &["port"]).is_some_and(|text| !is_port(text)) {
        let reason =
            "its parameter `port` is no number from 1 to 65535: write port=5432, or leave \
                      it out"
                .to_owned();
        return Err(refused(settings, "database-url", reason));
    }
    Ok(())
}

fn client_certificate(
    settings: &Settings,
    named: &Parameters,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), ConfigError> {
    let mode = last(named, &MODE).map(str::to_owned).or_else(|| variable("PGSSLMODE"));
    if mode.is_some_and(|mode| mode.eq_ignore_ascii_case("disable")) {
        return Ok(());
    }
    let (cert, key) = (last(named, &CERT).is_some(), last(named, &KEY).is_some());
    let (given, missing, other) = match (cert, key) {
        (true, false) => ("sslcert", "sslkey", "PGSSLKEY"),
        (false, true) => ("sslkey", "sslcert", "PGSSLCERT"),
        _ => return Ok(()),
    };
    if variable(other).is_some() {
        return Ok(());
    }
    let reason = format!(
        "{given} is set and {missing} is not: a certificate and its key belong together, so add \
         {missing}=/path/file.pem, or leave {given} out"
    );
    Err(refused(settings, "database-url", reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Args;

    fn refusal(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let args = Args { database_url: Some(url.to_owned()), ..Args::default() };
        let find = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| (*text).to_owned())
        };
        Settings::resolve(&args, &find).err().map(|error| error.to_string())
    }

    #[track_caller]
    fn is_refused(url: &str, part: &str) {
        let message = refusal(url, &[]).unwrap_or_else(|| panic!("{url} is accepted"));
        assert!(message.starts_with("database-url = ") && message.contains(part), "{message}");
        assert!(!message.contains("hunter"), "{message}");
    }

    #[test]
    fn a_port_that_is_no_number_is_refused_without_a_password() {
        for url in [
            "postgres://h:54x2/d",
            "postgresql://u:hunter2@h:0/d",
            "postgres://h:65536",
            "postgres://h:+5432/d",
            "postgres://[::1]:x/d",
            "postgres://h:1,i:2/d",
            // Part of the password stands where a port belongs.
            "postgres://u:hunter2/d",
            "postgres://u:hun/ter2@h:5432/d",
            "postgres://u:hunter?2@h/d",
            "postgres://u:a@hunter:2x/d",
            "postgres://u:hunter#2@h/d?sslcert=x",
        ] {
            is_refused(url, "the port is no number from 1 to 65535: write postgres://user:");
        }
        for query in ["port=x", "port=", "port=5432&port=70000", "password=hunter2&port=-1"] {
            is_refused(&format!("postgres://u@h/d?{query}"), "write port=5432");
        }
        for url in [
            "postgres://h:5432/d",
            "postgres://h",
            "postgres://h:/d",
            "postgres://u:p%2Fw:1@[::1]:5432/d",
            "postgres://u@[fe80::1]/d",
            "postgres:///d?host=/run/postgresql&port=6432",
            "postgres://%2Frun%2Fpostgresql/d?application_name=a:b",
            "sqlite://./a:b.db?port=x",
        ] {
            assert_eq!(refusal(url, &[]), None, "{url}");
        }
    }

    #[test]
    fn a_certificate_and_its_key_belong_together() {
        let url = |query: &str| format!("postgres://u:hunter2@h/d?{query}");
        is_refused(&url("sslcert=a.pem"), "add sslkey=/path/file.pem, or leave sslcert out");
        is_refused(&url("ssl-key=hunter.pem"), "add sslcert=/path/file.pem, or leave sslkey out");
        is_refused(&url("sslmode=require&sslkey="), "sslkey is set and sslcert is not");
        let accepted = |query: &str, variables: &[(&str, &str)]| {
            assert_eq!(refusal(&url(query), variables), None, "{query}");
        };
        accepted("sslcert=a.pem&ssl-key=b.pem", &[]);
        accepted("sslrootcert=a.pem", &[]);
        // Without TLS neither counts, and the variables of PostgreSQL's clients count, too.
        accepted("sslmode=disable&sslcert=a.pem", &[]);
        accepted("sslcert=a.pem", &[("PGSSLMODE", "disable")]);
        accepted("sslcert=a.pem", &[("PGSSLKEY", "b.pem")]);
        accepted("sslkey=b.pem", &[("PGSSLCERT", "a.pem")]);
        let other = refusal(&url("sslcert=a.pem"), &[("PGSSLCERT", "a.pem")]);
        assert!(other.is_some_and(|message| message.contains("sslkey is not")));
    }
}
