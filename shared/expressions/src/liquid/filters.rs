//! The tags and filters of templates: those of the library, with limits, and our own in place of
//! those that read a clock or grow without limit.

mod encode;
mod format;
mod list;

use liquid_core::parser::Language;
use liquid_core::{
    Error, ParseBlock, ParseFilter, ParseTag, Result, Runtime, Value, ValueCow, ValueView,
};
use liquid_lib::stdlib;

use super::budget::VALUE_BYTES_MAX;
use super::capture::Capture;
use super::filter::{Checked, Own};
use super::for_block::For;
use super::table_row::TableRow;
use super::tags::{Echo, Other};
use super::{convert, date};

/// The number of different elements that `uniq` keeps. It compares each element with all of them.
const UNIQ_ELEMENTS_MAX: usize = 5_000;

/// The last filter of every shown value; see `output.rs`.
pub(super) const SHOW: &str = "staunch_show";

/// The tags and filters that a template may use.
pub(super) fn dialect() -> Language {
    let mut dialect = Language::empty();
    blocks(&mut dialect);
    tags(&mut dialect);
    texts(&mut dialect);
    numbers(&mut dialect);
    lists(&mut dialect);
    ours(&mut dialect);
    dialect
}

fn blocks(dialect: &mut Language) {
    let mut add = |block: Box<dyn ParseBlock>| {
        dialect.blocks.register(block.reflection().start_tag().to_owned(), block);
    };
    add(Box::new(stdlib::IfBlock));
    add(Box::new(stdlib::UnlessBlock));
    add(Box::new(stdlib::CaseBlock));
    add(Box::new(stdlib::RawBlock));
    add(Box::new(stdlib::CommentBlock));
    add(Box::new(For));
    add(Box::new(Capture));
    add(Box::new(TableRow));
}

fn tags(dialect: &mut Language) {
    let mut add = |tag: Box<dyn ParseTag>| {
        dialect.tags.register(tag.reflection().tag().to_owned(), tag);
    };
    add(Box::new(stdlib::AssignTag));
    add(Box::new(stdlib::BreakTag));
    add(Box::new(stdlib::ContinueTag));
    add(Box::new(stdlib::CycleTag));
    add(Box::new(stdlib::IncrementTag));
    add(Box::new(stdlib::DecrementTag));
    add(Box::new(Echo));
    add(Box::new(Other("render")));
    add(Box::new(Other("include")));
}

fn add<F: ParseFilter + Clone + 'static>(dialect: &mut Language, filter: F) {
    let name = filter.reflection().name().to_owned();
    dialect.filters.register(name, Box::new(Checked(filter)));
}

fn texts(dialect: &mut Language) {
    add(dialect, stdlib::Append);
    add(dialect, stdlib::Capitalize);
    add(dialect, stdlib::Default);
    add(dialect, stdlib::Downcase);
    add(dialect, stdlib::Escape);
    add(dialect, stdlib::EscapeOnce);
    add(dialect, stdlib::Lstrip);
    add(dialect, stdlib::NewlineToBr);
    add(dialect, stdlib::Prepend);
    add(dialect, stdlib::Remove);
    add(dialect, stdlib::RemoveFirst);
    add(dialect, stdlib::ReplaceFirst);
    add(dialect, stdlib::Rstrip);
    add(dialect, stdlib::Slice);
    add(dialect, stdlib::Split);
    add(dialect, stdlib::Strip);
    add(dialect, stdlib::StripHtml);
    add(dialect, stdlib::StripNewlines);
    add(dialect, stdlib::Truncate);
    add(dialect, stdlib::TruncateWords);
    add(dialect, stdlib::Upcase);
    add(dialect, stdlib::UrlDecode);
    add(dialect, stdlib::UrlEncode);
}

fn numbers(dialect: &mut Language) {
    add(dialect, stdlib::Abs);
    add(dialect, stdlib::AtLeast);
    add(dialect, stdlib::AtMost);
    add(dialect, stdlib::Ceil);
    add(dialect, stdlib::DividedBy);
    add(dialect, stdlib::Floor);
    add(dialect, stdlib::Minus);
    add(dialect, stdlib::Modulo);
    add(dialect, stdlib::Plus);
    add(dialect, stdlib::Round);
    add(dialect, stdlib::Times);
}

