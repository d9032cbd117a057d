//! Says which version of a definition is missing, and what to ask for instead.

use model::DefinitionId;
use store::VersionOption;

use crate::app::App;
use crate::problem::Problem;

/// 404 for a definition.
pub(crate) fn unknown(id: &DefinitionId) -> Problem {
    Problem::not_found(format!("there is no workflow definition {:?}", id.as_str()))
}

/// 404 for a version of a definition: which is missing, and which there are.
pub(crate) async fn missing_version(
    app: &App,
    id: &DefinitionId,
    wanted: VersionOption,
) -> Result<Problem, Problem> {
    let latest = app.cx.store.definition(id, VersionOption::Latest).await?;
    let Some(latest) = latest else { return Ok(unknown(id)) };
    let published = app.cx.store.definition(id, VersionOption::Published).await?;
    let published = published.map(|published| published.version);
    let (id, latest) = (id.as_str(), latest.version);
    Ok(Problem::not_found(match wanted {
        VersionOption::Draft => format!(
            "workflow definition {id:?} has no draft: its latest version, {latest}, is published; \
             ask for versionOptions Latest or Published, or save a change first"
        ),
        VersionOption::Published => format!(
            "workflow definition {id:?} has no published version: its latest version is {latest}; \
             publish it first, or ask for versionOptions Latest"
        ),
        VersionOption::LatestAndPublished => {
            let other = if published.is_some() { "Latest or Published" } else { "Latest" };
            format!(
                "the latest version of workflow definition {id:?}, {latest}, is not published: ask \
                 for versionOptions {other}"
            )
        }
        other => {
            let published = match published {
                Some(version) if version == latest => "which is published".to_owned(),
                Some(version) => format!("and version {version} is published"),
                None => "and none is published".to_owned(),
            };
            format!(
                "workflow definition {id:?} has no version {other}: the latest is version {latest}, \
                 {published}"
            )
        }
    }))
}
