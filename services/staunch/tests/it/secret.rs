//! Secrets and their master keys on the command line.

use std::path::Path;
use std::process::Output;

use serde_json::json as value;

use crate::identity::{fed, folder, refused, run};
use crate::json;

const OLD: [&str; 2] = ["--secrets-key-file", "old.key"];
const BOTH: [&str; 2] = ["--secrets-key-file", "both.key"];
const NEW: [&str; 2] = ["--secrets-key-file", "new.key"];

async fn with(folder: &Path, arguments: &[&str], key: &[&str]) -> Output {
    run(folder, &[arguments, key].concat()).await
}

#[tokio::test]
async fn secrets_and_their_master_key_come_and_go() {
    let here = folder().await;
    let here = here.path();
    let (old, new) = ("0a".repeat(32), "0b".repeat(32));
    std::fs::write(here.join("old.key"), &old).unwrap();
    std::fs::write(here.join("both.key"), format!("{new}\n{old}\n")).unwrap();
    std::fs::write(here.join("new.key"), &new).unwrap();
    std::fs::write(here.join("bad.key"), "too short").unwrap();
    let set = ["secret", "set", "Pay.Key", "--description", "for payments"];
    refused(&fed(here, &set, "hunter2").await, 2, "openssl rand -base64 32");
    let bad = [&set[..], &["--secrets-key-file", "bad.key"]].concat();
    refused(&fed(here, &bad, "hunter2").await, 2, "has not 32 bytes");
    let missing = [&set[..], &["--secrets-key-file", "none.key"]].concat();
    refused(&fed(here, &missing, "hunter2").await, 2, "none.key");
    let set = [&set[..], &OLD[..]].concat();
    let made = fed(here, &set, "hunter2\n").await;
    assert_eq!(json(&made)["version"], 1);
    assert_eq!(json(&fed(here, &set, "hunter3\n").await)["version"], 2);
    refused(&fed(here, &set, "").await, 2, "empty");
    let listed = json(&run(here, &["secret", "ls"]).await);
    assert_eq!((&listed[0]["name"], &listed[1]), (&value!("pay.key"), &value!(null)));
    assert!(!listed.to_string().contains("hunter"), "{listed}");

    // A key that signs is encrypted, too, and never in clear because the master key is forgotten.
    refused(&run(here, &["signing-key", "rotate"]).await, 1, "this node has no master key");
    refused(&with(here, &["signing-key", "rotate"], &NEW).await, 1, "no master key decrypts");
    json(&with(here, &["signing-key", "rotate"], &OLD).await);

    refused(&with(here, &["secret", "rekey"], &NEW).await, 1, "no master key decrypts");
    assert_eq!(json(&with(here, &["secret", "rekey"], &BOTH).await)["keys"], 2);
    assert_eq!(json(&with(here, &["secret", "rekey"], &NEW).await)["keys"], 0);
    refused(&fed(here, &set, "hunter4").await, 1, "no master key decrypts");

    refused(&run(here, &["secret", "rm", "nobody"]).await, 3, "no secret");
    refused(&run(here, &["secret", "rm", ".sealing"]).await, 3, "no secret");
    refused(&run(here, &["secret", "rm"]).await, 2, "<NAME>");
    assert_eq!(json(&run(here, &["secret", "rm", "--all"]).await)["removed"], 1);
    assert_eq!(json(&run(here, &["secret", "ls"]).await), value!([]));
    assert_eq!(json(&run(here, &["signing-key", "ls"]).await), value!([]));
    json(&run(here, &["signing-key", "rotate"]).await);
    let set = ["secret", "set", "pay.key", "--secrets-key-file", "new.key"];
    assert_eq!(json(&fed(here, &set, "hunter5").await)["version"], 1);
}
