//! Large values of a request rest in payloads before its command is stored or sent, so that the command
//! stays small; and they are in the answer to a caller who waits for outputs.

use model::Map;
use model::large::{take, take_each};
use serde_json::Value;

use crate::endpoint::form::unkept;
use crate::{App, Problem};

/// The values, in which objects stand for large ones.
///
/// # Errors
/// [`Problem`] when a payload cannot be kept.
pub(crate) async fn lightened(app: &App, mut values: Map) -> Result<Map, Problem> {
    let mut taken = Vec::new();
    take_each(&mut values, app.payloads.inline_max(), app.payloads.value_max(), &mut taken);
    keep(app, taken).await?;
    Ok(values)
}

/// The value, or the object that stands for it.
///
/// # Errors
/// As [`lightened`].
pub(crate) async fn lightened_one(app: &App, mut value: Value) -> Result<Value, Problem> {
    let mut taken = Vec::new();
    take(&mut value, app.payloads.inline_max(), app.payloads.value_max(), &mut taken);
    keep(app, taken).await?;
    Ok(value)
}

/// The values with what rests in payloads in its place, for a caller who waits for them, where they have at
/// most as many bytes as one such value may have.
pub(crate) async fn whole(app: &App, values: Map) -> Map {
    app.payloads.whole(&values, app.payloads.value_max()).await.unwrap_or(values)
}

async fn keep(app: &App, taken: Vec<model::Large>) -> Result<(), Problem> {
    let kept = app.payloads.keep_large(taken).await;
    kept.map_err(|error| unkept(error, app.config.body_bytes_max))
}
