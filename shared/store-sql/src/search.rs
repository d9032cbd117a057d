//! Conditions and bounds that several queries share.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Expr, LikeExpr};

use crate::codec::count;

/// Whether the lowercase column contains this text.
pub(crate) fn contains(column: impl ColumnTrait, text: &str) -> Expr {
    let escaped = text.to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    column.like(LikeExpr::new(format!("%{escaped}%")).escape('\\'))
}

/// A limit that a database can bind: numbers above `i64::MAX` are not its numbers.
pub(crate) fn bounded(limit: u64) -> u64 {
    count(limit).unsigned_abs()
}
