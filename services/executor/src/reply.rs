//! What the sender of a command is told.

use chassis::Point;
use model::InstanceId;
use protocol::{Command, ContentType, HttpAnswer, Message, Outcome, encode_body, header};

use crate::decide::Known;
use crate::executor::Cx;

/// The outcome of a command for an instance as it stands now.
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

/// The outcome with what an HTTP client is answered.
pub(crate) fn with_answer(outcome: Outcome, answer: Option<HttpAnswer>) -> Outcome {
    Outcome { response: answer, ..outcome }
}

/// Tells the sender of a command, if it wants to know.
pub(crate) async fn reply(cx: &Cx, command: &Command, outcome: &Outcome) {
    if let Some(reply_to) = &command.reply_to {
        send(cx, reply_to, outcome).await;
    }
}

/// Sends an outcome. Best effort: whoever needs certainty reads the instance.
pub(crate) async fn send(cx: &Cx, reply_to: &str, outcome: &Outcome) {
    cx.at(Point::BeforeReply).await;
    let payload = match encode_body(ContentType::Json, outcome) {
        Ok(payload) => payload,
        Err(error) => {
            tracing::warn!(%error, "an outcome cannot be written");
            return;
        }
    };
    let mut message = Message { subject: reply_to.to_owned(), payload, ..Message::default() };
    message.headers.insert(header::CONTENT_TYPE.to_owned(), "application/json".to_owned());
    if let Err(error) = cx.bus.send(message).await {
        tracing::debug!(%error, reply_to, "an outcome was not sent");
    }
    cx.at(Point::Replied).await;
}
