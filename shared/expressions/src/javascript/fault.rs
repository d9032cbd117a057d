//! From what went wrong in QuickJS to a [`Flaw`] that its author can use.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use engine::Flaw;
use model::limits;
use rquickjs::{Coerced, Ctx, Error, Exception, Object, Value};

use super::convert::Unfit;
use super::flaw as plain;
use super::session::Shared;

/// The name of the author's text in stack traces.
pub(super) const FILE: &str = "expression";

/// Characters of a message that are kept.
const MESSAGE_CHARS_MAX: usize = 4_096;

/// Ends a run that takes too long, or that has to ask its scope something.
#[derive(Clone)]
pub(super) struct Guard {
    deadline: Instant,
    late: Rc<Cell<bool>>,
    session: Shared,
}

impl Guard {
    pub(super) fn new(deadline: Instant, session: Shared) -> Self {
        Self { deadline, late: Rc::new(Cell::new(false)), session }
    }

    /// True when the run has to end now.
    pub(super) fn must_end(&self) -> bool {
        if Instant::now() >= self.deadline {
            self.late.set(true);
        }
        self.late.get() || self.session.try_borrow().is_ok_and(|session| session.has_asked())
    }
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
    // The only thing that runs throws a number, so an exception object comes from the parser.
    Some(described(&exception, before))
}

/// The flaw of a run that did not come to its end.
pub(super) fn flaw(ctx: &Ctx<'_>, unfit: Unfit, guard: &Guard, before: usize) -> Flaw {
    let flaw = match unfit {
        Unfit::Odd(message) => plain(message),
        Unfit::Thrown(Error::Exception) => thrown(&ctx.catch(), before),
        Unfit::Thrown(error) => other(&error),
    };
    // Also reading what was thrown may have run into the limit.
    if guard.late.get() {
        return plain("the script ran too long and was stopped".to_owned());
    }
    flaw
}

fn other(error: &Error) -> Flaw {
    match error {
        Error::Allocation => out_of_memory(),
        Error::InvalidString(_) => plain("the script contains a NUL character".to_owned()),
        error => plain(error.to_string()),
    }
}

fn thrown(value: &Value<'_>, before: usize) -> Flaw {
    if let Some(exception) = value.clone().into_object().and_then(Exception::from_object) {
        return described(&exception, before);
    }
    if value.is_null() {
        // Where not even an exception can be allocated, QuickJS throws null.
        return out_of_memory();
    }
    let text = match value.get::<Coerced<String>>() {
        Ok(text) => text.0,
        Err(_) => value.type_name().to_owned(),
    };
    plain(cut(format!("the script threw {text}")))
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
    Flaw { message: cut(message), line, column }
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

fn cut(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS_MAX) {
        message.truncate(end);
        message.push('…');
    }
    message
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
