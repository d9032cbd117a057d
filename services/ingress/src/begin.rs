//! Makes a start: which version runs, under which id, with what.

use std::sync::Arc;

use engine::Program;
use model::{ActivityId, DefinitionId, Instance, InstanceId, Map, SubStatus, VersionId};
use protocol::{Body, Start};
use store::{NewInstance, VersionOption};

use crate::publication::{self, is_immutable};
use crate::submit::{self, Asking, Patience, Started};
use crate::{App, Problem};

/// What is to be started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beginning {
    /// Of which definition.
    pub(crate) definition_id: DefinitionId,
    /// Which version of it; the published one when none is given.
    pub(crate) version: Option<VersionOption>,
    /// Exactly this version.
    pub(crate) version_id: Option<VersionId>,
    /// Under this id; the command's own, or for a keyed one a derived id, when none is given.
    pub(crate) instance_id: Option<InstanceId>,
    pub(crate) input: Map,
    pub(crate) correlation_id: Option<String>,
    pub(crate) name: Option<String>,
    /// The trigger that received a stimulus.
    pub(crate) trigger_activity_id: Option<ActivityId>,
    /// An HTTP client waits for what `WriteHttpResponse` says.
    pub(crate) responds: bool,
}

/// Accepts a start, publishes it and waits as long as the caller wants to.
pub(crate) async fn start(
    app: &Arc<App>,
    asking: &Asking,
    beginning: Beginning,
    patience: Patience,
) -> Result<Started, Problem> {
    app.must_be_current()?;
    let program = program(app, &beginning).await?;
    let new = prepare(app, asking, beginning, &program, patience)?;
    submit::start(app, asking, new, patience).await
}

async fn program(app: &App, beginning: &Beginning) -> Result<Arc<Program>, Problem> {
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
            let found = app.cx.store.definition(id, version).await?;
            let found = found.ok_or_else(|| publication::unknown(id))?;
            if !is_immutable(&found) {
                return Err(Problem::bad_request(format!(
                    "version {} of workflow definition {:?} is a draft, which can still change \
                     under a running instance: publish it first",
                    found.version,
                    id.as_str()
                )));
            }
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

fn prepare(
    app: &App,
    asking: &Asking,
    beginning: Beginning,
    program: &Program,
    patience: Patience,
) -> Result<NewInstance, Problem> {
    let correlation_id = beginning.correlation_id.filter(|id| !id.is_empty());
    let own_id = || (!asking.is_keyed).then(|| InstanceId::new(asking.id.as_str()));
    let start = Start {
        definition_id: program.definition_id().clone(),
        instance_id: beginning.instance_id.or_else(own_id),
        version_id: Some(program.version_id().clone()),
        input: beginning.input,
        correlation_id: correlation_id.clone(),
        name: beginning.name.clone(),
        trigger_activity_id: beginning.trigger_activity_id,
        parent: None,
        pointer_revision: None,
        responds: beginning.responds,
    };
    let id = start.instance_id(&asking.id);
    let command = asking.command(app, Body::Start(start), patience);
    let now = app.now();
    let instance = Instance {
        id,
        definition_id: program.definition_id().clone(),
        version_id: program.version_id().clone(),
        definition_version: program.version(),
        version: 0,
        status: SubStatus::Pending,
        correlation_id: correlation_id.clone(),
        name: beginning.name,
        parent: None,
        incidents: 0,
        created_at: now,
        updated_at: now,
        finished_at: None,
        state: Vec::new(),
    };
    let activation_key = program.activation_key(correlation_id.as_deref());
    Ok(NewInstance { instance, command: submit::encoded(&command)?, activation_key })
}
