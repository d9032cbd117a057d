//! Validates a start: its names are short enough, its definition is published, its version can run.

use std::sync::Arc;

use axum::http::StatusCode;
use engine::{FlowMode, Program};
use model::{ActivityId, DefinitionId, InstanceId, Map, VersionId};
use store::VersionOption;

use crate::app::App;
use crate::bounds;
use crate::problem::Problem;
use crate::publication;

/// Ids that no instance may have: routes have these names in the place of an id.
const RESERVED: [&str; 3] = ["start", "query", "counts"];

/// The members of a request for a start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beginning {
    /// The definition.
    pub(crate) definition_id: DefinitionId,
    /// The version; if none, the published one.
    pub(crate) version: Option<VersionOption>,
    /// Exactly this version of it.
    pub(crate) version_id: Option<VersionId>,
    /// The id of the instance; if none, the command's own, or one derived from it for a request
    /// with a key.
    pub(crate) instance_id: Option<InstanceId>,
    pub(crate) input: Map,
    /// Properties of the instance, such as `Flowchart:ExecutionMode`.
    pub(crate) properties: Map,
    pub(crate) correlation_id: Option<String>,
    pub(crate) name: Option<String>,
    /// The trigger that received a stimulus.
    pub(crate) trigger_activity_id: Option<ActivityId>,
    /// What it takes over from the instance that it repeats.
    pub(crate) restart: Option<Box<protocol::Restart>>,
    /// An HTTP client waits for the response of `WriteHttpResponse`.
    pub(crate) responds: bool,
    /// The limit of its definition has counted it already.
    pub(crate) is_counted: bool,
}

impl Beginning {
    /// Refuses names that are too long, and ids that are names of routes.
    fn check(&self) -> Result<(), Problem> {
        if let Some(id) = self.instance_id.as_ref().filter(|id| RESERVED.contains(&id.as_str())) {
            return Err(Problem::bad_request(format!(
                "an instance cannot have the id {id}, which is the name of a route: use another"
            )));
        }
        if let Some(mode) = self.properties.get(FlowMode::PROPERTY) {
            FlowMode::named(mode).map_err(|reason| {
                Problem::bad_request(format!("properties: {}: {reason}", FlowMode::PROPERTY))
            })?;
        }
        bounds::optional("correlationId", self.correlation_id.as_deref())?;
        bounds::optional("name", self.name.as_deref())?;
        bounds::optional(
            "triggerActivityId",
            self.trigger_activity_id.as_ref().map(ActivityId::as_str),
        )
    }
}

/// The program of the version that is to be started, if it can begin so.
pub(crate) async fn start(app: &Arc<App>, beginning: &Beginning) -> Result<Arc<Program>, Problem> {
    beginning.check()?;
    app.must_be_current().await?;
    let program = program(app, beginning).await?;
    // A trigger gets its own input, not the workflow's.
    if beginning.trigger_activity_id.is_none() {
        check_input(&program, &beginning.input)?;
    }
    let restart = beginning.restart.as_deref().map(|restart| engine::Restart {
        activity: restart.activity_id.clone(),
        variables: restart.variables.clone(),
    });
    let trigger = beginning.trigger_activity_id.as_ref();
    program.can_begin(trigger, restart.as_ref()).map_err(|failure| {
        match failure.code.as_str() {
            "InvalidVariable" => Problem::bad_request(failure.message),
            _ => Problem::not_found(failure.message),
        }
    })?;
    Ok(program)
}

/// Refuses an input that does not fit what the workflow declares.
fn check_input(program: &Program, input: &Map) -> Result<(), Problem> {
    let flaws = program.input_flaws(input);
    if flaws.is_empty() {
        return Ok(());
    }
    let named: Vec<_> = flaws.iter().map(|(name, flaw)| format!("{name}: {flaw}")).collect();
    let detail = format!("the input does not fit the workflow: {}", named.join("; "));
    let flaws: Map = flaws.into_iter().map(|(name, flaw)| (name, flaw.into())).collect();
    Err(Problem::new(StatusCode::BAD_REQUEST, "invalid-input", detail).with("inputErrors", flaws))
}

/// The program of the version that is named.
///
/// # Errors
/// 404 when there is no such version, or none is published.
pub(crate) async fn program(
    app: &Arc<App>,
    beginning: &Beginning,
) -> Result<Arc<Program>, Problem> {
    let id = &beginning.definition_id;
    if let Some(version_id) = &beginning.version_id {
        let program = app.cx.catalog.program(version_id).await?;
        return program.filter(|found| found.definition_id() == id).ok_or_else(|| {
            Problem::not_found(format!(
                "workflow definition {:?} has no version {version_id}",
                id.as_str()
            ))
        });
    }
    match beginning.version {
        None | Some(VersionOption::Published) => {
            let program = app.cx.catalog.published(id, None).await?;
            match program {
                Some(program) => Ok(program),
                None => Err(not_published(app, id).await?),
            }
        }
        Some(version) => {
            let Some(found) = app.cx.store.definition(id, version).await? else {
                return Err(publication::missing_version(app, id, version).await?);
            };
            // A version must not change under its instances.
            let found = match found.is_immutable() {
                true => found,
                false => publication::keep(app, found).await?,
            };
            app.cx.catalog.program(&found.id).await?.ok_or_else(|| publication::unknown(id))
        }
    }
}

async fn not_published(app: &App, id: &DefinitionId) -> Result<Problem, Problem> {
    let latest = app.cx.store.definition(id, VersionOption::Latest).await?;
    Ok(match latest {
        None => publication::unknown(id),
        Some(_) => Problem::not_found(format!(
            "workflow definition {:?} is not published: publish it first",
            id.as_str()
        )),
    })
}
