//! The accounts in the form of nats-server's configuration.

use std::collections::BTreeSet;

use super::account::{Account, Export, Flow, User};
use super::accounts::Accounts;

const HEAD: &str = "\
# The users of NATS for Staunch: for each role and each kind of client one that may do its work and
# nothing else. Written by `staunch nats-permissions`; server.conf includes it.
#
# Each password comes from a variable of nats-server's environment. There is no default: a server
# without one of them does not start. Write a password that is a number, or that begins with `$` (as a
# bcrypt hash does), with quotes in the variable: STAUNCH_NATS_NODE_PASSWORD='\"$2a$11$...\"'.
# Users that you do not need can be removed.
#
# A server with a JetStream domain: write its name for the `_` in `$JS.ACK._.` and `$JS.FC._.`.
";

/// The whole file.
pub(super) fn write(accounts: &Accounts) -> String {
    let mut out = HEAD.to_owned();
    line(&mut out, 0, "\naccounts {");
    staunch(&mut out, accounts);
    for account in &accounts.clients {
        client(&mut out, account, &accounts.staunch.name);
    }
    line(&mut out, 0, "}");
    out
}

/// The accounts of workers alone, with what the account of Staunch has to give them.
pub(super) fn of_workers(accounts: &Accounts) -> String {
    let is_worker = |account: &Account| account.name.starts_with("WORKER_");
    let mut own = accounts.clone();
    own.clients.retain(is_worker);
    let mut out = format!("# For the list `exports` of the account {}:\n", own.staunch.name);
    exports(&mut out, &own);
    out.push_str("\n# Beside it, among the accounts:\n");
    for account in &own.clients {
        client(&mut out, account, &own.staunch.name);
    }
    out
}

fn staunch(out: &mut String, accounts: &Accounts) {
    begin(out, &accounts.staunch);
    line(out, 2, "jetstream: enabled");
    users(out, &accounts.staunch);
    line(out, 2, "exports: [");
    exports(out, accounts);
    line(out, 2, "]");
    line(out, 1, "}");
}

fn exports(out: &mut String, accounts: &Accounts) {
    // Several accounts get the subject of results.
    let mut seen = BTreeSet::new();
    for Export { flow, subject } in accounts.clients.iter().flat_map(|account| &account.imports) {
        if !seen.insert(subject) {
            continue;
        }
        let has = |account: &&Account| account.imports.iter().any(|it| it.subject == *subject);
        let names = accounts.clients.iter().filter(has).map(|account| account.name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        let what = match flow {
            Flow::Answer => format!("service: \"{subject}\""),
            Flow::Messages => format!("service: \"{subject}\", response_type: stream"),
            Flow::Stream => format!("stream: \"{subject}\""),
        };
        line(out, 3, &format!("{{ {what}, accounts: [{names}] }}"));
    }
}

fn client(out: &mut String, account: &Account, from: &str) {
    begin(out, account);
    users(out, account);
    line(out, 2, "imports: [");
    for Export { flow, subject } in &account.imports {
        let kind = if *flow == Flow::Stream { "stream" } else { "service" };
        line(out, 3, &format!("{{ {kind}: {{ account: {from}, subject: \"{subject}\" }} }}"));
    }
    line(out, 2, "]");
    line(out, 1, "}");
}

fn begin(out: &mut String, account: &Account) {
    line(out, 1, &format!("# {}: {}.", account.name, account.purpose));
    line(out, 1, &format!("{} {{", account.name));
}

fn users(out: &mut String, account: &Account) {
    line(out, 2, "users: [");
    for User { name, purpose, variable, grant } in &account.users {
        line(out, 3, &format!("# {purpose}"));
        line(out, 3, &format!("{{ user: {name}, password: ${variable}, permissions: {{"));
        list(out, "publish", &grant.publish);
        list(out, "subscribe", &grant.subscribe);
        line(out, 3, "} }");
    }
    line(out, 2, "]");
}

/// An empty list would allow everything.
fn list(out: &mut String, name: &str, subjects: &BTreeSet<String>) {
    if subjects.is_empty() {
        return line(out, 4, &format!("{name}: {{ deny: [\">\"] }}"));
    }
    line(out, 4, &format!("{name}: ["));
    subjects.iter().for_each(|subject| line(out, 5, &format!("\"{subject}\"")));
    line(out, 4, "]");
}

fn line(out: &mut String, depth: usize, text: &str) {
    out.extend([" ".repeat(depth * 2).as_str(), text, "\n"]);
}