fn lists(dialect: &mut Language) {
    add(dialect, stdlib::Compact);
    add(dialect, stdlib::Concat);
    add(dialect, stdlib::First);
    add(dialect, stdlib::Last);
    add(dialect, stdlib::Map);
    add(dialect, stdlib::Reverse);
    add(dialect, stdlib::Sort);
    add(dialect, stdlib::SortNatural);
    add(dialect, stdlib::Where);
}

fn ours(dialect: &mut Language) {
    let own = [
        Own {
            name: "json",
            description: "The value as JSON.",
            arguments_max: 1,
            run: |input, _, _| Ok(Value::scalar(convert::to_json(input).to_string())),
        },
        Own { name: "keys", description: "The names of an object.", arguments_max: 0, run: keys },
        Own { name: "size", description: "How many there are.", arguments_max: 0, run: size },
        Own { name: SHOW, description: "What is shown.", arguments_max: 0, run: show },
        Own { name: "join", description: "Joins a list.", arguments_max: 1, run: join },
        Own { name: "replace", description: "Replaces in a text.", arguments_max: 2, run: replace },
        Own { name: "uniq", description: "Each element once.", arguments_max: 0, run: uniq },
        Own { name: "date", description: "Writes a date.", arguments_max: 1, run: date::run },
    ];
    let others = encode::ALL.into_iter().chain(list::ALL).chain(format::ALL);
    for filter in own.into_iter().chain(others) {
        dialect.filters.register(filter.name.to_owned(), Box::new(filter));
    }
}

fn keys(input: &dyn ValueView, _: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let Some(object) = input.as_object() else { return Ok(Value::Array(Vec::new())) };
    let names = convert::members(object).into_iter().map(|(name, _)| Value::scalar(name));
    Ok(Value::Array(names.collect()))
}

/// Counts members, elements or characters.
fn size(input: &dyn ValueView, _: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let size = if let Some(array) = input.as_array() {
        array.size()
    } else {
        let size = match input.as_object() {
            Some(object) => convert::members(object).len(),
            None => input.to_kstr().chars().count(),
        };
        i64::try_from(size).unwrap_or(i64::MAX)
    };
    Ok(Value::scalar(size))
}

/// The last filter of every `{{ … }}`: shows lists and objects.
fn show(input: &dyn ValueView, _: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let is_plain = !input.is_array() && !input.is_object();
    Ok(if is_plain { input.to_value() } else { Value::scalar(convert::show(input)) })
}

fn join(input: &dyn ValueView, given: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let Some(array) = input.as_array() else { return Ok(input.to_value()) };
    let separator = given.first().map_or_else(|| " ".into(), |given| given.to_kstr().into_owned());
    let mut text = String::new();
    for (at, value) in array.values().enumerate() {
        if at > 0 {
            text.push_str(&separator);
        }
        text.push_str(&convert::show(value));
        if text.len() > VALUE_BYTES_MAX {
            break;
        }
    }
    Ok(Value::scalar(text))
}

fn replace(input: &dyn ValueView, given: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let text = input.to_kstr();
    let Some(search) = given.first().map(|given| given.to_kstr()) else {
        return Err(Error::with_msg("the filter replace needs a text to search for"));
    };
    let by = given.get(1).map(|given| given.to_kstr().into_owned()).unwrap_or_default();
    if search.is_empty() {
        return Ok(Value::scalar(text.into_string()));
    }
    let mut replaced = String::new();
    for (at, part) in text.split(search.as_str()).enumerate() {
        if at > 0 {
            replaced.push_str(&by);
        }
        replaced.push_str(part);
        if replaced.len() > VALUE_BYTES_MAX {
            break;
        }
    }
    Ok(Value::scalar(replaced))
}

fn uniq(input: &dyn ValueView, _: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let Some(array) = input.as_array() else { return Ok(input.to_value()) };
    let mut kept: Vec<Value> = Vec::new();
    for value in array.values().map(ValueView::to_value) {
        if kept.len() >= UNIQ_ELEMENTS_MAX {
            return Err(Error::with_msg(format!(
                "the filter uniq takes at most {UNIQ_ELEMENTS_MAX} different elements"
            )));
        }
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    Ok(Value::Array(kept))
}
