//! The limits of names and lists in requests.

use model::limits;

use crate::Problem;

/// Refuses a name, id or search term that is too long.
pub(crate) fn name(what: &str, text: &str) -> Result<(), Problem> {
    if text.len() <= limits::NAME_BYTES_MAX {
        return Ok(());
    }
    Err(Problem::bad_request(format!(
        "{what} has {} bytes: use at most {}",
        text.len(),
        limits::NAME_BYTES_MAX
    )))
}

/// Refuses a name, id or search term that is given and too long.
pub(crate) fn optional(what: &str, text: Option<&str>) -> Result<(), Problem> {
    text.map_or(Ok(()), |text| name(what, text))
}

/// Refuses a list that is too long, or has a member that is too long.
pub(crate) fn list(what: &str, items: &[String]) -> Result<(), Problem> {
    count(what, items.len())?;
    items.iter().try_for_each(|item| name(what, item))
}

/// Refuses a list of more activities than a definition has, the workflow itself counted. Their ids and paths
/// are as long as a publication takes them: a path has the ids of all activities around one, and only the
/// size of the document limits an id. The size of the body limits them here.
pub(crate) fn activities(what: &str, items: &[String]) -> Result<(), Problem> {
    // The same number as in `constraints.json`.
    const _: () = assert!(limits::ACTIVITIES_MAX == 10_000, "see the description of the filters");
    at_most(limits::ACTIVITIES_MAX + 1, what, items.len())
}

/// Refuses a list of too many items.
pub(crate) fn count(what: &str, items: usize) -> Result<(), Problem> {
    at_most(limits::REQUEST_ITEMS_MAX, what, items)
}

fn at_most(max: usize, what: &str, items: usize) -> Result<(), Problem> {
    if items <= max {
        return Ok(());
    }
    Err(Problem::bad_request(format!(
        "{what} has {items} items: use at most {max}, in several requests"
    )))
}

/// Refuses a version number that no version can have.
pub(crate) fn version(number: Option<u32>) -> Result<(), Problem> {
    const VERSION_MAX: u32 = i32::MAX as u32;
    match number {
        Some(number) if number > VERSION_MAX => Err(Problem::bad_request(format!(
            "version is {number}: versions are numbered from 1 to {VERSION_MAX}"
        ))),
        _ => Ok(()),
    }
}
