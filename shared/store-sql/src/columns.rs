//! The columns of a table, as its entity declares them, for the statements of the pipeline.
//!
//! An entity in `entity/` is the only declaration of a table. The names and kinds of columns here,
//! the cells of a row, and the lists in the texts of `statements` are derived from it.

use sea_orm::sea_query::{ColumnType, Value};
use sea_orm::{
    ActiveModelTrait, ActiveValue, ColumnTrait, EntityTrait, IdenStatic as _, IntoActiveModel,
    Iterable as _,
};
use store::Error;

use crate::cell::{Cell, Row};

/// The kind of values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Small,
    Flag,
    Bytes,
}

impl Kind {
    /// The name of the type on PostgreSQL.
    pub(crate) fn postgres(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "bigint",
            Self::Small => "integer",
            Self::Flag => "boolean",
            Self::Bytes => "bytea",
        }
    }

    /// The kind of a column, from the type of the entity's field.
    fn of(kind: &ColumnType) -> Option<Self> {
        match kind {
            ColumnType::String(_) | ColumnType::Text => Some(Self::Text),
            ColumnType::BigInteger => Some(Self::Number),
            ColumnType::Integer => Some(Self::Small),
            ColumnType::Boolean => Some(Self::Flag),
            ColumnType::Blob | ColumnType::Binary(_) | ColumnType::VarBinary(_) => {
                Some(Self::Bytes)
            }
            _ => None,
        }
    }
}

/// A column of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The position of its cell in a row.
    pub(crate) at: usize,
}

/// The columns of a statement, in order.
#[derive(Clone, Debug)]
pub(crate) struct Columns(Vec<BoundColumn>);

impl Columns {
    /// All columns of an entity.
    pub(crate) fn of<E: EntityTrait>() -> Self {
        let bound = |(at, column): (usize, E::Column)| {
            let kind = Kind::of(column.def().get_column_type());
            assert!(kind.is_some(), "column {} is of a kind that can be bound", column.as_str());
            BoundColumn { name: column.as_str(), kind: kind.unwrap_or(Kind::Text), at }
        };
        Self(E::Column::iter().enumerate().map(bound).collect())
    }

    /// Columns of rows that are made for a single statement.
    pub(crate) fn new(columns: &[(&'static str, Kind)]) -> Self {
        let bound = |(at, (name, kind)): (usize, &(&'static str, Kind))| BoundColumn {
            name,
            kind: *kind,
            at,
        };
        Self(columns.iter().enumerate().map(bound).collect())
    }

    /// All columns but these.
    pub(crate) fn without<C: ColumnTrait>(&self, left_out: &[C]) -> Self {
        let stays =
            |column: &&BoundColumn| left_out.iter().all(|other| other.as_str() != column.name);
        Self(self.0.iter().filter(stays).copied().collect())
    }

    /// These columns and one more, whose cell follows those of the entity's row.
    pub(crate) fn and(&self, name: &'static str, kind: Kind, at: usize) -> Self {
        let more = BoundColumn { name, kind, at };
        Self(self.0.iter().copied().chain([more]).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &BoundColumn> {
        self.0.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The names, as in a list of columns.
    pub(crate) fn names(&self) -> String {
        self.listed(|name| name.to_owned())
    }

    /// The names, each rewritten by this function.
    pub(crate) fn listed(&self, write: impl Fn(&str) -> String) -> String {
        self.0.iter().map(|column| write(column.name)).collect::<Vec<_>>().join(", ")
    }

    /// `name = from.name` for each of them.
    pub(crate) fn assigned(&self, from: &str) -> String {
        self.listed(|name| format!("{name} = {from}.{name}"))
    }
}

/// The cells of a row, in the order of the entity's columns. Values are moved, not copied.
pub(crate) fn row<A>(model: impl IntoActiveModel<A>) -> Result<Row, Error>
where
    A: ActiveModelTrait,
{
    let mut model = model.into_active_model();
    let cell = |column: <A::Entity as EntityTrait>::Column| match model.take(column) {
        ActiveValue::Set(value) | ActiveValue::Unchanged(value) => cell(column.as_str(), value),
        ActiveValue::NotSet => {
            Err(Error::Refused(format!("the column {} has no value", column.as_str())))
        }
    };
    <A::Entity as EntityTrait>::Column::iter().map(cell).collect()
}

fn cell(name: &str, value: Value) -> Result<Cell, Error> {
    match value {
        Value::String(text) => Ok(Cell::Text(text)),
        Value::BigInt(number) => Ok(Cell::Number(number)),
        Value::Int(number) => Ok(Cell::Number(number.map(i64::from))),
        Value::Bool(flag) => Ok(Cell::Flag(flag.unwrap_or_default())),
        Value::Bytes(bytes) => Ok(Cell::Bytes(bytes)),
        other => Err(Error::Refused(format!("the column {name} cannot hold {other:?}"))),
    }
}
