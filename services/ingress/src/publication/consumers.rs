//! Definitions that use another one: as an activity, or by its id.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::http::StatusCode;
use engine::{Engine, Library, Reference};
use model::{Definition, DefinitionId, VersionId};
use serde_json::Value;
use store::{DefinitionFilter, Page, Publication, VersionOption};

use super::index::CHILD;
use super::{Checked, of_definition};
use crate::app::App;
use crate::problem::Problem;

const PAGE: u64 = 100;

/// The definitions that use another one, by their latest versions.
pub(crate) struct Users {
    /// They have it as an activity, directly or through others.
    pub(crate) consumers: Vec<DefinitionId>,
    /// An activity of theirs runs or starts it, by its id.
    pub(crate) callers: Vec<DefinitionId>,
}

/// The ids of the definitions whose latest version uses this one, directly or through others.
pub(super) async fn of(app: &App, id: &DefinitionId) -> Result<Vec<DefinitionId>, Problem> {
    Ok(consumers(app, id, &all(app, VersionOption::Latest).await?))
}

/// All definitions whose latest version uses this one.
pub(super) async fn users(app: &App, id: &DefinitionId) -> Result<Users, Problem> {
    let latest = all(app, VersionOption::Latest).await?;
    let consumers = consumers(app, id, &latest);
    let callers = latest.into_iter().filter(|other| {
        let other_id = &other.definition_id;
        other_id != id && !consumers.contains(other_id) && calls(&other.root, id)
    });
    let callers = callers.map(|other| other.definition_id).collect();
    Ok(Users { consumers, callers })
}

/// Whether an activity in this part of a definition names the workflow, other than by an expression.
fn calls(part: &Value, id: &DefinitionId) -> bool {
    match part {
        Value::Array(items) => items.iter().any(|item| calls(item, id)),
        Value::Object(members) => {
            let named = members.get(CHILD).and_then(literal);
            named == Some(id.as_str()) || members.values().any(|member| calls(member, id))
        }
        _ => false,
    }
}

/// The text of an input that is written out.
fn literal(input: &Value) -> Option<&str> {
    let expression = &input["expression"];
    let is_literal = expression["type"] == "Literal";
    input.as_str().or_else(|| expression["value"].as_str().filter(|_| is_literal))
}

fn consumers(app: &App, id: &DefinitionId, latest: &[Definition]) -> Vec<DefinitionId> {
    let references: Vec<_> =
        latest.iter().map(|other| (other, app.cx.engine.references(other))).collect();
    let mut found: Vec<DefinitionId> = Vec::new();
    let mut rest = vec![id.clone()];
    while let Some(used) = rest.pop() {
        let users = references.iter().filter(|(_, references)| {
            references.iter().any(|reference| reference.definition_id.as_ref() == Some(&used))
        });
        for (user, _) in users {
            let user = &user.definition_id;
            if user != id && !found.contains(user) {
                found.push(user.clone());
                rest.push(user.clone());
            }
        }
    }
    found
}

/// Refuses with 409 if another definition uses this one as an activity: one of its versions, or
/// this one only. Instances of any version may run, so all versions are searched.
pub(super) async fn refuse_used(
    app: &App,
    id: &DefinitionId,
    version_id: Option<&VersionId>,
) -> Result<(), Problem> {
    let versions = all(app, VersionOption::All).await?;
    let user = versions.iter().filter(|other| other.definition_id != *id).find(|other| {
        let mut references = app.cx.engine.references(other).into_iter();
        references.any(|reference| match version_id {
            Some(version_id) => reference.version_id.as_ref() == Some(version_id),
            None => reference.definition_id.as_ref() == Some(id),
        })
    });
    let Some(user) = user else { return Ok(()) };
    let detail = format!(
        "version {} of workflow definition {} uses it as an activity: delete that version first",
        user.version, user.definition_id
    );
    Err(Problem::conflict("in-use", detail))
}

/// Published versions, from which new versions of their users spread.
pub(super) struct Spread {
    /// The definitions whose users get new versions.
    pub(super) from: BTreeSet<DefinitionId>,
    /// The new versions that are there already; their definitions get no other.
    pub(super) news: BTreeMap<DefinitionId, Definition>,
    /// All new versions by their ids: they need not be stored yet.
    pub(super) known: Library,
}

impl Spread {
    /// The users of one version get new versions.
    pub(super) fn of(changed: &Definition) -> Self {
        let mut known = Library::default();
        known.add(reference_to(changed), changed.clone());
        let id = &changed.definition_id;
        let news = BTreeMap::from([(id.clone(), changed.clone())]);
        Self { from: BTreeSet::from([id.clone()]), news, known }
    }
}

/// New versions of definitions that use others.
#[derive(Default)]
pub(super) struct Updates {
    pub(super) publications: Vec<Publication>,
    /// What their authors should know, each with its `definitionId`.
    pub(super) warnings: Vec<Value>,
}

impl Updates {
    /// The new versions.
    pub(super) fn definitions(&self) -> Vec<Definition> {
        self.publications.iter().map(|update| update.definition.clone()).collect()
    }
}

