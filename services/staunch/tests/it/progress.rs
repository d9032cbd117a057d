//! `staunch worker progress`: what workers say, as an operator hears it.

use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use bus::Wire as _;
use protocol::{Message, TaskProgress};
use serde_json::{Value, json};
use testkit::{nats, within};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::sleep;

use crate::{command, stderr};

/// The longest wait for a line.
const BOUND: Duration = Duration::from_secs(30);

/// The progress of a task of this type, on the subject of this one.
fn said(kind: &str, subject_of: &str, number: u64) -> Message {
    let body = json!({
        "taskId": "t1", "taskType": kind, "taskVersion": 2, "workflowInstanceId": "i1",
        "attempt": 1, "progress": {"number": number},
    });
    Message {
        subject: TaskProgress::subject(subject_of, 2, "t1"),
        payload: body.to_string().into_bytes(),
        ..Message::default()
    }
}

#[tokio::test]
async fn progress_of_one_type_is_shown_in_order_until_there_was_enough() {
    let (here, nats) = (tempfile::tempdir().unwrap(), nats().await);
    let args = chassis::Args { nats_url: Some(nats.url()), ..chassis::Args::default() };
    let settings = chassis::Settings::resolve(&args, &|_| None).unwrap();
    let bus = node::connect(&settings).await.unwrap();
    let place = ["--nats-url", &nats.url()];
    let asked = ["worker", "progress", "Ship It@2", "--count", "3", "-o", "json"];
    let mut hearing = command(&[&asked[..], &place].concat());
    let mut hearing = pin!(hearing.current_dir(here.path()).output());
    // Nothing is kept for those who listen later: it is said until the command has heard enough.
    let mut output = None;
    for number in 0..1_000 {
        for message in [
            said("Pay", "Pay", number),
            said("Pay", "Ship It", number),
            said("Ship It", "Ship It", number),
        ] {
            bus.send(message).await.unwrap();
        }
        tokio::select! {
            ended = &mut hearing => {
                output = Some(ended.unwrap());
                break;
            }
            () = sleep(Duration::from_millis(50)) => {}
        }
    }
    bus.close().await;
    let output = output.expect("the command has ended");
    let warnings = stderr(&output);
    assert!(output.status.success(), "{warnings}");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = lines[0]["progress"]["number"].as_u64().unwrap();
    let sent = (first..first + 3).map(|number| said("Ship It", "Ship It", number).payload);
    let expected: Vec<Value> = sent.map(|body| serde_json::from_slice(&body).unwrap()).collect();
    assert_eq!(lines, expected);
    assert!(warnings.contains("is not shown: it is about a task"), "{warnings}");
}

#[tokio::test]
async fn a_broker_that_is_away_is_told_and_told_again_once_it_is_back() {
    let (here, mut nats) = (tempfile::tempdir().unwrap(), nats().await);
    let url = nats.url();
    let mut hearing = command(&["worker", "progress", "--nats-url", &url]);
    hearing.current_dir(here.path()).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut hearing = hearing.spawn().unwrap();
    let mut lines = BufReader::new(hearing.stderr.take().unwrap()).lines();
    let mut until = async |words: &str| {
        let said = async {
            while !lines.next_line().await.unwrap().expect("it goes on").contains(words) {}
        };
        within(words, BOUND, said).await;
    };
    until("Listens on").await;
    nats.server().kill().unwrap();
    until("The connection to NATS is lost").await;
    nats.server().restart().await.unwrap();
    until("Connected to NATS again").await;
    hearing.kill().await.unwrap();
}
