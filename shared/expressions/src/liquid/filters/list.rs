//! Filters that search lists and add up numbers.

use liquid_core::{Error, Result, Runtime, Value, ValueCow, ValueView};

use crate::liquid::filter::Own;

pub(super) const ALL: [Own; 5] = [
    own("sum", "The sum of the numbers, or of one of their members.", sum),
    own("find", "The first element with this member, or with this value of it.", find),
    own("find_index", "The position of the first element that fits.", find_index),
    own("has", "Whether an element fits.", has),
    own("reject", "The elements that do not fit.", reject),
];

const fn own(
    name: &'static str,
    description: &'static str,
    run: crate::liquid::filter::Run,
) -> Own {
    Own { name, description, arguments_max: 2, run }
}

fn elements(input: &dyn ValueView) -> Vec<&dyn ValueView> {
    match input.as_array() {
        Some(array) => array.values().collect(),
        None if input.is_nil() => Vec::new(),
        None => vec![input],
    }
}

fn sum(input: &dyn ValueView, given: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let name = given.first().map(|name| name.to_kstr().into_string());
    let (mut whole, mut total, mut is_whole) = (0_i64, 0.0_f64, true);
    for element in elements(input) {
        let value = match &name {
            Some(name) => match element.as_object().and_then(|object| object.get(name)) {
                Some(value) => value,
                None => continue,
            },
            None => element,
        };
        let Some(scalar) = value.as_scalar() else { continue };
        total += scalar.to_float().unwrap_or_default();
        match scalar.to_integer().and_then(|number| whole.checked_add(number)) {
            Some(sum) => whole = sum,
            None => is_whole = false,
        }
    }
    Ok(if is_whole { Value::scalar(whole) } else { Value::scalar(total) })
}

/// Whether an element has the value of the member; without a value, whether the member counts as
/// true.
fn fits(element: &dyn ValueView, given: &[ValueCow<'_>]) -> Result<bool> {
    let Some(name) = given.first() else {
        return Err(Error::with_msg("this filter needs the name of a member"));
    };
    let object = element.as_object();
    let name = name.to_kstr();
    let Some(value) = object.and_then(|object| object.get(name.as_str())) else {
        return Ok(given.get(1).is_some_and(|wanted| wanted.is_nil()));
    };
    Ok(match given.get(1) {
        Some(wanted) => value.to_value() == wanted.to_value(),
        None => value.query_state(liquid_core::model::State::Truthy),
    })
}

fn position(input: &dyn ValueView, given: &[ValueCow<'_>]) -> Result<Option<usize>> {
    for (at, element) in elements(input).into_iter().enumerate() {
        if fits(element, given)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn find(input: &dyn ValueView, given: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let at = position(input, given)?;
    let found = at.and_then(|at| elements(input).get(at).map(|element| element.to_value()));
    Ok(found.unwrap_or(Value::Nil))
}

fn find_index(input: &dyn ValueView, given: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let at = position(input, given)?.and_then(|at| i64::try_from(at).ok());
    Ok(at.map_or(Value::Nil, Value::scalar))
}

fn has(input: &dyn ValueView, given: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    Ok(Value::scalar(position(input, given)?.is_some()))
}

fn reject(input: &dyn ValueView, given: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let mut kept = Vec::new();
    for element in elements(input) {
        if !fits(element, given)? {
            kept.push(element.to_value());
        }
    }
    Ok(Value::Array(kept))
}