/// New versions of the published definitions that use other versions of these, each after those
/// that it uses. A definition that uses one of them gets a new version too if the one that it uses
/// asks for that. Drafts and read-only definitions are left as they are.
pub(super) async fn updates(app: &Arc<App>, spread: Spread) -> Result<Updates, Problem> {
    if spread.from.is_empty() {
        return Ok(Updates::default());
    }
    let mut published = all(app, VersionOption::Latest).await?;
    published.retain(|other| other.is_published && !other.is_readonly);
    let engine = &app.cx.engine;
    let affected = affected(engine, &spread, &published).map_err(circle)?;
    let Spread { mut news, mut known, .. } = spread;
    let mut updates = Updates::default();
    for consumer in affected {
        let mut next = super::next_version(app, consumer.clone(), Some(consumer));
        let mut meant = Library::default();
        for reference in engine.references(&next) {
            let new = reference.definition_id.as_ref().and_then(|id| news.get(id));
            if let Some(new) = new {
                meant.add(reference, new.clone());
            }
        }
        engine.pin(&mut next, &meant);
        let update = super::publication(app, next, Some(consumer), known.clone()).await;
        let checked = update.map_err(|problem| {
            let id = &consumer.definition_id;
            problem.of(&format!("workflow definition {id} uses it and gets no new version"))
        })?;
        let Checked { publication: update, warnings, .. } = checked;
        let id = &consumer.definition_id;
        known.add(reference_to(&update.definition), update.definition.clone());
        news.insert(id.clone(), update.definition.clone());
        updates.warnings.extend(warnings.iter().map(|warning| of_definition(warning, id)));
        updates.publications.push(update);
    }
    Ok(updates)
}

/// The reference that names exactly this version.
pub(super) fn reference_to(definition: &Definition) -> Reference {
    Reference {
        definition_id: Some(definition.definition_id.clone()),
        version_id: Some(definition.id.clone()),
        ..Reference::default()
    }
}

/// The definitions that get a new version, each after those that it uses.
///
/// # Errors
/// See [`ordered`].
fn affected<'d>(
    engine: &Engine,
    spread: &Spread,
    published: &'d [Definition],
) -> Result<Vec<&'d Definition>, Vec<&'d Definition>> {
    let others = published.iter().filter(|other| !spread.news.contains_key(&other.definition_id));
    let mut others: Vec<_> = others.map(|other| (other, engine.references(other))).collect();
    let mut spreading: BTreeSet<_> = spread.from.iter().collect();
    let mut found = Vec::new();
    loop {
        let is_affected = |reference: &Reference| {
            let Some(used) = &reference.definition_id else { return false };
            let is_current = spread
                .news
                .get(used)
                .is_some_and(|new| reference.version_id.as_ref() == Some(&new.id));
            spreading.contains(used) && !is_current
        };
        let (new, rest): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|(_, references)| references.iter().any(is_affected));
        others = rest;
        if new.is_empty() {
            break;
        }
        for (definition, _) in new {
            found.push(definition);
            if definition.options.auto_update_consuming_workflows == Some(true) {
                spreading.insert(&definition.definition_id);
            }
        }
    }
    ordered(engine, found.into_iter())
}

/// The definitions in the order of dependence: each after those among them that it uses.
///
/// # Errors
/// Those that use each other in a circle, and their users.
pub(super) fn ordered<'d>(
    engine: &Engine,
    definitions: impl Iterator<Item = &'d Definition>,
) -> Result<Vec<&'d Definition>, Vec<&'d Definition>> {
    let mut rest: Vec<_> = definitions.map(|one| (one, engine.references(one))).collect();
    let mut found = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let waits = |references: &[Reference]| {
            references.iter().any(|it| rest.iter().any(|(other, _)| it.means(other)))
        };
        let waiting: Vec<_> = rest.iter().map(|(_, references)| waits(references)).collect();
        if waiting.iter().all(|waits| *waits) {
            return Err(rest.into_iter().map(|(one, _)| one).collect());
        }
        let mut waiting = waiting.into_iter();
        let (later, now): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|_| waiting.next() == Some(true));
        found.extend(now.into_iter().map(|(one, _)| one));
        rest = later;
    }
    Ok(found)
}

/// The refusal of definitions that cannot be put into an order of dependence.
pub(super) fn circle(definitions: Vec<&Definition>) -> Problem {
    let ids: Vec<_> = definitions.iter().map(|one| one.definition_id.as_str()).collect();
    let detail = format!("these workflows use each other in a circle: {}", ids.join(", "));
    Problem::new(StatusCode::BAD_REQUEST, "invalid-definition", detail)
}

/// Every definition in this version.
pub(crate) async fn all(app: &App, version: VersionOption) -> Result<Vec<Definition>, Problem> {
    let filter = DefinitionFilter { version, ..DefinitionFilter::default() };
    let mut found = Vec::new();
    for number in 0.. {
        let page = app.cx.store.definitions(&filter, Page::numbered(number, PAGE)).await?;
        let is_last = (number + 1) * PAGE >= page.total;
        found.extend(page.items);
        if is_last {
            break;
        }
    }
    Ok(found)
}
