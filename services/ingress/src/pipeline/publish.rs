//! Publishes the command of a change to the stream.

use std::time::Duration;

use chassis::Point;
use protocol::Message;

use crate::app::App;
use crate::backing::Part;

/// Tries of a publish that got no answer.
const PUBLISH_TRIES: u32 = 3;
/// The longest time of a publish; the sweep publishes a command that takes longer.
const PUBLISH_TIME_MAX: Duration = Duration::from_secs(3);

/// The end of a publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublishEnd {
    /// The stream has it, perhaps by an earlier try of ours.
    Now,
    /// The stream had it before.
    Before,
    /// It could not be published now: the sweep publishes it.
    Later,
}

/// Publishes an accepted command. Never fails: otherwise the sweep publishes it.
pub(crate) async fn publish(app: &App, message: Message) -> PublishEnd {
    let subject = message.subject.clone();
    match tokio::time::timeout(PUBLISH_TIME_MAX, published(app, message)).await {
        Ok(Ok(publish_end)) => {
            app.cx.trail.at(Point::Sent).await;
            return publish_end;
        }
        Ok(Err(error)) => {
            match error {
                bus::Error::Full(_) => app.backlog.is_full(),
                bus::Error::Unavailable(_) | bus::Error::Unknown(_) => {
                    app.backing.note(Part::Bus, false);
                }
                _ => {}
            }
            tracing::warn!(%error, subject, "accepted, but not published: the sweep will");
        }
        Err(_) => {
            app.backing.note(Part::Bus, false);
            tracing::warn!(subject, "accepted, but not published in time: the sweep will");
        }
    }
    app.metrics.unpublished();
    PublishEnd::Later
}

async fn published(app: &App, message: Message) -> Result<PublishEnd, bus::Error> {
    let mut tries = 1;
    loop {
        match app.cx.bus.publish(message.clone()).await {
            Ok(receipt) if receipt.duplicate && tries == 1 => return Ok(PublishEnd::Before),
            Ok(_) => return Ok(PublishEnd::Now),
            Err(bus::Error::Unknown(_)) if tries < PUBLISH_TRIES => tries += 1,
            Err(error) => return Err(error),
        }
    }
}
