//! `staunch user change-password`: a user's own password, by a server.

use std::io::{IsTerminal as _, Read};

use clap::Args;
use ingress::password;
use serde_json::json;

use super::{ask, asked};
use crate::Failure;
use crate::client::{Client, SERVER};
use crate::output::{self, Format};

/// The largest standard input, in bytes: two passwords and their line breaks.
const INPUT_BYTES_MAX: u64 = 4 * 1024;

#[derive(Args, Debug)]
pub(crate) struct Change {
    /// The user's name; both passwords are asked for, or read as two lines of standard input, the one
    /// until now first
    name: String,
    /// Address of the HTTP API
    #[arg(
        long,
        env = "STAUNCH_SERVER",
        default_value = SERVER,
        value_name = "URL"
    )]
    server: String,
}

/// Changes a user's own password.
///
/// # Errors
/// When the server does not answer, or refuses one of the passwords.
pub(crate) async fn change_password(change: Change, format: Format) -> Result<(), Failure> {
    let Change { name, server } = change;
    let server = if server.is_empty() { SERVER } else { &server };
    let client = Client::to(server, None)?;
    let stdin = std::io::stdin();
    let (current, new) = if stdin.is_terminal() { prompted() } else { piped(stdin.lock()) }
        .map_err(Failure::usage)?;
    password::check(&new).map_err(Failure::usage)?;
    let body = json!({"username": name, "currentPassword": current, "newPassword": new});
    client.post("/identity/password", &body).await?;
    let sentence = format!("user {name} has a new password, and is logged out everywhere");
    output::done(format, &sentence, &json!({"name": name, "changed": true}))
}

fn prompted() -> Result<(String, String), String> {
    Ok((ask("Password until now: ")?, asked()?))
}

fn piped(from: impl Read) -> Result<(String, String), String> {
    let mut text = String::new();
    let read = from.take(INPUT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| format!("the passwords cannot be read: {error}"))?;
    let lines: Vec<&str> = text.lines().collect();
    match lines.as_slice() {
        [current, new] => Ok(((*current).to_owned(), (*new).to_owned())),
        other => Err(format!(
            "standard input has {} lines: use two, the password until now and the new one",
            other.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_are_the_two_passwords() {
        let of = |text: &str| piped(text.as_bytes());
        assert_eq!(of("old\r\nnew\n").unwrap(), ("old".to_owned(), "new".to_owned()));
        for wrong in ["", "one\n", "one\ntwo\nthree\n"] {
            assert!(of(wrong).unwrap_err().contains("use two"), "{wrong:?}");
        }
    }
}
