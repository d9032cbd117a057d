//! Templates and scripts, with all values that they can reach.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use engine::{Identity, Language, Scope, UrlOf};
use expressions::{JavaScript, Liquid};
use model::{Map, Timestamp};
use serde_json::{Value, json};

/// The longest evaluation. Longer ones are ended by Staunch.
const TIME_MAX: Duration = Duration::from_millis(100);
/// The time by which an evaluation has ended, on a machine that does other things.
const END: Duration = Duration::from_secs(10);

/// A language, and the same one with more time.
type Pair<T> = LazyLock<(T, T)>;

static LIQUID: Pair<Liquid> =
    LazyLock::new(|| (Liquid::with_time(TIME_MAX), Liquid::with_time(END)));
static JAVASCRIPT: Pair<JavaScript> =
    LazyLock::new(|| (JavaScript::with_time(TIME_MAX), JavaScript::with_time(END)));

/// Liquid.
pub(crate) fn template(bytes: &[u8]) -> Result<()> {
    evaluate(&LIQUID.0, &LIQUID.1, bytes)
}

/// JavaScript.
pub(crate) fn script(bytes: &[u8]) -> Result<()> {
    evaluate(&JAVASCRIPT.0, &JAVASCRIPT.1, bytes)
}

fn evaluate(language: &dyn Language, patient: &dyn Language, bytes: &[u8]) -> Result<()> {
    let Ok(source) = str::from_utf8(bytes) else { return Ok(()) };
    let begun = Instant::now();
    let checked = language.check(source).is_ok();
    drop(language.mentions(source));
    let mut scope = Values::default();
    let ended = language.evaluate(source, &mut scope);
    ensure!(begun.elapsed() < END, "it took {:?}", begun.elapsed());
    // On a machine that does other things, a check may only have been late.
    let is_right = checked || ended.is_err() || patient.check(source).is_ok();
    ensure!(is_right, "the check refuses what has a value: {ended:?}");
    Ok(())
}

/// One of everything that an expression can see.
#[derive(Default)]
struct Values {
    arguments: Map,
    draws: u8,
}

impl Scope for Values {
    fn variable(&self, name: &str) -> Option<Value> {
        match name {
            "Order" => Some(json!({"id": 7, "lines": [{"sku": "a", "price": 1.5}], "note": null})),
            "Name" => Some(json!("Ada")),
            "Count" => Some(json!(3)),
            _ => None,
        }
    }

    fn set_variable(&mut self, name: &str, _: Value) -> bool {
        self.variable(name).is_some()
    }

    fn variable_names(&self) -> Vec<String> {
        ["Order", "Name", "Count"].map(str::to_owned).to_vec()
    }

    fn input(&self, name: &str) -> Option<Value> {
        (name == "Amount").then(|| json!(12.25))
    }

    fn activity_input(&self, name: &str) -> Option<Value> {
        (name == "text").then(|| json!("text"))
    }

    fn input_names(&self) -> Vec<String> {
        vec!["Amount".to_owned()]
    }

    fn output_from(&self, activity: &str, _: Option<&str>) -> Option<Value> {
        (activity == "call").then(|| json!({"statusCode": 200, "headers": {"a": ["b"]}}))
    }

    fn output_names(&self) -> Vec<(String, String)> {
        vec![("call".to_owned(), "Result".to_owned())]
    }

    fn arguments(&self) -> &Map {
        &self.arguments
    }

    fn last_result(&self) -> Option<Value> {
        Some(json!([1, 2, 3]))
    }

    fn identity(&self) -> Identity {
        Identity { definition_id: "orders".to_owned(), version: 1, ..Identity::default() }
    }

    fn set_correlation_id(&mut self, _: Option<String>) {}

    fn set_instance_name(&mut self, _: Option<String>) {}

    fn set_outcomes(&mut self, _: Vec<String>) -> bool {
        true
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_795_000_000_000)
    }

    fn random(&mut self) -> [u8; 16] {
        self.draws = self.draws.wrapping_add(1);
        [self.draws; 16]
    }

    fn url(&mut self, of: UrlOf<'_>, _: Option<Duration>) -> Result<String, String> {
        let (UrlOf::Event(name) | UrlOf::Activity(name)) = of;
        Ok(format!("http://localhost/bookmarks/resume?t={name}"))
    }
}
