//! Why an instance is where it is: the facts are gathered ([`gather`]), and one pure function
//! ([`explain`]) turns them into findings, the one that decides first.

mod action;
mod answer;
mod explain;
mod facts;
mod gather;
#[cfg(test)]
mod tests;
mod wait;
mod work;

use model::InstanceId;

pub(crate) use answer::Why;

use crate::{App, Problem, record};

/// Explains an instance; 404 when there is none.
pub(crate) async fn why(app: &App, id: &InstanceId) -> Result<Why, Problem> {
    let seen = record::get(app, id).await?;
    let facts = gather::facts(app, &seen).await?;
    Ok(explain::explain(facts))
}
