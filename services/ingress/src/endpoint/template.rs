//! Route templates such as `orders/{id}`, matched in any case, the most specific first.
//!
//! A template may have `{name}`, `{name?}`, `{name=default}`, `{name:int}` and other constraints,
//! `{*rest}` at the end, and one parameter with text around it, as in `report-{year}.pdf`.

use model::Map;
use serde_json::Value;

/// A parsed template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    /// The text in lower case, with one slash in front; the hash of its bookmarks is computed from
    /// it.
    pub(crate) text: String,
    parts: Vec<Part>,
}

/// The rank of a template, part by part: a smaller rank is more specific, and is tried first.
pub(crate) type Rank = Vec<u8>;

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Literal(String),
    Parameter(Parameter),
    Rest(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Parameter {
    name: String,
    before: String,
    after: String,
    constraint: Option<Constraint>,
    default: Option<String>,
    is_optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Constraint {
    Whole,
    Number,
    Boolean,
    Guid,
    Letters,
}

impl Template {
    /// Reads a template. A part that is not a parameter is literal text.
    pub(crate) fn parse(text: &str) -> Self {
        let text = format!("/{}", text.trim_matches('/')).to_lowercase();
        let parts = text.split('/').filter(|part| !part.is_empty()).map(Part::parse).collect();
        Self { text, parts }
    }

    /// True if it has no parameters, so that it matches only one path.
    pub(crate) fn is_literal(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// Its rank.
    pub(crate) fn rank(&self) -> Rank {
        let rank = |part: &Part| match part {
            Part::Literal(_) => 0,
            Part::Parameter(parameter) => {
                let has_text = !parameter.before.is_empty() || !parameter.after.is_empty();
                match (has_text, parameter.constraint) {
                    (true, _) => 1,
                    (false, Some(_)) => 2,
                    (false, None) => 3,
                }
            }
            Part::Rest(_) => 4,
        };
        self.parts.iter().map(rank).collect()
    }

    /// The values of its parameters, if the path matches.
    pub(crate) fn matches(&self, segments: &[String]) -> Option<Map> {
        let mut values = Map::new();
        let mut rest = segments;
        for part in &self.parts {
            match (part, rest.split_first()) {
                (Part::Rest(name), _) => {
                    values.insert(name.clone(), Value::String(rest.join("/")));
                    return Some(values);
                }
                (Part::Literal(literal), Some((segment, others)))
                    if segment.to_lowercase() == *literal =>
                {
                    rest = others;
                }
                (Part::Parameter(parameter), Some((segment, others))) => {
                    let value = parameter.value(segment)?;
                    values.insert(parameter.name.clone(), Value::String(value));
                    rest = others;
                }
                (Part::Parameter(parameter), None) => match &parameter.default {
                    Some(default) => {
                        values.insert(parameter.name.clone(), Value::String(default.clone()));
                    }
                    None if parameter.is_optional => {}
                    None => return None,
                },
                (Part::Literal(_), _) => return None,
            }
        }
        rest.is_empty().then_some(values)
    }
}

impl Part {
    fn parse(text: &str) -> Self {
        let literal = || Self::Literal(text.to_owned());
        let Some((before, inner)) = text.split_once('{') else { return literal() };
        let Some((inner, after)) = inner.split_once('}') else { return literal() };
        if after.contains('{') || inner.contains('{') {
            return literal();
        }
        if let Some(name) = inner.strip_prefix("**").or_else(|| inner.strip_prefix('*')) {
            return Self::Rest(name.to_owned());
        }
        let (inner, default) = match inner.split_once('=') {
            Some((inner, default)) => (inner, Some(default.to_owned())),
            None => (inner, None),
        };
        let (inner, is_optional) = match inner.strip_suffix('?') {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let (name, constraint) = match inner.split_once(':') {
            Some((name, constraint)) => (name, Constraint::parse(constraint)),
            None => (inner, None),
        };
        if name.is_empty() {
            return literal();
        }
        Self::Parameter(Parameter {
            name: name.to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
            constraint,
            default,
            is_optional,
        })
    }
}

impl Parameter {
    /// The value in a segment, with its upper and lower case.
    fn value(&self, segment: &str) -> Option<String> {
        let lower = segment.to_lowercase();
        let fits = lower.strip_prefix(&self.before)?.strip_suffix(&self.after)?;
        // If lowercasing changes the positions of bytes, the lowercase value has to do.
        let value = segment
            .get(self.before.len()..segment.len().saturating_sub(self.after.len()))
            .filter(|_| lower.len() == segment.len())
            .unwrap_or(fits);
        let is_good = !value.is_empty() && self.constraint.is_none_or(|kind| kind.allows(value));
        is_good.then(|| value.to_owned())
    }
}

impl Constraint {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "int" | "long" => Some(Self::Whole),
            "decimal" | "double" | "float" => Some(Self::Number),
            "bool" => Some(Self::Boolean),
            "guid" => Some(Self::Guid),
            "alpha" => Some(Self::Letters),
            _ => None,
        }
    }

    fn allows(self, value: &str) -> bool {
        match self {
            Self::Whole => value.parse::<i64>().is_ok(),
            Self::Number => value.parse::<f64>().is_ok_and(f64::is_finite),
            Self::Boolean => matches!(value.to_ascii_lowercase().as_str(), "true" | "false"),
            Self::Guid => uuid::Uuid::try_parse(value).is_ok(),
            Self::Letters => value.chars().all(|c| c.is_ascii_alphabetic()),
        }
    }
}

/// The segments of a path, decoded; `None` when it is not valid.
pub(crate) fn segments(path: &str) -> Option<Vec<String>> {
    path.split('/').filter(|segment| !segment.is_empty()).map(decoded).collect()
}

/// Undoes percent-encoding.
pub(crate) fn decoded(text: &str) -> Option<String> {
    String::from_utf8(unescaped(text)?).ok()
}

/// The bytes of a text with `%` escapes, if all of them are well-formed.
pub(crate) fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_match_as_elsa_matches_them() {
        let check = |template: &str, path: &str, expected: Option<Value>| {
            let found = Template::parse(template).matches(&segments(path).unwrap());
            assert_eq!(found.map(Value::Object), expected, "{template} {path}");
        };
        check("orders", "/Orders/", Some(json!({})));
        check("orders", "/orders/1", None);
        check("Orders/{OrderId}", "/orders/AbC", Some(json!({"orderid": "AbC"})));
        check("orders/{id}", "/orders", None);
        check("orders/{id?}", "/orders", Some(json!({})));
        check("orders/{id=7}", "/orders", Some(json!({"id": "7"})));
        check("orders/{id:int}", "/orders/x", None);
        check("orders/{id:int}", "/orders/12", Some(json!({"id": "12"})));
        check("files/{*rest}", "/files/a/B%20c", Some(json!({"rest": "a/B c"})));
        check("report-{year}.pdf", "/Report-2026.pdf", Some(json!({"year": "2026"})));
        check("report-{year}.pdf", "/report-.pdf", None);
        check("", "/", Some(json!({})));
        check("a/{", "/a/{", Some(json!({})));
    }

    #[test]
    fn the_specific_comes_before_the_general() {
        let ordered = ["a/b", "a/x{id}", "a/{id:int}", "a/{id}", "a/{*rest}", "{*rest}"];
        let ranks: Vec<_> = ordered.iter().map(|text| Template::parse(text).rank()).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
    }

    #[test]
    fn what_is_no_path_has_no_segments() {
        assert_eq!(segments("/a%zz"), None);
        assert_eq!(segments("/a%2Fb/%ff"), None);
        assert_eq!(segments("//a%2Fb//"), Some(vec!["a/b".to_owned()]));
    }
}
