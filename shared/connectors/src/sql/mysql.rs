//! Statements on MySQL and MariaDB.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use engine::{Statement, Wanted};
use futures::TryStreamExt as _;
use model::Map;
use rust_decimal::Decimal;
use serde_json::Value;
use sqlx::mysql::{MySqlArguments, MySqlConnection, MySqlRow, MySqlValueRef};
use sqlx::{
    Arguments as _, AssertSqlSafe, Column as _, Decode, Executor as _, MySql, Row as _, Type,
    TypeInfo as _, ValueRef as _,
};

use super::bounded::{self, Rows};
use super::failure::Fault;
use super::statement::{result, text, values};
use super::time;

pub(super) async fn run(
    connection: &mut MySqlConnection,
    statement: &Statement,
    key: &str,
) -> Result<Map, Fault> {
    let sql = AssertSqlSafe(text(statement, |_| "?".to_owned()));
    let query = sqlx::query_with(sql, arguments(values(statement, key))?);
    match statement.wanted {
        Wanted::Affected => {
            Ok(result("affected", connection.execute(query).await?.rows_affected()))
        }
        Wanted::Value => {
            let found = connection.fetch_optional(query).await?;
            let row = found.map(|found| row(&found)).transpose()?;
            Ok(result("value", bounded::first(row)?))
        }
        Wanted::Rows => {
            let mut rows = Rows::default();
            let mut found = connection.fetch(query);
            while let Some(next) = found.try_next().await? {
                rows.add(row(&next)?)?;
            }
            Ok(result("rows", rows.into_value()))
        }
    }
}

/// The server converts texts to the types of their columns.
fn arguments(values: Vec<Value>) -> Result<MySqlArguments, Fault> {
    let mut arguments = MySqlArguments::default();
    for value in values {
        let added = match value {
            Value::Null => arguments.add(None::<String>),
            Value::Bool(value) => arguments.add(value),
            Value::String(text) => arguments.add(text),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(whole), ..) => arguments.add(whole),
                (None, Some(whole), _) => arguments.add(whole),
                (None, None, float) => arguments.add(float),
            },
            nested @ (Value::Array(_) | Value::Object(_)) => arguments.add(nested.to_string()),
        };
        added.map_err(|error| Fault::Refused(error.to_string()))?;
    }
    Ok(arguments)
}

fn row(row: &MySqlRow) -> Result<Map, Fault> {
    let mut map = Map::new();
    for column in row.columns() {
        let value = row.try_get_raw(column.ordinal())?;
        let ty = value.type_info().name().to_owned();
        let read = read(value).map_err(|error| {
            let name = column.name();
            Fault::Refused(format!("column {name} is {ty}, which is not read: cast it ({error})"))
        })?;
        map.insert(column.name().to_owned(), read);
    }
    Ok(map)
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

fn read(value: MySqlValueRef<'_>) -> Result<Value, Failed> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let ty = value.type_info().into_owned();
    Ok(match ty.name() {
        "BOOLEAN" => Value::from(of::<bool>(value)?),
        "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => Value::from(of::<i64>(value)?),
        "TINYINT UNSIGNED" | "SMALLINT UNSIGNED" | "MEDIUMINT UNSIGNED" | "INT UNSIGNED"
        | "BIGINT UNSIGNED" | "BIT" | "YEAR" => Value::from(of::<u64>(value)?),
        "FLOAT" => bounded::single(of::<f32>(value)?),
        "DOUBLE" => bounded::float(of::<f64>(value)?),
        "DECIMAL" => bounded::decimal(of::<Decimal>(value)?),
        "TIMESTAMP" => time::instant(of::<DateTime<Utc>>(value)?),
        "DATETIME" => time::local(of::<NaiveDateTime>(value)?),
        "DATE" => time::date(of::<NaiveDate>(value)?),
        "TIME" => time::time(of::<NaiveTime>(value)?),
        "JSON" => of::<Value>(value)?,
        _ if <String as Type<MySql>>::compatible(&ty) => Value::from(of::<String>(value)?),
        _ => bounded::bytes(of::<Vec<u8>>(value)?),
    })
}

fn of<'r, T: Decode<'r, MySql>>(value: MySqlValueRef<'r>) -> Result<T, Failed> {
    T::decode(value)
}
