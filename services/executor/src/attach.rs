//! Payloads that a header of a command names: objects that a client has put into the object store
//! `staunch_payloads`. Each is kept as a payload, and its file becomes a member of what the command
//! carries. Keeping it again changes nothing: the same bytes have the same name.

use std::time::Duration;

use bus::{Delivery, OutsideError};
use model::{Map, file, limits};
use payloads::Error;
use protocol::subject::PAYLOADS_STORE as STORE;
use protocol::{Body, Command, Message, Refusal, header};
use serde_json::Value;

use crate::cx::Cx;
use crate::stop::Stop;

/// Commands of one node whose objects are kept at the same time: each takes a part of its object in
/// memory.
pub(crate) const ATTACHING_MAX: usize = 8;
/// Objects that one command may name.
const OBJECTS_MAX: usize = 16;
/// How long the objects of one command may take, for one delivery.
const TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// The media type of an object whose writer has named none.
const UNNAMED_TYPE: &str = "application/octet-stream";

/// A member, and the object whose file it gets.
type Named<'m> = (&'m str, &'m str);

/// Puts the files of the objects that the message names into the command.
pub(crate) async fn attach(
    cx: &Cx,
    delivery: &Delivery,
    command: &mut Command,
) -> Result<(), Stop> {
    let named = named(&delivery.message).map_err(garbled)?;
    if named.is_empty() {
        return Ok(());
    }
    let room = cx.attaching.acquire().await;
    let mut files = Map::new();
    for (member, object) in &named {
        let kept = tokio::time::timeout(TIME_MAX, Box::pin(kept(cx, object))).await;
        let late = || Err(Trouble::Passing(format!("{}: it took too long", what(object))));
        let file = match kept.unwrap_or_else(|_| late()) {
            Ok(Some(file)) => file,
            // It may be gone because the command was applied before.
            Ok(None) if is_started(cx, command).await? => return Ok(()),
            Ok(None) => return Err(garbled(format!("there is no {}", what(object)))),
            Err(Trouble::Stop(stop)) => return Err(stop),
            Err(Trouble::Passing(reason)) if delivery.attempt < limits::DELIVERIES_MAX => {
                return Err(Stop::later(reason));
            }
            Err(Trouble::Passing(reason) | Trouble::Lasting(reason)) => {
                return Err(garbled(reason));
            }
        };
        files.insert((*member).to_owned(), file);
    }
    drop(room);
    values(&mut command.body).map_err(garbled)?.extend(files);
    Ok(())
}

/// Refuses a message whose header names no objects, or whose body has no place for them.
pub(crate) fn check(message: &Message, body: &Body) -> Result<(), String> {
    if named(message)?.is_empty() { Ok(()) } else { values(&mut body.clone()).map(drop) }
}

/// Why there is no file of an object.
enum Trouble {
    /// Trying again may help, for a while.
    Passing(String),
    /// Trying again does not help.
    Lasting(String),
    Stop(Stop),
}

/// Keeps an object as a payload: the file; none if there is no such object.
async fn kept(cx: &Cx, object: &str) -> Result<Option<Value>, Trouble> {
    let found = cx.bus.outside().open_object(STORE, object).await.map_err(of_store)?;
    let Some(found) = found else { return Ok(None) };
    let max = cx.payloads.bytes_max();
    if found.size > max {
        let size = found.size;
        return Err(Trouble::Lasting(format!(
            "{} has {size} bytes, more than the {max} that a payload may have",
            what(object)
        )));
    }
    let kept = cx.payloads.keep(found.parts).await.map_err(|error| match error {
        Error::Store(error) => Trouble::Stop(error.into()),
        Error::Source(error) => match error.downcast::<OutsideError>() {
            Ok(error) => of_store(*error),
            Err(error) => Trouble::Passing(error.to_string()),
        },
        error @ Error::Place(..) => Trouble::Stop(Stop::later(error.to_string())),
        error => Trouble::Lasting(format!("{}: {error}", what(object))),
    })?;
    let name = object.rsplit('/').next().unwrap_or(object);
    let content_type = found.content_type.as_deref().unwrap_or(UNNAMED_TYPE);
    Ok(Some(file::large(name, content_type, kept.size, &kept.hash)))
}

