//! Publishes several definitions in one transaction. One that uses another one of them as an activity
//! uses the version that is published with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::Library;
use model::{Definition, DefinitionId, limits};
use serde_json::Value;
use store::{Publication, check};

use super::consumers::{self, Spread, circle, ordered, reference_to};
use super::{
    Changed, Checked, Children, index, latest_of, made_public, next_version, of_definition,
    publication, refuse_read_only,
};
use crate::app::App;
use crate::problem::Problem;

/// Publishes all of these definitions, or none. Content that is published already makes no new
/// version. The results are in the order of dependence.
pub(crate) async fn publish_together(
    app: &Arc<App>,
    contents: Vec<Definition>,
) -> Result<Vec<Changed>, Problem> {
    let in_order = in_order(app, &contents)?;
    for _ in 0..limits::EDIT_TRIES_MAX {
        let together = Together::of(app, &in_order).await?;
        if let Some(changed) = together.publish(app).await? {
            return Ok(changed);
        }
    }
    Err(Problem::overloaded(format!(
        "one of the definitions was changed by others in each of {} tries: try again in a moment",
        limits::EDIT_TRIES_MAX
    )))
}

/// Does everything but the publication: the refusals and warnings are those that it would have.
/// Changes nothing.
pub(crate) async fn check_together(
    app: &Arc<App>,
    contents: Vec<Definition>,
) -> Result<Vec<Changed>, Problem> {
    let together = Together::of(app, &in_order(app, &contents)?).await?;
    Ok(together.updated(app).await?.changed)
}

/// The definitions, each after those that it uses.
fn in_order<'d>(app: &App, contents: &'d [Definition]) -> Result<Vec<&'d Definition>, Problem> {
    let mut ids = BTreeSet::new();
    if let Some(twice) = contents.iter().find(|one| !ids.insert(&one.definition_id)) {
        let id = &twice.definition_id;
        return Err(Problem::bad_request(format!("workflow definition {id} is there twice")));
    }
    ordered(&app.cx.engine, contents.iter()).map_err(circle)
}

/// The definitions of one transaction, each after those that it uses.
#[derive(Default)]
struct Together {
    changed: Vec<Changed>,
    /// The workflows that the activities of each start.
    children: Vec<Children>,
    publications: Vec<Publication>,
    /// The version of each, which need not be stored yet.
    news: BTreeMap<DefinitionId, Definition>,
    known: Library,
    errors: Vec<Value>,
    /// Of those that have errors.
    warnings: Vec<Value>,
}

impl Together {
    async fn of(app: &Arc<App>, in_order: &[&Definition]) -> Result<Self, Problem> {
        let mut together = Self::default();
        for content in in_order {
            together.add(app, content).await?;
        }
        Ok(together)
    }

    /// The same with all warnings, if nothing is wrong.
    async fn checked(mut self, app: &App) -> Result<Self, Problem> {
        let clashes = self.clashes();
        self.errors.extend(clashes);
        if !self.errors.is_empty() {
            for Changed { definition, warnings, .. } in &self.changed {
                self.warnings
                    .extend(warnings.iter().map(|it| of_definition(it, &definition.definition_id)));
            }
            let problem = Problem::invalid_definition(self.errors);
            return Err(problem.with("validationWarnings", self.warnings));
        }
        let ids = self.news.keys().cloned().collect();
        for (changed, children) in self.changed.iter_mut().zip(std::mem::take(&mut self.children)) {
            changed.warnings.extend(index::missing(app, children, &ids).await?);
        }
        Ok(self)
    }

