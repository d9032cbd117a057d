//! Comparisons with searchable values, in requests.

use model::{SearchKey, Searchable, limits};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{InstanceFilter, SearchableFilter, SearchableNames, ValueFilter, ValueOperator};
use utoipa::ToSchema;

use crate::{App, Problem, bounds};

const OPERATORS: [(&str, ValueOperator); 7] = [
    ("eq", ValueOperator::Is),
    ("ne", ValueOperator::IsNot),
    ("gt", ValueOperator::GreaterThan),
    ("gte", ValueOperator::GreaterThanOrEqual),
    ("lt", ValueOperator::LessThan),
    ("lte", ValueOperator::LessThanOrEqual),
    ("prefix", ValueOperator::BeginsWith),
];
/// The characters of a value that a message shows.
const SHOWN_CHARS_MAX: usize = 80;

/// One comparison with a searchable variable. An instance in which the variable has no value of its
/// kind never fulfils it, not even `ne`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "Amount", "operator": "gte", "value": 100}))]
pub(crate) struct VariableFilter {
    /// The name of a variable that a definition names as searchable.
    #[serde(default)]
    #[schema(required = true)]
    name: String,
    /// `eq`, `ne`, `gt`, `gte`, `lt` or `lte`; for texts also `prefix`, for booleans `eq` and `ne`
    /// only.
    #[serde(default)]
    #[schema(required = true)]
    operator: String,
    /// A text, number or boolean, or the same as text. A time is RFC 3339, or a date: its begin in UTC.
    #[serde(default)]
    #[schema(required = true)]
    value: Value,
}

impl VariableFilter {
    /// Reads `Amount:gte:100`.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let mut places = text.match_indices(':').filter_map(|(at, _)| {
            let (operator, value) = text[at + 1..].split_once(':')?;
            operator_of(operator)?;
            (at > 0).then_some((&text[..at], operator, value))
        });
        let Some((name, operator, value)) = places.next() else {
            return Err(Problem::bad_request(format!(
                "query parameter variable is {:?}: write name:operator:value, such as \
                 Amount:gte:100, with one of the operators {}",
                cut(text),
                operators()
            )));
        };
        Ok(Self { name: name.to_owned(), operator: operator.to_owned(), value: value.into() })
    }

    /// The comparison that the filter at this position is.
    fn resolved(&self, at: usize, names: &SearchableNames) -> Result<ValueFilter, Problem> {
        let Self { name, operator, value } = self;
        bounds::name("the name of a variable", name)?;
        if value.is_null() {
            return Err(Problem::bad_request(format!(
                "the comparison with variable {name} has no value, or null: write a text, a number or a \
                 boolean; no comparison finds variables that have no value"
            )));
        }
        let Some(operator) = operator_of(operator) else {
            return Err(Problem::bad_request(format!(
                "variableFilters[{at}]: operator {:?} of variable {name} is not valid: use one \
                 of {}",
                cut(operator),
                operators()
            )));
        };
        let kinds = names.get(name).ok_or_else(|| not_searchable(name, names))?;
        let listed = kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" or ");
        let fitting: Vec<_> = kinds.iter().filter(|kind| fits(operator, **kind)).collect();
        if fitting.is_empty() {
            return Err(Problem::bad_request(format!(
                "variable {name} is searchable as {listed}, and has no operator {}: prefix is for \
                 texts, and booleans have eq and ne",
                self.operator
            )));
        }
        let keys: Vec<SearchKey> = fitting.iter().filter_map(|kind| key(**kind, value)).collect();
        if keys.is_empty() {
            let forms: Vec<_> = fitting.iter().map(|kind| form(**kind)).collect();
            return Err(Problem::bad_request(format!(
                "variable {name} is searchable as {listed}, which {} is not: write {}",
                cut(&value.to_string()),
                forms.join(", or ")
            )));
        }
        let length = value.as_str().map_or(0, str::len);
        if operator == ValueOperator::BeginsWith && length > limits::SEARCHED_PREFIX_BYTES_MAX {
            return Err(Problem::bad_request(format!(
                "the prefix of variable {name} has {length} bytes: use at most {}",
                limits::SEARCHED_PREFIX_BYTES_MAX
            )));
        }
        Ok(ValueFilter { name: name.clone(), operator, keys })
    }
}

/// Refuses a comparison that does not say what it compares, or how.
pub(super) fn check(asked: &[VariableFilter]) -> Result<(), Problem> {
    for (at, VariableFilter { name, operator, .. }) in asked.iter().enumerate() {
        if name.is_empty() {
            return Err(Problem::bad_request(format!(
                "variableFilters[{at}] has no name: write the name of a searchable variable, such as \
                 {{\"name\": \"Amount\", \"operator\": \"gte\", \"value\": 100}}"
            )));
        }
        if operator.is_empty() {
            return Err(Problem::bad_request(format!(
                "variableFilters[{at}], of variable {}, has no operator: use one of {}",
                cut(name),
                operators()
            )));
        }
    }
    Ok(())
}

/// Adds comparisons with searchable values to a filter whose other members are complete. A variable
/// that no definition among the filtered ones names as searchable is refused.
pub(super) async fn resolve(
    app: &App,
    filter: &mut InstanceFilter,
    asked: &[VariableFilter],
) -> Result<(), Problem> {
    if asked.is_empty() {
        return Ok(());
    }
    let max = limits::VALUE_FILTERS_MAX;
    if asked.len() > max {
        let count = asked.len();
        return Err(Problem::bad_request(format!(
            "{count} comparisons with variables are too many: use at most {max}"
        )));
    }
    let among = SearchableFilter {
        definition_ids: filter.definition_ids.clone(),
        excluded_definition_ids: filter.excluded_definition_ids.clone(),
        version_id: filter.version_id.clone(),
        version: filter.definition_version,
    };
    let names = app.cx.store.searchable(&among).await?;
    for (at, one) in asked.iter().enumerate() {
        filter.values.push(one.resolved(at, &names)?);
    }
    Ok(())
}

fn operator_of(text: &str) -> Option<ValueOperator> {
    OPERATORS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, found)| *found)
}

fn operators() -> String {
    OPERATORS.map(|(name, _)| name).join(", ")
}

fn fits(operator: ValueOperator, kind: Searchable) -> bool {
    match operator {
        ValueOperator::Is | ValueOperator::IsNot => true,
        ValueOperator::BeginsWith => kind == Searchable::Text,
        _ => kind != Searchable::Boolean,
    }
}

fn key(kind: Searchable, value: &Value) -> Option<SearchKey> {
    value.as_str().map_or_else(|| kind.key(value), |text| kind.read(text))
}

/// How a value of this kind is written.
fn form(kind: Searchable) -> &'static str {
    match kind {
        Searchable::Text => "a text",
        Searchable::Number => "a number such as 2.5",
        Searchable::Time => "a time such as 2026-01-31T08:00:00Z, or a date such as 2026-01-31",
        Searchable::Boolean => "true or false",
    }
}

fn not_searchable(name: &str, names: &SearchableNames) -> Problem {
    let mut detail = format!(
        "variable {name:?} cannot be a filter, because no definition that the filter selects names \
         it as searchable: add \"searchable\": \"text\" (or number, time, boolean) to this variable of \
         the workflow and publish the definition; in the short form write searchable: text"
    );
    if !names.is_empty() {
        let known: Vec<&str> = names.keys().map(String::as_str).take(16).collect();
        detail.push_str(&format!(". Searchable here: {}", known.join(", ")));
    }
    Problem::bad_request(detail)
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}
