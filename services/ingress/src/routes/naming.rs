//! The members of a definition that was sent, under the names that they have here: clients of .NET
//! write them in any case. Members that are not known stay as they are.

use engine::Twice;
use model::Map;
use serde_json::Value;

use crate::problem::Problem;

/// The members of a body that is a definition, or has one.
pub(super) const SENT: &[&str] = &["model", "publish", "root"];

/// Gives the members of a definition, and those of its variables, inputs, outputs and options, the
/// names that they have here.
///
/// # Errors
/// The names of two members that differ in case only.
pub(super) fn of_definition(document: &mut Value, what: &str) -> Result<(), Problem> {
    engine::name_members(document).map_err(|twice| refused(&twice, what))
}

/// Gives these members the known names. Their order stays.
///
/// # Errors
/// The names of two members that differ in case only.
pub(super) fn named(members: &mut Map, known: &[&str], what: &str) -> Result<(), Problem> {
    engine::rename_members(members, known).map_err(|twice| refused(&twice, what))
}

fn refused(Twice { place, first, second }: &Twice, what: &str) -> Problem {
    let what = if place.is_empty() { what.to_owned() } else { format!("{place} of {what}") };
    Problem::bad_request(format!(
        "{what} has the members {first:?} and {second:?}: send one of them, names are read in any case"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn two_members_of_one_name_are_refused_with_both() {
        let refused = |mut document: Value| {
            of_definition(&mut document, "the body").unwrap_err().detail().to_owned()
        };
        let top = refused(json!({"name": "a", "Name": "b"}));
        assert!(top.starts_with("the body has the members \"name\" and \"Name\""), "{top}");
        let below = refused(json!({"outputs": [{}, {"NAME": "a", "Name": "b"}]}));
        assert!(below.starts_with("outputs[1] of the body has the members \"NAME\""), "{below}");
    }
}
