//! Users, roles, applications and signing keys on the command line.

use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json as value};
use testkit::within;
use tokio::io::AsyncWriteExt as _;

use crate::{COMMAND_MAX, command, json, run_in, stderr};

const DATABASE: [&str; 4] = ["--database-url", "sqlite://users.db", "-o", "json"];

/// A folder with an empty database.
pub(crate) async fn folder() -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    let migrated = run(here.path(), &["migrate"]).await;
    assert_eq!(migrated.status.code(), Some(0), "{}", stderr(&migrated));
    here
}

pub(crate) async fn run(folder: &Path, arguments: &[&str]) -> Output {
    run_in(folder, &[arguments, &DATABASE].concat()).await
}

/// Runs a command with this standard input.
pub(crate) async fn fed(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = command(&[arguments, &DATABASE].concat());
    let mut child = command.current_dir(folder).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    within("the end of the command", COMMAND_MAX, child.wait_with_output()).await.unwrap()
}

#[track_caller]
pub(crate) fn refused(output: &Output, code: i32, text: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(text), "{text:?} is not in: {said}");
}

#[tokio::test]
async fn the_first_administrator_is_made_without_a_server() {
    let here = folder().await;
    let create = ["user", "create", "alice", "--admin"];
    for (password, why) in [
        ("", "fewer than 12"),
        ("short\n", "fewer than 12"),
        (" correct horse\n", "white space"),
        ("correct\nhorse battery\n", "several lines"),
        ("aaaaaaaaaaaaaa\n", "different characters"),
    ] {
        refused(&fed(here.path(), &create, password).await, 2, why);
    }
    assert_eq!(json(&run(here.path(), &["user", "ls"]).await), Value::Array(Vec::new()));
    let made = fed(here.path(), &create, "correct horse battery\n").await;
    let (said, made) = (stderr(&made), json(&made));
    assert_eq!((&made["name"], &made["roles"]), (&value!("alice"), &value!(["admin"])));
    for secret in ["horse", "argon2"] {
        assert!(!made.to_string().contains(secret) && !said.contains(secret), "{made} {said}");
    }
    let roles = json(&run(here.path(), &["role", "ls"]).await);
    assert_eq!(roles[0]["permissions"], value!(["*"]));
    refused(&fed(here.path(), &create, "correct horse battery\n").await, 4, "already");
    let with_password = ["user", "create", "bob", "--password", "correct horse battery"];
    refused(&run(here.path(), &with_password).await, 2, "--password");

    std::fs::write(here.path().join("password"), "another horse battery\n").unwrap();
    let from_file = ["user", "set-password", "alice", "--password-file", "password"];
    assert_eq!(json(&run(here.path(), &from_file).await)["name"], "alice");
    let drawn = json(&run(here.path(), &["user", "set-password", "alice", "--generate"]).await);
    assert_eq!(drawn["password"].as_str().unwrap().len(), 32);
}

#[tokio::test]
async fn users_roles_and_applications_come_and_go() {
    let here = folder().await;
    let here = here.path();
    let role = ["role", "create", "clerk", "--permissions", "read:*,exec:workflow-definitions"];
    assert_eq!(json(&run(here, &role).await)["id"], "clerk");
    refused(&run(here, &role).await, 4, "already");
    refused(&run(here, &["role", "create", "x", "--permissions", "fly:*"]).await, 2, "no such");
    refused(&run(here, &["role", "create", "A b", "--permissions", "*"]).await, 2, "lowercase");

    // Names that look like another one, such as those in full width.
    let wide = ["role", "create", "two", "--name", "\u{ff23}lerk", "--permissions", "*"];
    refused(&run(here, &wide).await, 4, "the role clerk has the name clerk already");

    let user = ["user", "create", "zoe", "--roles", "clerk", "--generate"];
    let made = json(&run(here, &user).await);
    assert!(made["password"].is_string(), "{made}");
    let wide = ["user", "create", "\u{ff5a}oe", "--generate"];
    refused(&run(here, &wide).await, 4, "there is a user zoe already");
    let unknown = ["user", "create", "eve", "--roles", "none", "--generate"];
    refused(&run(here, &unknown).await, 3, "no role none");
    for kind in ["user", "app"] {
        let mistaken = run(here, &[kind, "create", "eve", "--role", "clerk"]).await;
        refused(&mistaken, 2, "give the ids of roles with --roles");
    }
    refused(&run(here, &["role", "rm", "clerk"]).await, 4, "zoe");
    assert_eq!(json(&run(here, &["user", "disable", "zoe"]).await)["isDisabled"], true);
    assert_eq!(json(&run(here, &["user", "enable", "zoe"]).await)["isDisabled"], false);
    let set = ["role", "set", "clerk", "--permissions", "read:*", "--name", "Order clerk"];
    let set = json(&run(here, &set).await);
    assert_eq!((&set["name"], &set["permissions"]), (&value!("Order clerk"), &value!(["read:*"])));

    let app = json(&run(here, &["app", "create", "shop", "--roles", "clerk"]).await);
    assert!(app["apiKey"].as_str().unwrap().starts_with("sta_"), "{app}");
    let listed = run(here, &["app", "ls"]).await;
    let listed = json(&listed).to_string();
    assert!(!listed.contains(app["apiKey"].as_str().unwrap()) && !listed.contains("argon2"));
    refused(&run(here, &["app", "create", "shop"]).await, 4, "already");
    refused(&run(here, &["app", "create", "\u{ff33}hop"]).await, 4, "an application shop already");
    assert_eq!(json(&run(here, &["app", "rm", "shop"]).await)["removed"], true);
    refused(&run(here, &["app", "rm", "shop"]).await, 3, "no application");

    json(&run(here, &["user", "set-roles", "zoe", ""]).await);
    assert_eq!(json(&run(here, &["role", "rm", "clerk"]).await)["removed"], true);
    assert_eq!(json(&run(here, &["user", "rm", "zoe"]).await)["removed"], true);
    for verb in ["rm", "disable", "enable"] {
        refused(&run(here, &["user", verb, "zoe"]).await, 3, "no user zoe");
    }
}

