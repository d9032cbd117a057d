use model::{Bookmark, Timestamp};
use serde_json::Value;

use super::*;

fn sequence(number: u64) -> Sequence {
    Sequence { sender: "a".into(), number }
}

fn bookmark(id: &str, hash: &str) -> (BookmarkId, Bookmark) {
    let bookmark = Bookmark {
        id: id.into(),
        name: "Elsa.Event".into(),
        hash: hash.into(),
        activity_id: "wait".into(),
        activity_node_id: "wait".into(),
        activity_instance_id: id.into(),
        payload: Value::Null,
        created_at: Timestamp::default(),
        due_at: None,
    };
    (id.into(), bookmark)
}

#[test]
fn a_record_survives_the_row() {
    let mut record = Record::default();
    record.remember(&"c1".into());
    record.advance(&sequence(1));
    record.state.bookmarks.extend([bookmark("b1", "h")]);
    let bytes = record.encode().unwrap();
    assert_eq!(Record::decode(&bytes).unwrap(), record);
    assert_eq!(Record::decode(&[]).unwrap(), Record::default());
    assert!(Record::decode(&[0xc1]).is_err());
}

#[test]
fn numbers_of_a_sender_are_taken_in_order() {
    let mut record = Record::default();
    assert_eq!(record.order(&sequence(1)), Order::Next);
    assert_eq!(record.order(&sequence(2)), Order::Early { due: 1 });
    record.advance(&sequence(1));
    assert_eq!(record.order(&sequence(1)), Order::Past);
    assert_eq!(record.order(&sequence(2)), Order::Next);
    assert_eq!(record.order(&Sequence { sender: "b".into(), number: 2 }), Order::Early { due: 1 });
}

#[test]
fn only_the_newest_commands_are_remembered() {
    let mut record = Record::default();
    for number in 0..=limits::APPLIED_COMMANDS_MAX {
        record.remember(&CommandId::new(format!("c{number}")));
    }
    assert!(!record.has_applied(&"c0".into()));
    assert!(record.has_applied(&"c1".into()));
}

#[test]
fn an_event_is_taken_once_by_each_bookmark_that_waited_for_it() {
    let mut record = Record::default();
    let event = CommandId::from("e");
    record.state.bookmarks.extend([bookmark("b1", "h"), bookmark("b2", "h"), bookmark("x", "y")]);
    assert!(record.may_take(&event, &"b1".into()));
    record.take(&event, &"b1".into());
    record.state.bookmarks.remove(&BookmarkId::from("b1"));
    record.state.bookmarks.extend([bookmark("b3", "h")]);
    assert!(record.may_take(&event, &"b2".into()));
    assert!(!record.may_take(&event, &"b3".into()), "it waits again, for the next event");
    record.take(&event, &"b2".into());
    assert!(!record.may_take(&event, &"b2".into()));
}
