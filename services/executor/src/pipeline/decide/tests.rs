use model::{Bookmark, BookmarkId, Instance, Timestamp};
use protocol::{Cancel, Perform, Resume as Resumed, Sequence, Start};
use serde_json::Value;

use super::*;

fn instance(status: SubStatus) -> Instance {
    let new = Instance::new("i".into(), "d".into(), "v".into(), 1, Timestamp::default());
    Instance { version: i64::from(status != SubStatus::Pending), status, ..new }
}

fn known(status: SubStatus, open: &[(&str, Option<i64>)]) -> Known {
    let mut known = Known { row: Some(instance(status)), ..Known::default() };
    for (id, due_at) in open {
        let bookmark = Bookmark {
            id: (*id).into(),
            name: "Elsa.Event".into(),
            hash: "h".into(),
            activity_id: "a".into(),
            activity_node_id: "a".into(),
            activity_instance_id: (*id).to_owned(),
            payload: Value::Null,
            created_at: Timestamp::default(),
            due_at: due_at.map(Timestamp::from_millis),
        };
        known.record.state.bookmarks.insert((*id).into(), bookmark);
    }
    known
}

fn work(body: Body) -> Work {
    Work::command(&protocol::Command::new("c".into(), body), Timestamp::default())
}

fn resume(bookmark: Option<&str>) -> Work {
    let bookmark_id = bookmark.map(BookmarkId::from);
    work(Body::Resume(Resumed { instance_id: "i".into(), bookmark_id, ..Resumed::default() }))
}

fn refusal(decision: Meaning) -> Refusal {
    match decision {
        Meaning::Refuse(refusal, reason) => {
            assert!(!reason.is_empty());
            refusal
        }
        other => panic!("{other:?} refuses nothing"),
    }
}

fn resumes(decision: &Meaning, bookmark: &str) -> bool {
    matches!(decision, Meaning::Turn(Input::Resume(resume)) if resume.bookmark_id.as_str() == bookmark)
}

#[test]
fn a_named_bookmark_is_resumed_once() {
    let check = |known: &Known| decide(known, &resume(Some("b")));
    assert!(resumes(&check(&known(SubStatus::Suspended, &[("b", None), ("x", None)])), "b"));
    assert!(resumes(&check(&known(SubStatus::Executing, &[("b", Some(5))])), "b"));
    assert_eq!(refusal(check(&known(SubStatus::Suspended, &[("x", None)]))), Refusal::AlreadyDone);
    assert_eq!(refusal(check(&known(SubStatus::Finished, &[]))), Refusal::AlreadyDone);
    assert_eq!(check(&known(SubStatus::Pending, &[])), Meaning::Wait);
    assert_eq!(check(&Known::default()), Meaning::Unknown);
}

#[test]
fn without_a_name_the_only_bookmark_is_meant() {
    let check = |known: &Known| decide(known, &resume(None));
    assert!(resumes(&check(&known(SubStatus::Suspended, &[("b", None), ("timer", Some(1))])), "b"));
    let several = known(SubStatus::Suspended, &[("b", None), ("x", None)]);
    assert_eq!(refusal(check(&several)), Refusal::Ambiguous);
    let timer = known(SubStatus::Suspended, &[("timer", Some(1))]);
    assert_eq!(refusal(check(&timer)), Refusal::StillRunning);
    assert_eq!(refusal(check(&known(SubStatus::Executing, &[]))), Refusal::StillRunning);
    assert_eq!(refusal(check(&known(SubStatus::Cancelled, &[]))), Refusal::AlreadyDone);
    assert_eq!(check(&known(SubStatus::Pending, &[])), Meaning::Wait);
}

#[test]
fn bookmarks_of_calls_are_the_holders_own_business() {
    let mut known = known(SubStatus::Executing, &[("call", None)]);
    let call = engine::Call {
        key: "k".into(),
        bookmark_id: "call".into(),
        activity_id: "a".into(),
        timeout: None,
        tries: None,
        operation: engine::Request::default().into(),
    };
    known.record.state.calls.insert("call".into(), call);
    assert_eq!(refusal(decide(&known, &resume(Some("call")))), Refusal::StillRunning);
    assert_eq!(refusal(decide(&known, &resume(None))), Refusal::StillRunning);
    let result = Work::result(&"i".into(), "call".into(), model::Map::new(), None);
    assert!(resumes(&decide(&known, &result), "call"));
    let gone = Work::result(&"i".into(), "gone".into(), model::Map::new(), None);
    assert_eq!(decide(&known, &gone), Meaning::Nothing);
    assert!(!known.rests());
}

#[test]
fn a_timer_resumes_only_what_is_due_then() {
    let known = known(SubStatus::Suspended, &[("b", Some(5))]);
    let at = |due_at| {
        work(Body::Resume(Resumed {
            instance_id: "i".into(),
            bookmark_id: Some("b".into()),
            due_at: Some(Timestamp::from_millis(due_at)),
            ..Resumed::default()
        }))
    };
    assert!(resumes(&decide(&known, &at(5)), "b"));
    assert_eq!(refusal(decide(&known, &at(4))), Refusal::AlreadyDone);
}

