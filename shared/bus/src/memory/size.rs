//! The largest message of the twin.

use protocol::Message;

use crate::Error;

/// The largest message; the default of nats-server.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// Refuses a larger message, as the server does.
pub(super) fn check_size(message: &Message) -> Result<(), Error> {
    let size = message.payload.len();
    if size <= MESSAGE_BYTES_MAX {
        return Ok(());
    }
    let subject = &message.subject;
    Err(Error::TooLarge(format!(
        "{size} bytes to {subject} are more than the {MESSAGE_BYTES_MAX} bytes that the server takes"
    )))
}
