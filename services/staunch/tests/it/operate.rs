//! Operations on instances as a person types them.

use serde_json::{Value, json};

use crate::dev::Dev;
use crate::{json as document, run_in, stderr};

/// It fails until its variable is a duration; then it waits.
fn order(version: u32) -> Value {
    let go = if version == 1 { "go" } else { "gone" };
    json!({
        "definitionId": "order", "name": "order",
        "variables": [{"id": "span", "name": "Span", "typeName": "String", "value": "no duration"}],
        "root": {"type": "Sequence", "id": "all", "activities": [
            {"type": "Delay", "id": "delay",
                "timeSpan": {"typeName": "TimeSpan", "expression": {"type": "Variable",
                    "value": {"id": "span", "name": "Span"}}}},
            {"type": "Event", "id": go, "eventName": "go"},
            {"type": "WriteLine", "id": "line", "text": format!("version {version}")}
        ]}
    })
}

#[tokio::test]
async fn an_instance_is_corrected_retried_migrated_paused_and_restarted() {
    let here = tempfile::tempdir().unwrap();
    let dev = Dev::start(here.path()).await;
    let server = ["-o", "json", "--server", dev.url.as_str()];
    let ask = async |arguments: &[&str]| run_in(here.path(), &[arguments, &server].concat()).await;
    let run = async |arguments: &[&str]| {
        let output = ask(arguments).await;
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        document(&output)
    };
    let write = |version| {
        std::fs::write(here.path().join("order.json"), order(version).to_string()).unwrap();
    };
    write(1);
    run(&["apply", "-f", "order.json"]).await;
    let started = document(&ask(&["run", "order", "--wait"]).await);
    let id = started["id"].as_str().unwrap().to_owned();
    let status = async || run(&["instance", "get", &id]).await["subStatus"].clone();
    assert_eq!(status().await, "Faulted");

    let dry = ask(&["instance", "set", &id, "Other=1", "--dry-run"]).await;
    assert_eq!(dry.status.code(), Some(1), "{}", stderr(&dry));
    assert_eq!(document(&dry)["fits"], false);
    let refused = ask(&["instance", "set", &id, "Other=1"]).await;
    assert!(stderr(&refused).contains("no variable Other"), "{}", stderr(&refused));
    run(&["instance", "set", &id, "Span=00:00:00.01"]).await;
    run(&["instance", "retry", &id]).await;
    let waits = async || {
        run(&["instance", "get", &id]).await["workflowState"]["bookmarks"][0]["activityId"] == "go"
    };
    testkit::eventually("it waits for the event", crate::dev::SOON, waits).await;

    write(2);
    run(&["apply", "-f", "order.json"]).await;
    run(&["instance", "pause", &id, "--reason", "night"]).await;
    let unmapped = ask(&["instance", "migrate", &id, "--to", "2"]).await;
    let refusal = stderr(&unmapped);
    assert!(refusal.contains("map it to an activity of version 2"), "{refusal}");
    assert!(refusal.contains("--map OLD=NEW") && !refusal.contains("`activities`"), "{refusal}");
    run(&["instance", "migrate", &id, "--to", "2", "--map", "go=gone"]).await;
    assert_eq!(run(&["instance", "get", &id]).await["workflowState"]["isPaused"], true);
    run(&["instance", "unpause", &id]).await;
    let exported = run(&["instance", "export", &id]).await;
    assert_eq!(exported["staunchInstance"], 1);
    std::fs::write(here.path().join("exported.json"), exported.to_string()).unwrap();
    let there = ask(&["instance", "import", "exported.json"]).await;
    assert!(stderr(&there).contains("already"), "{}", stderr(&there));
    run(&["instance", "schedule", &id, "line"]).await;
    assert_eq!(status().await, "Finished");

    let restarted = run(&["instance", "restart", &id]).await;
    let again = restarted["workflowInstanceId"].as_str().unwrap();
    assert_ne!(again, id);
    let filter = json!({"workflowInstanceIds": [again]}).to_string();
    let leave = r#"[{"type": "Cancel", "reason": "enough"}]"#;
    let dry = run(&["instance", "plan", "submit", leave, "--filter", &filter, "--dry-run"]).await;
    assert_eq!(dry["workflowInstanceIds"], json!([again]), "{dry}");
    let plan = run(&["instance", "plan", "submit", leave, "--filter", &filter]).await;
    let plan = plan["planId"].as_str().unwrap().to_owned();
    testkit::eventually("the plan is completed", crate::dev::SOON, async || {
        run(&["instance", "plan", "get", &plan]).await["plan"]["status"] == "Completed"
    })
    .await;
    for (status, jobs) in [("completed", 1), ("Failed", 0)] {
        let shown = run(&["instance", "plan", "get", &plan, "--status", status]).await;
        assert_eq!(
            (&shown["totalCount"], &shown["progress"]["completed"]),
            (&json!(jobs), &json!(1))
        );
    }
    assert_eq!(run(&["instance", "get", again]).await["subStatus"], "Cancelled");
    let dry = run(&["instance", "rm", "--filter", &filter, "--dry-run"]).await;
    assert_eq!(dry["totalCount"], 1, "{dry}");
    let removed = run(&["instance", "rm", "--filter", &filter]).await;
    assert_eq!(removed, json!({"deleted": 1, "remaining": 0}));
    let gone = ask(&["instance", "get", again]).await;
    assert!(!gone.status.success() && stderr(&gone).contains(again), "{}", stderr(&gone));
    dev.end().await;
}
