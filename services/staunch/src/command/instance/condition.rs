//! Conditions on searchable variables, as `Amount>=100`.

use std::str::FromStr;

use serde_json::{Value, json};

/// The operators, and their names in the API. One that begins with another comes first.
const OPERATORS: [(&str, &str); 7] = [
    ("!=", "ne"),
    (">=", "gte"),
    ("<=", "lte"),
    ("^=", "prefix"),
    ("=", "eq"),
    (">", "gt"),
    ("<", "lt"),
];

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    name: String,
    operator: &'static str,
    value: String,
}

impl Condition {
    /// The condition in the form of the API. The server reads the value as the kind of the variable.
    pub(super) fn body(&self) -> Value {
        json!({"name": self.name, "operator": self.operator, "value": self.value})
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a condition: write a variable, one of = != > >= < <= ^=, and a \
                 value, such as Amount>=100"
            )
        };
        let at = text.find(['!', '>', '<', '^', '=']).ok_or_else(wrong)?;
        let (name, rest) = text.split_at(at);
        let found = OPERATORS.iter().find_map(|(sign, operator)| {
            rest.strip_prefix(sign).map(|value| (*operator, value.trim()))
        });
        let (operator, value) = found.filter(|_| !name.trim().is_empty()).ok_or_else(wrong)?;
        Ok(Self { name: name.trim().to_owned(), operator, value: value.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_a_name_an_operator_and_a_value() {
        for (text, name, operator, value) in [
            ("Amount>=100", "Amount", "gte", "100"),
            ("Amount > -1.5", "Amount", "gt", "-1.5"),
            ("Due<=2026-01-31T08:00:00Z", "Due", "lte", "2026-01-31T08:00:00Z"),
            ("A<1", "A", "lt", "1"),
            ("Customer=Muster & Co = x", "Customer", "eq", "Muster & Co = x"),
            ("Order no!=", "Order no", "ne", ""),
            ("Customer ^= Mu", "Customer", "prefix", "Mu"),
        ] {
            let (name, value) = (name.to_owned(), value.to_owned());
            assert_eq!(text.parse(), Ok(Condition { name, operator, value }), "{text}");
        }
        for text in ["", "Amount", "=5", " >= 5", "Amount!5", "Amount^5"] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.contains("Amount>=100"), "{error}");
        }
    }
}
