//! The result of a task that no message carries: an object with its JSON, which is kept as a payload. What
//! stands for that value is the result of the command.

use bus::Delivery;
use futures::TryStreamExt as _;
use model::{PayloadHash, Stimulus, TaskStatus, large, sealed};
use protocol::subject::PAYLOADS_STORE;
use protocol::{Body, Command, TaskCompleted, header};
use serde_json::Value;
use store::{BookmarkFilter, Room};

use super::{
    Named, Trouble, absent, check_content, check_size, in_time, of_payloads, of_store, what,
};
use crate::cx::Cx;
use crate::pipeline::load;
use crate::stop::Stop;

/// The member that makes an object the whole result, and no file in it.
const WHOLE: &str = "$payload";
/// What such an object is.
const RESULT: &str = "the result of a task";

/// The object that is the whole result of this command; none where the header names files.
pub(super) fn object<'m>(named: &[Named<'m>], body: &Body) -> Result<Option<&'m str>, String> {
    let Some((_, object)) = named.iter().find(|(member, _)| *member == WHOLE) else {
        return Ok(None);
    };
    let wrong = |reason: &str| Err(format!("header {}: {reason}", header::PAYLOAD));
    let Body::Task(task) = body else {
        return wrong(&format!(
            "{WHOLE} is for results of tasks: name a member, which gets a file"
        ));
    };
    if task.status.unwrap_or_default() != TaskStatus::Completed {
        return wrong("the task is not completed, and has no result: leave the header out");
    }
    if named.len() > 1 || !task.result.is_null() {
        return wrong(&format!("{WHOLE} is the whole result: leave output and other objects out"));
    }
    Ok(Some(*object))
}

/// Keeps the object, and puts what stands for its value into the command. A command that can never count
/// stays as it is: it is refused further on, whether or not its object is still there.
pub(super) async fn attach(
    cx: &Cx,
    delivery: &Delivery,
    command: &mut Command,
    object: &str,
) -> Result<(), Stop> {
    if is_past(cx, command).await? {
        return Ok(());
    }
    let Body::Task(task) = &mut command.body else { return Ok(()) };
    let room = cx.attaching.acquire().await;
    let kept = in_time(object, kept(cx, object)).await;
    drop(room);
    task.result = kept.map_err(|trouble| trouble.stop(delivery))?;
    Ok(())
}

/// Whether a command was handed to its instance before, or is about an attempt before the current one. It
/// stays so.
async fn is_past(cx: &Cx, command: &Command) -> Result<bool, Stop> {
    let Body::Task(TaskCompleted { task_id, attempt, .. }) = &command.body else {
        return Ok(false);
    };
    if cx.store.is_routed(&command.id).await? {
        return Ok(true);
    }
    let Some(attempt) = *attempt else { return Ok(false) };
    let hash = Some(Stimulus::task(task_id).hash());
    let filter = BookmarkFilter { hash, ..BookmarkFilter::default() };
    let Some(found) = cx.store.find(&filter, 1).await?.into_iter().next() else {
        return Ok(false);
    };
    let mut room = Room::default();
    let known = load::read_in_turn(cx, &found.instance_id, &mut room).await?;
    Ok(known.record.state.has_passed(&found.bookmark.id, attempt))
}

/// Keeps an object as a payload: what stands for its value.
async fn kept(cx: &Cx, object: &str) -> Result<Value, Trouble> {
    let found = cx.bus.outside().open_object(PAYLOADS_STORE, object).await.map_err(of_store)?;
    // It is written before the message that names it, and may come later to the server that is asked.
    let Some(found) = found else { return Err(Trouble::Passing(absent(object))) };
    check_size(object, found.size, cx.payloads.value_max(), RESULT)?;
    let (mut parts, mut json) = (found.parts, Vec::new());
    while let Some(part) = parts.try_next().await.map_err(of_store)? {
        json.extend_from_slice(&part);
    }
    check_content(object, || PayloadHash::of(&json))?;
    let lasting = |reason| Trouble::Lasting(format!("{}: {reason}", what(object)));
    if large::check(&json, sealed::looks_sealed).map_err(lasting)? {
        json = foreign(&json).map_err(lasting)?;
        check_size(object, json.len() as u64, cx.payloads.value_max(), RESULT)?;
    }
    let kept = cx.payloads.keep_bytes(json).await;
    let kept = kept.map_err(|error| of_payloads(object, error))?;
    Ok(large::stand_in(&kept.hash, kept.size))
}

/// The JSON of a value without sealed texts.
fn foreign(json: &[u8]) -> Result<Vec<u8>, String> {
    let value = sealed::foreign(large::read(json)?);
    serde_json::to_vec(&value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use protocol::Start;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_the_whole_result_of_a_completed_task_alone() {
        let task = |result: Value, status| {
            Body::Task(TaskCompleted { result, status, ..TaskCompleted::default() })
        };
        let (whole, both) = ([(WHOLE, "a")], [("Doc", "b"), (WHOLE, "a")]);
        assert_eq!(object(&whole, &task(Value::Null, None)), Ok(Some("a")));
        assert_eq!(object(&[("Doc", "a")], &task(json!({}), None)), Ok(None));
        for (named, body, part) in [
            (whole.as_slice(), Body::Start(Start::default()), "is for results of tasks"),
            (whole.as_slice(), task(json!({}), None), "is the whole result"),
            (both.as_slice(), task(Value::Null, None), "is the whole result"),
            (whole.as_slice(), task(Value::Null, Some(TaskStatus::Failed)), "is not completed"),
        ] {
            let said = object(named, &body).unwrap_err();
            assert!(said.contains(part), "{said}");
        }
    }
}
