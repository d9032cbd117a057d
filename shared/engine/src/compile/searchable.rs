//! The searchable variables that a definition declares.

use std::collections::BTreeMap;

use model::{ActivityId, Searchable, Variable, limits};

use super::Compiler;
use super::declared::place;
use crate::Type;
use crate::keeping::is_credential;
use crate::outline::Declared;

impl Compiler<'_> {
    /// Marks the searchable variables of the workflow.
    pub(super) fn searchable(&mut self, all: &[Variable], declared: &mut [Declared]) {
        let mut count = 0;
        for (at, (variable, declared)) in all.iter().zip(declared).enumerate() {
            match checked(variable, &declared.ty, declared.is_hidden) {
                Ok(None) => {}
                Ok(kind) => {
                    count += 1;
                    declared.searchable = kind.filter(|_| count <= limits::SEARCHABLE_MAX);
                }
                Err(message) => {
                    let place = place("variables", at, "searchable");
                    self.findings.oversight(None, Some(&place), message);
                }
            }
        }
        if count > limits::SEARCHABLE_MAX {
            let message = format!(
                "{count} variables are searchable: leave searchable out of all but {}",
                limits::SEARCHABLE_MAX
            );
            self.findings.oversight(None, Some("variables"), message);
        }
    }

    /// Refuses searchable variables of an activity.
    pub(super) fn refuse_searchable(
        &mut self,
        activity: &ActivityId,
        variables: &BTreeMap<usize, Variable>,
    ) {
        let named = variables.iter().filter(|(_, variable)| variable.searchable() != Ok(None));
        for (at, variable) in named {
            let message = format!(
                "variable {} cannot be searchable: only variables of the workflow itself are, and \
                 an activity may run more than once; set a variable of the workflow",
                variable.shown_name()
            );
            let place = place("variables", *at, "searchable");
            self.findings.oversight(Some(activity), Some(&place), message);
        }
    }
}

/// What a variable of the workflow is compared as.
///
/// # Errors
/// The reason why it cannot be searchable.
fn checked(variable: &Variable, ty: &Type, is_hidden: bool) -> Result<Option<Searchable>, String> {
    let name = variable.shown_name();
    let about = |message: String| format!("variable {name} cannot be searchable: {message}");
    let kind = variable.searchable().map_err(|error| about(format!("{error}; use one of them")))?;
    let Some(kind) = kind else { return Ok(None) };
    if is_hidden {
        return Err(about(
            "it is of the memory driver, whose values never leave the instance: use \
             WorkflowInstanceStorageDriver"
                .to_owned(),
        ));
    }
    if is_credential(name) {
        return Err(about(
            "its name says that it is a credential, and values of the index are not secret: give it \
             another name, or leave searchable out"
                .to_owned(),
        ));
    }
    if name.len() > limits::SEARCHABLE_NAME_BYTES_MAX {
        let (bytes, max) = (name.len(), limits::SEARCHABLE_NAME_BYTES_MAX);
        return Err(about(format!("its name has {bytes} bytes: use at most {max}")));
    }
    if name.contains('\0') {
        return Err(about("its name has a NUL character: leave it out".to_owned()));
    }
    let fitting: &[Searchable] = match ty {
        Type::Object | Type::Json => &Searchable::ALL,
        Type::String | Type::Text(_) => &[Searchable::Text],
        Type::Boolean => &[Searchable::Boolean],
        Type::Integer(_) | Type::Unsigned(_) | Type::Double => &[Searchable::Number],
        Type::DateTime => &[Searchable::Time],
        _ => &[],
    };
    if fitting.contains(&kind) {
        return Ok(Some(kind));
    }
    let alias = ty.alias();
    Err(about(match fitting {
        [one] => format!("its type is {alias}, which is not searched as {kind}: use {one}"),
        _ => format!(
            "its type is {alias}, which has no searchable form: use a variable of type String, \
             Boolean, a number type or DateTime beside it"
        ),
    }))
}