#[test]
fn an_event_is_taken_once() {
    let mut known = known(SubStatus::Suspended, &[("b", None), ("earlier", None)]);
    let event = work(Body::Resume(Resumed {
        instance_id: "i".into(),
        bookmark_id: Some("b".into()),
        event_id: Some("e".into()),
        ..Resumed::default()
    }));
    assert!(resumes(&decide(&known, &event), "b"));
    known.record.take(&"e".into(), &"earlier".into());
    assert!(resumes(&decide(&known, &event), "b"), "it waited beside the one that took it");
    known.record.events.clear();
    known.record.events.push_back(crate::record::TakenEvent { id: "e".into(), others: vec![] });
    assert_eq!(refusal(decide(&known, &event)), Refusal::AlreadyDone);
}

#[test]
fn an_instance_is_started_by_one_command() {
    let start = work(Body::Start(Start::default()));
    assert_eq!(decide(&Known::default(), &start), Meaning::Start);
    let mut accepted = known(SubStatus::Pending, &[]);
    accepted.accepted = Some("c".into());
    assert_eq!(decide(&accepted, &start), Meaning::Start);
    accepted.accepted = Some("other".into());
    assert_eq!(refusal(decide(&accepted, &start)), Refusal::AlreadyDone);
    let running = known(SubStatus::Suspended, &[]);
    assert_eq!(refusal(decide(&running, &start)), Refusal::AlreadyDone);
}

#[test]
fn a_command_that_was_applied_leaves_only_its_tail() {
    for body in [Body::Start(Start::default()), Body::Cancel(Cancel::default())] {
        let mut known = known(SubStatus::Finished, &[]);
        known.record.remember(&"c".into());
        assert_eq!(decide(&known, &work(body)), Meaning::Tail);
    }
}

#[test]
fn a_cancel_ends_what_is_not_over() {
    let cancel = work(Body::Cancel(Cancel::default()));
    let running = known(SubStatus::Suspended, &[]);
    assert_eq!(decide(&running, &cancel), Meaning::Turn(Input::Cancel { reason: None }));
    assert_eq!(decide(&known(SubStatus::Pending, &[]), &cancel), Meaning::CancelPending);
    let over = known(SubStatus::Faulted, &[]);
    assert_eq!(refusal(decide(&over, &cancel)), Refusal::AlreadyDone);
    assert_eq!(decide(&Known::default(), &cancel), Meaning::Unknown);
}

#[test]
fn a_perform_is_for_instances_with_work_in_hand() {
    let perform = work(Body::Perform(Perform::default()));
    assert_eq!(decide(&known(SubStatus::Executing, &[]), &perform), Meaning::Tail);
    assert_eq!(decide(&known(SubStatus::Suspended, &[]), &perform), Meaning::Nothing);
    assert_eq!(decide(&Known::default(), &perform), Meaning::Nothing);
}

#[test]
fn numbers_of_a_sender_are_waited_for() {
    let mut second = resume(Some("b"));
    second.sequence = Some(Sequence { sender: "s".into(), number: 2 });
    let mut known = known(SubStatus::Suspended, &[("b", None)]);
    assert_eq!(decide(&known, &second), Meaning::Early { due: 1 });
    known.record.advance(&Sequence { sender: "s".into(), number: 1 });
    assert!(resumes(&decide(&known, &second), "b"));
    known.record.advance(&Sequence { sender: "s".into(), number: 2 });
    assert_eq!(refusal(decide(&known, &second)), Refusal::AlreadyDone);
}

#[test]
fn an_instance_that_has_not_run_is_cancelled_and_not_altered_otherwise() {
    let alter =
        |alterations| work(Body::Alter(protocol::Alter { alterations, ..Default::default() }));
    let retry = alter(vec![Alteration::Retry { activity_ids: Vec::new() }]);
    let cancel = alter(vec![Alteration::Cancel { reason: None }]);
    let pending = known(SubStatus::Pending, &[]);
    assert_eq!(refusal(decide(&pending, &retry)), Refusal::StillRunning);
    assert_eq!(decide(&pending, &cancel), Meaning::CancelPending);
    assert_eq!(decide(&Known::default(), &retry), Meaning::Unknown);
    let faulted = decide(&known(SubStatus::Faulted, &[]), &retry);
    assert!(matches!(faulted, Meaning::Turn(Input::Alter(_))), "{faulted:?}");
}

#[test]
fn what_arrives_while_an_instance_is_paused_waits() {
    let mut known = known(SubStatus::Suspended, &[("b", None)]);
    known.record.state.is_paused = true;
    known.record.unfinished = true;
    assert_eq!(decide(&known, &resume(Some("b"))), Meaning::Wait);
    assert_eq!(decide(&known, &resume(None)), Meaning::Wait);
    let proceed = Work::proceed(&"i".into(), 1, None);
    assert_eq!(decide(&known, &proceed), Meaning::Nothing);
    assert!(known.rests());
}
