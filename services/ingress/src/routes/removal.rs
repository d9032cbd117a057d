//! Removals of many definitions or versions. One that cannot be removed stays, and keeps no other back.

use std::sync::Arc;

use axum::Json;
use model::{DefinitionId, Map, VersionId};
use serde_json::{Value, json};

use crate::auth::caller::Caller;
use crate::publication::Precondition;
use crate::{App, Problem, publication};

/// The passes over what is left, at most. One after which nothing more is removed is the last one, too.
const PASSES_MAX: usize = 8;
/// The reasons that a text has; all of them are in `problems`.
const SHOWN_MAX: usize = 10;

/// A definition, or one version of one, to remove.
#[derive(Debug)]
pub(super) enum Removal {
    Definition(DefinitionId),
    Version(VersionId),
}

impl Removal {
    fn id(&self) -> &str {
        match self {
            Self::Definition(id) => id.as_str(),
            Self::Version(id) => id.as_str(),
        }
    }

    /// Removes it; false if there is none.
    async fn run(&self, app: &Arc<App>, caller: &Caller) -> Result<bool, Problem> {
        match self {
            Self::Definition(id) => {
                let is_removed = publication::delete(app, id, &Precondition::None).await?;
                if is_removed {
                    app.audit_later(caller, "definition.delete", id.as_str(), Value::Null).await;
                }
                Ok(is_removed)
            }
            Self::Version(id) => {
                let is_removed = publication::delete_version(app, id).await?;
                if is_removed {
                    app.audit(caller, "version.delete", id.as_str(), Value::Null).await;
                }
                Ok(is_removed)
            }
        }
    }
}

/// The end of one pass.
#[derive(Default)]
struct Pass {
    removed: usize,
    /// Those that stay, and why. If the last one has a problem of the server, the pass ended there.
    left: Vec<(Removal, Problem)>,
}

impl Pass {
    async fn over(app: &Arc<App>, caller: &Caller, removals: Vec<Removal>) -> Self {
        let mut pass = Self::default();
        for removal in removals {
            match removal.run(app, caller).await {
                Ok(is_removed) => pass.removed += usize::from(is_removed),
                Err(problem) => {
                    pass.left.push((removal, problem));
                    if pass.is_cut() {
                        break;
                    }
                }
            }
        }
        pass
    }

    /// The database does not answer, so the others would end in the same way.
    fn is_cut(&self) -> bool {
        self.left.last().is_some_and(|(_, problem)| problem.status().is_server_error())
    }
}

/// Removes these, and answers with the number of those that were removed.
///
/// # Errors
/// Some stay: the problem has that number, too (`deleted`), their ids (`failed`) and the reasons
/// (`problems`).
pub(super) async fn remove_all(
    app: &Arc<App>,
    caller: &Caller,
    removals: Vec<Removal>,
    what: &str,
) -> Result<Json<Value>, Problem> {
    let all = removals.len();
    let (mut deleted, mut passes, mut rest) = (0, 0, removals);
    let left = loop {
        let pass = Pass::over(app, caller, rest).await;
        deleted += pass.removed;
        passes += 1;
        if pass.left.is_empty() || pass.removed == 0 || pass.is_cut() || passes == PASSES_MAX {
            break pass.left;
        }
        // One that was used as an activity may be used no more. Users often come after what they use.
        rest = pass.left.into_iter().rev().map(|(removal, _)| removal).collect();
    };
    if left.is_empty() {
        return Ok(Json(json!({ "deleted": deleted })));
    }
    Err(stay(left, &format!("{deleted} of {all} {what} are removed")).with("deleted", deleted))
}

/// The problem of those that stay: the last one's, with the reasons of the others before it.
fn stay(mut left: Vec<(Removal, Problem)>, so_far: &str) -> Problem {
    let failed: Vec<Value> = left.iter().map(|(removal, _)| json!(removal.id())).collect();
    let reasons = left.iter().map(|(removal, why)| (removal.id().to_owned(), json!(why.texts())));
    let problems: Map = reasons.collect();
    let Some((last, problem)) = left.pop() else { return Problem::internal() };
    let mut detail = format!("{so_far}; ");
    for (removal, why) in left.iter().take(SHOWN_MAX - 1) {
        detail.push_str(&format!("{:?}: {}; ", removal.id(), why.detail()));
    }
    if left.len() >= SHOWN_MAX {
        let more = left.len() - (SHOWN_MAX - 1);
        detail.push_str(&format!("{more} more: see problems; "));
    }
    detail.push_str(&format!("{:?}", last.id()));
    problem.of(&detail).with("failed", failed).with("problems", Value::Object(problems))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(count: usize) -> Vec<(Removal, Problem)> {
        let one = |at| {
            let problem = Problem::conflict("in-use", format!("reason {at}"));
            (Removal::Definition(DefinitionId::new(format!("d{at}"))), problem)
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_problem_names_those_that_stay() {
        let problem = stay(left(1), "2 of 3 definitions are removed");
        assert_eq!(problem.detail(), "2 of 3 definitions are removed; \"d0\": reason 0");
        assert_eq!(problem.member("failed"), Some(&json!(["d0"])));
        assert_eq!(problem.member("problems"), Some(&json!({"d0": ["reason 0"]})));
        let problem = stay(left(2), "x");
        assert_eq!(problem.detail(), "x; \"d0\": reason 0; \"d1\": reason 1");
        let problem = stay(left(10), "x");
        assert!(problem.detail().contains("\"d8\": reason 8; \"d9\": reason 9"), "{problem:?}");
        let problem = stay(left(1_000), "x");
        let end = "\"d8\": reason 8; 990 more: see problems; \"d999\": reason 999";
        assert!(problem.detail().ends_with(end), "{problem:?}");
        let problems = problem.member("problems").and_then(Value::as_object);
        assert_eq!(problems.map(Map::len), Some(1_000));
    }
}
