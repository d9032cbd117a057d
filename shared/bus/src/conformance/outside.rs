//! The promises of durable places in the streams of others ([`Outside::follow`](crate::Outside::follow)).

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;

use super::{message, must, within};
use crate::{Bus, From, OutsideError, Place, PlaceFigures, Taken};

/// The stream that each bus has.
pub const STREAM: &str = "ORDERS";
/// The subjects of that stream.
pub const SUBJECTS: &str = "orders.>";

const NAME: &str = "staunch-place";
const SUBJECT: &str = "orders.*";
const STORED_WITHIN: Duration = Duration::from_secs(5);

/// Runs every check of this module, each on its own bus, which has the empty stream [`STREAM`] of
/// [`SUBJECTS`].
pub async fn exercise<B: Bus + Clone>(make: impl AsyncFn() -> B) {
    a_place_shows_where_it_is(&make().await).await;
    a_place_that_must_be_there_is_not_made(&make().await).await;
}

fn place(from: Option<From>) -> Place {
    Place {
        name: NAME.to_owned(),
        stream: STREAM.to_owned(),
        subject: SUBJECT.to_owned(),
        from,
        one_by_one: true,
    }
}

async fn figures(bus: &impl Bus) -> Option<PlaceFigures> {
    must("the figures", bus.outside().place_figures(STREAM, NAME).await)
}

async fn next(messages: &mut BoxStream<'static, Result<Taken, OutsideError>>) -> Taken {
    let taken = within("a message", messages.next()).await;
    must("a message", must("a message", taken.ok_or("the messages have ended")))
}

async fn a_place_shows_where_it_is(bus: &impl Bus) {
    let outside = bus.outside();
    let absent = outside.place_figures("NOWHERE", NAME).await;
    assert!(matches!(absent, Err(OutsideError::Absent(_))), "{absent:?}");
    assert_eq!(figures(bus).await, None);
    for subject in ["orders.new", "orders.new.deep", "orders.new", "orders.new"] {
        let stored = outside.store(message(subject, None, "1"), STORED_WITHIN).await;
        assert_eq!(must("store", stored).stream, STREAM);
    }
    let mut messages = must("a place", outside.follow(&place(Some(From::All))).await);
    let made = figures(bus).await.unwrap_or_default();
    assert_eq!((made.subject.as_str(), made.pending, made.in_hand), (SUBJECT, 3, 0));
    assert!(made.created_at.is_some() && made.delivered_at.is_none(), "{made:?}");
    let mut stored_before = 0;
    for (number, pending) in [(1, 2), (3, 1)] {
        let taken = next(&mut messages).await;
        assert_eq!(taken.sequence, number);
        assert!(taken.stored_nanos > stored_before, "each has a time of its own");
        stored_before = taken.stored_nanos;
        let now = figures(bus).await.unwrap_or_default();
        assert_eq!((now.pending, now.in_hand, now.redelivered), (pending, 1, 0));
        assert!(now.delivered == number && now.delivered_at.is_some(), "{now:?}");
        taken.settle.await;
    }
}

async fn a_place_that_must_be_there_is_not_made(bus: &impl Bus) {
    let outside = bus.outside();
    let early = outside.follow(&place(None)).await.map(drop);
    assert!(matches!(early, Err(OutsideError::Unavailable(_))), "{early:?}");
    assert_eq!(figures(bus).await, None);
    must("a place", outside.follow(&place(Some(From::New))).await.map(drop));
    must("a place that is there", outside.follow(&place(None)).await.map(drop));
    let nowhere = Place { stream: "NOWHERE".to_owned(), ..place(None) };
    let nowhere = outside.follow(&nowhere).await.map(drop);
    assert!(matches!(nowhere, Err(OutsideError::Absent(_))), "{nowhere:?}");
}
