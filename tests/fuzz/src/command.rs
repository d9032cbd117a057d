//! Commands, as any client of NATS may publish them.

use anyhow::{Result, ensure};
use protocol::{Command, Headers, Message, header, subject};

use crate::choice::choice;

/// The first byte chooses the encoding and the kind of command.
pub(crate) fn run(bytes: &[u8]) -> Result<()> {
    let (first, payload) = choice(bytes);
    let id = "0190b2f4-5d1c-7a52-9d3e-2f6a1b4c8d90";
    let subject = match first / 2 % 8 {
        0 => subject::start(&id.into()),
        1 => subject::resume(&id.into()),
        2 => subject::cancel(&id.into()),
        3 => subject::alter(&id.into()),
        4 => subject::perform(&id.into()),
        5 => subject::event("OrderPlaced"),
        6 => subject::task_completed(id),
        _ => String::from_utf8_lossy(payload).chars().take(100).collect(),
    };
    let kind = if first % 2 == 0 { "application/json" } else { "application/msgpack" };
    let mut headers = Headers::from([(header::CONTENT_TYPE.to_owned(), kind.to_owned())]);
    // Headers are text of the client too.
    let text: String = String::from_utf8_lossy(payload).chars().take(80).collect();
    for (bit, name) in [
        (16, header::REPLY_TO),
        (32, header::REPLY_WHEN),
        (64, header::SEQUENCE),
        (128, header::LINEAGE),
    ] {
        if first & bit != 0 {
            headers.insert(name.to_owned(), text.clone());
        }
    }
    let message = Message { subject, headers, payload: payload.to_vec() };
    let Ok(command) = Command::decode(&message, "fallback") else { return Ok(()) };
    // What was read can be sent on, and means the same.
    let again = Command::decode(&command.encode()?, "fallback")?;
    ensure!(again == command, "{command:?} became {again:?}");
    Ok(())
}
