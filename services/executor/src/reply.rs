//! The outcome of a command, for its sender.

use chassis::Point;
use futures::future::join_all;
use model::{InstanceId, limits};
use protocol::{Command, ContentType, HttpAnswer, Message, Outcome, encode_body, header};

use crate::burst::Known;
use crate::cx::Cx;
use crate::metrics::METRICS;

/// Bytes of the outputs of an outcome or an answer that has its large ones: there is room for the rest
/// beside them.
pub(crate) const OUTPUT_BYTES_MAX: u64 = (limits::OUTCOME_BYTES_MAX - 100 * 1024) as u64;

/// The outcome of a command for the current state of an instance.
pub(crate) fn outcome(id: &InstanceId, known: Option<&Known>) -> Outcome {
    let mut outcome = Outcome { workflow_instance_id: Some(id.clone()), ..Outcome::default() };
    let Some(Known { row: Some(row), record, .. }) = known else { return outcome };
    outcome.sub_status = Some(row.status);
    outcome.output = record.state.output.clone();
    outcome.incidents =
        record.state.incidents.iter().map(|incident| incident.message.clone()).collect();
    outcome.bookmarks = record.open().map(|open| open.id.clone()).collect();
    outcome
}

/// The outcome with the response for an HTTP client.
pub(crate) fn with_answer(outcome: Outcome, answer: Option<HttpAnswer>) -> Outcome {
    Outcome { response: answer, ..outcome }
}

/// Sends the outcome to the sender of a command, if it named a subject.
pub(crate) async fn reply(cx: &Cx, command: &Command, outcome: &Outcome) {
    if let Some(reply_to) = &command.reply_to {
        send(cx, reply_to, outcome).await;
    }
}

/// Sends an outcome. Best effort: a sender that needs certainty reads the instance.
pub(crate) async fn send(cx: &Cx, reply_to: &str, outcome: &Outcome) {
    cx.at(Point::BeforeReply).await;
    if let Err(error) = send_whole_or_cut(cx, reply_to, outcome).await {
        tracing::debug!(%error, reply_to, "an outcome was not sent");
    }
    cx.at(Point::Replied).await;
}

/// An outcome has its large outputs, if a message has room for them. One that is too large without
/// them is sent without its output, and if that is not enough, also without its response: the receiver
/// reads the instance.
async fn send_whole_or_cut(cx: &Cx, reply_to: &str, outcome: &Outcome) -> Result<(), bus::Error> {
    if let Some(output) = cx.payloads.whole(&outcome.output, OUTPUT_BYTES_MAX).await {
        match try_send(cx, reply_to, &Outcome { output, ..outcome.clone() }).await {
            Err(bus::Error::TooLarge(_)) => {}
            sent => return sent,
        }
    }
    let mut left = try_send(cx, reply_to, outcome).await;
    for keeps_response in [true, false] {
        let Err(bus::Error::TooLarge(reason)) = &left else { break };
        tracing::info!(reason, reply_to, keeps_response, "an outcome is cut: it is too large");
        METRICS.outcome_cut();
        left = try_send(cx, reply_to, &outcome.cut(keeps_response)).await;
    }
    left
}

async fn try_send(cx: &Cx, reply_to: &str, outcome: &Outcome) -> Result<(), bus::Error> {
    let payload = encode_body(ContentType::Json, outcome)
        .map_err(|error| bus::Error::Corrupt(format!("the outcome: {error}")))?;
    if payload.len() > limits::OUTCOME_BYTES_MAX {
        let (size, max) = (payload.len(), limits::OUTCOME_BYTES_MAX);
        return Err(bus::Error::TooLarge(format!("the outcome has {size} bytes of {max}")));
    }
    let mut message = Message { subject: reply_to.to_owned(), payload, ..Message::default() };
    message.headers.insert(header::CONTENT_TYPE.to_owned(), "application/json".to_owned());
    cx.bus.send(message).await
}

/// Sends outcomes at the same time.
pub(crate) async fn send_all(cx: &Cx, outcomes: Vec<(String, Outcome)>) {
    join_all(outcomes.iter().map(|(reply_to, outcome)| send(cx, reply_to, outcome))).await;
}
