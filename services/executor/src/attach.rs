//! Payloads that a header of a command names: objects that a client has put into the object store
//! `staunch_payloads`. Each is kept as a payload, and its file becomes a member of what the command
//! carries. Keeping it again changes nothing: the same bytes have the same name. The result of a task may
//! be an object as a whole: see [`result`].
//!
//! Whoever may put objects can replace those of others. So the name of an object may end with the digest of
//! its bytes; other bytes are then no object of this name.

mod result;

use std::time::Duration;

use bus::{Delivery, OutsideError};
use model::{Map, PayloadHash, file, limits};
use payloads::Error;
use protocol::subject::PAYLOADS_STORE as STORE;
use protocol::{Body, Command, Message, Refusal, header};
use serde_json::Value;

use crate::cx::Cx;
use crate::stop::Stop;

/// Commands of one node whose objects are kept at the same time: each takes a part of its object in
/// memory, or the whole result of a task.
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
    if let Some(object) = result::object(&named, &command.body).map_err(garbled)? {
        return Box::pin(result::attach(cx, delivery, command, object)).await;
    }
    let room = cx.attaching.acquire().await;
    let mut files = Map::new();
    for (member, object) in &named {
        let file = match in_time(object, kept(cx, object)).await {
            Ok(Some(file)) => file,
            // It may be gone or replaced because the command was applied before.
            Ok(None) | Err(_) if is_started(cx, command).await? => return Ok(()),
            Ok(None) => return Err(garbled(absent(object))),
            Err(trouble) => return Err(trouble.stop(delivery)),
        };
        files.insert((*member).to_owned(), file);
    }
    drop(room);
    values(&mut command.body).map_err(garbled)?.extend(files);
    Ok(())
}

/// Refuses a message whose header names no objects, or whose body has no place for them.
pub(crate) fn check(message: &Message, body: &Body) -> Result<(), String> {
    let named = named(message)?;
    if named.is_empty() || result::object(&named, body)?.is_some() {
        return Ok(());
    }
    values(&mut body.clone()).map(drop)
}

/// Why there is no file of an object.
enum Trouble {
    /// Trying again may help, for a while.
    Passing(String),
    /// Trying again does not help.
    Lasting(String),
    Stop(Stop),
}

impl Trouble {
    /// Why the command of this delivery goes no further.
    fn stop(self, delivery: &Delivery) -> Stop {
        match self {
            Self::Stop(stop) => stop,
            Self::Passing(reason) if delivery.attempt < limits::DELIVERIES_MAX => {
                Stop::later(reason)
            }
            Self::Passing(reason) | Self::Lasting(reason) => garbled(reason),
        }
    }
}

/// Reads an object, for as long as one delivery may take.
async fn in_time<T>(
    object: &str,
    reading: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    let read = tokio::time::timeout(TIME_MAX, Box::pin(reading)).await;
    read.unwrap_or_else(|_| Err(Trouble::Passing(format!("{}: it took too long", what(object)))))
}

/// Keeps an object as a payload: the file; none if there is no such object.
async fn kept(cx: &Cx, object: &str) -> Result<Option<Value>, Trouble> {
    let found = cx.bus.outside().open_object(STORE, object).await.map_err(of_store)?;
    let Some(found) = found else { return Ok(None) };
    check_size(object, found.size, cx.payloads.bytes_max(), "a payload")?;
    let kept = cx.payloads.keep(found.parts).await.map_err(|error| of_payloads(object, error))?;
    check_content(object, || kept.hash.clone())?;
    let name = last_part(object);
    let content_type = found.content_type.as_deref().unwrap_or(UNNAMED_TYPE);
    Ok(Some(file::large(name, content_type, kept.size, &kept.hash)))
}

/// Refuses an object that is larger than `whose` may be.
fn check_size(object: &str, size: u64, max: u64, whose: &str) -> Result<(), Trouble> {
    if size <= max {
        return Ok(());
    }
    Err(Trouble::Lasting(format!(
        "{} has {size} bytes, more than the {max} that {whose} may have",
        what(object)
    )))
}

/// Refuses an object whose name ends with the digest of other bytes. The right ones may come again.
fn check_content(object: &str, hash: impl FnOnce() -> PayloadHash) -> Result<(), Trouble> {
    let Ok(named) = last_part(object).parse::<PayloadHash>() else { return Ok(()) };
    let is = hash();
    if is == named {
        return Ok(());
    }
    Err(Trouble::Passing(format!(
        "{} was replaced: its bytes are {}, and not those of its name",
        what(object),
        is.as_str()
    )))
}

fn last_part(object: &str) -> &str {
    object.rsplit('/').next().unwrap_or(object)
}

fn of_payloads(object: &str, error: Error) -> Trouble {
    match error {
        Error::Store(error) => Trouble::Stop(error.into()),
        Error::Source(error) => match error.downcast::<OutsideError>() {
            Ok(error) => of_store(*error),
            Err(error) => Trouble::Passing(error.to_string()),
        },
        error @ Error::Place(..) => Trouble::Stop(Stop::later(error.to_string())),
        error => Trouble::Lasting(format!("{}: {error}", what(object))),
    }
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
    // Its state is not needed.
    Ok(cx.store.load_within(&id, 0).await?.is_some())
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

fn absent(object: &str) -> String {
    format!("there is no {}", what(object))
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
