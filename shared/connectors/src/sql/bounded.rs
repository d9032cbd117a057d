//! The rows of a result, up to the limits.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{Map, limits};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Number, Value};

use super::failure::Fault;

/// Rows of a result so far.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<Value>,
    bytes: usize,
}

impl Rows {
    pub(super) fn add(&mut self, row: Map) -> Result<(), Fault> {
        self.bytes = self.bytes.saturating_add(bytes_of(&row));
        let (rows, bytes) = (limits::SQL_ROWS_MAX, limits::SQL_RESULT_BYTES_MAX);
        if self.rows.len() >= rows {
            return Err(Fault::Refused(format!(
                "the result has more than {rows} rows: ask for fewer, such as with LIMIT"
            )));
        }
        if self.bytes > bytes {
            return Err(Fault::Refused(format!(
                "the result has more than {bytes} bytes: ask for fewer rows or columns"
            )));
        }
        self.rows.push(Value::Object(row));
        Ok(())
    }

    pub(super) fn into_value(self) -> Value {
        Value::Array(self.rows)
    }
}

fn bytes_of(row: &Map) -> usize {
    const EACH: usize = 8;
    let of = |value: &Value| match value {
        Value::String(text) => text.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => EACH,
        nested => nested.to_string().len(),
    };
    row.iter().map(|(name, value)| name.len() + of(value)).sum()
}

/// The value of the first column.
pub(super) fn first(row: Option<Map>) -> Result<Value, Fault> {
    let Some(row) = row else { return Ok(Value::Null) };
    let mut rows = Rows::default();
    let first = row.into_iter().next().map(|(_, value)| value).unwrap_or_default();
    rows.add(Map::from_iter([("value".to_owned(), first.clone())]))?;
    Ok(first)
}

/// Bytes, as everywhere in JSON: in base64.
pub(super) fn bytes(bytes: Vec<u8>) -> Value {
    Value::String(STANDARD.encode(bytes))
}

/// A floating-point number; text for those that JSON does not have.
pub(super) fn float(number: f64) -> Value {
    Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number)
}

/// A decimal number as a number where that loses nothing, else as text.
pub(super) fn decimal(number: Decimal) -> Value {
    if let (true, Some(whole)) = (number.is_integer(), number.to_i64()) {
        return Value::from(whole);
    }
    let exact = number
        .to_f64()
        .filter(|float| float.to_string().parse::<Decimal>().is_ok_and(|again| again == number));
    exact.map_or_else(|| Value::String(number.to_string()), float)
}

/// A number of single precision, with the digits that it has.
pub(super) fn single(number: f32) -> Value {
    number.to_string().parse().map_or_else(|_| float(f64::from(number)), float)
}

/// The bytes of a text in base64.
pub(super) fn to_bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.trim()).ok()
}
