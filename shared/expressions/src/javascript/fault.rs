//! Turns failures in QuickJS into a [`Flaw`] that the author of the script can use.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use engine::Flaw;
use model::limits;
use rquickjs::{Coerced, Ctx, Error, Exception, Object, Value};

use super::convert::Unfit;
use crate::flaw::{cut, flaw as plain};

/// The name of the author's text in stack traces.
pub(super) const FILE: &str = "expression";

/// The length at which a message is cut, in characters.
const MESSAGE_CHARS_MAX: usize = 4_096;

/// Ends a run at its deadline.
#[derive(Clone)]
pub(super) struct Guard {
    deadline: Instant,
    late: Rc<Cell<bool>>,
}

impl Guard {
    /// A guard for a run that may last until `deadline`.
    pub(super) fn new(deadline: Instant) -> Self {
        Self { deadline, late: Rc::new(Cell::new(false)) }
    }

    /// True when the run has to end now.
    pub(super) fn must_end(&self) -> bool {
        if Instant::now() >= self.deadline {
            self.late.set(true);
        }
        self.late.get()
    }
}

/// The reason why a run ended without a value.
pub(super) enum Failure {
    /// This flaw.
    Flaw(Flaw),
    /// The exception was `null`: thrown by the script, or by QuickJS because it had no memory left.
    Null,
}

/// The script did not end in its time.
pub(super) fn late() -> Flaw {
    plain("the script ran too long and was stopped")
}

/// The exception was `null`, and the run still held this number of bytes. QuickJS throws null when
/// it has no memory left for an exception object, and the run may have freed its memory since.
pub(super) fn null(bytes_used: usize) -> Flaw {
    if bytes_used > limits::SCRIPT_MEMORY_BYTES_MAX / 2 {
        return out_of_memory();
    }
    plain(format!(
        "the script threw null (QuickJS does this too when more than {} MiB of memory are needed)",
        limits::SCRIPT_MEMORY_BYTES_MAX / 1024 / 1024
    ))
}

/// QuickJS itself could not be started.
pub(super) fn broken(error: &Error) -> Flaw {
    plain(format!("the JavaScript engine could not be started: {error}"))
}

/// The flaw of an exception, if it is one of syntax.
pub(super) fn syntax(ctx: &Ctx<'_>, error: &Error, before: usize) -> Option<Flaw> {
    if !matches!(error, Error::Exception) {
        return Some(other(error));
    }
    let thrown = ctx.catch();
    let exception = thrown.into_object().and_then(Exception::from_object)?;
    // The only statement that runs throws a number, so an exception object comes from the parser.
    Some(described(&exception, before))
}

/// The reason why a run ended without a value.
pub(super) fn failure(ctx: &Ctx<'_>, unfit: Unfit, guard: &Guard, before: usize) -> Failure {
    let failure = match unfit {
        Unfit::Odd(message) => Failure::Flaw(plain(message)),
        Unfit::Thrown(Error::Exception) => thrown(&ctx.catch(), before),
        Unfit::Thrown(error) => Failure::Flaw(other(&error)),
    };
    // The deadline may have passed while the exception was read.
    if guard.late.get() { Failure::Flaw(late()) } else { failure }
}

fn other(error: &Error) -> Flaw {
    match error {
        Error::Allocation => out_of_memory(),
        Error::InvalidString(_) => plain("the script contains a NUL character"),
        error => plain(error.to_string()),
    }
}

fn thrown(value: &Value<'_>, before: usize) -> Failure {
    if value.is_null() {
        return Failure::Null;
    }
    if let Some(exception) = value.clone().into_object().and_then(Exception::from_object) {
        return Failure::Flaw(described(&exception, before));
    }
    let text = match value.get::<Coerced<String>>() {
        Ok(text) => text.0,
        Err(_) => value.type_name().to_owned(),
    };
    Failure::Flaw(plain(cut(format!("the script threw {text}"), MESSAGE_CHARS_MAX)))
}

fn described(exception: &Exception<'_>, before: usize) -> Flaw {
    let object: &Object<'_> = exception.as_object();
    let name = object.get::<_, Option<Coerced<String>>>("name").ok().flatten();
    let message = exception.message().unwrap_or_default();
    let (line, column) = place(&exception.stack().unwrap_or_default(), before);
    let message = match (name.as_ref().map(|name| name.0.as_str()), message.as_str()) {
        (_, "out of memory") => return Flaw { line, column, ..out_of_memory() },
        (_, "Maximum call stack size exceeded") => format!(
            "the script calls itself too deeply: its stack is {} KiB",
            limits::SCRIPT_STACK_BYTES_MAX / 1024
        ),
        (Some("ReferenceError"), message) => hint(message),
        (Some("SyntaxError" | "Error") | None, message) => message.to_owned(),
        (Some(name), "") => name.to_owned(),
        (Some(name), message) => format!("{name}: {message}"),
    };
    Flaw { message: cut(message, MESSAGE_CHARS_MAX), line, column }
}

fn hint(message: &str) -> String {
    let name = message.strip_suffix(" is not defined").unwrap_or_default();
    let accessor = name.strip_prefix("get").or_else(|| name.strip_prefix("set"));
    match accessor {
        Some(wanted) if wanted.starts_with(char::is_uppercase) => {
            format!("{message}: there is no variable, input or output named {wanted}")
        }
        _ => message.to_owned(),
    }
}

fn out_of_memory() -> Flaw {
    plain(format!(
        "the script needs more than {} MiB of memory",
        limits::SCRIPT_MEMORY_BYTES_MAX / 1024 / 1024
    ))
}

/// The first place in the author's text that a stack trace names: `    at f (expression:2:7)`.
fn place(stack: &str, before: usize) -> (Option<u32>, Option<u32>) {
    let marks = stack.lines().filter_map(|frame| {
        let (_, mark) = frame.split_once(&format!("{FILE}:"))?;
        let (line, column) = mark.trim_end_matches(')').split_once(':')?;
        Some((line.parse::<u32>().ok()?, column.parse::<u32>().ok()?))
    });
    match marks.into_iter().next() {
        Some((1, column)) => {
            let before = u32::try_from(before).unwrap_or(0);
            (Some(1), Some(column.saturating_sub(before).max(1)))
        }
        Some((line, column)) => (Some(line), Some(column)),
        None => (None, None),
    }
}
