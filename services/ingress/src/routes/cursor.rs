//! The cursor of a list of instances: its order, and the place of the last instance of a page. Clients
//! pass it back as they got it.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use model::{InstanceId, Timestamp};
use serde::{Deserialize, Serialize};
use store::{InstanceOrder, InstancePlace, PlaceKey, TimeColumn, check};

use crate::Problem;

/// Bytes of a cursor at most: an id and a name of the greatest length, and more.
const BYTES_MAX: usize = 16 * 1024;

/// What a cursor holds.
#[derive(Deserialize, Serialize)]
struct Cursor {
    /// `created`, `updated`, `finished` or `name`.
    by: String,
    ascending: bool,
    at: Option<i64>,
    name: Option<String>,
    id: String,
}

/// The cursor of a place.
pub(super) fn written(order: InstanceOrder, place: &InstancePlace) -> String {
    let (at, name) = match &place.key {
        PlaceKey::Time(at) => (at.map(Timestamp::as_millis), None),
        PlaceKey::Name(name) => (None, name.clone()),
    };
    let cursor = Cursor {
        by: name_of(order.by).to_owned(),
        ascending: order.ascending,
        at,
        name,
        id: place.id.to_string(),
    };
    BASE64_URL_SAFE_NO_PAD.encode(serde_json::json!(cursor).to_string())
}

/// The place of a cursor, which must be one of this order.
pub(super) fn read(text: &str, order: InstanceOrder) -> Result<InstancePlace, Problem> {
    let wrong =
        || Problem::bad_request("cursor is not valid: use the nextCursor of an answer as it is");
    if text.len() > BYTES_MAX {
        return Err(wrong());
    }
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok();
    let cursor = bytes.and_then(|bytes| serde_json::from_slice::<Cursor>(&bytes).ok());
    let Some(Cursor { by, ascending, at, name, id }) = cursor else { return Err(wrong()) };
    if check::keys([Some(id.as_str())]).is_err() || check::texts([name.as_deref()]).is_err() {
        return Err(wrong());
    }
    if by != name_of(order.by) || ascending != order.ascending {
        return Err(Problem::bad_request(
            "the cursor is one of another order: begin again without it when the order changes",
        ));
    }
    let key = match order.by {
        Some(_) => PlaceKey::Time(at.map(Timestamp::from_millis)),
        None => PlaceKey::Name(name),
    };
    Ok(InstancePlace { key, id: InstanceId::new(id) })
}

fn name_of(by: Option<TimeColumn>) -> &'static str {
    match by {
        Some(TimeColumn::CreatedAt) => "created",
        Some(TimeColumn::UpdatedAt) => "updated",
        Some(TimeColumn::FinishedAt) => "finished",
        None => "name",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_for_its_order_alone() {
        let id = InstanceId::new("order-ä 7");
        let at = PlaceKey::Time(Some(Timestamp::from_millis(1_700_000_000_123)));
        let name = PlaceKey::Name(Some("Zoe \"x\"".to_owned()));
        for (by, key) in [
            (Some(TimeColumn::CreatedAt), at),
            (Some(TimeColumn::FinishedAt), PlaceKey::Time(None)),
            (None, name),
            (None, PlaceKey::Name(None)),
        ] {
            let order = InstanceOrder { by, ascending: false };
            let place = InstancePlace { key, id: id.clone() };
            let text = written(order, &place);
            assert_eq!(read(&text, order).unwrap(), place);
            let other = InstanceOrder { ascending: true, ..order };
            assert!(read(&text, other).unwrap_err().detail().contains("another order"));
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let nul = r#"{"by":"created","ascending":false,"at":1,"name":null,"id":"a\u0000"}"#;
        let encoded = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
        let long = "A".repeat(BYTES_MAX + 1);
        for text in ["x", "!", "", &encoded("{}"), &encoded("[1]"), &encoded(nul), &long] {
            let problem = read(text, InstanceOrder::NEWEST).unwrap_err();
            assert!(problem.detail().contains("cursor is not valid"), "{text}");
        }
    }
}