    async fn add(&mut self, app: &Arc<App>, content: &Definition) -> Result<(), Problem> {
        let id = &content.definition_id;
        let latest = latest_of(app, id).await?;
        refuse_read_only(latest.as_ref())?;
        let mut draft = Definition { is_published: false, published_at: None, ..content.clone() };
        let meant = self.meant(app, &draft).await?;
        app.cx.engine.pin(&mut draft, &meant);
        let (content, _) = index::pinned(app, draft.clone(), self.known.clone()).await?;
        let same = latest
            .as_ref()
            .filter(|latest| latest.is_immutable() && latest.has_content_of(&content));
        let version = match same {
            Some(same) if same.is_published => {
                self.keep(Changed::already(same.clone()), Children::new());
                return Ok(());
            }
            // It was retracted: the same version is published again.
            Some(same) => same.clone(),
            None => {
                let known = self.known.clone();
                if let Some(same) = index::as_published(app, &draft, latest.as_ref(), known).await?
                {
                    self.keep(Changed::already(same), Children::new());
                    return Ok(());
                }
                next_version(app, content, latest.as_ref())
            }
        };
        let unpublished = version.clone();
        match publication(app, version, latest.as_ref(), self.known.clone()).await {
            Ok(Checked { publication, warnings, children }) => {
                let changed = Changed::new(publication.definition.clone());
                let changed = Changed { is_new: latest.is_none(), warnings, ..changed };
                self.keep(changed, children);
                self.publications.push(publication);
            }
            Err(problem) => {
                let Some(errors) = problem.validation_errors() else {
                    return Err(problem.of(&format!("workflow definition {id}")));
                };
                self.errors.extend(errors.iter().map(|error| of_definition(error, id)));
                let warnings = problem.member("validationWarnings").and_then(Value::as_array);
                self.warnings
                    .extend(warnings.into_iter().flatten().map(|it| of_definition(it, id)));
                // Those that use it are examined as if it were valid.
                let published_at = Some(app.now());
                let changed = Changed::new(Definition { published_at, ..unpublished });
                self.keep(changed, Children::new());
            }
        }
        Ok(())
    }

    /// The HTTP routes that two of these workflows have.
    fn clashes(&self) -> Vec<Value> {
        let mut errors = Vec::new();
        let mut seen = BTreeMap::new();
        for Publication { definition, triggers, .. } in &self.publications {
            let id = &definition.definition_id;
            for (route, trigger) in
                triggers.iter().filter_map(|one| check::route(one).map(|route| (route, one)))
            {
                let first = *seen.entry(route).or_insert(id);
                if first != id {
                    let error = of_definition(&index::shared(trigger, first), id);
                    // One for all methods.
                    if !errors.contains(&error) {
                        errors.push(error);
                    }
                }
            }
        }
        errors
    }

    fn keep(&mut self, changed: Changed, children: Children) {
        let definition = &changed.definition;
        self.known.add(reference_to(definition), definition.clone());
        self.news.insert(definition.definition_id.clone(), definition.clone());
        self.changed.push(changed);
        self.children.push(children);
    }

    /// The versions among these that the references of a definition mean. One that names another
    /// version which exists means that.
    async fn meant(&self, app: &App, user: &Definition) -> Result<Library, Problem> {
        let mut meant = Library::default();
        for reference in app.cx.engine.references(user) {
            let Some(new) = self.news.values().find(|new| reference.means(new)) else { continue };
            let names_another = match &reference.version_id {
                Some(id) => app.cx.store.version(id).await?.is_some(),
                None => false,
            };
            if !names_another {
                meant.add(reference, new.clone());
            }
        }
        Ok(meant)
    }

    /// The same, if nothing is wrong, with new versions of other definitions that use them where they
    /// ask for that.
    async fn updated(self, app: &Arc<App>) -> Result<Self, Problem> {
        let mut together = self.checked(app).await?;
        let new: BTreeSet<_> = together.publications.iter().map(|it| &it.definition.id).collect();
        let from = together.news.values().filter(|it| new.contains(&it.id));
        let from = from.filter(|it| it.options.auto_update_consuming_workflows == Some(true));
        let from = from.map(|it| it.definition_id.clone()).collect();
        let (news, known) = (together.news.clone(), together.known.clone());
        let updates = consumers::updates(app, Spread { from, news, known }).await?;
        if let Some(last) = together.changed.last_mut() {
            last.consumers = updates.definitions();
            last.warnings.extend(updates.warnings);
        }
        together.publications.extend(updates.publications);
        Ok(together)
    }

    /// Publishes all; `None` when another change was faster.
    async fn publish(self, app: &Arc<App>) -> Result<Option<Vec<Changed>>, Problem> {
        let together = self.updated(app).await?;
        if !together.publications.is_empty() && !made_public(app, together.publications).await? {
            return Ok(None);
        }
        let mut announced = Vec::with_capacity(together.changed.len());
        for changed in together.changed {
            announced.push(changed.announced(app).await);
        }
        Ok(Some(announced))
    }
}
