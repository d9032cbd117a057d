//! Streams to which workflows listen.

use bus::OutsideError;

use crate::app::App;

/// A consumer that no stream has: the answer about it is about the stream.
const NO_PLACE: &str = "staunch-none";

/// Why a stream cannot be read, if it does not exist.
///
/// # Errors
/// When NATS does not say it.
pub(crate) async fn missing(app: &App, stream: &str) -> Result<Option<String>, OutsideError> {
    match app.cx.bus.outside().place_figures(stream, NO_PLACE).await {
        Ok(_) => Ok(None),
        Err(OutsideError::Absent(reason)) => Ok(Some(reason)),
        Err(error) => Err(error),
    }
}