#[tokio::test]
async fn what_is_given_twice_is_kept_once() {
    let here = folder().await;
    let here = here.path();
    let done = async |line: &str| {
        let line: Vec<_> = line.split(' ').collect();
        json(&run(here, &line).await)
    };
    let role = done("role create clerk --permissions read:*,*,read:*").await;
    assert_eq!(role["permissions"], value!(["read:*", "*"]));
    let role = done("role set clerk --permissions *,*").await;
    assert_eq!(role["permissions"], value!(["*"]));
    let key = done("key create cron --permissions read:*,read:*").await;
    assert_eq!(key["permissions"], value!(["read:*"]));
    let user = done("user create zoe --roles clerk,clerk --generate").await;
    assert_eq!(user["roles"], value!(["clerk"]));
    let user = done("user set-roles zoe clerk,clerk").await;
    assert_eq!(user["roles"], value!(["clerk"]));
    let application = done("app create shop --roles clerk,clerk").await;
    assert_eq!(application["roles"], value!(["clerk"]));
}

#[tokio::test]
async fn signing_keys_are_rotated() {
    let here = folder().await;
    let first = json(&run(here.path(), &["signing-key", "rotate"]).await);
    let second = json(&run(here.path(), &["signing-key", "rotate"]).await);
    let listed = json(&run(here.path(), &["signing-key", "ls"]).await);
    let ids: Vec<_> = listed.as_array().unwrap().iter().map(|key| &key["id"]).collect();
    assert_eq!(ids, [&second["id"], &first["id"]], "the newest is first");
    assert!(listed[0]["retiredAt"].is_null() && listed[1]["retiredAt"].is_string(), "{listed}");
    assert!(listed[0].get("secret").is_none(), "{listed}");
    let id = first["id"].as_str().unwrap();
    assert_eq!(json(&run(here.path(), &["signing-key", "rm", id]).await)["removed"], true);
    refused(&run(here.path(), &["signing-key", "rm", id]).await, 3, "no key");
}

#[tokio::test]
async fn a_key_of_the_database_is_no_key_of_a_node() {
    let here = folder().await;
    let made = json(&run(here.path(), &["key", "create", "cron", "--permissions", "read:*"]).await);
    let roles = ["viewer", "--permissions", "read:*"];
    let role = json(&run(here.path(), &[&["role", "create"][..], &roles].concat()).await);
    let app = ["app", "create", "shop", "--roles", role["id"].as_str().unwrap()];
    let application = json(&run(here.path(), &app).await);
    for (key, owner) in
        [(&made["key"], "the API key \"cron\""), (&application["apiKey"], "\"shop\"")]
    {
        for roles in ["all", "timer"] {
            let start = ["server", "--role", roles, "--auth", "api-key", "--listen", "127.0.0.1:0"];
            let mut node = command(&[&start[..], &DATABASE].concat());
            node.current_dir(here.path()).env("STAUNCH_API_KEY", key.as_str().unwrap());
            let ended = within("the refusal", COMMAND_MAX, node.output()).await.unwrap();
            refused(&ended, 2, owner);
            refused(&ended, 2, "all permissions");
        }
    }
}
