//! An activity type of workers as a page of Markdown, for the documentation of those who use it.

use protocol::subject;
use serde_json::{Map, Value};

use crate::Failure;
use crate::failure::Kind;
use crate::output::text;

/// What a page says elsewhere of an input or output than in its schema.
const SAID: [&str; 3] = ["title", "description", "default"];

/// The versions of a type among these: that of `Ship@2`, or all of `Ship`.
///
/// # Errors
/// When there is none.
pub(super) fn wanted<'t>(types: &'t Value, kind: &str) -> Result<Vec<&'t Value>, Failure> {
    let all = types["items"].as_array().into_iter().flatten();
    let named = |name: &str, version: Option<u32>| {
        let is_it = |item: &&Value| {
            item["type"] == name && version.is_none_or(|version| item["version"] == version)
        };
        all.clone().filter(is_it).collect::<Vec<_>>()
    };
    if kind.is_empty() {
        return Err(Failure::usage("the type is empty: `staunch worker types` lists all"));
    }
    // The name of a type may have an @, too.
    let whole = named(kind, None);
    if !whole.is_empty() {
        return Ok(whole);
    }
    let (name, version) = subject::task_kind(kind).map_err(Failure::usage)?;
    let found = named(name, Some(version));
    if found.is_empty() {
        let message = format!("no worker has registered {kind}: see `staunch worker types`");
        return Err(Failure::new(Kind::NotFound, message));
    }
    Ok(found)
}

/// The page of one version of a type.
pub(super) fn page(kind: &Value) -> String {
    let of = |name: &str| text(kind, name);
    let mut lines = vec![format!("# {} version {}", of("type"), of("version"))];
    if !of("description").trim().is_empty() {
        lines.extend([String::new(), paragraph(&of("description"))]);
    }
    lines.push(String::new());
    for (what, member) in [
        ("in a designer", "displayName"),
        ("category", "category"),
        ("mode", "mode"),
        ("tasks on", "taskSubject"),
        ("requests on", "requestSubject"),
        ("results on", "resultSubject"),
        ("stream", "stream"),
        ("consumer", "consumer"),
        ("timeout", "timeout"),
        ("retry", "retry"),
    ] {
        let said = flat(&of(member));
        if !said.is_empty() {
            lines.push(format!("- {what}: {}", code(&said)));
        }
    }
    let outcomes = kind["outcomes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let outcomes: Vec<_> = outcomes.map(|outcome| code(&flat(outcome))).collect();
    let outcomes = if outcomes.is_empty() { code("Done") } else { outcomes.join(", ") };
    lines.push(format!("- outcomes: {outcomes}"));

    let empty = Map::new();
    let properties = |member: &str| kind[member]["properties"].as_object().unwrap_or(&empty);
    lines.extend([String::new(), "## Inputs".to_owned(), String::new()]);
    let inputs = properties("input");
    if inputs.is_empty() {
        lines.push("None.".to_owned());
    } else {
        lines.push("| name | schema | required | if not given | meaning |".to_owned());
        lines.push("|---|---|---|---|---|".to_owned());
    }
    let required = kind["input"]["required"].as_array();
    for (name, own) in inputs {
        let is_required =
            required.is_some_and(|names| names.iter().any(|required| required == name.as_str()));
        let default = own.get("default").map(|value| code(&value.to_string()));
        lines.push(row(&[
            code(name),
            schema(own),
            if is_required { "yes".to_owned() } else { String::new() },
            default.unwrap_or_default(),
            meaning(own),
        ]));
    }
    lines.extend([String::new(), "## Outputs".to_owned(), String::new()]);
    lines.push("| name | schema | meaning |".to_owned());
    lines.push("|---|---|---|".to_owned());
    lines.push(row(&[code("result"), String::new(), "The result as a whole.".to_owned()]));
    for (name, own) in properties("output").iter().filter(|(name, _)| *name != "result") {
        lines.push(row(&[code(name), schema(own), meaning(own)]));
    }
    lines.join("\n")
}

fn row(cells: &[String]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}

/// The schema of a value, without what the page says beside it.
fn schema(own: &Value) -> String {
    let Some(members) = own.as_object() else { return String::new() };
    let mut rest = members.clone();
    rest.retain(|name, _| !SAID.contains(&name.as_str()));
    if rest.is_empty() { String::new() } else { code(&Value::Object(rest).to_string()) }
}

/// What a value is for, on one line.
fn meaning(own: &Value) -> String {
    let said: Vec<_> = ["title", "description"].iter().map(|name| text(own, name)).collect();
    let said: Vec<_> = said.iter().filter(|said| !said.is_empty()).map(String::as_str).collect();
    flat(&said.join(": "))
}

/// A text on one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as one paragraph: neither its lines nor its first word begin a heading, a list or a table.
fn paragraph(text: &str) -> String {
    let line = flat(text);
    let word = line.split(' ').next().unwrap_or_default();
    let is_sign = !word.is_empty() && word.chars().all(|c| "#-+*=_".contains(c));
    if is_sign || [">", "|", "```", "~~~"].iter().any(|sign| word.starts_with(sign)) {
        return format!("\\{line}");
    }
    let number = word.trim_end_matches(['.', ')']);
    if number.len() + 1 == word.len() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("{number}\\{}", &line[number.len()..]);
    }
    line
}

