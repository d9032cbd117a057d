//! `nats/accounts.conf` is what `staunch nats-permissions --worker Ship` writes.

#![expect(clippy::disallowed_methods, reason = "a switch writes the file anew")]

use bus_nats::permissions::Accounts;

#[test]
fn the_file_is_what_the_command_writes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../nats/accounts.conf");
    let text = Accounts::new(&["Ship"]).unwrap().text();
    if std::env::var("UPDATE_EXPECT").is_ok() {
        std::fs::write(path, &text).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == text, "nats/accounts.conf is stale: run with UPDATE_EXPECT=1");
}
