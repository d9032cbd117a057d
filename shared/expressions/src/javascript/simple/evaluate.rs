//! Evaluates a simple expression, or gives up.

use engine::Scope;
use serde_json::Value;

use super::{At, Expr, Fact, Missing, Operator, Step};
use crate::child_result;
use crate::javascript::{accessor, convert};

/// The size limit of a text that is joined here, in bytes.
const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Whole numbers up to here are exact in JavaScript.
const EXACT_MAX: u64 = 1 << 53;
/// Members that every object inherits.
const INHERITED: [&str; 12] = [
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

/// A JavaScript value: JSON, or undefined.
type Held = Option<Value>;

/// The value of the expression; None if QuickJS has to evaluate it.
pub(super) fn value(expr: &Expr, scope: &dyn Scope) -> Option<Value> {
    let value = held(expr, scope)?;
    Some(value.map_or(Value::Null, convert::normalised))
}

fn held(expr: &Expr, scope: &dyn Scope) -> Option<Held> {
    Some(match expr {
        Expr::Undefined => None,
        Expr::Literal(value) => Some(value.clone()),
        Expr::Variable(name, missing) => match (scope.variable(name), missing) {
            (None, Missing::Undefined) => None,
            (value, _) => Some(value.unwrap_or_default()),
        },
        Expr::Input(name) => Some(scope.input(name).unwrap_or_default()),
        Expr::Argument(name) => match scope.arguments().get(name) {
            Some(value) => Some(value.clone()),
            // QuickJS knows the members that every object has.
            None if INHERITED.contains(&name.as_str()) => return None,
            None => None,
        },
        Expr::Output(activity, output) => {
            Some(scope.output_from(activity, output.as_deref()).unwrap_or_default())
        }
        Expr::Accessor(word) => {
            // An accessor without a target is an error; QuickJS makes its message.
            let target = accessor::find(word, &accessor::Names::of(scope))?;
            Some(target.read(scope)?)
        }
        Expr::Fact(fact) => Some(known(*fact, scope)),
        Expr::Chain(first, steps) => return chain(held(first, scope)?, steps, scope),
        Expr::Not(inner) => Some(Value::Bool(!is_true(&held(inner, scope)?))),
        Expr::Negative(inner) => Some(convert::number(-number(&held(inner, scope)?)?)),
        Expr::Binary(operator, left, right) => {
            let (left, right) = (held(left, scope)?, held(right, scope)?);
            Some(binary(*operator, &left, &right)?)
        }
        Expr::And(left, right) => {
            let left = held(left, scope)?;
            if is_true(&left) { held(right, scope)? } else { left }
        }
        Expr::Or(left, right) => {
            let left = held(left, scope)?;
            if is_true(&left) { left } else { held(right, scope)? }
        }
        Expr::Choice(condition, yes, no) => {
            let chosen = if is_true(&held(condition, scope)?) { yes } else { no };
            held(chosen, scope)?
        }
        Expr::Text(parts) => {
            let mut joined = String::new();
            for part in parts {
                joined.push_str(&text(&held(part, scope)?)?);
                if joined.len() > TEXT_BYTES_MAX {
                    return None;
                }
            }
            Some(Value::String(joined))
        }
    })
}

fn known(fact: Fact, scope: &dyn Scope) -> Value {
    let identity = scope.identity();
    match fact {
        Fact::LastResult => scope.last_result().unwrap_or_default(),
        Fact::DefinitionId => Value::String(identity.definition_id),
        Fact::VersionId => Value::String(identity.version_id),
        Fact::Version => Value::from(identity.version),
        Fact::InstanceId => Value::String(identity.instance_id),
        Fact::InstanceName => identity.instance_name.map_or(Value::Null, Value::String),
        Fact::CorrelationId => identity.correlation_id.map_or(Value::Null, Value::String),
    }
}

fn chain(first: Held, steps: &[Step], scope: &dyn Scope) -> Option<Held> {
    let mut current = first;
    for step in steps {
        if matches!(current, None | Some(Value::Null)) {
            // Without the question mark this is an error; QuickJS makes its message.
            return step.optional.then_some(None);
        }
        let value = current?;
        current = match &step.at {
            At::Name(name) => member(value, name)?,
            At::Computed(index) => match held(index, scope)?? {
                Value::String(name) => member(value, &name)?,
                Value::Number(index) => element(value, index.as_f64()?)?,
                _ => return None,
            },
        };
    }
    Some(current)
}

fn member(value: Value, name: &str) -> Option<Held> {
    match value {
        Value::Object(mut map) => match map.swap_remove(name) {
            Some(found) => Some(Some(found)),
            None if child_result::is_one(&map) && child_result::member(name).is_some() => {
                Some(map.swap_remove(child_result::member(name)?))
            }
            None if INHERITED.contains(&name) => None,
            None => Some(None),
        },
        Value::Array(items) if name == "length" => Some(Some(Value::from(items.len()))),
        Value::String(text) if name == "length" => {
            Some(Some(Value::from(text.encode_utf16().count())))
        }
        _ => None,
    }
}

fn element(value: Value, index: f64) -> Option<Held> {
    let Value::Array(mut items) = value else { return None };
    if index.fract() != 0.0 || index < 0.0 {
        return None;
    }
    // The cast saturates, and no array is that long.
    let index = index as usize;
    Some((index < items.len()).then(|| items.swap_remove(index)))
}

fn is_true(value: &Held) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => number.as_f64().is_some_and(|number| number != 0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(_) | Value::Object(_)) => true,
    }
}

