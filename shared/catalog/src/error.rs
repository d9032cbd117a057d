//! Reasons why there is no program.

use engine::Problem;
use model::VersionId;

/// The reason why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database does not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The bus does not answer.
    #[error(transparent)]
    Bus(#[from] bus::Error),
    /// A stored version does not compile, as after a downgrade.
    #[error("definition version {version_id} does not compile: {}", listed(problems))]
    Broken {
        /// The version.
        version_id: VersionId,
        /// Everything that is wrong with it.
        problems: Vec<Problem>,
    },
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