/// A text as code, which has more backticks around it than any in it.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let (fence, blank) = ("`".repeat(longest + 1), if longest > 0 { " " } else { "" });
    format!("{fence}{blank}{text}{blank}{fence}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn charge() -> Value {
        json!({"type": "Acme.ChargeCard", "version": 2, "mode": "task", "description": "Takes money.",
            "taskSubject": "tasks.2", "timeout": "1h", "outcomes": ["Paid", "Declined"],
            "retry": {"attempts": 3},
            "input": {"required": ["amount"], "properties": {
                "amount": {"type": "number", "minimum": 1, "description": "How much,\nin all."},
                "currency": {"enum": ["EUR", "a|b"], "default": "EUR"}}},
            "output": {"properties": {"receipt": {"type": "string", "title": "Receipt"}}}})
    }

    #[test]
    fn a_page_has_all_that_an_author_needs() {
        let page = page(&charge());
        for line in [
            "# Acme.ChargeCard version 2",
            "Takes money.",
            "- mode: `task`",
            "- tasks on: `tasks.2`",
            "- timeout: `1h`",
            "- retry: `{\"attempts\":3}`",
            "- outcomes: `Paid`, `Declined`",
            "| `currency` | `{\"enum\":[\"EUR\",\"a\\|b\"]}` |  | `\"EUR\"` |  |",
            "| `result` |  | The result as a whole. |",
            "| `receipt` | `{\"type\":\"string\"}` | Receipt |",
        ] {
            assert!(page.lines().any(|found| found == line), "{line:?} is not in:\n{page}");
        }
        assert!(page.contains(" | yes |  | How much, in all. |"), "{page}");
        let bare = super::page(&json!({"type": "upper", "version": 1, "mode": "request"}));
        assert!(
            bare.contains("- outcomes: `Done`") && bare.contains("## Inputs\n\nNone."),
            "{bare}"
        );
        assert_eq!(code("a`b"), "`` a`b ``");
    }

    #[test]
    fn a_description_is_one_paragraph() {
        let mut kind = charge();
        kind["description"] = json!("Charges a card\n# not a heading\n\n- no item");
        let page = page(&kind);
        assert!(page.contains("\n\nCharges a card # not a heading - no item\n\n"), "{page}");
        for (text, expected) in [
            ("# a", "\\# a"),
            ("1. a", "1\\. a"),
            ("- a", "\\- a"),
            ("*Charges* a card", "*Charges* a card"),
            ("3 days", "3 days"),
            ("42", "42"),
            ("\n", ""),
            ("\u{e4} # b", "\u{e4} # b"),
        ] {
            assert_eq!(paragraph(text), expected);
        }
    }

    #[test]
    fn a_name_is_on_one_line() {
        let mut kind = charge();
        kind["displayName"] = json!("Charge\na card");
        kind["category"] = json!("Money\r\n\r\n# not a heading");
        kind["outcomes"] = json!(["Paid\nin full", "Declined"]);
        let page = page(&kind);
        for line in [
            "- in a designer: `Charge a card`",
            "- category: `Money # not a heading`",
            "- outcomes: `Paid in full`, `Declined`",
        ] {
            assert!(page.lines().any(|found| found == line), "{line:?} is not in:\n{page}");
        }
    }

    #[test]
    fn a_type_is_found_by_its_name_and_its_version() {
        let (old, new) =
            (json!({"type": "Ship", "version": 1}), json!({"type": "Ship", "version": 2}));
        let types = json!({"items": [old, new, {"type": "a@b", "version": 1}]});
        let found = |kind: &str| wanted(&types, kind).unwrap();
        assert_eq!(found("Ship"), [&types["items"][0], &types["items"][1]]);
        assert_eq!(found("Ship@2"), [&types["items"][1]]);
        assert_eq!(found("a@b"), [&types["items"][2]]);
        assert_eq!(wanted(&types, "Ship@3").unwrap_err().kind, Kind::NotFound);
        assert_eq!(wanted(&types, "Other").unwrap_err().kind, Kind::NotFound);
        let empty = wanted(&types, "").unwrap_err();
        assert_eq!(empty.kind, Kind::Usage);
        assert!(empty.message.starts_with("the type is empty"), "{}", empty.message);
    }
}
