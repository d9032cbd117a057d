//! Statements on PostgreSQL. Its server says the type of each parameter, and a JSON value is bound
//! as that type.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use engine::{Statement, Wanted};
use futures::TryStreamExt as _;
use model::Map;
use rust_decimal::Decimal;
use serde_json::Value;
use sqlx::postgres::{PgArguments, PgConnection, PgRow, PgTypeInfo, PgTypeKind, PgValueRef};
use sqlx::{
    Arguments as _, AssertSqlSafe, Column as _, Decode, Either, Encode, Executor as _, Postgres,
    Row as _, SqlSafeStr as _, Statement as _, Type, TypeInfo as _, ValueRef as _,
};
use uuid::Uuid;

use super::bounded::{self, Rows};
use super::failure::Fault;
use super::statement::{result, text, values};
use super::time;

pub(super) async fn run(
    connection: &mut PgConnection,
    statement: &Statement,
    key: &str,
) -> Result<Map, Fault> {
    let sql = AssertSqlSafe(text(statement, |position| format!("${position}"))).into_sql_str();
    let prepared = connection.prepare(sql).await?;
    let types = match prepared.parameters() {
        Some(Either::Left(types)) => types.to_vec(),
        _ => Vec::new(),
    };
    let query = prepared.query_with(arguments(&types, values(statement, key))?);
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

fn arguments(types: &[PgTypeInfo], values: Vec<Value>) -> Result<PgArguments, Fault> {
    let mut arguments = PgArguments::default();
    if types.len() != values.len() {
        return Err(Fault::Refused(format!(
            "the statement has {} placeholders, and the server found {} parameters: write values \
             as {{{{…}}}}, not as $1",
            values.len(),
            types.len()
        )));
    }
    for (position, (value, ty)) in values.into_iter().zip(types).enumerate() {
        bind(&mut arguments, &value, ty).map_err(|reason| {
            let number = position + 1;
            Fault::Refused(format!("placeholder {number} is {}: {reason}", ty.name()))
        })?;
    }
    Ok(arguments)
}

/// Binds a value as the type that the server wants.
fn bind(arguments: &mut PgArguments, value: &Value, ty: &PgTypeInfo) -> Result<(), String> {
    if let PgTypeKind::Domain(inner) = ty.kind() {
        return bind(arguments, value, inner);
    }
    let plain = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match ty.name() {
        "JSON" | "JSONB" => add(arguments, Some(value.clone())),
        "BOOL" => bind_as(arguments, value, || value.as_bool().or_else(|| plain.parse().ok())),
        "INT2" => bind_as(arguments, value, || plain.parse::<i16>().ok()),
        "INT4" => bind_as(arguments, value, || plain.parse::<i32>().ok()),
        "INT8" => bind_as(arguments, value, || plain.parse::<i64>().ok()),
        "FLOAT4" => bind_as(arguments, value, || plain.parse::<f32>().ok()),
        "FLOAT8" => bind_as(arguments, value, || plain.parse::<f64>().ok()),
        "NUMERIC" => bind_as(arguments, value, || plain.parse::<Decimal>().ok()),
        "UUID" => bind_as(arguments, value, || plain.parse::<Uuid>().ok()),
        "TIMESTAMPTZ" => bind_as(arguments, value, || time::to_instant(&plain)),
        "TIMESTAMP" => bind_as(arguments, value, || time::to_local(&plain)),
        "DATE" => bind_as(arguments, value, || time::to_date(&plain)),
        "TIME" => bind_as(arguments, value, || time::to_time(&plain)),
        "BYTEA" => bind_as(arguments, value, || bounded::to_bytes(&plain)),
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "UNKNOWN" => {
            bind_as(arguments, value, || Some(plain.clone()))
        }
        "TEXT[]" | "VARCHAR[]" => bind_as(arguments, value, || list(value, text_of)),
        "INT2[]" => bind_as(arguments, value, || list(value, number::<i16>)),
        "INT4[]" => bind_as(arguments, value, || list(value, number::<i32>)),
        "INT8[]" => bind_as(arguments, value, || list(value, Value::as_i64)),
        "FLOAT8[]" => bind_as(arguments, value, || list(value, Value::as_f64)),
        "BOOL[]" => bind_as(arguments, value, || list(value, Value::as_bool)),
        "UUID[]" => {
            bind_as(arguments, value, || list(value, |one| one.as_str()?.parse::<Uuid>().ok()))
        }
        _ if matches!(ty.kind(), PgTypeKind::Enum(_)) => {
            bind_as(arguments, value, || Some(plain.clone()))
        }
        other => Err(format!("write {{{{…}}}}::text::{}", other.to_lowercase())),
    }
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn number<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    T::try_from(value.as_i64()?).ok()
}

fn list<T>(value: &Value, one: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(one).collect()
}

fn bind_as<T>(
    arguments: &mut PgArguments,
    value: &Value,
    converted: impl FnOnce() -> Option<T>,
) -> Result<(), String>
where
    T: for<'q> Encode<'q, Postgres> + Type<Postgres>,
{
    if value.is_null() {
        return add(arguments, None::<T>);
    }
    match converted() {
        Some(converted) => add(arguments, Some(converted)),
        None => Err("the value cannot be converted to it".to_owned()),
    }
}

fn add<T>(arguments: &mut PgArguments, value: Option<T>) -> Result<(), String>
where
    T: for<'q> Encode<'q, Postgres> + Type<Postgres>,
{
    arguments.add(value).map_err(|error| error.to_string())
}

fn row(row: &PgRow) -> Result<Map, Fault> {
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

fn read(value: PgValueRef<'_>) -> Result<Value, Failed> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let ty = value.type_info().into_owned();
    Ok(match ty.name() {
        "BOOL" => Value::from(of::<bool>(value)?),
        "INT2" => Value::from(of::<i16>(value)?),
        "INT4" => Value::from(of::<i32>(value)?),
        "INT8" => Value::from(of::<i64>(value)?),
        "FLOAT4" => bounded::single(of::<f32>(value)?),
        "FLOAT8" => bounded::float(of::<f64>(value)?),
        "NUMERIC" => bounded::decimal(of::<Decimal>(value)?),
        "UUID" => Value::from(of::<Uuid>(value)?.to_string()),
        "TIMESTAMPTZ" => time::instant(of::<DateTime<Utc>>(value)?),
        "TIMESTAMP" => time::local(of::<NaiveDateTime>(value)?),
        "DATE" => time::date(of::<NaiveDate>(value)?),
        "TIME" => time::time(of::<NaiveTime>(value)?),
        "JSON" | "JSONB" => of::<Value>(value)?,
        "BYTEA" => bounded::bytes(of::<Vec<u8>>(value)?),
        "TEXT[]" | "VARCHAR[]" => Value::from(of::<Vec<Option<String>>>(value)?),
        "INT2[]" => Value::from(of::<Vec<Option<i16>>>(value)?),
        "INT4[]" => Value::from(of::<Vec<Option<i32>>>(value)?),
        "INT8[]" => Value::from(of::<Vec<Option<i64>>>(value)?),
        "BOOL[]" => Value::from(of::<Vec<Option<bool>>>(value)?),
        "VOID" => Value::Null,
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "UNKNOWN" | "XML" | "CITEXT" => {
            Value::from(of::<String>(value)?)
        }
        _ if matches!(ty.kind(), PgTypeKind::Enum(_)) => Value::from(of::<String>(value)?),
        _ => return Err("write it as …::text".into()),
    })
}

fn of<'r, T: Decode<'r, Postgres>>(value: PgValueRef<'r>) -> Result<T, Failed> {
    T::decode(value)
}
