//! A watch while nobody answers its queries, or only with failures.

use std::process::Output;
use std::time::Duration;

use async_nats::{Client, HeaderMap, Request, RequestErrorKind};
use futures::StreamExt as _;
use serde_json::{Value, json};
use testkit::{eventually, within};

use crate::language::Program;
use crate::world::PATIENCE;

/// Longer than a watch hears nothing before it asks.
const ASKED: Duration = Duration::from_secs(6);

/// There is no node: the answers are messages.
pub(crate) async fn a_watch_outlasts_those_who_answer(program: &Program) {
    let server = testkit::nats().await;
    let nats = async_nats::connect(server.url()).await.unwrap();
    let watch = async |instance: &str| {
        let mut command = program.command();
        command.env("NATS_URL", server.url()).env("WORKER_PREFIX", "watch");
        command.env("WORKER_JOURNAL", "").args(["watch", instance]).kill_on_drop(true);
        let what = format!("{}: the watch of {instance} is over", program.name);
        within(&what, PATIENCE, command.output()).await.unwrap()
    };
    // It has asked in vain when the first who answers comes.
    let comes = async {
        nobody_answers(&nats, "alone").await;
        answer(&nats, "alone", &[instance("alone")]).await;
    };
    let failures = [problem(503, "Unavailable", "the database is away"), instance("ill")];
    let refusal = [problem(403, "Forbidden", "the instance is not yours")];
    let (alone, ill, refused, (), (), ()) = tokio::join!(
        watch("alone"),
        watch("ill"),
        watch("refused"),
        comes,
        answer(&nats, "ill", &failures),
        answer(&nats, "refused", &refusal),
    );
    assert_eq!(events(&alone), json!(["suspended", "finished"]));
    assert_eq!(events(&ill), json!(["finished"]));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("the instance is not yours"), "{said}");
}

/// Waits until the watch of an instance hears its events, and has asked for it since.
async fn nobody_answers(nats: &Client, id: &str) {
    let mut event = instance(id);
    event["workflowInstanceId"] = json!(id);
    event["subStatus"] = json!("Suspended");
    let subject = format!("staunch.event.d.{id}.suspended");
    eventually("the watch listens", PATIENCE, async || {
        // Whoever hears an event does not answer, which takes as long as this request may.
        let request = Request::new().payload(event.to_string().into()).timeout(Some(ASKED));
        let heard = nats.send_request(subject.clone(), request).await.unwrap_err();
        heard.kind() == RequestErrorKind::TimedOut
    })
    .await;
}

/// Gives these answers to the queries for an instance, one after the other.
async fn answer(nats: &Client, id: &str, answers: &[Value]) {
    let mut asked = nats.subscribe(format!("staunch.api.get.{id}")).await.unwrap();
    for answer in answers {
        let what = format!("a query for {id}");
        let request = within(&what, PATIENCE, asked.next()).await.unwrap();
        let mut headers = HeaderMap::new();
        if answer["status"].is_u64() {
            headers.insert("Nats-Service-Error-Code", answer["status"].to_string());
        }
        let body = answer.to_string().into();
        nats.publish_with_headers(request.reply.unwrap(), headers, body).await.unwrap();
    }
    nats.flush().await.unwrap();
}

fn problem(status: u16, title: &str, detail: &str) -> Value {
    json!({"status": status, "title": title, "detail": detail})
}

/// An instance that is over.
fn instance(id: &str) -> Value {
    json!({
        "id": id, "definitionId": "d", "definitionVersion": 1, "correlationId": null,
        "subStatus": "Finished", "version": 2, "output": {}, "incidents": [], "bookmarks": [],
        "workflowState": {},
    })
}

fn events(ran: &Output) -> Value {
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    serde_json::from_slice(&ran.stdout).unwrap()
}
