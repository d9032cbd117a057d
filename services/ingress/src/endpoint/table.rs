//! The HTTP triggers and the templates of HTTP bookmarks.
//!
//! Triggers are kept in a table, which is read again when a pointer has changed: a request that
//! comes after the answer `everywhere` to a publication finds the new triggers. Templates of
//! bookmarks are read again if no trigger matches a path.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bus::{Pointer, Pointers};
use model::{DefinitionId, Map, Stimulus, Trigger};
use serde_json::Value;
use tokio::sync::broadcast::{Receiver, error::TryRecvError};
use tokio::time::Instant;

use super::template::{Rank, Template};
use crate::context::Context;
use crate::problem::Problem;

/// The table is read again after this time in any case.
const AGE_MAX: Duration = Duration::from_secs(30);
/// For a path that is not in the table, the table is read again when it is older than this.
const MISS_AGE: Duration = Duration::from_secs(1);
/// The largest number of templates of bookmarks.
const TEMPLATES_MAX: u64 = 10_000;

/// The HTTP triggers, by template.
#[derive(Debug, Default)]
pub(crate) struct Table {
    routes: Vec<Route>,
    literal: BTreeMap<String, usize>,
    /// Templates with parameters, the most specific first.
    general: Vec<(Rank, usize)>,
}

#[derive(Debug)]
struct Route {
    template: Template,
    /// Triggers by lowercase method.
    triggers: BTreeMap<String, Vec<Trigger>>,
}

/// A template that matches a path.
#[derive(Debug)]
pub(crate) struct Fit<'a> {
    /// Templates of the same rank are equally specific.
    pub(crate) rank: Rank,
    /// The template.
    pub(crate) template: &'a str,
    /// The values of its parameters.
    pub(crate) values: Map,
    triggers: &'a BTreeMap<String, Vec<Trigger>>,
}

impl Fit<'_> {
    /// The triggers for this lowercase method.
    pub(crate) fn triggers(&self, method: &str) -> &[Trigger] {
        self.triggers.get(method).map(Vec::as_slice).unwrap_or_default()
    }

    /// The methods of the triggers, in capitals.
    pub(crate) fn methods(&self) -> impl Iterator<Item = String> {
        self.triggers.keys().map(|method| method.to_ascii_uppercase())
    }
}

impl Table {
    fn of(triggers: Vec<Trigger>) -> Self {
        let mut by_template: BTreeMap<String, BTreeMap<String, Vec<Trigger>>> = BTreeMap::new();
        for trigger in triggers {
            let text = |name| trigger.payload.get(name).and_then(Value::as_str).map(str::to_owned);
            if let (Some(path), Some(method)) = (text("Path"), text("Method")) {
                let methods = by_template.entry(path).or_default();
                methods.entry(method.to_lowercase()).or_default().push(trigger);
            }
        }
        let mut table = Self::default();
        for (number, (path, triggers)) in by_template.into_iter().enumerate() {
            let template = Template::parse(&path);
            if template.is_literal() {
                table.literal.insert(template.text.clone(), number);
            } else {
                table.general.push((template.rank(), number));
            }
            table.routes.push(Route { template, triggers });
        }
        table.general.sort();
        table
    }

    /// Every template that matches, the most specific first.
    pub(crate) fn find(&self, segments: &[String]) -> Vec<Fit<'_>> {
        let path = format!("/{}", segments.join("/")).to_lowercase();
        let literal = self.literal.get(&path).map(|&number| (Rank::new(), number));
        let general = self.general.iter().cloned();
        let candidates = literal.into_iter().chain(general);
        candidates
            .filter_map(|(rank, number)| {
                let Route { template, triggers } = &self.routes[number];
                let values = template.matches(segments)?;
                Some(Fit { rank, template: &template.text, values, triggers })
            })
            .collect()
    }
}

/// The required age of the templates of bookmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// The known ones, without a look-up.
    Known,
    /// Templates read after the request came.
    Now,
}

/// The known routes, and the state of following their changes.
pub(crate) struct Routes {
    changes: Mutex<Receiver<(DefinitionId, Pointer)>>,
    /// The number of reasons so far to read the table again.
    wanted: AtomicU64,
    known: tokio::sync::Mutex<Known>,
    bookmarks: tokio::sync::Mutex<Templates>,
}

struct Known {
    table: Arc<Table>,
    /// The number of reasons at the time when the table was read.
    answers: Option<u64>,
    read_at: Instant,
}

struct Templates {
    list: Arc<Vec<Template>>,
    read_at: Option<Instant>,
}

