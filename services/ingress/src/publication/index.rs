//! Validates a version and finds its triggers.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use catalog::run_apart;
use engine::{Examined, Library, Named, Problem as Flaw, Triggers};
use model::{
    ActivityId, CommandId, Definition, DefinitionId, MessageSource, Schedule, Stimulus, Trigger,
};
use serde_json::{Value, json};
use store::{VersionOption, check};

use crate::app::App;
use crate::problem::Problem;
use crate::{schedule, streams, workers};

/// The input that names the workflow which an activity starts.
pub(super) const CHILD: &str = "workflowDefinitionId";

/// How long a publication waits for what NATS says about the streams of its triggers.
const STREAMS_TIME_MAX: Duration = Duration::from_secs(3);

/// A valid version, with its triggers and schedules.
pub(super) struct Index {
    pub(super) definition: Definition,
    pub(super) triggers: Vec<Trigger>,
    pub(super) schedules: Vec<Schedule>,
    /// What its author should know, though it runs.
    pub(super) warnings: Vec<Value>,
    /// The workflows that its activities start.
    pub(super) children: Children,
}

/// Activities, and the workflow that each starts.
pub(super) type Children = Vec<(ActivityId, DefinitionId)>;

impl Index {
    /// Examines the version and names all problems. Versions that it uses as activities and that are
    /// not stored yet are in `known`.
    pub(super) async fn of(
        app: &Arc<App>,
        definition: Definition,
        known: Library,
    ) -> Result<Self, Problem> {
        let (definition, library) = pinned(app, definition, known).await?;
        let mut errors: Vec<_> =
            library.versions().filter(|used| !used.is_immutable()).map(unpublished).collect();
        let shared = Arc::clone(app);
        let examined = run_apart("compile", move || {
            let env = shared.env(CommandId::new(definition.id.as_str()));
            let found = shared.cx.engine.examine(&definition, &library, &env);
            (definition, found)
        });
        // A panic is logged already.
        let (definition, found) = examined.await.map_err(|_panicked| Problem::internal())?;
        let Examined { triggers, problems, children, named } = found;
        let Triggers { stimuli: triggers, mut schedules } = triggers;
        let (flaws, warnings): (Vec<_>, Vec<_>) = problems.iter().partition(|one| one.is_error());
        errors.extend(flaws.into_iter().map(shown));
        let known: BTreeSet<_> = errors.iter().map(place_of).collect();
        let deaf = deaf(app, &definition.definition_id, &triggers);
        let refused = refused(app, &definition.definition_id, &named).into_iter();
        let refused = refused.filter(|warning| !known.contains(&place_of(warning)));
        let unfed = unfed(app, &definition.definition_id, &triggers);
        let unfed = tokio::time::timeout(STREAMS_TIME_MAX, unfed).await.unwrap_or_default();
        let warnings = warnings.into_iter().map(shown).chain(deaf).chain(refused).chain(unfed);
        let warnings: Vec<_> = warnings.collect();
        // A time that never comes is known already where it is written out.
        let late = schedule::begin(&mut schedules, app.now()).into_iter();
        let late: Vec<_> = late.filter(|error| !known.contains(&place_of(error))).collect();
        errors.extend(late);
        errors.extend(clashes(app, &definition.definition_id, &triggers).await?);
        if !errors.is_empty() {
            return Err(Problem::invalid_definition(errors).with("validationWarnings", warnings));
        }
        Ok(Self { definition, triggers, schedules, warnings, children })
    }
}

/// The definition, and those that it uses as activities. A version that was never published gets
/// written into it which versions they are, so that it means the same ones for ever.
pub(super) async fn pinned(
    app: &App,
    mut definition: Definition,
    known: Library,
) -> Result<(Definition, Library), Problem> {
    let known = workers::known(app, &definition, known).await?;
    let library = catalog::library(&*app.cx.store, &app.cx.engine, &definition, known).await?;
    if !definition.is_immutable() {
        app.cx.engine.pin(&mut definition, &library);
    }
    Ok((definition, library))
}

/// The published version, if this draft without documents of types of workers has the same content with
/// those of that version: a type that it uses may be gone by now.
pub(super) async fn as_published(
    app: &App,
    draft: &Definition,
    latest: Option<&Definition>,
    known: Library,
) -> Result<Option<Definition>, Problem> {
    let keeps = |latest: &&Definition| latest.is_published && !latest.activity_types.is_empty();
    let Some(latest) = latest.filter(keeps).filter(|_| draft.activity_types.is_empty()) else {
        return Ok(None);
    };
    let activity_types = latest.activity_types.clone();
    let (content, _) = pinned(app, Definition { activity_types, ..draft.clone() }, known).await?;
    Ok(latest.has_content_of(&content).then(|| latest.clone()))
}

/// A warning for each activity that starts a workflow of which nothing is published, neither before
/// nor together with these.
pub(super) async fn missing(
    app: &App,
    children: Children,
    together: &BTreeSet<DefinitionId>,
) -> Result<Vec<Value>, Problem> {
    let mut warnings = Vec::new();
    for (activity_id, id) in children {
        let is_there = together.contains(&id)
            || app.cx.store.definition(&id, VersionOption::Published).await?.is_some();
        if !is_there {
            let message = format!(
                "no workflow {:?} is published: this activity fails until there is one",
                id.as_str()
            );
            let mut warning = shown(&Flaw::warning(Some(&activity_id), Some(CHILD), message));
            warning[CHILD] = json!(id);
            warnings.push(warning);
        }
    }
    Ok(warnings)
}