/// The value as a number, if JavaScript can hold this number exactly.
fn number(value: &Held) -> Option<f64> {
    let Some(Value::Number(number)) = value else { return None };
    let exact = match (number.as_i64(), number.as_u64()) {
        (Some(whole), _) => whole.unsigned_abs() <= EXACT_MAX,
        (None, Some(_)) => false,
        (None, None) => true,
    };
    if exact { number.as_f64() } else { None }
}

/// False for NaN, the infinities and -0, which JSON does not have.
fn is_plain(value: f64) -> bool {
    value.is_finite() && (value != 0.0 || value.is_sign_positive())
}

/// The value as JavaScript writes it; None if that takes a method of an object or an exponent.
fn text(value: &Held) -> Option<String> {
    match value {
        None => Some("undefined".to_owned()),
        Some(Value::Null) => Some("null".to_owned()),
        Some(Value::Bool(value)) => Some(value.to_string()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(_)) => {
            let number = number(value)?;
            let size = number.abs();
            // Outside of this range JavaScript writes exponents.
            (number == 0.0 || (1e-6..1e21).contains(&size)).then(|| number.to_string())
        }
        Some(Value::Array(_) | Value::Object(_)) => None,
    }
}

fn binary(operator: Operator, left: &Held, right: &Held) -> Option<Value> {
    use Operator as O;
    match operator {
        O::Same => same(left, right).map(Value::Bool),
        O::NotSame => same(left, right).map(|same| Value::Bool(!same)),
        O::Equal => equal(left, right).map(Value::Bool),
        O::NotEqual => equal(left, right).map(|equal| Value::Bool(!equal)),
        O::Less | O::LessOrEqual | O::Greater | O::GreaterOrEqual => {
            let order = order(left, right)?;
            Some(Value::Bool(match operator {
                O::Less => order.is_lt(),
                O::LessOrEqual => order.is_le(),
                O::Greater => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
        O::Add if is_text(left) || is_text(right) => {
            let mut joined = text(left)?;
            joined.push_str(&text(right)?);
            (joined.len() <= TEXT_BYTES_MAX).then_some(Value::String(joined))
        }
        O::Add | O::Subtract | O::Multiply | O::Divide | O::Remainder => {
            let (left, right) = (number(left)?, number(right)?);
            let result = match operator {
                O::Add => left + right,
                O::Subtract => left - right,
                O::Multiply => left * right,
                O::Divide => left / right,
                _ => left % right,
            };
            is_plain(result).then(|| convert::number(result))
        }
    }
}

fn is_text(value: &Held) -> bool {
    matches!(value, Some(Value::String(_)))
}

fn is_nothing(value: &Held) -> bool {
    matches!(value, None | Some(Value::Null))
}

/// `===`; None for lists and objects, whose identity only QuickJS knows.
fn same(left: &Held, right: &Held) -> Option<bool> {
    match (left, right) {
        (None, None) => Some(true),
        (Some(Value::Array(_) | Value::Object(_)), _)
        | (_, Some(Value::Array(_) | Value::Object(_))) => None,
        (Some(Value::Number(_)), Some(Value::Number(_))) => Some(number(left)? == number(right)?),
        (Some(left), Some(right)) => Some(left == right),
        (None, Some(_)) | (Some(_), None) => Some(false),
    }
}

/// `==`; None if JavaScript would convert a value.
fn equal(left: &Held, right: &Held) -> Option<bool> {
    if is_nothing(left) || is_nothing(right) {
        return Some(is_nothing(left) && is_nothing(right));
    }
    let alike = match (left, right) {
        (Some(left), Some(right)) => std::mem::discriminant(left) == std::mem::discriminant(right),
        _ => false,
    };
    if alike { same(left, right) } else { None }
}

fn order(left: &Held, right: &Held) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (Some(Value::Number(_)), Some(Value::Number(_))) => {
            number(left)?.partial_cmp(&number(right)?)
        }
        // Beyond ASCII the order of UTF-16 is not that of UTF-8.
        (Some(Value::String(left)), Some(Value::String(right))) => {
            (left.is_ascii() && right.is_ascii()).then(|| left.cmp(right))
        }
        _ => None,
    }
}