impl Routes {
    /// Routes that follow these pointers.
    pub(crate) fn following(pointers: &Pointers) -> Self {
        let known = Known { table: Arc::default(), answers: None, read_at: Instant::now() };
        Self {
            changes: Mutex::new(pointers.changed()),
            wanted: AtomicU64::new(0),
            known: tokio::sync::Mutex::new(known),
            bookmarks: tokio::sync::Mutex::new(Templates { list: Arc::default(), read_at: None }),
        }
    }

    /// A definition was published or retracted at this node: the table is read again before its
    /// next use.
    pub(crate) fn forget(&self) {
        self.wanted.fetch_add(1, Ordering::SeqCst);
    }

    /// The triggers, at least as new as any pointer that this node has applied.
    pub(crate) async fn triggers(&self, cx: &Context) -> Result<Arc<Table>, Problem> {
        self.look_for_changes();
        // Without the watch, changes go unnoticed.
        let is_blind = !cx.catalog.is_trusted();
        let asked_at = Instant::now();
        let mut known = self.known.lock().await;
        let wanted = self.wanted.load(Ordering::SeqCst);
        let is_fresh = known.answers.is_some_and(|answers| answers >= wanted)
            && known.read_at.elapsed() < AGE_MAX
            && (!is_blind || known.read_at >= asked_at);
        if !is_fresh {
            *known = read(cx, wanted).await?;
        }
        Ok(Arc::clone(&known.table))
    }

    /// The triggers once more, for a path that matches none; `None` if they have just been read.
    pub(crate) async fn triggers_again(&self, cx: &Context) -> Result<Option<Arc<Table>>, Problem> {
        let mut known = self.known.lock().await;
        if known.read_at.elapsed() < MISS_AGE {
            return Ok(None);
        }
        *known = read(cx, self.wanted.load(Ordering::SeqCst)).await?;
        Ok(Some(Arc::clone(&known.table)))
    }

    /// Templates of bookmarks, the most specific first. Requests that ask at the same time share
    /// one look-up.
    pub(super) async fn bookmarks(
        &self,
        cx: &Context,
        freshness: Freshness,
    ) -> Result<Arc<Vec<Template>>, Problem> {
        let asked_at = Instant::now();
        let mut known = self.bookmarks.lock().await;
        let is_good = match (freshness, known.read_at) {
            (_, None) => false,
            (Freshness::Known, Some(_)) => true,
            (Freshness::Now, Some(read_at)) => read_at >= asked_at,
        };
        if !is_good {
            let read_at = Instant::now();
            let texts = cx.store.route_templates(TEMPLATES_MAX).await?;
            let mut list: Vec<_> = texts.iter().map(|text| Template::parse(text)).collect();
            list.sort_by_cached_key(Template::rank);
            *known = Templates { list: Arc::new(list), read_at: Some(read_at) };
        }
        Ok(Arc::clone(&known.list))
    }

    fn look_for_changes(&self) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_news = false;
        while let Ok(_) | Err(TryRecvError::Lagged(_)) = changes.try_recv() {
            is_news = true;
        }
        if is_news {
            self.wanted.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn read(cx: &Context, wanted: u64) -> Result<Known, Problem> {
    let read_at = Instant::now();
    let name = Stimulus::http("", "").name;
    let triggers = cx.store.triggers_named(&name).await?;
    Ok(Known { table: Arc::new(Table::of(triggers)), answers: Some(wanted), read_at })
}

#[cfg(test)]
mod tests {
    use super::super::template::segments;
    use super::*;

    fn trigger(path: &str, method: &str, definition: &str) -> Trigger {
        let stimulus = Stimulus::http(path, method);
        Trigger {
            definition_id: definition.into(),
            version_id: "v1".into(),
            activity_id: "http".into(),
            name: stimulus.name.clone(),
            hash: stimulus.hash(),
            payload: stimulus.payload,
        }
    }

    #[test]
    fn the_most_specific_route_comes_first() {
        let table = Table::of(vec![
            trigger("orders/{id}", "GET", "one"),
            trigger("orders/new", "POST", "new"),
            trigger("{*all}", "GET", "all"),
            trigger("orders/{number}", "GET", "other"),
        ]);
        let fits = |path: &str| {
            let segments = segments(path).unwrap();
            let fits = table.find(&segments);
            fits.iter().map(|fit| fit.template.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            fits("/Orders/NEW"),
            ["/orders/new", "/orders/{id}", "/orders/{number}", "/{*all}"]
        );
        assert_eq!(fits("/x/y/z"), ["/{*all}"]);
        let path = segments("/orders/new").unwrap();
        let found = table.find(&path);
        assert_eq!(found[0].methods().collect::<Vec<_>>(), ["POST"]);
        assert!(found[0].triggers("get").is_empty());
        assert_eq!(found[1].rank, found[2].rank);
    }
}