fn of_store(error: OutsideError) -> Trouble {
    let text = error.to_string();
    match error {
        OutsideError::Absent(_) => Trouble::Lasting(format!("{text}: run `staunch provision`")),
        OutsideError::Refused(_) => Trouble::Lasting(text),
        OutsideError::NoResponders(_) | OutsideError::Late(_) | OutsideError::Unavailable(_) => {
            Trouble::Passing(text)
        }
    }
}

/// Whether a start has its instance already.
async fn is_started(cx: &Cx, command: &Command) -> Result<bool, Stop> {
    let (Body::Start(_), Some(id)) = (&command.body, command.instance_id()) else {
        return Ok(false);
    };
    Ok(cx.store.load(&id).await?.is_some())
}

/// The members and objects that the header names.
fn named(message: &Message) -> Result<Vec<Named<'_>>, String> {
    let Some(text) = message.header(header::PAYLOAD) else { return Ok(Vec::new()) };
    let pairs = text.split(header::PAYLOAD_BETWEEN).map(pair);
    let wrong = || format!("header {} is {text:?}: use <member>=<object>", header::PAYLOAD);
    let pairs = pairs.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    match pairs.len() > OBJECTS_MAX {
        true => Err(format!("header {} names more than {OBJECTS_MAX} objects", header::PAYLOAD)),
        false => Ok(pairs),
    }
}

fn pair(text: &str) -> Option<Named<'_>> {
    let (member, object) = text.split_once('=')?;
    let (member, object) = (member.trim(), object.trim());
    (!member.is_empty() && !object.is_empty()).then_some((member, object))
}

/// The values that a command carries: the input of a start or a resume, the payload of an event, the
/// result of a task.
fn values(body: &mut Body) -> Result<&mut Map, String> {
    let value = match body {
        Body::Start(start) => return Ok(&mut start.input),
        Body::Resume(resume) => return Ok(&mut resume.input),
        Body::Event(event) => &mut event.payload,
        Body::Task(task) => &mut task.result,
        Body::Cancel(_) | Body::Alter(_) | Body::Perform(_) => {
            return Err(format!("header {}: this command takes no values", header::PAYLOAD));
        }
    };
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().ok_or_else(|| {
        format!("header {}: the value of this command is no object", header::PAYLOAD)
    })
}

fn what(object: &str) -> String {
    format!("object {object} in the object store {STORE}")
}

fn garbled(reason: String) -> Stop {
    Stop::dead(Refusal::Garbled, reason)
}

#[cfg(test)]
mod tests {
    use protocol::{Cancel, EventRaised, Start};
    use serde_json::json;

    use super::*;

    fn with(text: &str) -> Message {
        let mut message = Message::default();
        message.headers.insert(header::PAYLOAD.to_owned(), text.to_owned());
        message
    }

    #[test]
    fn the_header_names_members_and_objects() {
        assert_eq!(named(&Message::default()).unwrap(), []);
        assert_eq!(named(&with("Doc=a/b=c")).unwrap(), [("Doc", "a/b=c")]);
        assert_eq!(named(&with("A=1, B = 2")).unwrap(), [("A", "1"), ("B", "2")]);
        for wrong in ["", "Doc", "=a", "Doc=", "A=1, B", &["a=b"; 17].join(", ")] {
            assert!(named(&with(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_go_where_values_are() {
        let start = Body::Start(Start::default());
        assert_eq!(check(&with("A=1"), &start), Ok(()));
        assert!(check(&with("A"), &start).is_err());
        let cancel = Body::Cancel(Cancel::default());
        assert!(check(&with("A=1"), &cancel).is_err());
        assert_eq!(check(&Message::default(), &cancel), Ok(()));
        let event = |payload| Body::Event(EventRaised { payload, ..EventRaised::default() });
        assert_eq!(check(&with("A=1"), &event(Value::Null)), Ok(()));
        assert_eq!(check(&with("A=1"), &event(json!({"b": 1}))), Ok(()));
        assert!(check(&with("A=1"), &event(json!(1))).is_err());
    }
}
