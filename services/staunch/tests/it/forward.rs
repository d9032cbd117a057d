//! `staunch worker forward`: tasks at a webhook, as an application gets them.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Guard, eventually, nats, signal, within};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::dev::{Dev, SOON};
use crate::{command, json as document, run_in, stderr};

/// What the application gets: the head of a request in lower case, and its body.
type Asked = (String, Value);

/// Takes one request at the application, and answers it.
async fn asked(application: &TcpListener, status: &str, body: &str) -> Asked {
    let (mut stream, _) = within("a request", SOON, application.accept()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let mut bytes = vec![0; header(&head, "content-length").unwrap().parse().unwrap()];
    stream.read_exact(&mut bytes).await.unwrap();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await.unwrap();
    (head, serde_json::from_slice(&bytes).unwrap())
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find_map(|(found, value)| (found == name).then_some(value))
}

#[tokio::test]
async fn a_task_goes_to_a_webhook_and_is_completed_or_refused() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let nats = nats().await;
    let dev = Dev::start_with(here, &["--nats-url", &nats.url()]).await;
    let ask = async |arguments: &[&str]| {
        let server = ["-o", "json", "--server", dev.url.as_str()];
        let output = run_in(here, &[arguments, &server].concat()).await;
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        document(&output)
    };
    let start = async || {
        let started = ask(&["run", "shipping"]).await;
        started["workflowInstanceId"].as_str().unwrap().to_owned()
    };
    let definition = json!({"definitionId": "shipping", "name": "Shipping", "root": [
        {"type": "Correlate", "correlationId": "order-7"},
        {"type": "RunTask", "id": "ship", "taskName": "Ship", "payload": {"order": 7}},
    ]});
    std::fs::write(here.join("shipping.json"), definition.to_string()).unwrap();
    std::fs::write(here.join("headers"), "Authorization: Bearer abc\n").unwrap();
    ask(&["apply", "-f", "shipping.json"]).await;

    let application = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/tasks", application.local_addr().unwrap());
    let mut forward = command(
        &[
            &["worker", "forward", "Ship", "--to", &url, "--header-file", "headers"][..],
            &["--nats-url", &nats.url()],
        ]
        .concat(),
    );
    forward.current_dir(here).stdout(Stdio::null()).stderr(Stdio::null());
    let mut forward = forward.spawn().unwrap();
    let guard = Guard::watch(forward.id().unwrap(), "KILL", None).unwrap();

    // It is not taken at first, and delivered again; then it waits for its result.
    let id = start().await;
    let (_, first) = asked(&application, "503 Service Unavailable", "later").await;
    let (head, event) = asked(&application, "204 No Content", "").await;
    assert_eq!(event["eventType"], "Elsa.RunTask");
    assert!(event["timestamp"].is_string(), "{event}");
    assert_eq!(event["payload"], first["payload"]);
    let payload = &event["payload"];
    assert_eq!(payload["workflowInstanceId"], id.as_str());
    assert_eq!(payload["workflowDefinitionId"], "shipping");
    assert_eq!(payload["workflowName"], "Shipping");
    assert_eq!(payload["correlationId"], "order-7");
    assert_eq!(payload["tenantId"], Value::Null);
    assert_eq!(
        (&payload["taskName"], &payload["taskPayload"]),
        (&json!("Ship"), &json!({"order": 7}))
    );
    let task = payload["taskId"].as_str().unwrap();
    let lower = task.to_lowercase();
    assert_eq!(header(&head, "staunch-task"), Some(lower.as_str()));
    assert_eq!(header(&head, "staunch-attempt"), Some("1"));
    assert_eq!(header(&head, "content-type"), Some("application/json"));
    assert_eq!(header(&head, "authorization"), Some("bearer abc"));
    assert!(header(&head, "idempotency-key").is_some_and(|key| key.contains(&lower)), "{head}");

    eventually("the worker has acknowledged the task", SOON, async || {
        let pools = ask(&["worker", "ls"]).await;
        let ship = &pools["items"][0];
        ship["waiting"] == 0 && ship["inProgress"] == 0
    })
    .await;
    assert_eq!(ask(&["instance", "get", &id]).await["subStatus"], "Suspended");
    let complete = format!("{}/elsa/api/tasks/{task}/complete", dev.url);
    let sent = crate::retention::plain().post(complete);
    let sent = sent.json(&json!({"result": {"parcel": "P-1"}})).send().await.unwrap();
    assert!(sent.status().is_success(), "{sent:?}");
    eventually("the instance is finished", SOON, async || {
        ask(&["instance", "get", &id]).await["subStatus"] == "Finished"
    })
    .await;

    // One that is refused is an incident that says so.
    let id = start().await;
    asked(&application, "422 Unprocessable Entity", "no such order").await;
    eventually("the instance is faulted", SOON, async || {
        ask(&["instance", "get", &id]).await["subStatus"] == "Faulted"
    })
    .await;
    let faulted = ask(&["instance", "get", &id]).await.to_string();
    for part in ["WebhookRefused", "422 Unprocessable Entity", "no such order"] {
        assert!(faulted.contains(part), "{part} in {faulted}");
    }

    signal(forward.id().unwrap(), "TERM").unwrap();
    let ended = within("the end of the command", SOON, forward.wait()).await.unwrap();
    assert!(ended.success(), "{ended}");
    guard.dismiss();
    dev.end().await;
}

#[tokio::test]
async fn a_webhook_that_cannot_be_asked_is_wrong_usage() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("headers"), "secret\n").unwrap();
    for (arguments, why) in [
        (&["--to", "ftp://app.example"][..], "no http or https address"),
        (&["--to", "http://me:secret@app.example"], "--header-file"),
        (
            &["--to", "http://app.example", "--header-file", "headers"],
            "headers:1: this is no header",
        ),
        (&["--to", "http://app.example", "--concurrency", "0"], "1..=256"),
    ] {
        let output =
            run_in(here.path(), &[&["worker", "forward", "Ship"], arguments].concat()).await;
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(why), "{arguments:?}: {said}");
        assert!(!said.contains("secret"), "{arguments:?}: {said}");
    }
}