fn unpublished(used: &Definition) -> Value {
    let id = &used.definition_id;
    let name = used.name.as_deref().filter(|name| !name.is_empty() && *name != id.as_str());
    let called = name.map_or_else(|| id.to_string(), |name| format!("{name:?} ({id})"));
    let message = format!(
        "the workflow {called} is used as an activity and was never published: publish it first"
    );
    json!({"message": message, "activityId": null, "property": null})
}

/// The activity and the property of an error.
fn place_of(error: &Value) -> (String, String) {
    (error["activityId"].to_string(), error["property"].to_string())
}

fn shown(flaw: &Flaw) -> Value {
    let mut shown =
        json!({"message": flaw.message, "activityId": flaw.activity_id, "property": flaw.property});
    if !flaw.is_error() {
        shown["severity"] = json!(flaw.severity);
    }
    shown
}

/// A warning for each trigger that listens where the configuration of this node, which executors usually
/// share, does not allow it: nothing would start, and only the log of the executors says so.
fn deaf(app: &App, id: &DefinitionId, triggers: &[Trigger]) -> Vec<Value> {
    let messages = triggers.iter().filter(|trigger| trigger.name == Stimulus::MESSAGE);
    let refused = messages.filter_map(|trigger| {
        let source = MessageSource::of(&trigger.payload)?;
        let reason = app.config.nats.allow_source(id, &source).err()?;
        let message =
            format!("nothing starts here yet: by the configuration of this node, {reason}");
        Some(shown(&Flaw::warning(Some(&trigger.activity_id), None, message)))
    });
    refused.collect()
}

/// A warning for each trigger that listens to a stream which does not exist.
async fn unfed(app: &App, id: &DefinitionId, triggers: &[Trigger]) -> Vec<Value> {
    let messages = triggers.iter().filter(|trigger| trigger.name == Stimulus::MESSAGE);
    let followed = messages.filter_map(|trigger| {
        let source = MessageSource::of(&trigger.payload)?;
        let is_allowed = app.config.nats.allow_source(id, &source).is_ok();
        Some((&trigger.activity_id, source.stream.filter(|_| is_allowed)?))
    });
    let mut known = BTreeMap::new();
    let mut warnings = Vec::new();
    for (activity_id, stream) in followed {
        let missing = match known.entry(stream) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let missing = streams::missing(app, unknown.key()).await.unwrap_or_default();
                unknown.insert(missing)
            }
        };
        if let Some(reason) = missing {
            let message = format!("nothing starts here yet: {reason}");
            warnings.push(shown(&Flaw::warning(Some(activity_id), None, message)));
        }
    }
    warnings
}

/// A warning for each activity that uses a subject or a bucket which the configuration of this node, which
/// executors usually share, does not allow.
fn refused(app: &App, id: &DefinitionId, named: &[Named]) -> Vec<Value> {
    let refused = named.iter().filter_map(|Named { activity_id, input, name, is_heard }| {
        let nats = &app.config.nats;
        let allowed = match *input {
            "subject" => nats.allow_subject(id, name),
            _ => nats.allow_bucket(id, name, "the bucket"),
        };
        let reason = allowed.err()?;
        let what = match *is_heard {
            true => "nothing is heard here yet",
            false => "this activity fails for now",
        };
        let message = format!("{what}: by the configuration of this node, {reason}");
        Some(shown(&Flaw::warning(Some(activity_id), Some(*input), message)))
    });
    refused.collect()
}

/// The HTTP routes that receive the same requests as another trigger, of another definition or of
/// this one.
async fn clashes(
    app: &App,
    id: &DefinitionId,
    triggers: &[Trigger],
) -> Result<Vec<Value>, Problem> {
    let own: Vec<_> =
        triggers.iter().filter_map(|one| check::route(one).map(|route| (route, one))).collect();
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let others = app.cx.store.triggers_named(check::HTTP_ENDPOINT).await?;
    let others: BTreeSet<_> =
        others.iter().filter(|other| other.definition_id != *id).filter_map(check::route).collect();
    let mut errors = Vec::new();
    let mut seen = BTreeMap::new();
    for (route, trigger) in own {
        if others.contains(&route) {
            errors.push(taken(trigger));
        } else if let Some(first) = seen.insert(route, &trigger.activity_id) {
            let message = format!(
                "activity {first} receives the same requests: give one of them another path or \
                 method"
            );
            errors.push(json!({
                "message": message, "activityId": trigger.activity_id, "property": "path"
            }));
        }
    }
    Ok(errors)
}

/// The error of an HTTP endpoint whose route a workflow has that is published together with it.
pub(super) fn shared(trigger: &Trigger, with: &DefinitionId) -> Value {
    let message = format!(
        "workflow {with} receives the same requests: give one of them another path or method"
    );
    json!({"message": message, "activityId": trigger.activity_id, "property": "path"})
}

/// 400: another definition has this route.
pub(super) fn route_taken(trigger: &Trigger) -> Problem {
    Problem::invalid_definition(vec![taken(trigger)])
}

/// The message in Elsa's words.
fn taken(trigger: &Trigger) -> Value {
    let text = |name: &str| trigger.payload.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = format!(
        "The {} path and {} method are already in use by another workflow!",
        text("Path"),
        text("Method")
    );
    json!({"message": message, "activityId": trigger.activity_id, "property": "path"})
}
