//! Large values of a request rest in payloads before its command is stored or sent, so that the command
//! stays small; and they are in the answer to a caller who waits for outputs.

use model::large::{take, take_each};
use model::{Map, sealed};
use serde_json::Value;

use crate::endpoint::form::unkept;
use crate::{App, Problem};

/// The values of a caller, in which objects stand for large ones. What looks sealed in them is never opened:
/// the executor sees to that for the others, and does not look into payloads.
///
/// # Errors
/// [`Problem`] when a payload cannot be kept.
pub(crate) async fn lightened(app: &App, values: Map) -> Result<Map, Problem> {
    let values = values.into_iter().map(|(name, value)| (name, sealed::foreign(value)));
    taken_over(app, values.collect()).await
}

/// As [`lightened`], for values that another instance had: they are left as they are.
///
/// # Errors
/// As [`lightened`].
pub(crate) async fn taken_over(app: &App, mut values: Map) -> Result<Map, Problem> {
    let mut taken = Vec::new();
    take_each(&mut values, app.payloads.inline_max(), app.payloads.value_max(), &mut taken);
    keep(app, taken).await?;
    Ok(values)
}

/// The value of a caller, or the object that stands for it. As in [`lightened`], nothing in it is opened.
///
/// # Errors
/// As [`lightened`].
pub(crate) async fn lightened_one(app: &App, value: Value) -> Result<Value, Problem> {
    let mut value = sealed::foreign(value);
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
